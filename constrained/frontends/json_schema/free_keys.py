"""Keys that a schema does not name: any string but the declared keys, as one automaton over bytes.

The declared keys form a trie; beside it runs the automaton of string bodies, and a key that leaves the trie goes on
there. The only place where a declared key is felt is its closing quotation mark, which is missing. Keys are in
canonical spelling (raw or as ``ensure_ascii`` writes them, each character for itself); both spellings of a character
lead to the same node. Where each character of the keys has one spelling, that is a ``KeyDfa``, which the kernel writes;
for others rows are made here of ready pieces, at 1-2 us a node.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from constrained.frontends.json_schema.spelling import canonical_spellings, spelled_class
from constrained.grammar.ir import ByteDfa
from constrained.grammar.keys import KeyDfa
from constrained.regex.charset import ANY

__all__ = ["any_key", "other_keys"]

_Row = tuple[tuple[int, int, int], ...]

_QUOTE = 0x22
#: Characters of one byte and one spelling.
_PLAIN = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
_is_plain = re.compile(r"[ !#-\[\]-~]*").fullmatch
#: State 0 is the root of the trie; the body of strings begins at 1.
_BODY = 1


@cache
def _bodies() -> tuple[tuple[_Row, ...], int]:
    """The rows of string bodies, at their place behind state 0, and the state after the closing quotation mark."""
    char = spelled_class(ANY, "canonical")
    assert isinstance(char, ByteDfa)
    (end,) = char.accepting  # the state after a character: the body's beginning again
    after = _BODY + len(char.transitions)
    rows = []
    for state, row in enumerate(char.transitions):
        entries = [(first, last, _BODY + (0 if target == end else target)) for first, last, target in row]
        if state == 0:
            entries.append((_QUOTE, _QUOTE, after))
        rows.append(tuple(sorted(entries)))
    return (*rows, ()), after


@lru_cache(maxsize=4096)
def _cut(state: int, byte: int) -> tuple[_Row, _Row]:
    """The row of a body's state before and behind ``byte``."""
    row = _bodies()[0][state - _BODY]
    before = tuple((first, min(last, byte - 1), target) for first, last, target in row if first < byte)
    behind = tuple((max(first, byte + 1), last, target) for first, last, target in row if last > byte)
    return before, behind


def _overlaid(state: int, branches: dict[int, int], terminal: bool) -> _Row:
    """A body's row with the trie's branches in it, and without the closing quotation mark where a key ends."""
    if len(branches) == 1 and not terminal:
        ((byte, target),) = branches.items()
        before, behind = _cut(state, byte)
        return (*before, (byte, byte, target), *behind)
    row: list[tuple[int, int, int]] = []
    special = sorted(branches.items())
    for first, last, target in _bodies()[0][state - _BODY]:
        if terminal and first == _QUOTE:
            continue
        low = first
        for byte, _ in special:
            if low <= byte <= last:
                if low < byte:
                    row.append((low, byte - 1, target))
                low = byte + 1
        if low <= last:
            row.append((low, last, target))
    row += [(byte, byte, target) for byte, target in special]
    row.sort()
    return tuple(row)


@cache
def _closed_row() -> _Row:
    """The row where a key ends and none goes on."""
    return _overlaid(_BODY, {}, True)


@cache
def any_key() -> ByteDfa:
    """Any string, from behind the opening quotation mark."""
    bodies, after = _bodies()
    return ByteDfa((bodies[0], *bodies), frozenset((after,)))


@lru_cache(maxsize=128)
def other_keys(keys: frozenset[str]) -> ByteDfa:
    """Any string but ``keys``, from behind the opening quotation mark to behind the closing one."""
    bodies, after = _bodies()
    if _is_plain("".join(keys)):
        return KeyDfa(any_key(), tuple([key.encode() for key in sorted(keys)]), _QUOTE)
    rows: list[_Row] = [(), *bodies]
    children: list[dict[str, int]] = [{}]  # of each node, by character
    terminal: list[bool] = [False]
    for key in sorted(keys):
        node = 0
        for char in key:
            known = children[node].get(char)
            if known is None:
                known = children[node][char] = len(children)
                children.append({})
                terminal.append(False)
            node = known
        terminal[node] = True
    place = [0, *range(len(rows), len(rows) + len(children) - 1)]
    rows += [()] * (len(children) - 1)
    for node, after_char in enumerate(children):
        if len(after_char) == 1 and not terminal[node]:
            ((char, child),) = after_char.items()
            if char in _PLAIN:  # nearly all nodes
                byte = ord(char)
                before, behind = _cut(_BODY, byte)
                rows[place[node]] = (*before, (byte, byte, place[child]), *behind)
                continue
        elif not after_char and terminal[node]:
            rows[place[node]] = _closed_row()
            continue
        branches: dict[int, int] = {}
        deep: dict[bytes, int] = {}
        for char, child in after_char.items():
            for spelling in canonical_spellings(char):
                text = spelling[1:-1]
                if len(text) == 1:
                    branches[text[0]] = place[child]
                else:
                    deep[text] = place[child]
        if deep:
            _add_deep(rows, branches, deep)
        rows[place[node]] = _overlaid(_BODY, branches, terminal[node])
    return ByteDfa(tuple(rows), frozenset((after,)))


def _add_deep(rows: list[_Row], branches: dict[int, int], deep: dict[bytes, int]) -> None:
    """Spellings of several bytes: nodes between, each beside the body's state that its bytes lead to."""
    bodies, _ = _bodies()
    trie: dict[int, dict[int, int]] = {}  # of each new state, by byte
    beside: dict[int, int] = {}
    for text, target in deep.items():
        here, state = branches, _BODY
        for byte in text[:-1]:
            state = next(to for first, last, to in bodies[state - _BODY] if first <= byte <= last)
            found = here.get(byte)
            if found is None or found not in trie:
                found = here[byte] = len(rows)
                rows.append(())
                trie[found] = {}
                beside[found] = state
            here = trie[found]
        here[text[-1]] = target
    for place, inside in trie.items():
        rows[place] = _overlaid(beside[place], inside, False)
