"""Labels of IDNA2008: Punycode (RFC 3492), and which labels are valid (RFC 5891 to 5893).

``decoded`` and ``encoded`` are the two procedures of RFC 3492, section 6. ``is_label`` holds a label to RFC 5891,
section 4.2: composed, no hyphen at an end nor at 3 and 4, no mark in front, every character valid by RFC 5892, asked
of the running Python's Unicode data. ``bidi`` tells what the Bidi rule (RFC 5893, section 2) says of it.

One thing is held back on the safe side: of the letters that join (a ZERO WIDTH NON-JOINER may part two) only Arabic
ones are known. Cost: 10-20 us a label.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import cache, lru_cache

from constrained.regex.charset import Ranges, normalise
from constrained.regex.unicode import unicode_property

__all__ = ["bidi", "decoded", "encoded", "is_a_label", "is_label"]

_BASE, _T_MIN, _T_MAX, _SKEW, _DAMP, _BIAS, _FIRST = 36, 1, 26, 38, 700, 72, 0x80
_DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789"
_VALUES = {char: value for value, char in enumerate(_DIGITS)}
_LAST = 0x10FFFF

#: RFC 5892, section 2.6.
_ALSO = frozenset((0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007))
_NEVER = frozenset((0x640, 0x7FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B))
#: Digits that appendix A decides on; its other characters are neither letters, digits nor marks.
_IN_CONTEXT: Ranges = ((0x660, 0x669), (0x6F0, 0x6F9))
#: Sections 2.8 and 2.9: blocks of symbols, and old Hangul.
_BLOCKS: Ranges = ((0x1100, 0x11FF), (0x20D0, 0x20FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0x1D100, 0x1D24F))
_LETTERS = frozenset(("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"))
_VIRAMA = 9
#: Joining types of Arabic letters (Unicode's ArabicShaping.txt): on both sides, and only to what stands before.
_DUAL: Ranges = normalise([(0x626, 0x626), (0x628, 0x628), (0x62A, 0x62E), (0x633, 0x63F), (0x641, 0x647),
                           (0x649, 0x64A), (0x66E, 0x66F), (0x678, 0x687), (0x69A, 0x6BF), (0x6CC, 0x6CC),
                           (0x6CE, 0x6CE), (0x6D0, 0x6D1), (0x6FA, 0x6FC)])
_RIGHT: Ranges = normalise([(0x622, 0x625), (0x627, 0x627), (0x629, 0x629), (0x62F, 0x632), (0x648, 0x648),
                            (0x671, 0x673), (0x675, 0x677), (0x688, 0x699), (0x6C4, 0x6CB), (0x6CD, 0x6CD),
                            (0x6CF, 0x6CF), (0x6D2, 0x6D3), (0x6EE, 0x6EF)])


def _adapted(delta: int, points: int, first: bool) -> int:
    delta = delta // _DAMP if first else delta // 2
    delta += delta // points
    bias = 0
    while delta > (_BASE - _T_MIN) * _T_MAX // 2:
        delta //= _BASE - _T_MIN
        bias += _BASE
    return bias + (_BASE - _T_MIN + 1) * delta // (delta + _SKEW)


def decoded(text: str) -> str | None:
    """What Punycode ``text`` (lower case, without ``xn--``) stands for; None where it is none."""
    basic, hyphen, digits = text.rpartition("-")
    if hyphen and not basic:
        return None
    points = [ord(char) for char in basic]
    code, index, bias = _FIRST, 0, _BIAS
    at = 0
    while at < len(digits):
        before, weight, k = index, 1, _BASE
        while True:
            if at == len(digits):
                return None
            digit = _VALUES.get(digits[at])
            if digit is None:
                return None
            at += 1
            index += digit * weight
            threshold = min(max(k - bias, _T_MIN), _T_MAX)
            if digit < threshold:
                break
            weight *= _BASE - threshold
            k += _BASE
        count = len(points) + 1
        bias = _adapted(index - before, count, before == 0)
        code += index // count
        index %= count
        if code > _LAST or 0xD800 <= code <= 0xDFFF:
            return None
        points.insert(index, code)
        index += 1
    return "".join(map(chr, points))


def encoded(label: str) -> str:
    """The Punycode of ``label``."""
    points = [ord(char) for char in label]
    out = [char for char in label if ord(char) < _FIRST]
    done = basic = len(out)
    if basic:
        out.append("-")
    code, delta, bias = _FIRST, 0, _BIAS
    while done < len(points):
        least = min(point for point in points if point >= code)
        delta += (least - code) * (done + 1)
        code = least
        for point in points:
            if point < code:
                delta += 1
            elif point == code:
                rest, k = delta, _BASE
                while True:
                    threshold = min(max(k - bias, _T_MIN), _T_MAX)
                    if rest < threshold:
                        break
                    rest, digit = divmod(rest - threshold, _BASE - threshold)
                    out.append(_DIGITS[threshold + digit])
                    k += _BASE
                out.append(_DIGITS[rest])
                bias = _adapted(delta, done + 1, done == basic)
                delta = 0
                done += 1
        delta += 1
        code += 1
    return "".join(out)


def _within(ranges: Ranges, code: int) -> bool:
    place = bisect_right(ranges, (code, _LAST + 1)) - 1
    return place >= 0 and ranges[place][0] <= code <= ranges[place][1]


@cache
def _property(name: str) -> Ranges:
    found = unicode_property(name)
    assert found is not None
    return found


@lru_cache(maxsize=4096)
def _is_valid(char: str) -> bool:
    """PVALID of RFC 5892, section 3."""
    code = ord(char)
    if code < _FIRST:
        return char == "-" or "0" <= char <= "9" or "a" <= char <= "z"
    if code in _ALSO:
        return True
    if code in _NEVER or _within(_IN_CONTEXT, code) or _within(_BLOCKS, code):
        return False
    if unicodedata.category(char) not in _LETTERS:
        return False
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    return folded == char and not _within(_property("Default_Ignorable_Code_Point"), code)


def _in_context(label: str, at: int) -> bool:
    """The rules of RFC 5892, appendix A."""
    code = ord(label[at])
    before = label[at - 1] if at else ""
    after = label[at + 1 : at + 2]
    if code == 0xB7:
        return before == "l" and after == "l"
    if code == 0x375:
        return bool(after) and _within(_property("Script=Greek"), ord(after))
    if code in (0x5F3, 0x5F4):
        return bool(before) and _within(_property("Script=Hebrew"), ord(before))
    if code == 0x30FB:
        return any(_within(_property(f"Script={name}"), ord(char)) for char in label
                   for name in ("Hiragana", "Katakana", "Han"))
    if 0x660 <= code <= 0x669:
        return not any("\u06f0" <= char <= "\u06f9" for char in label)
    if 0x6F0 <= code <= 0x6F9:
        return not any("\u0660" <= char <= "\u0669" for char in label)
    if code not in (0x200C, 0x200D):
        return False
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if code == 0x200D:
        return False
    left = label[:at].rstrip(_transparent(label[:at]))[-1:]
    right = label[at + 1 :].lstrip(_transparent(label[at + 1 :]))[:1]
    return (bool(left) and _within(_DUAL, ord(left))
            and bool(right) and (_within(_DUAL, ord(right)) or _within(_RIGHT, ord(right))))


def _transparent(text: str) -> str:
    """The characters of ``text`` that joining looks through."""
    return "".join(char for char in text if unicodedata.category(char) in ("Mn", "Me"))


def is_label(label: str) -> bool:
    """Whether ``label`` is valid, but for its length and the Bidi rule."""
    if not label or label[0] == "-" or label[-1] == "-" or label[2:4] == "--":
        return False
    if unicodedata.category(label[0])[0] == "M" or not unicodedata.is_normalized("NFC", label):
        return False
    return all(_is_valid(char) or _in_context(label, at) for at, char in enumerate(label))


def bidi(label: str) -> tuple[bool, bool]:
    """Whether a label has right-to-left characters, and whether it keeps the six conditions of RFC 5893, section 2."""
    classes = [unicodedata.bidirectional(char) for char in label]
    backward = any(one in ("R", "AL", "AN") for one in classes)
    while classes and classes[-1] == "NSM":
        classes.pop()
    if not classes:
        return backward, False
    kinds = set(map(unicodedata.bidirectional, label))
    neutral = {"EN", "ES", "CS", "ET", "ON", "BN", "NSM"}
    if classes[0] in ("R", "AL"):
        keeps = (kinds <= neutral | {"R", "AL", "AN"} and classes[-1] in ("R", "AL", "EN", "AN")
                 and not {"EN", "AN"} <= kinds)
    else:
        keeps = classes[0] == "L" and kinds <= neutral | {"L"} and classes[-1] in ("L", "EN")
    return backward, keeps


@lru_cache(maxsize=4096)
def is_a_label(text: str) -> tuple[bool, bool] | None:
    """Of an A-label whose ``xn--`` is left out (lower case): what ``bidi`` says; None where it is none.

    A label that has right-to-left characters keeps the Bidi rule in any case (RFC 5891, section 4.2.3.4).
    """
    label = decoded(text)
    if label is None or label.isascii() or not is_label(label) or encoded(label) != text:
        return None
    backward, keeps = bidi(label)
    return None if backward and not keeps else (backward, keeps)
