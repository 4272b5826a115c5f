"""Text that stops at the first of several strings, as a byte automaton.

The product of UTF-8 and the Aho-Corasick automaton (1975) of the stop strings. State = (UTF-8 state, trie node,
code points); a stop ends the text the moment its last byte is read, so the longest proper suffix rule needs no
look-ahead.
Cost: one state for each byte of the stops and a few for UTF-8. A stop that is no part of UTF-8 text never matches.
"""

from __future__ import annotations

from functools import lru_cache

from constrained.engine.utf8 import char_template
from constrained.grammar.ir import ByteDfa

__all__ = ["text_until"]

Key = tuple[int, int, int]
"""(UTF-8 state, trie node, code points begun)."""


@lru_cache(maxsize=256)
def text_until(stops: tuple[bytes, ...], consume: bool, excludes: tuple[bytes, ...] = (),
               max_chars: int | None = None) -> ByteDfa:
    """Any UTF-8 text in which neither a stop nor something excluded occurs, followed by the first stop if ``consume``.

    A stop wins over something excluded that ends with it. ``max_chars``: code points of text and stop together; one
    copy of the automaton for each number of them.
    """
    if any(not stop for stop in (*stops, *excludes)):
        return ByteDfa(((),), frozenset([0]) if consume else frozenset())
    goto, fail, terminal = _aho_corasick((*stops, *excludes))
    ending = _ending(stops, goto, fail)
    count, edges = char_template(((0, 0x10FFFF),))
    utf8: list[list[tuple[int, int, int]]] = [[] for _ in range(count)]
    for state, lo, hi, to in edges:
        utf8[state].append((lo, hi, 0 if to == 1 else to))
    counting = 0 if max_chars is None else 1
    ids: dict[Key, int] = {(0, 0, 0): 0}
    order: list[Key] = [(0, 0, 0)]
    transitions: list[tuple[tuple[int, int, int], ...]] = []
    end = -1
    for key in order:
        state, node, chars = key
        out: list[tuple[int, int, int]] = []
        if state == 0:
            if chars == max_chars:
                transitions.append(())
                continue
            chars += counting
        for lo, hi, to in utf8[state]:
            special = sorted({b for n in _chain(node, fail) for b in goto[n] if lo <= b <= hi})
            here = lo
            for byte in [*special, hi + 1]:
                if here < byte:
                    out.append((here, byte - 1, _id(ids, order, (to, 0, chars))))
                if byte <= hi:
                    after = _follow(node, byte, goto, fail)
                    if after in terminal:
                        if consume and after in ending:
                            out.append((byte, byte, end))
                    else:
                        out.append((byte, byte, _id(ids, order, (to, after, chars))))
                here = byte + 1
        transitions.append(tuple(out))
    if consume:
        final = len(transitions)
        done = [tuple((lo, hi, final if to == end else to) for lo, hi, to in row) for row in transitions]
        return ByteDfa((*done, ()), frozenset([final]))
    accepting = frozenset(i for i, key in enumerate(order) if key[0] == 0)
    return ByteDfa(tuple(transitions), accepting)


def _ending(stops: tuple[bytes, ...], goto: list[dict[int, int]], fail: list[int]) -> set[int]:
    """The trie nodes whose text ends with a stop."""
    found: set[int] = set()
    for stop in stops:
        node = 0
        for byte in stop:
            node = goto[node][byte]
        found.add(node)
    return {node for node in range(len(goto)) if not found.isdisjoint(_chain(node, fail))}


def _id(ids: dict[Key, int], order: list[Key], key: Key) -> int:
    known = ids.get(key)
    if known is None:
        known = ids[key] = len(order)
        order.append(key)
    return known


def _chain(node: int, fail: list[int]) -> list[int]:
    found = [node]
    while node:
        node = fail[node]
        found.append(node)
    return found


def _follow(node: int, byte: int, goto: list[dict[int, int]], fail: list[int]) -> int:
    while byte not in goto[node]:
        if node == 0:
            return 0
        node = fail[node]
    return goto[node][byte]


def _aho_corasick(stops: tuple[bytes, ...]) -> tuple[list[dict[int, int]], list[int], set[int]]:
    goto: list[dict[int, int]] = [{}]
    terminal: set[int] = set()
    for stop in stops:
        node = 0
        for byte in stop:
            if byte not in goto[node]:
                goto[node][byte] = len(goto)
                goto.append({})
            node = goto[node][byte]
        terminal.add(node)
    fail = [0] * len(goto)
    queue = list(goto[0].values())
    for node in queue:
        for byte, child in goto[node].items():
            queue.append(child)
            fail[child] = _follow(fail[node], byte, goto, fail) if node else 0
            if fail[child] in terminal:
                terminal.add(child)
    return goto, fail, terminal
