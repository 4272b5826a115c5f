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
from constrained.errors import ConstrainedError, GrammarError
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["GrammarCompiler"]


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

    def clear_cache(self) -> None:
        """Forget all compiled grammars."""
        with self._guard:
            self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """What the cached grammars hold now."""
        with self._guard:
            return sum(compiled.memory_size_bytes for compiled in self._cache.values())

    def _cached(self, key: Any, make: Callable[[], Grammar]) -> CompiledGrammar:
        with self._guard:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
        compiled = compile_rules(make().rules, self.tokenizer_info, self.limits)
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
