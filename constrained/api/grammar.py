"""``Grammar``: a language, however it was written.

It wraps the checked rules that every front end produces. Immutable; equal rules compare equal; pickling keeps the
rules as a flat list, so no depth of nesting matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.json_schema.compile import from_json_schema
from constrained.frontends.json_schema.unsatisfiable import why_unsatisfiable
from constrained.frontends.lark.compile import from_lark
from constrained.frontends.python_types import from_type
from constrained.frontends.regex import from_regex
from constrained.frontends.structural_tag import Thinking, from_structural_tag
from constrained.grammar import combinators
from constrained.grammar.analysis import GrammarReport, analyse
from constrained.grammar.combinators import ExprLike
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import Reference, RuleSet
from constrained.grammar.show import show
from constrained.grammars import builtin_text
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["Grammar"]


class Grammar:
    """A grammar: rules over expressions, with a root. Make one with the ``from_`` methods, ``builtin`` or ``of``."""

    __slots__ = ("_flat", "_schema", "rules")

    rules: RuleSet
    """The rules as front ends make them and the engine runs them."""

    def __init__(self, rules: RuleSet) -> None:
        if not isinstance(rules, RuleSet):
            raise GrammarError(f"a Grammar is made from rules, not from {type(rules).__name__}",
                               hint="use Grammar.from_ebnf(text), Grammar.from_regex(pattern) or Grammar.of(...)")
        self.rules = rules
        self._flat: Any = None
        self._schema: tuple[Any, dict[str, Any]] | None = None  # what it was made from, for the words of an error

    @classmethod
    def from_ebnf(cls, text: str | bytes, *, root: str = "root", limits: Limits | None = None) -> Grammar:
        """Reads EBNF: the dialect of ``docs/ebnf.md``, which takes llama.cpp's GBNF and XGrammar's EBNF as they are.

        Raises ``GrammarSyntaxError`` with line and column, ``UnsatisfiableGrammarError`` when no text fits, and
        ``GrammarLimitError``.
        """
        return cls(from_ebnf(text, root=root, limits=limits))

    @classmethod
    def from_regex(cls, pattern: str, *, dialect: str = "python", ascii: bool = False,
                   limits: Limits | None = None) -> Grammar:
        """The texts a pattern matches: in full for ``"python"`` (the syntax of ``re``), somewhere for ``"ecma"``.

        In Python's dialect ``\\d`` holds the digits of all scripts, as in ``re``; with ``ascii`` those from 0 to 9, and
        ``\\w``, ``\\s``, ``\\b`` likewise (as with ``re.ASCII``), unless the pattern says ``(?u)``.

        Raises ``RegexError`` with the position, ``UnsatisfiableGrammarError`` and ``GrammarLimitError``.
        """
        return cls(from_regex(pattern, dialect=dialect, ascii=ascii, limits=limits))

    @classmethod
    def from_lark(cls, text: str | bytes, **options: Any) -> Grammar:
        """Reads a Lark grammar through lark itself (an extra): exactly the texts that lark's parser takes.

        Options as ``constrained.frontends.lark.compile.from_lark``: ``start``, ``mode`` (``"lexer"`` is lark's LALR
        parser with its contextual lexer, ``"scannerless"`` its Earley parser without one), ``sources`` and
        ``import_paths`` for ``%import``, ``limits``. See ``docs/lark.md``.

        Raises ``GrammarSyntaxError`` with line and column, ``UnsatisfiableGrammarError`` when no text fits, and
        ``GrammarLimitError``.
        """
        return cls(from_lark(text, **options))

    @classmethod
    def from_json_schema(cls, schema: Any, **options: Any) -> Grammar:
        """The JSON texts that a schema (text, a dict or a boolean) or a type accepts: exactly, or refused.

        Options and errors as ``constrained.frontends.json_schema.compile.from_json_schema``: ``draft``,
        ``strict_mode``, ``property_order``, ``any_whitespace``, ``max_whitespace_cnt``, ``indent``, ``separators``,
        ``string_escapes``, ``max_number_digits``, ``unsupported``, ``assert_formats``, ``registry``, ``limits``. See
        ``docs/json_schema.md``.

        Raises ``SchemaError`` with a JSON Pointer (also ``UnsupportedSchemaError``, ``UnsatisfiableSchemaError``) and
        ``GrammarLimitError``.
        """
        found = cls(from_json_schema(schema, **options))
        found._schema = (schema, options)
        return found

    def explained(self, error: UnsatisfiableGrammarError, limits: Limits) -> GrammarError:
        """The error of a grammar that has no text: of one made from a schema, with the place that has no value."""
        if self._schema is None:
            return error
        schema, options = self._schema
        asked = {name: value for name, value in options.items() if name not in ("unsupported", "limits")}
        return why_unsatisfiable(schema, options.get("limits") or limits, **asked)

    @classmethod
    def from_structural_tag(cls, tag: Any, *, tokenizer_info: TokenizerInfo | None = None, strict_mode: bool = True,
                            limits: Limits | None = None) -> Grammar:
        """A structural tag (JSON text, a dict or a model): free text in which triggers begin structure.

        With ``tokenizer_info`` delimiters that are tokens of the vocabulary may also be written as those tokens. See
        ``docs/structural_tags.md``. Raises ``StructuralTagError`` with a JSON Pointer, ``SchemaError`` alike, and
        ``GrammarLimitError``.
        """
        return cls(from_structural_tag(tag, tokenizer_info=tokenizer_info, strict_mode=strict_mode, limits=limits))

    def with_thinking(self, thinking: Any, *, tokenizer_info: TokenizerInfo | None = None,
                      limits: Limits | None = None) -> Grammar:
        """This grammar behind a think section; ``thinking`` as ``Thinking.of`` takes it, None: this grammar.

        Raises as ``from_structural_tag``, and ``GrammarError`` for an unknown option.
        """
        section = Thinking.of(thinking)
        if section is None:
            return self
        before = section.before({"type": "const_string", "value": ""})
        return Grammar.from_structural_tag(before, tokenizer_info=tokenizer_info, limits=limits) + self

    @classmethod
    def from_type(cls, annotation: Any, **options: Any) -> Grammar:
        """The JSON texts of a type's values: a Pydantic model, a dataclass, a TypedDict, ``list[int]``, any annotation.

        Every text passes ``pydantic.TypeAdapter(annotation).validate_json``, unless the type has validators of its
        own: ``coverage(annotation)`` lists those. Options as ``from_json_schema``. See ``docs/types.md``.

        Raises ``UnsupportedSchemaError`` with the place of an annotation that cannot be enforced and what to write
        instead, ``UnsatisfiableSchemaError``, ``GrammarLimitError``.
        """
        found = cls(from_type(annotation, **options))
        found._schema = (annotation, options)
        return found

    @classmethod
    def builtin(cls, name: str) -> Grammar:
        """One of the grammars that come with the library: see ``builtin_names()`` and ``docs/grammars.md``."""
        return cls(from_ebnf(builtin_text(name)))

    @classmethod
    def of(cls, rules: Mapping[str, ExprLike] | ExprLike, root: str = "root") -> Grammar:
        """A grammar written with the combinators of ``constrained.grammar.combinators``."""
        return cls(combinators.rule_set(rules, root))

    def __add__(self, other: Grammar) -> Grammar:
        """First a text of this grammar, then one of ``other``."""
        return _combine(self, other, combinators.sequence)

    def __or__(self, other: Grammar) -> Grammar:
        """A text of either grammar."""
        return _combine(self, other, combinators.choice)

    def analyse(self) -> GrammarReport:
        """Unproductive, unreachable and nullable rules."""
        return analyse(self.rules)

    def __str__(self) -> str:
        """The grammar as EBNF that ``from_ebnf`` reads."""
        return show(self.rules)

    def __repr__(self) -> str:
        return f"<Grammar root={self.rules.root!r} rules={len(self.rules.rules)}>"

    def _key(self) -> Any:
        if self._flat is None:
            self._flat = to_flat(self.rules)
        return self._flat

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grammar) and (self.rules is other.rules or self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._key(),)


def _rebuild(flat: Any) -> Grammar:
    return Grammar(from_flat(flat))


def _combine(one: Grammar, other: Grammar, join: Any) -> Grammar:
    """One root over both; rules of ``other`` whose names are taken get a fresh one."""
    if not isinstance(other, Grammar):
        raise GrammarError(f"a Grammar combines with a Grammar, not with {type(other).__name__}")
    taken = dict(one.rules.rules)
    renamed = {name: _fresh(name, taken, other.rules.rules) for name in other.rules.rules}
    root, heads, entries = to_flat(other.rules)
    moved = tuple(("reference", renamed[e[1]]) if e[0] == "reference" else e for e in entries)
    second = from_flat((renamed[root], tuple((renamed[name], number) for name, number in heads), moved))
    merged = {**taken, **second.rules}
    top = _fresh("root", merged, {})
    merged[top] = join(Reference(one.rules.root), Reference(second.root))
    return Grammar(RuleSet(merged, top))


def _fresh(name: str, taken: Mapping[str, Any], also: Mapping[str, Any]) -> str:
    found = name
    number = 2
    while found in taken or (found != name and found in also):
        found = f"{name}-{number}"
        number += 1
    return found
