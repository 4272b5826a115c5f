"""Calls as JSON objects with a name and arguments: one in each tag, or a list of them.

    <tool_call>\\n{"name": "f", "arguments": {...}}\\n</tool_call>          Hermes, Qwen
    [TOOL_CALLS][{"name": "f", "arguments": {...}}, ...]                 Mistral v3
    <|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {...}}]<|END_ACTION|>

Written tightly, ``begin`` runs on to the arguments and tools are told apart by plain text; written loosely, whitespace
may stand wherever JSON has it, and the members may come in another order. The reader takes both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from constrained.toolcalls.shapes.base import BLANK, Format, arguments, const, either, in_order, many, tag
from constrained.toolcalls.source import Broken, Calls, Reading, Source
from constrained.toolcalls.strings import json_text
from constrained.toolcalls.tools import ToolSpec

__all__ = ["JsonCalls"]


@dataclass(frozen=True)
class JsonCalls:
    """JSON objects between ``begin`` and ``end``.

    Args:
        begin, end: what stands around a call, or around the list.
        listed: the tag holds a list of calls.
        may_be_empty: the list may have no call.
        name_key, arguments_key: the members of a call.
        id_key, id_pattern: a further member, a string; ``id_first``: it comes first, and must; else last, and may.
        loose: whitespace as JSON allows it. Lists are always loose.
        any_order: arguments may also come before the name (loose only).
        separator: between two tags where calls are required.
        also_single: a list may also be one bare call.
        opening: the bracket of a list.
        other_begins: what may stand instead of ``begin`` (tight only).
    """

    begin: str
    end: str
    listed: bool = False
    may_be_empty: bool = False
    name_key: str = "name"
    arguments_key: str = "arguments"
    id_key: str | None = None
    id_pattern: str = "^[a-zA-Z0-9]{9}$"
    id_first: bool = False
    loose: bool = False
    any_order: bool = False
    separator: str = "\n"
    also_single: bool = False
    opening: str = "["
    other_begins: tuple[str, ...] = ()

    @property
    def triggers(self) -> tuple[str, ...]:
        """The begin without blanks at its end; where there is none, the beginning of a call up to its name."""
        if self.begin or self.listed:
            return (self.begin.rstrip() if self.begin else self.opening,)
        return (f'{{"{self.name_key}": ', *self.other_begins)

    @property
    def once(self) -> bool:
        """Lists are."""
        return self.listed

    @property
    def at_start_only(self) -> bool:
        """Never."""
        return False

    def tags(self, tools: Sequence[ToolSpec], single: bool) -> list[Format]:
        """One tag for each tool where it is written tightly, else one for all."""
        if self.listed:
            call = self._loose_call(tools)
            rest = [] if single else [many(in_order(BLANK, const(","), BLANK, call))]
            inside = in_order(BLANK, call, *rest, BLANK, const("]"))
            if self.may_be_empty:
                inside = either([inside, in_order(BLANK, const("]"))])
            content = in_order(const(self.opening), inside)
            if self.also_single:
                content = either([content, call])
            return [tag(self.begin, content, self.end)]
        if self.loose:
            return [tag(self.begin, self._loose_call(tools), self.end)]
        contents = [(tool.name, arguments(tool)) for tool in tools]
        return [tag(f'{begin}{{"{self.name_key}": "{name}", "{self.arguments_key}": ', content, "}" + self.end)
                for begin in (self.begin, *self.other_begins) for name, content in contents]

    def _loose_call(self, tools: Sequence[ToolSpec]) -> Format:
        colon = in_order(BLANK, const(":"), BLANK)
        comma = in_order(BLANK, const(","), BLANK)
        name_member = in_order(const(f'"{self.name_key}"'), colon)
        arguments_member = in_order(const(f'"{self.arguments_key}"'), colon)
        schemas = [arguments(tool) for tool in tools]
        between = in_order(comma, arguments_member)
        behind = in_order(BLANK, const("}"))
        before = const("{")
        if self.id_key is not None:
            value: Format = {"type": "json_schema", "json_schema": {"type": "string", "pattern": self.id_pattern}}
            identity = in_order(const(f'"{self.id_key}"'), colon, value)
            if self.id_first:
                before = in_order(const("{"), BLANK, identity, BLANK, const(","))
            else:
                behind = in_order({"type": "optional", "content": in_order(comma, identity)}, behind)
        named = [in_order(const(f'"{tool.name}"'), between, schema)
                 for tool, schema in zip(tools, schemas, strict=True)]
        orders = [in_order(name_member, either(named))]
        if self.any_order:
            backward = [in_order(schema, comma, name_member, const(f'"{tool.name}"'))
                        for tool, schema in zip(tools, schemas, strict=True)]
            orders.append(in_order(arguments_member, either(backward)))
        return in_order(before, BLANK, either(orders), behind)

    def read(self, source: Source, calls: Calls, tools: Mapping[str, ToolSpec]) -> Reading:
        """A call, or a list of them. Members in any order, further members are skipped."""
        yield from source.one_of(tuple([begin.encode() for begin in (*self.other_begins, self.begin.rstrip())]))
        yield from source.blanks()
        if self.listed and (yield from source.next_is(self.opening.encode())):
            source.at += len(self.opening.encode())
            yield from source.blanks()
            if not (yield from source.next_is(b"]")):
                while True:
                    yield from self._call(source, calls)
                    yield from source.blanks()
                    if (yield from source.one_of((b",", b"]"))) == 1:
                        break
                    yield from source.blanks()
            else:
                source.at += 1
        else:
            yield from self._call(source, calls)
        end = self.end.encode()
        if end:
            yield from source.blanks()
            yield from source.literal(end.lstrip())
            calls.commit = source.at

    def _call(self, source: Source, calls: Calls) -> Reading:
        yield from source.literal(b"{")
        name: str | None = None
        early: bytes | None = None
        done = False
        while True:
            yield from source.blanks()
            key = json_text((yield from source.json_string()))
            yield from source.blanks()
            yield from source.literal(b":")
            yield from source.blanks()
            if key == self.name_key and name is None:
                name = json_text((yield from source.json_string()))
                if early is not None:
                    calls.start(name)
                    calls.arguments(early)
                    done = True
            elif key == self.arguments_key and not done and early is None:
                if name is None:
                    early = yield from source.json_value()
                else:
                    calls.start(name)
                    yield from stream_value(source, calls)
                    done = True
            else:
                yield from source.json_value()
            yield from source.blanks()
            if (yield from source.one_of((b",", b"}"))) == 1:
                break
        if not done:
            raise Broken
        calls.end()


def stream_value(source: Source, calls: Calls) -> Reading:
    """A JSON value, handed on as arguments while it comes."""
    given = source.at

    def progress() -> None:
        nonlocal given
        if source.at > given:
            data = bytes(source.data[given : source.at])
            given = source.at
            calls.arguments(data)

    yield from source.json_value(progress)
