"""``GrammarCompiler``: grammars ready for one vocabulary, kept in a cache with a limit in bytes.

Compiling is one pass over the grammar; automata, states and masks appear as generation meets them, in the compiled
grammar itself. So the cache's size is that of the grammars as they have grown; when it is over the limit the least
recently used ones are dropped (whoever holds one keeps it).
"""

from __future__ import annotations

import importlib
import json
import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

from constrained.api.grammar import Grammar
from constrained.api.requests import grammar_of_request
from constrained.api.schema_compiler import MANY_RULES, SchemaCompiler
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import ConstrainedError, GrammarError, UnsatisfiableGrammarError
from constrained.frontends.json_schema.compile import build, from_json_schema, schema_text
from constrained.frontends.json_schema.unsatisfiable import why_unsatisfiable
from constrained.frontends.python_types import is_python_type
from constrained.frontends.structural_tag import Thinking
from constrained.garbage import postponed, settle
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["GrammarCompiler"]


BACKENDS = {
    "outlines-core": ("constrained.integrations.outlines_core", "OutlinesCompiler", "outlines"),
    "xgrammar": ("constrained.integrations.xgrammar", "XGrammarCompiler", "bench"),
    "llguidance": ("constrained.integrations.llguidance", "LlguidanceCompiler", "bench"),
}
"""Other engines behind the same interface: module, class and extra. Looked up by name, so nothing here imports them."""


OPTIONS = ("assert_formats", "any_whitespace", "max_whitespace_cnt", "indent", "separators", "string_escapes",
           "max_number_digits", "property_order")
"""Those of ``compile_json_schema`` that say how a text is written, in the order of ``api.schema_compiler``."""


def _load_backend(name: str) -> Any:
    if name not in BACKENDS:
        raise ConstrainedError(f"unknown backend {name!r:.50}", hint=f"one of: constrained, {', '.join(BACKENDS)}")
    module, attribute, extra = BACKENDS[name]
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError:
        raise ConstrainedError(f"the backend {name} is not installed",
                               hint=f"pip install 'constrained[{extra}]'") from None


def _tag_key(tag: Any) -> Any:
    """A structural tag as a cache key: its bytes or text, or itself where it is no JSON (the front end says what is
    wrong). Plain dicts and lists are dumped by ``marshal``, in half the time; its version 2 knows equal values only."""
    if isinstance(tag, (str, bytes)):
        return tag
    try:
        return marshal.dumps(tag, 2)
    except ValueError:
        pass  # a model in it, or another type
    try:
        return json.dumps(tag, default=_dumped)
    except (TypeError, ValueError, RecursionError):
        return _Same(tag)


def _dumped(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True)
    raise TypeError(type(value).__name__)


def _schema_rules(text: Any, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...], strict_mode: bool,
                  unsupported: str) -> RuleSet:
    return from_json_schema(text, draft=draft, strict_mode=strict_mode, unsupported=unsupported, registry=registry,
                            limits=limits, **dict(zip(OPTIONS, options, strict=True)))


def _size(compiled: CompiledGrammar) -> int:
    """Bytes a grammar holds; other backends do not tell theirs."""
    return int(getattr(compiled, "memory_size_bytes", 0))


class _Same:
    """A cache key of an object that is compared by identity and kept alive by its key."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


class GrammarCompiler(SchemaCompiler):
    """Compiles grammars for one vocabulary. May be used from several threads.

    Args:
        tokenizer_info: the vocabulary.
        cache_limit_bytes: how much the cached grammars may hold; 0 caches nothing.
        limits: budgets of everything compiled here.
        backend: ``"constrained"``, this library's engine, or another one behind its front ends (extras):
            ``"outlines-core"`` and ``"llguidance"`` (regular grammars only), ``"xgrammar"``. Its grammars make their
            matchers with ``new_matcher()``.

    Raises:
        ConstrainedError: an argument of the wrong type, a backend that is not known or not installed.
    """

    def __init__(self, tokenizer_info: TokenizerInfo, *, cache_limit_bytes: int = 256 << 20,
                 limits: Limits | None = None, backend: str = "constrained") -> None:
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise ConstrainedError(f"tokenizer_info must be a TokenizerInfo, not {type(tokenizer_info).__name__}",
                                   hint="TokenizerInfo.from_huggingface(tokenizer) makes one")
        if not isinstance(cache_limit_bytes, int) or cache_limit_bytes < 0:
            raise ConstrainedError(f"cache_limit_bytes must be an int of at least 0, not {cache_limit_bytes!r:.50}")
        self.tokenizer_info = tokenizer_info
        self.limits = limits or Limits()
        self.cache_limit_bytes = cache_limit_bytes
        self._cache: OrderedDict[Any, CompiledGrammar] = OrderedDict()
        self._guard = threading.Lock()
        self._tables: Any = None  # the vocabulary's trie lives as long as one of its users
        self.backend = backend
        self._foreign = None if backend == "constrained" else _load_backend(backend)(tokenizer_info, limits=self.limits)

    def compile_grammar(self, grammar: Grammar | str, *, root_rule_name: str = "root",
                        thinking: Any = None) -> CompiledGrammar:
        """Compile EBNF text or a ``Grammar``. ``root_rule_name`` is for text.

        ``thinking``, here and below: a think section before the text, see ``docs/structural_tags.md``.

        Raises as ``Grammar.from_ebnf``; ``UnsatisfiableGrammarError`` also when this vocabulary cannot spell any text,
        ``UnsatisfiableSchemaError`` where the grammar was made from a schema or a type.
        """
        if isinstance(grammar, Grammar):
            try:
                return self._cached(("grammar", grammar), lambda: grammar.rules, thinking=thinking)
            except UnsatisfiableGrammarError as error:
                raise grammar.explained(error, self.limits) from None
        if isinstance(grammar, (str, bytes)):
            text = grammar
            return self._cached(("ebnf", text, root_rule_name),
                                lambda: Grammar.from_ebnf(text, root=root_rule_name, limits=self.limits).rules,
                                thinking=thinking)
        raise GrammarError(f"a grammar is EBNF text or a Grammar, not {type(grammar).__name__}")

    def compile_regex(self, pattern: str, *, dialect: str = "python", thinking: Any = None) -> CompiledGrammar:
        """Compile a regular expression; raises as ``Grammar.from_regex``."""
        return self._cached(("regex", pattern, dialect),
                            lambda: Grammar.from_regex(pattern, dialect=dialect, limits=self.limits).rules,
                            thinking=thinking)

    def compile_lark(self, text: str | bytes, *, thinking: Any = None, **options: Any) -> CompiledGrammar:
        """Compile a Lark grammar; options and errors as ``Grammar.from_lark``."""
        options = {"limits": self.limits, **options}
        key = tuple(sorted((name, _Same(value) if isinstance(value, (list, dict)) else value)
                           for name, value in options.items()))
        return self._cached(("lark", text, key), lambda: Grammar.from_lark(text, **options).rules, thinking=thinking)

    def _rules_of(self, schema: str, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                  strict_mode: bool) -> RuleSet:
        """The rules of a text that ``direct_document`` has left alone."""
        return build(schema, draft=draft, strict_mode=strict_mode, registry=registry, limits=limits,
                     **dict(zip(OPTIONS, options, strict=True)))[0]

    def _refuse_schema(self, schema: Any, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                       strict_mode: bool) -> NoReturn:
        """No text fits: say where the schema is at fault."""
        named = dict(zip(OPTIONS, options, strict=True))
        raise why_unsatisfiable(
            schema, limits, draft=draft, strict_mode=strict_mode, registry=registry,
            **{name: named[name] for name in ("assert_formats", "property_order", "max_number_digits")}) from None

    def _compile_schema(self, schema: Any, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                        strict_mode: bool, unsupported: str, thinking: Any) -> CompiledGrammar:
        """``compile_json_schema`` wherever it is not plain."""
        # a registry is compared by identity and kept by the key; a dict is written down, since its owner may change it
        text = schema
        typed = False
        if not isinstance(schema, (str, bytes)):
            typed = is_python_type(schema)  # compared by identity too
            if not typed:
                text = schema_text(schema, limits)
        key = None
        if self.cache_limit_bytes:
            key = ("json_schema", _Same(text) if typed else text, draft, strict_mode, unsupported, options,
                   _Same(registry), limits)
        try:
            return self._cached(key, _schema_rules, limits, thinking,
                                (text, draft, registry, limits, options, strict_mode, unsupported))
        except UnsatisfiableGrammarError:
            self._refuse_schema(text, draft, registry, limits, options, strict_mode)

    def compile_structural_tag(self, tag: Any, triggers: Any = None, *, strict_mode: bool = True,
                               thinking: Any = None) -> CompiledGrammar:
        """Compile a structural tag: JSON text, a dict, or a model. See ``docs/structural_tags.md``.

        Args:
            tag: ``{"type": "structural_tag", "format": {...}}``, the legacy form, or a format.
            triggers: with it ``tag`` is a list of structures, as in XGrammar's older signature.
            strict_mode: objects that say nothing about undeclared members have none.
            thinking: a think section before it: see ``Thinking.of``.

        Raises as ``Grammar.from_structural_tag``; ``UnsatisfiableGrammarError`` when this vocabulary cannot spell any
        text of it.
        """
        if triggers is not None:
            tag = {"structures": tag, "triggers": triggers}
        elif hasattr(tag, "model_dump"):
            tag = tag.model_dump(by_alias=True)
        key = ("structural_tag", _tag_key(tag) if self.cache_limit_bytes else None, strict_mode)
        return self._cached(key, lambda: Grammar.from_structural_tag(
            tag, tokenizer_info=self.tokenizer_info, strict_mode=strict_mode, limits=self.limits).rules,
            thinking=thinking)

    def compile_request(self, kind: str, source: str, *, layout: str = "any", relax: bool = False,
                        strict_mode: bool = True, thinking: Any = None) -> CompiledGrammar:
        """Compile a kind and a text, as engines and servers pass them around: see ``api.requests``.

        Arguments and errors as ``grammar_of_request``; ``UnsatisfiableGrammarError`` when this vocabulary cannot spell
        any text of it.
        """
        return self._cached(
            ("request", kind, source, layout, relax, strict_mode),
            lambda: grammar_of_request(kind, source, layout=layout, relax=relax, strict_mode=strict_mode,
                                       tokenizer_info=self.tokenizer_info, limits=self.limits).rules, thinking=thinking)

    def compile_builtin_json_grammar(self, **options: Any) -> CompiledGrammar:
        """Any JSON value; ``options`` as ``compile_json_schema``."""
        return self.compile_json_schema(True, **options)

    def clear_cache(self) -> None:
        """Forget all compiled grammars."""
        with self._guard:
            self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """What the cached grammars hold now."""
        with self._guard:
            return sum(_size(compiled) for compiled in self._cache.values())

    def _cached(self, key: Any, make: Callable[..., RuleSet], limits: Limits | None = None,
                thinking: Any = None, arguments: tuple[Any, ...] = ()) -> CompiledGrammar:
        section = None if thinking is None else Thinking.of(thinking)
        if self.cache_limit_bytes:
            if section is not None:
                key = (key, section)
            with self._guard:
                found = self._cache.get(key)
                if found is not None:
                    self._cache.move_to_end(key)
                    return found
        with postponed():
            rules = make(*arguments)
            if section is not None:
                rules = Grammar(rules).with_thinking(section, tokenizer_info=self.tokenizer_info,
                                                     limits=limits or self.limits).rules
            compiled: CompiledGrammar = (
                CompiledGrammar(rules, self.tokenizer_info, limits or self.limits, self._tables,
                                lasting=self.cache_limit_bytes > 0)
                if self._foreign is None else self._foreign.compile_rules(rules))
            if len(rules.rules) > MANY_RULES:
                settle(rules.rules.values())
        if self._tables is None:
            self._tables = getattr(compiled, "tables", None)
        if self.cache_limit_bytes:
            with self._guard:
                compiled = self._cache.setdefault(key, compiled)
                self._cache.move_to_end(key)
                self._evict()
        return compiled

    def _evict(self) -> None:
        """Drop the least recently used grammars until the rest fits; the newest always stays."""
        held = [(key, _size(compiled)) for key, compiled in self._cache.items()]
        total = sum(size for _, size in held)
        for key, size in held[:-1]:
            if total <= self.cache_limit_bytes:
                break
            del self._cache[key]
            total -= size
