"""``GrammarCompiler``: grammars ready for one vocabulary, kept in a cache with a limit in bytes.

Compiling is one pass over the grammar; automata, states and masks appear as generation meets them, in the compiled
grammar itself. So the cache's size is that of the grammars as they have grown; when it is over the limit the least
recently used ones are dropped (whoever holds one keeps it).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.errors import ConstrainedError, GrammarError, UnsatisfiableGrammarError, UnsatisfiableSchemaError
from constrained.frontends.json_schema.compile import schema_text
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["GrammarCompiler"]


class _Same:
    """A cache key of an object that is compared by identity and kept alive by its key."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


class GrammarCompiler:
    """Compiles grammars for one vocabulary. May be used from several threads.

    Args:
        tokenizer_info: the vocabulary.
        cache_limit_bytes: how much the cached grammars may hold; 0 caches nothing.
        limits: budgets of everything compiled here.

    Raises:
        ConstrainedError: an argument of the wrong type.
    """

    def __init__(self, tokenizer_info: TokenizerInfo, *, cache_limit_bytes: int = 256 << 20,
                 limits: Limits | None = None) -> None:
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

    def compile_grammar(self, grammar: Grammar | str, *, root_rule_name: str = "root") -> CompiledGrammar:
        """Compile EBNF text or a ``Grammar``. ``root_rule_name`` is for text.

        Raises as ``Grammar.from_ebnf``; ``UnsatisfiableGrammarError`` also when this vocabulary cannot spell any text.
        """
        if isinstance(grammar, Grammar):
            return self._cached(("grammar", grammar), lambda: grammar)
        if isinstance(grammar, (str, bytes)):
            text = grammar
            return self._cached(("ebnf", text, root_rule_name),
                                lambda: Grammar.from_ebnf(text, root=root_rule_name, limits=self.limits))
        raise GrammarError(f"a grammar is EBNF text or a Grammar, not {type(grammar).__name__}")

    def compile_regex(self, pattern: str, *, dialect: str = "python") -> CompiledGrammar:
        """Compile a regular expression; raises as ``Grammar.from_regex``."""
        return self._cached(("regex", pattern, dialect),
                            lambda: Grammar.from_regex(pattern, dialect=dialect, limits=self.limits))

    def compile_json_schema(
        self,
        schema: Any,
        *,
        draft: str | None = None,
        strict_mode: bool = False,
        property_order: str = "schema",
        any_whitespace: bool = True,
        max_whitespace_cnt: int | None = 64,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        string_escapes: str = "any",
        max_number_digits: int = 400,
        unsupported: str = "error",
        assert_formats: bool = True,
        registry: Any = None,
        limits: Limits | None = None,
    ) -> CompiledGrammar:
        """Compile a JSON Schema: text, a dict or a boolean. Arguments and errors as ``Grammar.from_json_schema``."""
        limits = limits or self.limits
        options = (draft, strict_mode, property_order, any_whitespace, max_whitespace_cnt, indent, separators,
                   string_escapes, max_number_digits, unsupported, assert_formats)
        # a registry is compared by identity and kept by the key; a dict is written down, since its owner may change it
        text = schema if isinstance(schema, (str, bytes)) else schema_text(schema, limits)
        try:
            return self._cached(
                ("json_schema", text, options, _Same(registry), limits),
                lambda: Grammar.from_json_schema(
                    text, draft=draft, strict_mode=strict_mode, property_order=property_order,
                    any_whitespace=any_whitespace, max_whitespace_cnt=max_whitespace_cnt, indent=indent,
                    separators=separators, string_escapes=string_escapes, max_number_digits=max_number_digits,
                    unsupported=unsupported, assert_formats=assert_formats, registry=registry, limits=limits),
                limits)
        except UnsatisfiableGrammarError:
            raise UnsatisfiableSchemaError(
                "no value satisfies the schema, or none that ends or that this vocabulary can spell",
                hint="look for a required member whose schema is false or needs itself, or for keywords that exclude "
                     "each other") from None

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
            return sum(compiled.memory_size_bytes for compiled in self._cache.values())

    def _cached(self, key: Any, make: Callable[[], Grammar], limits: Limits | None = None) -> CompiledGrammar:
        with self._guard:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
        compiled = compile_rules(make().rules, self.tokenizer_info, limits or self.limits)
        if self.cache_limit_bytes:
            with self._guard:
                compiled = self._cache.setdefault(key, compiled)
                self._cache.move_to_end(key)
                self._evict()
        return compiled

    def _evict(self) -> None:
        """Drop the least recently used grammars until the rest fits; the newest always stays."""
        held = [(key, compiled.memory_size_bytes) for key, compiled in self._cache.items()]
        total = sum(size for _, size in held)
        for key, size in held[:-1]:
            if total <= self.cache_limit_bytes:
                break
            del self._cache[key]
            total -= size
