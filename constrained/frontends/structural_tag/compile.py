"""Structural tags to rules: the entry of this front end.

A tag is a tree of formats; each kind is one method that checks its fields and writes an expression. The methods are
generators that yield their sub-formats, and one loop with a stack drives them: nothing recurses into the input. A
format that ends in free text is given the ends of the tag around it, since its text stops there.

Cost: some 10 us a format, beside what schemas, patterns and grammars in it take.
"""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrained.errors import (
    GrammarError,
    GrammarLimitError,
    SchemaError,
    StructuralTagError,
    echo,
)
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.regex import from_regex
from constrained.frontends.structural_tag.contents import STYLES, Contents, at_pointer
from constrained.frontends.structural_tag.delimiters import Delimiters
from constrained.frontends.structural_tag.free_text import Stop, free_text, hidden_stop
from constrained.grammar import combinators as make
from constrained.grammar.ir import AnyTextUntil, Expr, Reference, RuleSet, TokenReference, children
from constrained.limits import Limits

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["from_structural_tag", "read_tag"]

MAX_BUDGET = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Ends:
    """What ends the tag around a format: encoded texts (``""``: it may just end) and tokens."""

    texts: tuple[str, ...] = ()
    token: TokenReference | None = None


Child = tuple[Any, str, Ends | None]
"""A sub-format, its JSON Pointer, and the ends that it must write itself."""
Handler = Generator[Child, Expr, Expr]


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


def read_tag(tag: Any, limits: Limits) -> tuple[Any, str]:
    """The outermost format and its pointer. Raises ``StructuralTagError``."""
    if hasattr(tag, "model_dump"):
        tag = tag.model_dump(by_alias=True)
    if isinstance(tag, (str, bytes)):
        if len(tag) > limits.max_source_chars:
            raise GrammarLimitError("max_source_chars", limits.max_source_chars, "the structural tag is too long")
        try:
            tag = json.loads(tag)
        except RecursionError:
            raise GrammarLimitError("max_nesting", limits.max_nesting, "the tag is nested too deeply") from None
        except (ValueError, UnicodeDecodeError) as error:
            raise StructuralTagError(f"the structural tag is no JSON: {error}"[:300]) from None
    if not isinstance(tag, Mapping):
        raise StructuralTagError(f"a structural tag is JSON text, a dict or a model, not {type(tag).__name__}")
    if "structures" in tag and "format" not in tag:
        return _legacy(tag), ""
    if tag.get("type") == "structural_tag":
        for field in tag:
            if field not in ("type", "format"):
                raise StructuralTagError(f"unknown field {field!r:.60}", pointer=_join("", field),
                                         hint="a structural tag has type and format")
        if "format" not in tag:
            raise StructuralTagError("a structural tag has a format", hint='{"type": "structural_tag", "format": ...}')
        return tag["format"], "/format"
    return tag, ""


def _legacy(tag: Mapping[str, Any]) -> dict[str, Any]:
    """``{"structures": [{"begin", "schema", "end"}], "triggers": [...]}`` as triggered tags."""
    structures = tag["structures"]
    if not isinstance(structures, Sequence) or isinstance(structures, (str, bytes)):
        raise StructuralTagError("structures is a list", pointer="/structures")
    tags = []
    for number, one in enumerate(structures):
        if hasattr(one, "model_dump"):
            one = one.model_dump(by_alias=True)
        pointer = f"/structures/{number}"
        if not isinstance(one, Mapping) or not {"begin", "end"} <= set(one) or not {"schema", "schema_"} & set(one):
            raise StructuralTagError("a structure has begin, schema and end", pointer=pointer)
        schema = one.get("schema", one.get("schema_"))
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        tags.append({"type": "tag", "begin": one["begin"], "end": one["end"],
                     "content": {"type": "json_schema", "json_schema": schema}})
    return {"type": "triggered_tags", "triggers": tag.get("triggers"), "tags": tags}


def _join(pointer: str, field: str | int) -> str:
    return f"{pointer}/{str(field).replace('~', '~0').replace('/', '~1')}"


class _Compiler:
    def __init__(self, info: TokenizerInfo | None, limits: Limits, strict: bool) -> None:
        self.info = info
        self.limits = limits
        self.contents = Contents(limits, strict=strict)
        self.delimiters = Delimiters(info)
        self.shared: dict[tuple[int, Ends | None], tuple[Expr, Any]] = {}
        self.where = ""

    # ---- the loop ------------------------------------------------------------------------------------

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
                if isinstance(held, Mapping):
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
        node = _plain(node)
        if not isinstance(node, Mapping):
            raise StructuralTagError(f"a format is an object, not {type(node).__name__}", pointer=pointer)
        kind = node.get("type")
        entry = KINDS.get(kind) if isinstance(kind, str) else None
        if entry is None:
            raise StructuralTagError(f"unknown format type {kind!r:.60}", pointer=_join(pointer, "type"),
                                     hint="one of " + ", ".join(KINDS))
        method, required, optional = entry
        _check_fields(node, str(kind), required, optional, pointer)
        handler = method(self, node, pointer, ends)
        if method not in TAKING_ENDS and ends is not None:
            handler = self._then(handler, ends)
        return handler, (id(node), ends), node

    def _then(self, handler: Handler, ends: Ends) -> Handler:
        expr = yield from handler
        return make.sequence(expr, self.end(ends))

    def end(self, ends: Ends) -> Expr:
        """One of the ends of a tag."""
        options = [self.delimiters.expression(text) for text in ends.texts]
        return make.choice(*options, *([ends.token] if ends.token is not None else []))

    def closing(self, ends: Ends | None) -> tuple[list[Stop], bool]:
        """The same for free text: as stops, and whether the text may just end."""
        if ends is None:
            return [], True
        stops: list[Stop] = [(text, [(text, make.empty())]) for text in ends.texts if text]
        return stops, "" in ends.texts

    # ---- contents ------------------------------------------------------------------------------------

    def const_string(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Exactly a text."""
        yield from ()
        return self.delimiters.expression(self.encoded(node["value"], _join(pointer, "value")))

    def json_schema(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Values of a schema, in a style."""
        yield from ()
        style = node.get("style", "json")
        if style not in STYLES:
            raise StructuralTagError(f"unknown style {style!r:.60}", pointer=_join(pointer, "style"),
                                     hint="one of " + ", ".join(STYLES))
        if node.get("excludes"):
            raise StructuralTagError("exclusions within JSON strings are not supported",
                                     pointer=_join(pointer, "excludes"),
                                     hint="delimiters that are tokens are kept out of strings without being named")
        return self.schema(node["json_schema"], style, node, _join(pointer, "json_schema"))

    def qwen_xml_parameter(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """The older name of a style."""
        yield from ()
        return self.schema(node["json_schema"], "qwen_xml", node, _join(pointer, "json_schema"))

    def schema(self, schema: Any, style: str, node: Any, pointer: str) -> Expr:
        """A schema's values; its errors carry their place in the tag, and name what they belong to."""
        most = node.get("max_whitespace_cnt")
        if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 0):
            raise StructuralTagError("max_whitespace_cnt is an integer of at least 0", pointer=pointer)
        policy = TextPolicy(max_whitespace_cnt=64 if most is None else most,
                            property_order="any" if self.flag(node, "any_order", pointer) else "schema")
        label = node.get("label")
        where = f"in the schema of {label}: " if isinstance(label, str) else self.where
        try:
            return self.contents.schema(schema, style, policy, f"{label} " if isinstance(label, str) else "")
        except SchemaError as error:
            raise at_pointer(error, pointer, where) from None
        except RecursionError:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting, "a schema is nested too deeply") from None

    def grammar(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """A grammar text."""
        yield from ()
        syntax = node.get("syntax", "ebnf")
        text = self.text(node["grammar"], _join(pointer, "grammar"))
        if syntax == "ebnf":
            rules = self.inner(lambda: from_ebnf(text, limits=self.limits), _join(pointer, "grammar"))
        elif syntax == "lark":
            rules = self.inner(lambda: _lark(text, self.limits), _join(pointer, "grammar"))
        else:
            raise StructuralTagError(f"unknown syntax {syntax!r:.60}", pointer=_join(pointer, "syntax"),
                                     hint="ebnf or lark")
        return self.contents.adopt(rules, "grammar")

    def regex(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """A pattern, matched in full."""
        yield from ()
        pattern = self.text(node["pattern"], _join(pointer, "pattern"))
        key = ("regex", pattern)
        if key not in self.contents.parts:
            rules = self.inner(lambda: from_regex(pattern, limits=self.limits), _join(pointer, "pattern"))
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

    # ---- free text -----------------------------------------------------------------------------------

    def any_text(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text up to the ends."""
        yield from ()
        excludes = self.excludes(node, pointer)
        stops, may_end = self.closing(ends)
        most_tokens, most_chars = self.budget(node, "max_tokens", pointer), self.budget(node, "max_chars", pointer)
        if most_tokens is not None and most_chars is not None:
            raise StructuralTagError("max_tokens and max_chars together are not supported", pointer=pointer,
                                     hint="give one of them")
        if most_tokens is not None:
            return self.token_budget(most_tokens, excludes, ends, pointer)
        if most_chars is not None:
            return make.sequence(self.char_budget(most_chars, excludes, stops, pointer),
                                 self.end(ends) if ends is not None else make.empty())
        self.check_stops([text for text, _ in stops], excludes, pointer)
        expr = free_text(self.delimiters, stops, excludes, may_end=may_end)
        if ends is not None and ends.token is not None:
            by_token = make.sequence(AnyTextUntil(self.forbidden(stops, excludes), consume=False), ends.token)
            return by_token if not stops and not may_end else make.choice(expr, by_token)
        return expr

    def forbidden(self, stops: list[Stop], excludes: list[bytes]) -> tuple[bytes, ...]:
        return tuple(dict.fromkeys([*(self.delimiters.spelled(text) for text, _ in stops), *excludes]))

    def token_budget(self, most: int, excludes: list[bytes], ends: Ends | None, pointer: str) -> Expr:
        """At most so many tokens of text: counted in the automaton itself, one round a token.

        A round knows tokens, not bytes; so the end must be a token, and a spelled end inside the section is text.
        """
        pointer = _join(pointer, "max_tokens")
        if self.info is None:
            raise StructuralTagError("a budget in tokens needs the vocabulary", pointer=pointer,
                                     hint="use GrammarCompiler.compile_structural_tag, or pass tokenizer_info")
        if excludes:
            raise StructuralTagError("max_tokens beside excludes is not supported", pointer=pointer,
                                     hint="use max_chars, or leave out excludes")
        tokens: set[int | str] = set(self.info.special_token_ids)
        closing: list[Expr] = []
        for text in ends.texts if ends is not None else ():
            if len(text) != 1 or not self.delimiters.is_token(text):
                raise StructuralTagError(
                    f"a budget in tokens needs an end that is one token, and "
                    f"{echo(self.delimiters.spelled(text).decode(), 60)} is none of this vocabulary",
                    pointer=pointer, hint="use max_chars")
            closing.append(self.delimiters.token(text))
        if ends is not None and ends.token is not None:
            closing.append(ends.token)
        for one in closing:
            tokens.update(one.tokens if isinstance(one, TokenReference) else ())
        text_tokens = TokenReference(tuple(tokens), exclude=True)
        return make.sequence(make.repeat(text_tokens, 0, most, limits=self.limits),
                             make.choice(*closing) if closing else make.empty())

    def char_budget(self, most: int, excludes: list[bytes], stops: list[Stop], pointer: str) -> Expr:
        """At most so many code points of text."""
        forbidden = self.forbidden(stops, excludes)
        if not forbidden:
            return make.repeat(make.any_char(), 0, most, limits=self.limits)
        if (most + 1) * sum(map(len, forbidden)) > self.limits.max_dfa_states:
            raise GrammarLimitError(
                "max_dfa_states", self.limits.max_dfa_states,
                f"at {echo(_join(pointer, 'max_chars'))}: text of at most {most} characters without what ends it takes "
                "too many states")
        return AnyTextUntil(forbidden, consume=False, max_chars=most)

    def triggered_tags(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text in which triggers begin tags."""
        triggers = self.texts(node["triggers"], _join(pointer, "triggers"), least=1)
        excludes = self.excludes(node, pointer)
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        encoded = [self.delimiters.encode(trigger) for trigger in triggers]
        self.check_triggers(triggers, _join(pointer, "triggers"))
        tags = self.items(node["tags"], _join(pointer, "tags"))
        options: list[list[tuple[str, Expr]]] = [[] for _ in triggers]
        for one, where in tags:
            begin = _plain(self.tag_node(one, where)["begin"])
            if not isinstance(begin, str):
                raise StructuralTagError("a triggered tag begins with a text", pointer=_join(where, "begin"),
                                         hint="token_triggered_tags is for tags that begin with a token")
            matching = [i for i, trigger in enumerate(triggers) if begin.startswith(trigger)]
            if not matching:
                raise StructuralTagError(f"the begin {echo(begin, 60)} does not start with a trigger",
                                         pointer=_join(where, "begin"),
                                         hint="triggers are " + ", ".join(echo(t, 30) for t in triggers[:5]))
            text = self.encoded(begin, _join(where, "begin"))
            options[matching[0]].append((text, (yield from self.tag_body(one, where))))
        for trigger, found, number in zip(triggers, options, range(len(triggers)), strict=True):
            if not found:
                raise StructuralTagError(f"no tag begins with the trigger {echo(trigger, 60)}",
                                         pointer=_join(_join(pointer, "triggers"), number),
                                         hint="remove it, or list it in excludes")
        stops, may_end = self.closing(ends)
        self.check_stops([*encoded, *(text for text, _ in stops)], excludes, pointer)
        token = None if ends is None else ends.token
        closed = self.end(ends) if ends is not None else make.empty()
        first: Expr = make.empty()
        if at_least_one:
            first = self.delimiters.dispatch([option for found in options for option in found])
        if stop_after_first:
            if at_least_one:
                return make.sequence(first, closed)
            triggered: list[Stop] = [(e, [(text, make.sequence(then, closed)) for text, then in found])
                                     for e, found in zip(encoded, options, strict=True)]
            return self.text_or(triggered, stops, excludes, may_end, token)
        loop = self.contents.name("tags")
        self.contents.rules[loop] = make.empty()  # the name is taken
        triggered = [(e, [(text, make.sequence(then, Reference(loop))) for text, then in found])
                     for e, found in zip(encoded, options, strict=True)]
        self.contents.rules[loop] = self.text_or(triggered, stops, excludes, may_end, token)
        return make.sequence(first, Reference(loop)) if at_least_one else Reference(loop)

    def text_or(self, triggered: list[Stop], stops: list[Stop], excludes: list[bytes], may_end: bool,
                token: TokenReference | None) -> Expr:
        """Free text, then a triggered tag, an end, or nothing more."""
        expr = free_text(self.delimiters, [*triggered, *stops], excludes, may_end=may_end)
        if token is None:
            return expr
        text = AnyTextUntil(self.forbidden([*triggered, *stops], excludes), consume=False)
        return make.choice(expr, make.sequence(text, token))

    def dispatch(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text in which patterns call for formats. The ends of the tag around it do not end it."""
        rules = node["rules"]
        where = _join(pointer, "rules")
        if not isinstance(rules, Sequence) or isinstance(rules, str) or not rules:
            raise StructuralTagError("rules is a list of pairs (pattern, format), not empty", pointer=where)
        excludes = self.excludes(node, pointer)
        again = self.flag(node, "loop", pointer, default=True)
        patterns = []
        for number, rule in enumerate(rules):
            if not isinstance(rule, Sequence) or isinstance(rule, str) or len(rule) != 2:
                raise StructuralTagError("a rule is a pair (pattern, format)", pointer=_join(where, number))
            patterns.append(self.text(rule[0], f"{where}/{number}/0", empty=False))
        self.check_triggers(patterns, where)
        encoded = [self.delimiters.encode(pattern) for pattern in patterns]
        self.check_stops(encoded, excludes, pointer)
        contents = []
        for number, rule in enumerate(rules):
            contents.append((yield rule[1], f"{where}/{number}/1", None))
        name = self.contents.name("dispatch")
        self.contents.rules[name] = make.empty()
        then: Expr = Reference(name) if again else make.empty()
        triggered: list[Stop] = [(e, [(e, make.sequence(content, then))])
                                 for e, content in zip(encoded, contents, strict=True)]
        self.contents.rules[name] = free_text(self.delimiters, triggered, excludes, may_end=True)
        return Reference(name)

    # ---- by token ------------------------------------------------------------------------------------

    def token(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One token."""
        yield from ()
        return self.token_of(node["token"], _join(pointer, "token"))

    def exclude_token(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One token but these."""
        yield from ()
        return self.other_tokens(node.get("exclude_tokens") or [], _join(pointer, "exclude_tokens"))

    def any_tokens(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Any number of tokens but these, and the token that ends the tag."""
        yield from ()
        tokens = list(node.get("exclude_tokens") or [])
        if ends is not None and ends.token is not None:
            tokens += ends.token.tokens
        body = self.other_tokens(tokens, _join(pointer, "exclude_tokens"))
        most = self.budget(node, "max_tokens", pointer)
        return make.repeat(body, 0, most, limits=self.limits)

    def token_triggered_tags(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tokens, among which some begin tags."""
        where = _join(pointer, "trigger_tokens")
        triggers = node["trigger_tokens"]
        if not isinstance(triggers, Sequence) or isinstance(triggers, str) or not triggers:
            raise StructuralTagError("trigger_tokens is a list of tokens, not empty", pointer=where)
        for number, token in enumerate(triggers):
            self.token_of(token, _join(where, number))
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        tags = []
        for one, at in self.items(node["tags"], _join(pointer, "tags")):
            begin = _plain(self.tag_node(one, at)["begin"])
            if not isinstance(begin, Mapping) or begin.get("type") != "token" or "token" not in begin:
                raise StructuralTagError("a tag that a token triggers begins with a token", pointer=_join(at, "begin"),
                                         hint='"begin": {"type": "token", "token": ...}')
            mine = self.same_token(begin["token"], triggers)
            if not mine:
                raise StructuralTagError(f"the token {begin['token']!r:.60} is no trigger", pointer=_join(at, "begin"),
                                         hint="list it in trigger_tokens")
            tags.append((yield {"type": "tag", **one}, at, None))
        first = make.choice(*tags)
        excluded = [*triggers, *(node.get("exclude_tokens") or [])]
        if ends is not None and ends.token is not None:
            excluded += ends.token.tokens
        other = make.repeat(self.other_tokens(excluded, _join(pointer, "exclude_tokens")), 0)
        closed: Expr = self.end(ends) if ends is not None else make.empty()
        if stop_after_first:
            return make.sequence(first, closed) if at_least_one else make.choice(
                make.sequence(other, first, closed), make.sequence(other, closed))
        rest = make.sequence(other, make.repeat(make.sequence(first, other), 0), closed)
        return make.sequence(first, rest) if at_least_one else rest

    def token_dispatch(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tokens, among which some call for formats."""
        rules = node["rules"]
        where = _join(pointer, "rules")
        if not isinstance(rules, Sequence) or isinstance(rules, str) or not rules:
            raise StructuralTagError("rules is a list of pairs (token, format), not empty", pointer=where)
        again = self.flag(node, "loop", pointer, default=True)
        options = []
        excluded = list(node.get("exclude_tokens") or [])
        for number, rule in enumerate(rules):
            if not isinstance(rule, Sequence) or isinstance(rule, str) or len(rule) != 2:
                raise StructuralTagError("a rule is a pair (token, format)", pointer=_join(where, number))
            token = self.token_of(rule[0], f"{where}/{number}/0")
            content = yield rule[1], f"{where}/{number}/1", None
            options.append(make.sequence(token, content))
            excluded.append(rule[0])
        if ends is not None and ends.token is not None:
            excluded += ends.token.tokens
        other = make.repeat(self.other_tokens(excluded, _join(pointer, "exclude_tokens")), 0)
        if not again:
            return make.sequence(other, make.optional(make.choice(*options)))
        return make.sequence(other, make.repeat(make.sequence(make.choice(*options), other), 0))

    def token_of(self, token: Any, pointer: str) -> TokenReference:
        """A token by id or text, checked where the vocabulary is known."""
        if isinstance(token, bool) or not isinstance(token, (int, str)) or token == "":
            raise StructuralTagError(f"a token is an id or a text, not {token!r:.60}", pointer=pointer)
        if self.info is not None:
            if isinstance(token, str) and token not in self.info.token_ids_by_text:
                raise StructuralTagError(f"the vocabulary has no control or added token {token!r:.60}", pointer=pointer,
                                         hint="name a token by its exact text, or by its id")
            if isinstance(token, int) and not 0 <= token < self.info.vocab_size:
                raise StructuralTagError(f"token id {token} is out of range: there are {self.info.vocab_size}",
                                         pointer=pointer)
        elif isinstance(token, int) and not 0 <= token < 1 << 31:
            raise StructuralTagError(f"token id {token} is out of range", pointer=pointer)
        return TokenReference((token,))

    def other_tokens(self, tokens: Sequence[Any], pointer: str) -> TokenReference:
        if not isinstance(tokens, Sequence) or isinstance(tokens, str):
            raise StructuralTagError("a list of tokens is expected", pointer=pointer)
        for number, token in enumerate(tokens):
            self.token_of(token, _join(pointer, number))
        return TokenReference(tuple(dict.fromkeys(tokens)), exclude=True)

    def same_token(self, token: Any, others: Sequence[Any]) -> bool:
        if token in others:
            return True
        if self.info is None:
            return False
        ids = {i for one in others for i in self.ids_of(one)}
        return not ids.isdisjoint(self.ids_of(token))

    def ids_of(self, token: Any) -> tuple[int, ...]:
        if isinstance(token, int):
            return (token,)
        assert self.info is not None
        return self.info.token_ids_by_text.get(token, ()) if isinstance(token, str) else ()

    # ---- combinations --------------------------------------------------------------------------------

    def sequence(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One after the other; the last writes the ends."""
        elements = self.items(node["elements"], _join(pointer, "elements"))
        parts = []
        for number, (one, where) in enumerate(elements):
            parts.append((yield one, where, ends if number == len(elements) - 1 else None))
        return make.sequence(*parts)

    def either(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One of them, each with the ends."""
        options = []
        for one, where in self.items(node["elements"], _join(pointer, "elements")):
            options.append((yield one, where, ends))
        return make.choice(*options)

    def optional(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Once or not at all."""
        return make.optional((yield node["content"], _join(pointer, "content"), None))

    def star(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Any number of times."""
        return make.repeat((yield node["content"], _join(pointer, "content"), None), 0)

    def plus(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """At least once."""
        return make.repeat((yield node["content"], _join(pointer, "content"), None), 1)

    def repeat(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Between ``min`` and ``max`` times, -1: without end."""
        least, most = node["min"], node["max"]
        for field, value in (("min", least), ("max", most)):
            if not isinstance(value, int) or isinstance(value, bool) or value < (0 if field == "min" else -1):
                raise StructuralTagError(f"{field} is a count, not {value!r:.60}", pointer=_join(pointer, field))
        if 0 <= most < least:
            raise StructuralTagError(f"min {least} is greater than max {most}", pointer=_join(pointer, "min"))
        body = yield node["content"], _join(pointer, "content"), None
        return make.repeat(body, least, None if most < 0 else most, limits=self.limits)

    def tag(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """begin content end."""
        begin = _plain(node["begin"])
        if isinstance(begin, str):
            start = self.delimiters.expression(self.encoded(begin, _join(pointer, "begin")))
        else:
            start = self.token_format(begin, _join(pointer, "begin"))
        return make.sequence(start, (yield from self.tag_body(node, pointer)))

    def tag_body(self, node: Any, pointer: str) -> Handler:
        """What a tag has behind its begin. Errors in it name the tag."""
        outer = self.where
        begin = node["begin"]
        if isinstance(begin, str) and begin:
            self.where = f"in the tag {echo(begin, 60)}: "
        own = self.ends_of(_plain(node["end"]), _join(pointer, "end"))
        content = yield node["content"], _join(pointer, "content"), own
        self.where = outer
        return content

    def tag_node(self, node: Any, pointer: str) -> Mapping[str, Any]:
        """A tag where only tags may stand; its type may be left out."""
        if not isinstance(node, Mapping) or node.get("type", "tag") != "tag":
            raise StructuralTagError("a tag is expected", pointer=pointer, hint='{"type": "tag", "begin": ..., ...}')
        _check_fields(node, "tag", *KINDS["tag"][1:], pointer)
        return node

    def tags_with_separator(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tags and nothing else, a separator between two."""
        separator = self.encoded(node["separator"], _join(pointer, "separator"))
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        options: list[tuple[str, Expr]] = []
        others: list[Expr] = []
        for one, where in self.items(node["tags"], _join(pointer, "tags")):
            begin = _plain(self.tag_node(one, where)["begin"])
            body = yield from self.tag_body(one, where)
            if isinstance(begin, str):
                options.append((self.encoded(begin, _join(where, "begin")), body))
            else:
                others.append(make.sequence(self.token_format(begin, _join(where, "begin")), body))
        one_tag = make.choice(*([self.delimiters.dispatch(options)] if options else []), *others)
        if not stop_after_first:
            name = self.contents.name("tag")
            self.contents.rules[name] = one_tag
            one_tag = Reference(name)
            rest = make.sequence(self.delimiters.expression(separator), one_tag)
            one_tag = make.sequence(one_tag, make.repeat(rest, 0))
        return one_tag if at_least_one else make.optional(one_tag)

    # ---- fields --------------------------------------------------------------------------------------

    def ends_of(self, end: Any, pointer: str) -> Ends:
        """The ends of a tag: a text, several, or a token."""
        if isinstance(end, Mapping):
            return Ends(token=self.token_format(end, pointer))
        if isinstance(end, str):
            texts = [self.encoded(end, pointer)]
        else:
            texts = [self.delimiters.encode(text) for text in self.texts(end, pointer, least=1, empty=True)]
        for text in texts:
            self.check_spellable(text, pointer)
        return Ends(tuple(dict.fromkeys(texts)))

    def check_spellable(self, encoded: str, pointer: str) -> None:
        """Refuse an end that no token of the vocabulary can write."""
        if self.info is None or not self.info.unspellable_bytes:
            return
        for char in encoded:
            if not self.delimiters.is_token(char) and not self.info.unspellable_bytes.isdisjoint(char.encode()):
                raise StructuralTagError(
                    f"the end {echo(self.delimiters.spelled(encoded), 60)} can never be written: no token of the "
                    f"vocabulary has {echo(char)}", pointer=pointer, hint="choose another end, or name a token")

    def token_format(self, node: Any, pointer: str) -> TokenReference:
        if not isinstance(node, Mapping) or node.get("type", "token") != "token" or "token" not in node:
            raise StructuralTagError('a text or {"type": "token", "token": ...} is expected', pointer=pointer)
        for field in node:
            if field not in ("type", "token"):
                raise StructuralTagError(f"token has no field {field!r:.60}", pointer=_join(pointer, field))
        return self.token_of(node["token"], _join(pointer, "token"))

    def items(self, value: Any, pointer: str) -> list[tuple[Any, str]]:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
            raise StructuralTagError("a list that is not empty is expected", pointer=pointer)
        return [(_plain(one), _join(pointer, number)) for number, one in enumerate(value)]

    def text(self, value: Any, pointer: str, *, empty: bool = True) -> str:
        if not isinstance(value, str):
            raise StructuralTagError(f"a text is expected, not {type(value).__name__}", pointer=pointer)
        if not value and not empty:
            raise StructuralTagError("the text must not be empty", pointer=pointer)
        for position, char in enumerate(value):
            if "\ud800" <= char <= "\udfff":
                raise StructuralTagError(f"a lone surrogate at position {position} is no character", pointer=pointer)
        return value

    def encoded(self, value: Any, pointer: str) -> str:
        return self.delimiters.encode(self.text(value, pointer))

    def texts(self, value: Any, pointer: str, *, least: int = 0, empty: bool = False) -> list[str]:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or len(value) < least:
            raise StructuralTagError("a list of texts is expected" + (", not empty" if least else ""), pointer=pointer)
        return [self.text(text, _join(pointer, number), empty=empty) for number, text in enumerate(value)]

    def excludes(self, node: Any, pointer: str) -> list[bytes]:
        found = self.texts(node.get("excludes") or [], _join(pointer, "excludes"))
        return [text.encode() for text in found]

    def flag(self, node: Any, field: str, pointer: str, *, default: bool = False) -> bool:
        value = node.get(field, default)
        if not isinstance(value, bool):
            raise StructuralTagError(f"{field} is true or false, not {value!r:.60}", pointer=_join(pointer, field))
        return value

    def budget(self, node: Any, field: str, pointer: str) -> int | None:
        value = node.get(field)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_BUDGET:
            raise StructuralTagError(f"{field} is a count, not {value!r:.60}", pointer=_join(pointer, field))
        return min(value, self.limits.max_repeat)

    def check_triggers(self, triggers: list[str], pointer: str) -> None:
        """No trigger may be the beginning of another: it would always come first."""
        ordered = sorted(triggers)
        for one, other in itertools.pairwise(ordered):
            if other.startswith(one):
                number = triggers.index(one) if one != other else len(triggers) - 1 - triggers[::-1].index(one)
                reason = "stands twice" if one == other else f"is the beginning of {echo(other, 60)}"
                raise StructuralTagError(f"the trigger {echo(one, 60)} {reason}", pointer=_join(pointer, number),
                                         hint="keep the shorter one: tags are told apart by their begin")

    def check_stops(self, stops: list[str], excludes: list[bytes], pointer: str) -> None:
        heads = [self.delimiters.spelled(text) for text in stops]
        if b"" in excludes:
            raise StructuralTagError("an excluded text is not empty", pointer=_join(pointer, "excludes"))
        hidden = hidden_stop(heads, excludes)
        if hidden is not None:
            raise StructuralTagError(f"{echo(hidden[0], 60)} can never come about: {echo(hidden[1], 60)} is within it "
                                     "and comes first", pointer=pointer, hint="change one of the two")


def _check_fields(node: Mapping[str, Any], kind: str, required: tuple[str, ...], optional: tuple[str, ...],
                  pointer: str) -> None:
    for field in required:
        if field not in node:
            raise StructuralTagError(f"{kind} needs the field {field}", pointer=pointer)
    for field in node:
        if field != "type" and field not in required and field not in optional:
            raise StructuralTagError(f"{kind} has no field {field!r:.60}", pointer=_join(pointer, field),
                                     hint="it has " + ", ".join((*required, *optional)))


def _plain(node: Any) -> Any:
    return node.model_dump(by_alias=True) if hasattr(node, "model_dump") else node


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
                    ("style", "any_order", "max_whitespace_cnt", "excludes", "label")),
    "qwen_xml_parameter": (_C.qwen_xml_parameter, ("json_schema",), ()),
    "regex": (_C.regex, ("pattern",), ("excludes",)),
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
