"""Host names with A-labels (``xn--`` and the Punycode of a label, RFC 5890), as a part of a grammar.

Whether an A-label is valid is known when it ends, and no finite automaton of a reasonable size knows it: behind the
first ``xn--`` of a name everything up to the closing quote is read by a lazy automaton (``grammar.lazy``) that keeps
the text of the label. Before it, up to ``_BEFORE`` labels are written as any host name's.

A text that is not an A-label yet always becomes one if there is room: it is taken as the ASCII letters of a label,
and a letter is put in front of it, behind it, or both (``_ways``). Nearer than ``_FAR`` characters to the end of what a
label or a name may hold, only those ways and what is valid already are offered.

The Bidi rule (RFC 5893) holds for all labels of a name with a right-to-left one: ``backward`` says that there was one,
``breaks`` that some label does not keep the rule; never both.

Cost: the labels before, 0.1 ms once. Within an A-label a step is 3 us, and a mask has to look at all tokens of letters
and digits: some 0.1 s for a large vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from constrained.frontends.json_schema.punycode import encoded, is_a_label
from constrained.grammar.ir import ByteDfa, CharClass, Choice, Expr, Literal, Sequence
from constrained.grammar.lazy import LazyDfa

__all__ = ["is_host_name", "with_a_labels"]

_NAME, _LABEL = 253, 63
_PREFIX = "xn--"
#: Labels before the first A-label.
_BEFORE = 2
#: From so many characters on every text becomes an A-label (``test_a_labels.py`` looks for a longer way).
_FAR = 12
_LETTER = "\u00e0"

_QUOTE, _HYPHEN, _DOT, _ZERO, _NINE = 0x22, 0x2D, 0x2E, 0x30, 0x39
_IN_A_LABEL = ((_QUOTE, _QUOTE), (_HYPHEN, _DOT), (_ZERO, _NINE), (0x61, 0x7A))
_IN_LABEL = ((_QUOTE, _QUOTE), (_HYPHEN, _DOT), (_ZERO, _NINE), (0x41, 0x5A), (0x61, 0x7A))
_END: tuple[Any, ...] = ()


def _keeps(text: str, backward: bool, breaks: bool) -> tuple[bool, bool] | None:
    """``backward`` and ``breaks`` behind A-label ``xn--text``; None where it is none, or not beside the others."""
    found = is_a_label(text)
    if found is None:
        return None
    backward, breaks = backward or found[0], breaks or not found[1]
    return None if backward and breaks else (backward, breaks)


@lru_cache(maxsize=4096)
def _ways(text: str, backward: bool, breaks: bool) -> tuple[int, ...]:
    """How many characters behind ``text`` make an A-label of it, by the ways that are known.

    Behind the first of these characters the way is still known, by what is left of it: a way is told by the ASCII
    letters it begins with, and these are ``text``, or what stands before the last hyphen in it.
    """
    found = []
    for basic in {text, text.rpartition("-")[0]}:
        for label in (basic + _LETTER, _LETTER + basic, _LETTER + basic + _LETTER, 3 * _LETTER + basic + _LETTER):
            written = encoded(label)
            if written.startswith(text) and _keeps(written, backward, breaks) is not None:
                found.append(len(written) - len(text))
    return tuple(sorted(found))


#: ("A", text of an A-label so far, room, backward, breaks), or of any other label ("L", its length, whether it is the
#: beginning of "xn--", whether it ends in a hyphen, room, backward, breaks); ``room``: characters that may follow.
_State = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """What may follow the first ``xn--`` of a name: at most ``room`` characters, and the closing quote."""

    room: int
    breaks: bool

    alphabet: bytes = b'"-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

    def start(self) -> _State:
        return ("A", "", self.room, False, self.breaks)

    def reads(self, state: _State) -> tuple[tuple[int, int], ...]:
        return () if state == _END else _IN_A_LABEL if state[0] == "A" else _IN_LABEL

    def accepts(self, state: _State) -> bool:
        return state == _END

    def left(self, state: _State) -> int:
        if state == _END:
            return 0
        if state[0] == "L":
            _, length, _, hyphen, _, _, _ = state
            return 2 if hyphen or length == 0 else 1
        _, text, _, backward, breaks = state
        if not text:  # asked for in every grammar: "0ca", _LETTER alone
            return 4
        return 1 if _keeps(text, backward, breaks) is not None else 1 + _ways(text, backward, breaks)[0]

    def step(self, state: _State, byte: int) -> Any:
        return _after_a_label(state, byte) if state[0] == "A" else _after_label(state, byte)


def _after_a_label(state: _State, byte: int) -> Any:
    _, text, room, backward, breaks = state
    if byte not in (_QUOTE, _DOT):
        return _a_label(text + chr(byte), room - 1, backward, breaks)
    kept = _keeps(text, backward, breaks)
    if kept is None:
        return None
    if byte == _QUOTE:
        return _END
    return ("L", 0, True, False, room - 1, *kept) if room >= 2 else None


def _a_label(text: str, room: int, backward: bool, breaks: bool) -> _State | None:
    """The state behind ``xn--text``; None where that becomes no A-label."""
    left = min(_LABEL - len(_PREFIX) - len(text), room)
    if left < _FAR and (left < 0 or _keeps(text, backward, breaks) is None):
        ways = _ways(text, backward, breaks)
        if not ways or ways[0] > left:
            return None
    return ("A", text, room, backward, breaks)


def _after_label(state: _State, byte: int) -> Any:
    _, length, begins, hyphen, room, backward, breaks = state
    if byte in (_QUOTE, _DOT):
        if hyphen or length == 0:
            return None
        if byte == _QUOTE:
            return _END
        return ("L", 0, True, False, room - 1, backward, breaks) if room >= 2 else None
    if room < 1 or length == _LABEL:
        return None
    begins = begins and length < len(_PREFIX) and byte == ord(_PREFIX[length])
    if byte == _HYPHEN:
        if hyphen and length == 3:
            return _a_label("", room - 1, backward, breaks) if begins else None
        if length == 0 or length == _LABEL - 1 or room < 2:
            return None
    elif length == 0 and byte <= _NINE:
        if backward:
            return None
        breaks = True
    return ("L", length + 1, begins, byte == _HYPHEN, room - 1, backward, breaks)


def _label_rest() -> ByteDfa:
    """What follows the first character of a label that is no A-label, and its dot.

    State 2 i: behind i + 1 characters, the last no hyphen; state 2 i + 1: a hyphen; the last one: behind the dot.
    """
    end = 2 * _LABEL - 1
    dot = (_DOT, _DOT, end)
    rows: list[tuple[tuple[int, int, int], ...]] = []
    for state in range(0, end - 1, 2):
        other = state + 2
        rest = ((_ZERO, _NINE, other), (0x41, 0x5A, other), (0x61, 0x7A, other))
        if other == end - 1:  # the last place is no hyphen's
            rows += [(dot, *rest), rest]
        else:
            hyphen = (_HYPHEN, _HYPHEN, other + 1)
            rows += [(hyphen, dot, *rest), rest if state == 4 else (hyphen, *rest)]  # "--" at 3 and 4: an A-label's
    rows += [(dot,), ()]
    return ByteDfa(tuple(rows), frozenset((end,)))


_IS_LETTER, _IS_DIGIT = CharClass(((0x41, 0x5A), (0x61, 0x7A))), CharClass(((_ZERO, _NINE),))


@cache
def with_a_labels(most: int = _NAME) -> Expr | None:
    """Host names of at most ``most`` characters in which there is an A-label, and the closing quote.

    Such of at most ``_BEFORE`` labels before the first one, whose lengths do not matter; None where there is no room.
    """
    rest = _label_rest()
    # What begins with the ``count``-th label: where none before begins with a digit, and where one does. Names with
    # more labels before the first A-label are put in front of those with fewer.
    plain = broken = None
    for count in range(_BEFORE, -1, -1):
        room = min(most, _NAME) - count * (_LABEL + 1) - len(_PREFIX)
        if room < _FAR:
            continue
        plain_options, broken_options = [_a_labelled(room, False)], [_a_labelled(room, True)]
        if plain is not None and broken is not None:
            plain_options += [Sequence((_IS_LETTER, rest, plain)), Sequence((_IS_DIGIT, rest, broken))]
            broken_options.append(Sequence((Choice((_IS_LETTER, _IS_DIGIT)), rest, broken)))
        plain, broken = Choice(tuple(plain_options)), Choice(tuple(broken_options))
    return plain


def _a_labelled(room: int, breaks: bool) -> Expr:
    return Sequence((Literal(_PREFIX.encode()), LazyDfa(_Names(room, breaks))))


def is_host_name(text: str) -> bool:
    """Whether ``text``, of which some label begins with ``xn--``, is a host name; in this all A-labels are told."""
    if not 0 < len(text) <= _NAME:
        return False
    backward = breaks = False
    for label in text.split("."):
        if label.startswith(_PREFIX):
            kept = _keeps(label[len(_PREFIX):], backward, breaks) if len(label) <= _LABEL else None
            if kept is None:
                return False
            backward, breaks = kept
            continue
        if (not 0 < len(label) <= _LABEL or label[0] == "-" or label[-1] == "-" or label[2:4] == "--"
                or not label.isascii() or not label.replace("-", "").isalnum()):
            return False
        breaks = breaks or label[0].isdigit()
        if backward and breaks:
            return False
    return True
