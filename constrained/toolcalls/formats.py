"""``ToolFormat``: how a model family writes tool calls, as one value; and the registry of families.

From the one value come the grammar (``structural_tag``), the reader (``parser``) and the recognition of the family in
a chat template. Law: whatever the grammar accepts, the parser returns as the same calls, however the bytes are cut,
and the arguments of each validate against the tool's schema.

    fmt = get_format("qwen3")
    tag = fmt.structural_tag(tools, tool_choice="required")
    compiled = compiler.compile_structural_tag(tag)
    parser = fmt.parser(tools, tool_choice="required")
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from constrained.errors import ConstrainedError, GrammarError
from constrained.frontends.structural_tag.thinking import Thinking
from constrained.toolcalls.parser import ToolCallParser
from constrained.toolcalls.shapes import CallShape, JsonCalls
from constrained.toolcalls.shapes.base import Format, TurnCalls, either, in_order, separated, tag
from constrained.toolcalls.tools import Selection, ToolChoice, select_tools, tool_specs

__all__ = ["ToolFormat", "detect_format", "format_names", "get_format", "register_format"]


@dataclass(frozen=True)
class ToolFormat:
    """One family.

    Args:
        name: what it is found by.
        calls: the shape of its calls.
        think: the delimiters of its think section; None: it has none.
        answer: what stands around the text of an answer, if anything: both are left out of the events.
        marks: texts that stand in the chat templates of the family, most telling first; with several, all must.
        absent: texts that do not, where another family's marks include these.
        tokens: delimiters that the family's vocabularies have as tokens: by them the family is told from others too.
        aliases: other names.
    """

    name: str
    calls: CallShape
    think: tuple[str, str] | None = ("<think>", "</think>")
    answer: tuple[str, str] | None = None
    marks: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def whole_turn(self) -> bool:
        """The family frames every text, answers without tools too: its outputs are always read by its parser."""
        return isinstance(self.calls, TurnCalls)

    def structural_tag(self, tools: Iterable[Any], *, tool_choice: ToolChoice = "auto",
                       parallel_tool_calls: bool = True, thinking: Any = None,
                       answer: Format | None = None) -> dict[str, Any]:
        """What the model may write, for ``GrammarCompiler.compile_structural_tag``.

        Args:
            tools: ``ToolSpec`` values, or dicts of a chat request.
            tool_choice: ``"auto"`` (text and calls), ``"none"`` (text without calls), ``"required"`` (calls, no text),
                a function, allowed tools, or a list of names.
            parallel_tool_calls: whether there may be several calls.
            thinking: the think section before all this: see ``thinking``.
            answer: a format (a part of a structural tag) of the text of an answer, which is free without one. The turn
                is then such a text or calls.

        Raises:
            GrammarError: an unknown choice, a tool name that cannot be written, a family without a think section.
        """
        selection = select_tools(tools, tool_choice, parallel_tool_calls)
        section = self.thinking(thinking)
        if isinstance(self.calls, TurnCalls):
            return _document(self.calls.document(selection.tools, required=selection.required,
                                                 single=selection.single, section=section, answer=answer))
        excludes = [*([] if section is None else [section.begin, section.end]), *(self.answer or ())]
        if answer is not None and not selection.required:
            body: Format = dict(answer) if self.answer is None else tag(self.answer[0], answer, self.answer[1])
            calls = [self._content(replace(selection, required=True), excludes)] if selection.tools else []
            content = either([*calls, body])
            return _document(content if section is None else section.before(content))
        content = self._content(selection, excludes)
        if self.answer is not None and not selection.required:
            text: Format = {"type": "any_text", "excludes": [*self.calls.triggers, *excludes[: len(excludes) - 1]]}
            content = either([tag(self.answer[0], text, self.answer[1]), content])
        return _document(content if section is None else section.before(content))

    def _content(self, selection: Selection, excludes: list[str]) -> Format:
        calls = self.calls
        if not selection.tools:
            # text that no parser would take for a call
            if calls.at_start_only:
                return either([_not_beginning(calls.triggers[0], excludes), {"type": "const_string", "value": ""}])
            return {"type": "any_text", "excludes": [*calls.triggers, *excludes]}
        if selection.required and isinstance(calls, JsonCalls):
            calls = replace(calls, may_be_empty=False)
        tags = calls.tags(selection.tools, selection.single)
        if selection.required:
            if calls.once:
                return either(tags)
            return separated(tags, calls.separator, selection.single)
        if calls.at_start_only:
            return either([*tags, _not_beginning(calls.triggers[0], excludes), {"type": "const_string", "value": ""}])
        return {"type": "triggered_tags", "triggers": list(calls.triggers), "tags": tags, "excludes": excludes,
                "stop_after_first": selection.single or calls.once}

    def parser(self, tools: Iterable[Any] = (), *, tool_choice: ToolChoice = "auto", thinking: Any = None
               ) -> ToolCallParser:
        """A parser for one generation: ``feed(bytes) -> events``, then ``finish()``.

        Arguments as they were given to ``structural_tag``. Without a grammar (``tools`` unknown) it reads what it can.
        """
        specs = tool_specs(tools)
        calls = self.calls
        allowed = not (isinstance(tool_choice, str) and tool_choice == "none") or isinstance(calls, TurnCalls)
        section = self.thinking(thinking)
        if isinstance(calls, TurnCalls) and calls.reads_thoughts and section is not None and not section.opened:
            section = None
        return ToolCallParser(calls, specs, thinking=section, calls_allowed=allowed, dropped=self.answer or ())

    def thinking(self, value: Any) -> Thinking | None:
        """A think section in the family's delimiters, out of what ``thinking=`` may be.

        None or False: no section. True or ``"optional"``, ``"required"``: a section that may or must come first.
        ``"opened"``: the prompt has opened it. A dict: ``mode``, ``max_tokens``, ``opened``, ``prompt`` (looked at
        for an open section), ``begin``, ``end``. A ``Thinking`` is taken as it is.

        Raises ``GrammarError``.
        """
        if value is None or value is False:
            return None
        if isinstance(value, Thinking):
            return value
        if self.think is None and not (isinstance(value, Mapping) and "begin" in value and "end" in value):
            raise GrammarError(f"the format {self.name} has no think section",
                               hint='give its delimiters: thinking={"begin": ..., "end": ...}')
        return Thinking.of(value, *(self.think or ("", "")))


def _document(content: Format) -> dict[str, Any]:
    return {"type": "structural_tag", "format": content}


def _not_beginning(trigger: str, excludes: list[str]) -> Format:
    """Text that does not begin with the trigger: with a bracket."""
    first = trigger[0]
    pattern = "[^" + ("\\" if first in "[]^\\-" else "") + first + "]"
    return in_order({"type": "regex", "pattern": pattern}, {"type": "any_text", "excludes": excludes})


_guard = threading.Lock()
_formats: dict[str, ToolFormat] = {}
_order: list[ToolFormat] = []


def register_format(fmt: ToolFormat, *, overwrite: bool = False) -> ToolFormat:
    """Make a format known under its name and aliases, before the others in ``detect_format``.

    Raises ``ConstrainedError`` for a name that is taken, unless ``overwrite``.
    """
    if not isinstance(fmt, ToolFormat):
        raise ConstrainedError(f"a tool format is a ToolFormat, not {type(fmt).__name__}")
    with _guard:
        for name in (fmt.name, *fmt.aliases):
            if name in _formats and not overwrite:
                raise ConstrainedError(f"a tool format is already called {name!r:.60}", hint="pass overwrite=True")
        _order[:] = [one for one in _order if one.name != fmt.name]
        for name in (fmt.name, *fmt.aliases):
            _formats[name] = fmt
        _order.insert(0, fmt)
    return fmt


def format_names() -> tuple[str, ...]:
    """The names of all formats, aliases left out."""
    return tuple(sorted(one.name for one in _order))


def get_format(name: str) -> ToolFormat:
    """The format of this name or alias. Raises ``ConstrainedError``."""
    found = _formats.get(name)
    if found is None:
        raise ConstrainedError(f"unknown tool format {name!r:.60}", hint="one of: " + ", ".join(format_names()))
    return found


def detect_format(chat_template: str | None, token_texts: Iterable[str] = ()) -> ToolFormat:
    """The family that a chat template, or the control and added tokens of a vocabulary, belong to.

    A format fits a template that holds all of its marks and none of its ``absent`` texts; among those that fit the last
    registered wins, families before ``"json"``. Without a template, or where none fits, the tokens decide: the format
    whose ``tokens`` are all there and are the most. ``"json"`` where nothing is known.
    """
    if chat_template:
        for fmt in _order:
            if fmt.marks and all(mark in chat_template for mark in fmt.marks) and not any(
                    mark in chat_template for mark in fmt.absent):
                return fmt
    texts = set(token_texts)
    best: ToolFormat | None = None
    for fmt in _order:
        if fmt.tokens and texts.issuperset(fmt.tokens) and (best is None or len(fmt.tokens) > len(best.tokens)):
            best = fmt
    return best if best is not None else get_format("json")
