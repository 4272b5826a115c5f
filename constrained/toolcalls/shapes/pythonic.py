"""Calls as Python writes them, in a list or one a line: ``[f(a='x', b=2), g()]``.

Arguments are keywords in the order of the schema, values are Python literals: strings in either kind of quotation
marks, ``True``, ``False``, ``None``, numbers, lists and dicts; or JSON, where the family writes that. The reader writes
each argument as JSON as soon as it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from constrained.errors import GrammarError
from constrained.toolcalls.shapes.base import Format, TaggedCalls, arguments, separated, tag
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.strings import json_of, python_text
from constrained.toolcalls.tools import ToolSpec

__all__ = ["PythonCalls", "read_keywords"]

_PLAIN = re.compile(rb"[^'\"\[\]{}(),]*")
_WORD = re.compile(rb"[A-Za-z_0-9.+-]+")
_WORDS = {b"True": "true", b"False": "false", b"None": "null"}
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_.]*")
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


@dataclass(frozen=True)
class PythonCalls(TaggedCalls):
    """Calls between ``begin`` and ``end``: the whole text, unless ``begin`` is more than a bracket.

    Args:
        begin, end: around all calls of a turn.
        separator: between two.
        style: of ``json_schema`` formats: how values are written.
    """

    begin: str = "["
    end: str = "]"
    separator: str = ", "
    style: str = "pythonic"

    @property
    def triggers(self) -> tuple[str, ...]:
        """The begin without blanks at its end."""
        return (self.begin.rstrip(),)

    @property
    def once(self) -> bool:
        """One list holds all calls."""
        return True

    @property
    def at_start_only(self) -> bool:
        """A bracket in prose is no call."""
        return self.begin == "["

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One tag: the list."""
        for tool in tools:
            if not _IDENTIFIER.fullmatch(tool.name.encode()):
                raise GrammarError(f"the tool {tool.name!r} cannot be called in Python",
                                   hint="a name of letters, digits, _ and dots, not beginning with a digit")
        found = [tag(f"{tool.name}(", arguments(tool, self.style), ")") for tool in tools]
        return [tag(self.begin, separated(found, self.separator, single), self.end)]

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """All calls."""
        yield from source.literal(self.begin.rstrip().encode())
        end = self.end.strip().encode()
        while True:
            yield from source.blanks()
            name = yield from _read(source, _IDENTIFIER)
            yield from source.literal(b"(")
            calls.start(name.decode())
            yield from read_keywords(source, calls)
            yield from source.blanks()
            if (yield from source.next_is(end)):
                break
            yield from source.literal(self.separator.strip().encode())
        yield from source.literal(end)
        calls.commit = source.at


def read_keywords(source: Source, calls: Calls) -> Reading:
    """The arguments of a call from behind its parenthesis on, and the end of the call."""
    written = "{"
    while not (yield from source.next_is(b")")):
        if written != "{":
            yield from source.literal(b",")
            yield from source.blanks()
        key = yield from _read(source, _IDENTIFIER)
        yield from source.blanks()
        yield from source.literal(b"=")
        yield from source.blanks()
        written = (written if written == "{" else ", ") + json_of(key.decode()) + ": "
        written += yield from python_value(source)
        calls.arguments(written.encode())
        written = ""
        yield from source.blanks()
    yield from source.literal(b")")
    calls.arguments((written + "}").encode())
    calls.end()


def _read(source: Source, pattern: re.Pattern[bytes]) -> Generator[None, None, bytes]:
    """All that ``pattern`` matches here; what stands behind it must be there."""
    while True:
        found = pattern.match(source.data, source.at)
        if (found is not None and found.end() < len(source.data)) or source.ended or (
                found is None and source.at < len(source.data)):
            break
        yield
    if found is None:
        raise Broken
    source.at = found.end()
    return found[0]


def python_value(source: Source) -> Generator[None, None, str]:
    """One Python literal, as JSON. Numbers keep their text; brackets are on a stack."""
    closing: list[int] = []
    out: list[str] = []
    while True:
        yield from source.blanks()
        yield from source.need()
        byte = source.data[source.at]
        if byte in b"'\"":
            out.append(json_of(python_text((yield from _quoted(source, byte)))))
        elif byte in _CLOSING:
            closing.append(_CLOSING[byte])
            source.at += 1
            out.append(chr(byte))
            continue
        elif closing and byte == closing[-1]:
            closing.pop()
            source.at += 1
            out.append(chr(byte))
        elif closing and byte in b",:":
            source.at += 1
            out.append(chr(byte) + " ")
            continue
        else:
            word = yield from _read(source, _WORD)
            out.append(_WORDS.get(word) or word.decode())
        if not closing:
            return "".join(out)


def _quoted(source: Source, quote: int) -> Generator[None, None, bytes]:
    start = source.at
    source.at += 1
    while True:
        yield from source.need()
        byte = source.data[source.at]
        if byte == 0x5C:
            yield from source.need(2)
            source.at += 2
            continue
        source.at += 1
        if byte == quote:
            return bytes(source.data[start : source.at])
