"""The format ``idn-hostname``: host names with labels of IDNA2008 (RFC 5890 to 5893), on the safe side.

A code point is valid by the rules of RFC 5892, asked of the running Python's Unicode data: letters, digits and marks
that ``NFKC(casefold(NFKC(c)))`` keeps, with the exceptions and the contextual rules of its appendix A. The Bidi rule
(RFC 5893) splits names in two: those without any right-to-left character, and those of right-to-left labels and of
ASCII labels that begin with a letter.

What makes a label change under NFC is avoided rather than decided: marks that compose with what stands before them,
and two marks of a combining class in a row. Cost: some ms, once (50 where ``unicode_runs`` does not know this Python's
version of Unicode), and a grammar of some thousand positions.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from constrained.regex.builder import alternation, concat
from constrained.regex.charset import Ranges, intersection, normalise, subtract, union
from constrained.regex.syntax import CharSet, Node, Repeat, Text
from constrained.regex.unicode import unicode_property
from constrained.regex.unicode_runs import PLANE_14_SIZE, UNASSIGNED, labelled, packed_runs, unpacked_runs

__all__ = ["idn_hostname", "kinds_of_characters"]

#: RFC 5892, section 2.6: exceptions that are valid, and those that are not.
_ALSO = normalise((code, code) for code in (0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007))
_NEVER = normalise([(0x640, 0x640), (0x7FA, 0x7FA), (0x302E, 0x302F), (0x3031, 0x3035), (0x303B, 0x303B)])
#: Appendix A: what is valid in a context only (the digits are taken out and come back label by label).
_CONTEXT = normalise([(0xB7, 0xB7), (0x375, 0x375), (0x5F3, 0x5F4), (0x30FB, 0x30FB), (0x660, 0x669), (0x6F0, 0x6F9)])
#: Sections 2.3 and 2.4, as far as letters, digits and marks reach: default ignorable, musical and old Hangul.
_IGNORED = normalise([(0x34F, 0x34F), (0x1100, 0x11FF), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x20D0, 0x20FF),
                      (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0xFE00, 0xFE0F), (0x1D100, 0x1D24F), (0xE0000, 0xE0FFF)])
#: Blocks in which all letters are stable, in which there are too many to ask one by one.
_STABLE = normalise([(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0x20000, 0x2EBEF), (0x30000, 0x323AF)])
_SEPARATOR = CharSet(normalise([(0x2E, 0x2E), (0x3002, 0x3002), (0xFF0E, 0xFF0E), (0xFF61, 0xFF61)]))
#: Arabic letters that join on both sides, of which a ZERO WIDTH NON-JOINER may part two.
_DUAL = normalise([(0x626, 0x626), (0x628, 0x628), (0x62A, 0x62E), (0x633, 0x63F), (0x641, 0x647), (0x649, 0x64A)])
_LOWER = normalise([(0x30, 0x39), (0x61, 0x7A)])
_UNITS = 58
_SHORT_LABEL = 15
_LABELS = 10


def _valid() -> Ranges:
    """PVALID of RFC 5892, section 3, but ASCII, what may compose, and what depends on context. Some 30 ms."""
    letters = union(*(unicode_property(name) or () for name in ("Ll", "Lo", "Lm", "Mn", "Mc", "Nd")))
    asked = subtract(intersection(letters, ((0x80, 0x10FFFF),)), _STABLE)
    good = []
    for first, last in asked:
        for code in range(first, last + 1):
            char = chr(code)
            if char.casefold() == char and unicodedata.is_normalized("NFKC", char):
                good.append((code, code))
    composing = []
    for first, last in ((0xC0, 0x33FF), (0xA000, 0xABFF), (0x11000, 0x16FFF)):
        for code in range(first, last + 1):
            parts = unicodedata.decomposition(chr(code)).split()
            if len(parts) == 2 and not parts[0].startswith("<"):
                composing.append((int(parts[1], 16), int(parts[1], 16)))
    valid = union(normalise(good), intersection(letters, _STABLE), _ALSO)
    return subtract(valid, union(_NEVER, _CONTEXT, _IGNORED, normalise(composing)))


#: What ``kinds_of_characters`` tells apart of the valid ones, a bit each, ``_VALID`` aside.
_VALID, _MARK, _COMBINING, _VIRAMA, _RIGHT, _DIGIT, _NSM = (1 << bit for bit in range(7))


def kinds_of_characters() -> list[int]:
    """Of each code point that is looked at (``unicode_runs``) what is asked of it here; some 50 ms."""
    labels = [0] * (UNASSIGNED + PLANE_14_SIZE)
    for first, last in _valid():
        for code in range(first, last + 1):
            char, kinds = chr(code), _VALID
            if unicodedata.category(char) in ("Mn", "Mc"):
                kinds |= _MARK
                if unicodedata.combining(char):
                    kinds |= _COMBINING | (_VIRAMA if unicodedata.combining(char) == _IS_VIRAMA else 0)
            labels[code] = kinds | _BIDIRECTIONAL.get(unicodedata.bidirectional(char), 0)
    return labels


_IS_VIRAMA = 9
_BIDIRECTIONAL = {"R": _RIGHT, "AL": _RIGHT, "AN": _DIGIT, "NSM": _NSM}


def _maybe(node: Node) -> Node:
    return Repeat(node, 0, 1)


def _label(first: Node, more: Node) -> Node:
    """Units with single hyphens between them: none at an end, never two together."""
    return concat([first, Repeat(concat([_maybe(Text("-")), more]), 0, _UNITS - 1)])


@cache
def idn_hostname() -> Node:
    """The tree of the format's strings."""
    kinds = labelled("idn") or unpacked_runs(packed_runs(kinds_of_characters()))

    def of(wanted: int, without: int = 0) -> Ranges:
        return normalise(pair for label, ranges in kinds.items() if label & wanted == wanted and not label & without
                         for pair in ranges)

    valid, marks, combining, viramas, right = map(of, (_VALID, _MARK, _COMBINING, _VIRAMA, _RIGHT))
    left = of(_VALID, _RIGHT | _DIGIT)
    # The letters from U+03E2 on are Coptic.
    greek, hebrew = (intersection(valid, block)
                     for block in (((0x370, 0x3E1), (0x1F00, 0x1FFF)), ((0x5D0, 0x5F2),)))
    kana = intersection(valid, ((0x3005, 0x3007), (0x3041, 0x3096), (0x30A1, 0x30FA), *_STABLE[:2]))
    joiner = concat([CharSet(viramas), CharSet(((0x200C, 0x200D),))])
    mark = _maybe(alternation([CharSet(combining), joiner]))

    # Labels of names without right-to-left characters.
    base = union(left, _LOWER, ((0x6F0, 0x6F9),))
    special = [concat([Text("l"), Repeat(Text("\u00b7l"), 1, None)]), concat([Text("\u0375"), CharSet(greek)])]
    start = alternation([concat([CharSet(subtract(base, marks)), mark]), *special])
    unit = alternation([concat([CharSet(subtract(base, combining)), mark]), *special])
    # U+30FB wants a kana or ideograph in its label: here all letters are, but for ASCII ones.
    dotted = CharSet(union(kana, _LOWER, ((0x30FB, 0x30FB),)))
    middle = Repeat(concat([_maybe(Text("-")), dotted]), 0, _UNITS // 2)
    with_dot = alternation([concat([CharSet(kana), middle]),
                            concat([dotted, middle, _maybe(Text("-")), CharSet(kana), middle])])
    plain = alternation([_label(start, unit), with_dot])

    # Right-to-left labels: digits of one kind only (RFC 5893, rule 4).
    letter = alternation([concat([CharSet(right), _maybe(CharSet(of(_COMBINING | _NSM)))]),
                          concat([CharSet(hebrew), CharSet(((0x5F3, 0x5F4),))]),
                          concat([CharSet(_DUAL), Repeat(concat([Text("\u200c"), CharSet(_DUAL)]), 1, None)])])
    backward = [_label(letter, alternation([letter, CharSet(digits)]))
                for digits in (((0x30, 0x39), (0x6F0, 0x6F9)), ((0x660, 0x669),))]

    upper = CharSet(normalise([(0x41, 0x5A), (0x61, 0x7A)]))
    alphanumeric = CharSet(normalise([(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]))
    ascii_rest = Repeat(concat([_maybe(Text("-")), alphanumeric]), 0, _SHORT_LABEL // 2)
    ascii_label = concat([alphanumeric, ascii_rest])
    lettered = concat([upper, ascii_rest])
    return alternation([_name([plain, ascii_label]), _name([*backward, lettered])])


def _name(labels: list[Node]) -> Node:
    label = alternation(labels)
    return concat([label, Repeat(concat([_SEPARATOR, label]), 0, _LABELS - 1)])
