"""Strings as JSON and Python write them, back to text; and values as the JSON that arguments are reported in."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import Any

from constrained.toolcalls.source import Broken, Calls, Reading, Source

__all__ = ["JsonStringWriter", "json_of", "json_text", "python_text", "stream_string"]

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0", "\n": ""}


def json_text(data: bytes) -> str:
    """The text of a JSON string. Raises ``Broken`` if it is none."""
    try:
        value = json.loads(data)
    except (ValueError, UnicodeDecodeError):
        raise Broken from None
    if not isinstance(value, str):
        raise Broken
    return value


def python_text(data: bytes) -> str:
    """The text of a Python string of either kind of quotation marks; escaped surrogates are joined as in JSON."""
    text = data[1:-1].decode("utf-8", errors="replace")
    if "\\" not in text:
        return text
    found = _ESCAPE.sub(_unescaped, text)
    return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", errors="replace")


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\N{REPLACEMENT CHARACTER}"
    char = match[4]
    return _SIMPLE.get(char, char if char in "'\"\\" else "\\" + char)


class JsonStringWriter:
    """Raw text, handed on as the inside of a JSON string while it comes; cut characters wait for their rest.

    ``trim``: one line end at each side is not part of the text, so the last one seen always waits.
    """

    def __init__(self, give: Callable[[bytes], None], *, trim: bool) -> None:
        self._give = give
        self._trim = trim
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._first = trim
        self._held = ""

    def write(self, data: bytes, *, final: bool = False) -> None:
        """More of the text."""
        text = self._held + self._decoder.decode(data, final)
        self._held = ""
        if self._first and text:
            text = text.removeprefix("\n")
            self._first = False
        if self._trim and text.endswith("\n"):
            text, self._held = text[:-1], "\n"
        if text:
            self._give(json_of(text)[1:-1].encode())

    def end(self) -> None:
        """The text is over."""
        self.write(b"", final=True)


def json_of(value: Any) -> str:
    """A value as JSON text."""
    return json.dumps(value, ensure_ascii=False)


def stream_string(source: Source, calls: Calls, stop: bytes, *, trim: bool) -> Reading:
    """Raw text up to and with ``stop``, handed on as a JSON string while it comes."""
    calls.arguments(b'"')
    text = JsonStringWriter(calls.arguments, trim=trim)
    if (yield from source.until_one((stop,), text.write)) is None:
        raise Broken
    text.end()
    calls.arguments(b'"')
