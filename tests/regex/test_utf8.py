"""Partitions and their spelling in UTF-8, against Python's own encoder."""

from __future__ import annotations

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from constrained.kernel.byte_trie import SPELLINGS, UTF8, ByteTrie
from constrained.regex.charset import ANY, Ranges, complement, contains, intersection, normalise, union
from constrained.regex.partition import partition_of
from constrained.regex.refinement import refine
from constrained.regex.unicode import ASCII_WORD, python_digits, python_word

EDGES = [0, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF,
         0x40000, 0x10FFFF]
SETS = st.lists(st.lists(st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)).map(lambda p: (min(p), max(p))),
                         max_size=3).map(normalise), max_size=4)  # fmt: skip


Node = tuple[tuple[int, int, int], ...]


def spelled(nodes: list[Node], data: bytes) -> int | None:
    """The class at the end of the path ``data``; None if there is none."""
    node = len(nodes) - 1
    for index, byte in enumerate(data):
        child = next((child for low, high, child in nodes[node] if low <= byte <= high), None)
        if child is None or (child < 0) != (index == len(data) - 1):
            return None
        node = child
    return ~node


@given(SETS)
def test_partition(sets: list[Ranges]) -> None:
    parts = partition_of(sets)
    assert union(*parts.classes) == ANY
    assert all(not intersection(a, b) for i, a in enumerate(parts.classes) for b in parts.classes[:i])
    assert len({tuple(mask >> c & 1 for mask in parts.masks.values()) for c in range(len(parts.classes))}) == len(
        parts.classes)  # fmt: skip
    for ranges in sets:
        assert union(*(c for i, c in enumerate(parts.classes) if parts.masks[ranges] >> i & 1)) == ranges


@given(SETS)
def test_trie_spells_each_code_point_once(sets: list[Ranges]) -> None:
    classes = partition_of(sets).classes
    nodes = ByteTrie(classes, UTF8).nodes()
    for edge in EDGES:
        for code in (edge - 1, edge, edge + 1):
            if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                found = spelled(nodes, chr(code).encode())
                assert found is not None and contains(classes[found], code)


def test_trie_of_large_classes() -> None:
    classes = partition_of([python_word(), python_digits(), ASCII_WORD]).classes
    nodes = ByteTrie(classes, UTF8).nodes()
    codes = [*range(0x3000), *random.Random(0).sample(range(0x3000, 0x110000), 20_000)]
    for code in codes:
        if not 0xD800 <= code <= 0xDFFF:
            found = spelled(nodes, chr(code).encode())
            assert found is not None and contains(classes[found], code)


def test_trie_has_no_other_paths() -> None:
    nodes = ByteTrie((((0x61, 0x61),), complement(((0x61, 0x61),))), UTF8).nodes()
    ill_formed = [b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80",
                  b"\xed\xbf\xbf", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff", b"\xc3\x28"]
    assert [spelled(nodes, data) for data in ill_formed] == [None] * len(ill_formed)
    total = 0
    stack = [(len(nodes) - 1, 1)]
    while stack:  # count all paths
        node, ways = stack.pop()
        for low, high, child in nodes[node]:
            if child < 0:
                total += ways * (high - low + 1)
            else:
                stack.append((child, ways * (high - low + 1)))
    assert total == 0x110000 - 0x800


@given(SETS)
def test_what_no_class_has_has_no_path(sets: list[Ranges]) -> None:
    """Classes need not be all characters."""
    classes = partition_of(sets).classes[1:]
    for way in (UTF8, *SPELLINGS.values()):
        nodes = ByteTrie(classes, way).nodes()
        for edge in EDGES:
            for code in (edge - 1, edge, edge + 1):
                if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                    text = chr(code) if way == UTF8 else json.dumps(chr(code))[1:-1]
                    found = spelled(nodes, text.encode())
                    home = [index for index, ranges in enumerate(classes) if contains(ranges, code)]
                    assert [found] == (home or [None]), (way, code)


def test_refine() -> None:
    left, right = partition_of([((0, 9),)]).classes, partition_of([((5, 20),)]).classes
    joint, (left_home, right_home) = refine([left, right])
    for index, ranges in enumerate(joint):
        assert intersection(ranges, left[left_home[index]]) == ranges == intersection(ranges, right[right_home[index]])
    assert refine([left, left]) == (left, [[0, 1], [0, 1]])
