"""Patterns for tests: all small ones, random ones, and the texts to try them on."""

from __future__ import annotations

import itertools
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import strategies as st

LEAVES = ("a", "b", ".", "[^a]", "^", "$", r"\b", r"\B", "", r"\Z")
WRAPPERS = (
    "(?:%s)*", "(?:%s)+?", "(?:%s)?", "(?:%s)??", "(?:%s)*?", "(?:%s){2}", "(?:%s){1,2}",
    "(?:%s)*+", "(?:%s)?+", "(?:%s){2,}+", "(?>%s)",
    "(?=%s)", "(?!%s)", "(?<=%s)", "(?<!%s)",
)  # fmt: skip


def small_patterns(size: int) -> Iterator[str]:
    """Every pattern of exactly ``size`` nodes out of LEAVES, WRAPPERS, concatenation and alternation."""
    if size == 1:
        yield from LEAVES
        return
    for inner in small_patterns(size - 1):
        for wrapper in WRAPPERS:
            yield wrapper % inner
    for left in range(1, size - 1):
        for first, second in itertools.product(small_patterns(left), small_patterns(size - 1 - left)):
            yield first + second
            yield f"(?:{first}|{second})"


def small_texts(length: int = 5, with_newlines: int = 3) -> list[str]:
    """All texts over a, b up to ``length``, and over a, b and newline up to ``with_newlines``."""
    return ["".join(text) for size in range(length + 1)
            for text in itertools.product("ab\n" if size <= with_newlines else "ab", repeat=size)]


class TooSlow(Exception):
    """The oracle, which backtracks, needs too long."""


@contextmanager
def impatient(seconds: float = 2.0) -> Iterator[None]:
    """Gives up on the oracle's exponential patterns (where the platform has an alarm)."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def verdicts(pattern: str, texts: list[str]) -> list[bool]:
    """What ``re.fullmatch`` says to each text."""
    compiled = re.compile(pattern)
    with impatient():
        return [compiled.fullmatch(text) is not None for text in texts]


#: Characters that fold, are digits, spaces or word characters in one sense and not in another.
ODD_CHARACTERS = "aAbB1_-. \t\n\r\v\x1c\x85\xa0éÉßẞſsSKkKİiı٣０µμςσΣǅǆ漢😀\u2028\ufeff"

_ATOMS = [
    "a", "b", "A", "é", "ß", "s", "k", "K", "漢", "😀", "1", "_", "-", " ", r"\.", r"\n", r"\t", r"\x41", r"\u00e9",
    r"\U0001f600", r"\101", r"\0", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[a-c]", "[^a-c]", "[aé-]", "[]a]",
    "[^]a]", r"[\w-]", r"[^\W\d]", r"[\s\S]", r"[^\s\S]", r"[\b]", "[a-zA-Z]", "[Σ-ω]", "[^ſ]", "[A-K]", r"\N{BULLET}",
]  # fmt: skip
_TESTS = ["^", "$", r"\b", r"\B", r"\A", r"\Z", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)", r"(?=.*\d)", r"(?<=\w\s)"]
_SUFFIXES = ["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "+?", "??", "{1,2}?", "*+", "++", "?+", "{2,3}+"]
_HEADS = ["", "?:", "?i:", "?s:", "?m:", "?x: ", "?a:", "?-i:", "?ms-x:", "?>", "?=", "?!", "?<=", "?<!"]


def _grow(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(parts, min_size=2, max_size=3).map("".join),
        st.lists(parts, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        st.builds("({}{})".format, st.sampled_from(_HEADS), parts),
        st.builds("(?:{}){}".format, parts, st.sampled_from(_SUFFIXES)),
    )


def patterns() -> st.SearchStrategy[str]:
    """Patterns in Python's syntax; most are valid."""
    leaf = st.one_of(st.sampled_from(_ATOMS), st.sampled_from(_ATOMS), st.sampled_from(_TESTS))
    body = st.recursive(leaf, _grow, max_leaves=7)
    flags = st.sampled_from(["", "", "", "(?i)", "(?s)", "(?m)", "(?x)", "(?a)", "(?ai)", "(?ims)"])
    return st.builds("{}{}".format, flags, body)


def odd_texts() -> st.SearchStrategy[str]:
    """Short texts of odd characters."""
    return st.text(st.sampled_from(ODD_CHARACTERS), max_size=6)
