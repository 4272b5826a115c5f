"""Structural tags to rules: the entry of this front end.

A tag is a tree of formats; each kind is one method that checks its fields and writes an expression. The methods are
generators that yield their sub-formats, and one loop with a stack drives them: nothing recurses into the input. A
format that ends in free text is given the ends of the tag around it, since its text stops there.

Cost: some 10 us a format, beside what schemas, patterns and grammars in it take.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from constrained.errors import GrammarError, GrammarLimitError, SchemaError, StructuralTagError, echo
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.regex import from_regex
from constrained.frontends.structural_tag.contents import STYLES, at_pointer
from constrained.frontends.structural_tag.documents import read_tag
from constrained.frontends.structural_tag.fields import Ends, Handler, check_fields, join, plain
from constrained.frontends.structural_tag.token_formats import TokenFormats
from constrained.grammar import combinators as make
from constrained.grammar.ir import Expr, Reference, RuleSet, children
from constrained.limits import Limits

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["from_structural_tag"]


def from_structural_tag(tag: Any, *, tokenizer_info: TokenizerInfo | None = None, strict_mode: bool = True,
                        limits: Limits | None = None) -> RuleSet:
    """The texts of a structural tag.

    Args:
        tag: JSON text, a dict, or an object with ``model_dump``: ``{"type": "structural_tag", "format": {...}}``, the
            legacy ``{"structures": [...], "triggers": [...]}``, or a format alone.
        tokenizer_info: the vocabulary: delimiters that are tokens of it may then be written as those, and formats that
            name tokens are checked against it. Without it, token formats are resolved when the grammar is compiled.
        strict_mode: objects that say nothing about undeclared members have none (as in XGrammar).
        limits: budgets.

    Raises:
        StructuralTagError: the tag is wrong, with its JSON Pointer.
        SchemaError, RegexError, GrammarSyntaxError: what a format holds is, with the place of both.
        GrammarLimitError: a budget.
    """
    limits = limits or Limits()
    node, pointer = read_tag(tag, limits)
    compiler = _Compiler(tokenizer_info, limits, strict_mode)
    root = compiler.run(node, pointer)
    name = compiler.contents.name("root")
    compiler.contents.rules[name] = root
    return RuleSet(compiler.contents.rules, name)  # references are made with their rules: there is nothing to check


class _Compiler(TokenFormats):
    """The loop, and the formats without free text."""

    def __init__(self, info: TokenizerInfo | None, limits: Limits, strict: bool) -> None:
        super().__init__(info, limits, strict)
        self.shared: dict[tuple[int, Ends | None], tuple[Expr, Any]] = {}
        self.policies: dict[tuple[int, str], TextPolicy] = {}

    def run(self, node: Any, pointer: str) -> Expr:
        """The expression of the outermost format."""
        stack: list[tuple[Handler, tuple[int, Ends | None], Any]] = [self._enter(node, pointer, None)]
        value: Expr | None = None
        while True:
            handler, key, held = stack[-1]
            try:
                child = handler.send(value) if value is not None else next(handler)
            except StopIteration as done:
                value = done.value
                assert value is not None
                stack.pop()
                self.shared[key] = (value, held)
                if not stack:
                    return value
                continue
            value = None
            known = self.shared.get((id(child[0]), child[2]))
            if known is not None:
                value = self._named(known[0], (id(child[0]), child[2]))
                continue
            if len(stack) > self.limits.max_nesting:
                raise GrammarLimitError("max_nesting", self.limits.max_nesting, "the tag is nested too deeply")
            stack.append(self._enter(*child))

    def _named(self, expr: Expr, key: tuple[int, Ends | None]) -> Expr:
        """An expression that stands in a second place is a rule from then on."""
        if isinstance(expr, Reference) or not children(expr):
            return expr
        name = self.contents.name("part")
        self.contents.rules[name] = expr
        named = Reference(name)
        self.shared[key] = (named, self.shared[key][1])
        return named

    def _enter(self, node: Any, pointer: str, ends: Ends | None) -> tuple[Handler, tuple[int, Ends | None], Any]:
        node = plain(node)
        if type(node) is not dict and not isinstance(node, Mapping):
            raise StructuralTagError(f"a format is an object, not {type(node).__name__}", pointer=pointer)
        kind = node.get("type")
        entry = KINDS.get(kind) if isinstance(kind, str) else None
        if entry is None:
            raise StructuralTagError(f"unknown format type {kind!r:.60}", pointer=join(pointer, "type"),
                                     hint="one of " + ", ".join(KINDS))
        method, required, optional = entry
        check_fields(node, str(kind), required, optional, pointer)
        handler = method(self, node, pointer, ends)
        if method not in TAKING_ENDS and ends is not None:
            handler = self._then(handler, ends)
        return handler, (id(node), ends), node

    def _then(self, handler: Handler, ends: Ends) -> Handler:
        expr = yield from handler
        return make.sequence(expr, self.end(ends))

    def const_string(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Exactly a text."""
        yield from ()
        return self.delimiters.expression(self.encoded(node["value"], join(pointer, "value")))

    def json_schema(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Values of a schema, in a style."""
        yield from ()
        style = node.get("style", "json")
        if style not in STYLES:
            raise StructuralTagError(f"unknown style {style!r:.60}", pointer=join(pointer, "style"),
                                     hint="one of " + ", ".join(STYLES))
        return self.schema(node["json_schema"], style, node, join(pointer, "json_schema"))

    def qwen_xml_parameter(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """The older name of a style."""
        yield from ()
        return self.schema(node["json_schema"], "qwen_xml", node, join(pointer, "json_schema"))

    def schema(self, schema: Any, style: str, node: Any, pointer: str) -> Expr:
        """A schema's values; its errors carry their place in the tag, and name what they belong to."""
        most = node.get("max_whitespace_cnt")
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 0):
            raise StructuralTagError("max_whitespace_cnt is an integer of at least 0", pointer=pointer)
        choices = (64 if most is None else most, "any" if self.flag(node, "any_order", pointer) else "schema")
        policy = self.policies.get(choices)
        if policy is None:
            policy = self.policies[choices] = TextPolicy(max_whitespace_cnt=choices[0], property_order=choices[1])
        label = node.get("label")
        strict = self.flag(node, "strict_mode", pointer) if "strict_mode" in node else self.contents.strict
        excludes: tuple[str, ...] = ()
        if node.get("excludes"):
            place = join(pointer.rpartition("/")[0], "excludes")
            excludes = tuple(dict.fromkeys(self.texts(node["excludes"], place)))
            try:
                self.contents.emitter_of(style, excludes)
            except ValueError as error:
                raise StructuralTagError(str(error), pointer=place) from None
        try:
            return self.contents.schema(schema, style, policy, f"{label} " if isinstance(label, str) else "", strict,
                                        excludes)
        except SchemaError as error:
            where = f"in the schema of {label}: " if isinstance(label, str) else ""
            if not where and self.inside:
                where = f"in the tag {echo(self.inside, 60)}: "
            raise at_pointer(error, pointer, where) from None
        except RecursionError:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting, "a schema is nested too deeply") from None

    def grammar(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """A grammar text."""
        yield from ()
        syntax = node.get("syntax", "ebnf")
        text = self.text(node["grammar"], join(pointer, "grammar"))
        if syntax == "ebnf":
            rules = self.inner(lambda: from_ebnf(text, limits=self.limits), join(pointer, "grammar"))
        elif syntax == "lark":
            rules = self.inner(lambda: _lark(text, self.limits), join(pointer, "grammar"))
        else:
            raise StructuralTagError(f"unknown syntax {syntax!r:.60}", pointer=join(pointer, "syntax"),
                                     hint="ebnf or lark")
        return self.contents.adopt(rules, "grammar")

    def regex(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """A pattern, matched in full."""
        yield from ()
        pattern = self.text(node["pattern"], join(pointer, "pattern"))
        key = ("regex", pattern)
        if key not in self.contents.parts:
            rules = self.inner(lambda: from_regex(pattern, ascii=True, limits=self.limits), join(pointer, "pattern"))
            self.contents.parts[key] = (self.contents.adopt(rules, "pattern"), None)
        return self.contents.parts[key][0]

    def inner(self, read: Callable[[], RuleSet], pointer: str) -> RuleSet:
        """What another front end reads; its errors carry the place in the tag too."""
        try:
            return read()
        except GrammarLimitError:
            raise
        except GrammarError as error:
            raise StructuralTagError(str(error), pointer=pointer) from error

    def sequence(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One after the other; the last writes the ends."""
        elements = self.items(node["elements"], join(pointer, "elements"))
        parts = []
        for number, (one, where) in enumerate(elements):
            parts.append((yield one, where, ends if number == len(elements) - 1 else None))
        return make.sequence(*parts)

    def either(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One of them, each with the ends."""
        options = []
        for one, where in self.items(node["elements"], join(pointer, "elements")):
            options.append((yield one, where, ends))
        return make.choice(*options)

    def optional(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Once or not at all."""
        return make.optional((yield node["content"], join(pointer, "content"), None))

    def star(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Any number of times."""
        return make.repeat((yield node["content"], join(pointer, "content"), None), 0)

    def plus(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """At least once."""
        return make.repeat((yield node["content"], join(pointer, "content"), None), 1)

    def repeat(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Between ``min`` and ``max`` times, -1: without end."""
        least, most = node["min"], node["max"]
        for field, value in (("min", least), ("max", most)):
            if not isinstance(value, int) or isinstance(value, bool) or value < (0 if field == "min" else -1):
                raise StructuralTagError(f"{field} is a count, not {value!r:.60}", pointer=join(pointer, field))
        if 0 <= most < least:
            raise StructuralTagError(f"min {least} is greater than max {most}", pointer=join(pointer, "min"))
        body = yield node["content"], join(pointer, "content"), None
        return make.repeat(body, least, None if most < 0 else most, limits=self.limits)


def _lark(text: str, limits: Limits) -> RuleSet:
    """Read by name, so that the lark package is needed only where a tag holds a Lark grammar."""
    try:
        from_lark = importlib.import_module("constrained.frontends.lark.compile").from_lark
    except ImportError:
        raise GrammarError("Lark grammars need the lark package", hint="pip install 'constrained[lark]'") from None
    rules: RuleSet = from_lark(text, limits=limits)
    return rules


_C = _Compiler
KINDS: dict[str, tuple[Callable[[_Compiler, Any, str, Ends | None], Handler], tuple[str, ...], tuple[str, ...]]] = {
    "const_string": (_C.const_string, ("value",), ()),
    "json_schema": (_C.json_schema, ("json_schema",),
                    ("style", "any_order", "max_whitespace_cnt", "excludes", "strict_mode", "label")),
    "qwen_xml_parameter": (_C.qwen_xml_parameter, ("json_schema",), ()),
    "regex": (_C.regex, ("pattern",), ()),
    "grammar": (_C.grammar, ("grammar",), ("syntax",)),
    "any_text": (_C.any_text, (), ("excludes", "max_tokens", "max_chars")),
    "tag": (_C.tag, ("begin", "content", "end"), ()),
    "triggered_tags": (_C.triggered_tags, ("triggers", "tags"), ("at_least_one", "stop_after_first", "excludes")),
    "tags_with_separator": (_C.tags_with_separator, ("tags", "separator"), ("at_least_one", "stop_after_first")),
    "dispatch": (_C.dispatch, ("rules",), ("loop", "excludes")),
    "sequence": (_C.sequence, ("elements",), ()),
    "or": (_C.either, ("elements",), ()),
    "optional": (_C.optional, ("content",), ()),
    "star": (_C.star, ("content",), ()),
    "plus": (_C.plus, ("content",), ()),
    "repeat": (_C.repeat, ("min", "max", "content"), ()),
    "token": (_C.token, ("token",), ()),
    "exclude_token": (_C.exclude_token, (), ("exclude_tokens",)),
    "any_tokens": (_C.any_tokens, (), ("exclude_tokens", "max_tokens")),
    "token_triggered_tags": (_C.token_triggered_tags, ("trigger_tokens", "tags"),
                             ("at_least_one", "stop_after_first", "exclude_tokens")),
    "token_dispatch": (_C.token_dispatch, ("rules",), ("loop", "exclude_tokens")),
}
"""Every format: its method, the fields it needs and those it may have."""

TAKING_ENDS = frozenset((_C.any_text, _C.triggered_tags, _C.token_triggered_tags, _C.sequence, _C.either))
"""Formats that write the ends of the tag around them themselves: their text stops there. That of dispatch does not, as
in XGrammar: what shall end it must be excluded from it."""
