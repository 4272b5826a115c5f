"""Shared reader of grammar texts: decoding, places, escapes.

A ``Source`` is a text that has been checked once (UTF-8, size, no surrogates) and can name any of its places.
Front ends scan it with compiled regular expressions and keep offsets only; lines and columns are worked out
when an error is made, so a text without errors never pays for them.

Lines end at LF, CR LF or CR. Lines and columns count from 1; columns count characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

from ..errors import GrammarLimitError, GrammarSyntaxError, echo
from ..limits import Limits

__all__ = ["ESCAPE", "SIMPLE_ESCAPES", "Source", "code_point", "unescape"]

_LINE_END = re.compile(r"\r\n?|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9A-Fa-f]{2})|u(?P<u>[0-9A-Fa-f]{4})|U(?P<U>[0-9A-Fa-f]{8})|u\{(?P<braced>[0-9A-Fa-f]{1,8})\}|(?P<one>.))",
    re.DOTALL,
)
# What a backslash makes of one character: C's control characters, and ASCII punctuation as itself.
SIMPLE_ESCAPES = {
    "n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b",
    **{char: char for char in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"},
}
_NUMERIC = {
    "x": r"\x needs two hexadecimal digits",
    "u": r"\u needs four hexadecimal digits, or one to eight in braces",
    "U": r"\U needs eight hexadecimal digits",
}


class Source:
    """A grammar text, checked; ``text`` has no byte order mark and no surrogates.

    Raises ``GrammarSyntaxError`` for bytes that are no UTF-8 and for lone surrogates in a ``str``, and
    ``GrammarLimitError`` beyond ``limits.max_source_chars``.
    """

    __slots__ = ("text",)

    def __init__(self, text: str | bytes | bytearray | memoryview, limits: Limits) -> None:
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise GrammarSyntaxError(f"a grammar is a str or UTF-8 bytes, not {type(text).__name__}")
        if len(text) > limits.max_source_chars * (1 if isinstance(text, str) else 4):
            self._refuse_size(len(text), limits)
        if not isinstance(text, str):
            text = self._decode(bytes(text))
        if len(text) > limits.max_source_chars:
            self._refuse_size(len(text), limits)
        self.text = text.removeprefix("\ufeff")
        bad = None if self.text.isascii() else _SURROGATE.search(self.text)
        if bad is not None:
            self.fail(bad.start(), f"U+{ord(bad[0]):04X} is half of a surrogate pair and no character")

    @staticmethod
    def _refuse_size(size: int, limits: Limits) -> NoReturn:
        raise GrammarLimitError("max_source_chars", limits.max_source_chars, f"the grammar text is too long: {size}")

    @staticmethod
    def _decode(data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8")
            ends = list(_LINE_END.finditer(before))
            column = len(before) - (ends[-1].end() if ends else 0) + 1
            raise GrammarSyntaxError(
                f"byte 0x{data[error.start]:02X} at offset {error.start} is no UTF-8 ({error.reason})",
                line=len(ends) + 1, column=column, hint="save the grammar as UTF-8",
            ) from None

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both from 1."""
        line, start = 1, 0
        for end in _LINE_END.finditer(self.text, 0, offset):
            line, start = line + 1, end.end()
        return line, offset - start + 1

    def lines(self, offsets: Iterable[int]) -> list[int]:
        """The lines of ascending offsets, in one pass over the text."""
        found, line, start = [], 1, 0
        for offset in offsets:
            line, start = line + sum(1 for _ in _LINE_END.finditer(self.text, start, offset)), offset
            found.append(line)
        return found

    def fail(self, offset: int, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise ``GrammarSyntaxError`` at ``offset`` with the line and a caret."""
        line, column = self.place(offset)
        start = offset - column + 1
        stop = _LINE_END.search(self.text, start)
        # Only the line in question is handed on, as line 1 of a text padded with empty lines.
        shown = self.text[start : stop.start() if stop else len(self.text)]
        raise GrammarSyntaxError(message, line=line, column=column, source="\n" * (line - 1) + shown, hint=hint)

    def shown(self, offset: int) -> str:
        """The character at ``offset`` as a message shows it."""
        if offset >= len(self.text):
            return "the end of the grammar"
        return echo(self.text[offset])


def code_point(source: Source, match: re.Match[str], offset: int, simple: Mapping[str, str]) -> int:
    """The code point an ``ESCAPE`` match stands for; ``offset`` is where it lies in the source."""
    one = match["one"]
    if one is not None:
        meant = simple.get(one)
        if meant is None:
            if one in _NUMERIC:
                source.fail(offset, _NUMERIC[one])
            hint = "write the ranges out, as in [0-9] or [A-Za-z0-9_]" if one in "dDsSwW" else None
            source.fail(offset, f"unknown escape \\{one if one.isprintable() else repr(one)}", hint=hint)
        return ord(meant)
    value = int(match[match.lastgroup or "x"], 16)
    if value > 0x10FFFF:
        source.fail(offset, f"U+{value:X} is beyond the last code point U+10FFFF")
    return value


def unescape(source: Source, start: int, stop: int, simple: Mapping[str, str]) -> str:
    """The text between two offsets with its escapes replaced.

    ``simple`` maps the character after a backslash to what it means. A surrogate is refused: no UTF-8 text
    contains one.
    """
    body = source.text[start:stop]
    if "\\" not in body:
        return body

    def replace(match: re.Match[str]) -> str:
        value = code_point(source, match, start + match.start(), simple)
        if 0xD800 <= value <= 0xDFFF:
            source.fail(start + match.start(), f"U+{value:04X} is half of a surrogate pair and no character",
                        hint=r"write the character itself, or its code point as in \U0001F600")
        return chr(value)

    return ESCAPE.sub(replace, body)
