"""The engine and its peers behind one small interface: compile, begin a text, fill a mask, accept a token.

All write into the same kind of buffer (int32 ``[1, ceil(V / 32)]``, numpy), all run in the calling thread. Each peer
gets its quickest public way:

- llguidance: one ``LLMatcher`` for a grammar, ``reset`` between texts (so that its lexer keeps what it has built);
  masks by ``unsafe_compute_mask_ptr``, which is what ``llguidance.numpy.fill_next_token_bitmask`` calls.
- XGrammar: one ``CompiledGrammar``, a new ``GrammarMatcher`` a text; compiled with one thread and without its cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llguidance
import numpy as np
import xgrammar
from transformers import PreTrainedTokenizerFast

import constrained as cd

__all__ = ["Engine", "Llguidance", "Ours", "OursByState", "Refused", "Vocabulary", "XGrammar", "load_vocabulary"]

Fill = Callable[[], Any]
Accept = Callable[[int], bool]


class Refused(Exception):
    """An engine does not take a grammar; the text is its message."""


@dataclass
class Vocabulary:
    """One ``tokenizer.json``, as each engine reads it."""

    path: Path
    info: cd.TokenizerInfo
    encode: Callable[[str], list[int]]
    peers: dict[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> int:
        return (self.info.vocab_size + 31) // 32


def load_vocabulary(path: Path, vocab_size: int | None = None) -> Vocabulary:
    """Read a vocabulary; the peers' forms are made on first use."""
    info = cd.TokenizerInfo.from_huggingface(str(path), vocab_size=vocab_size)

    def encode(text: str) -> list[int]:
        ids = info.encode(text)
        assert ids is not None
        return ids

    return Vocabulary(path, info, encode)


class Engine:
    """What a benchmark drives. ``compile`` takes what the engine's own front end takes (see ``workloads``)."""

    name = ""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.buffer = np.zeros((1, vocabulary.words), np.int32)

    def compile(self, source: Any) -> Any:
        """The grammar made ready; raises ``Refused``."""
        raise NotImplementedError

    def begin(self, compiled: Any) -> tuple[Fill, Accept]:
        """A new text: ``fill()`` writes the mask to ``buffer``, ``accept(token)`` tells whether it was taken."""
        raise NotImplementedError

    def version(self) -> str:
        """The installed version."""
        raise NotImplementedError


class Ours(Engine):
    """Through ``GrammarMatcher``. ``compile`` takes a ``Grammar`` or a function that makes one."""

    name = "constrained"

    def compile(self, source: Any) -> cd.CompiledGrammar:
        compiler = cd.GrammarCompiler(self.vocabulary.info, cache_limit_bytes=0)
        return compiler.compile_grammar(source() if callable(source) else source)

    def begin(self, compiled: cd.CompiledGrammar) -> tuple[Fill, Accept]:
        matcher = cd.GrammarMatcher(compiled)
        return partial(matcher.fill_next_token_bitmask, self.buffer, 0), matcher.accept_token

    def version(self) -> str:
        return cd.__version__


class OursByState(Ours):
    """Through the state-level API on ints: ``CompiledGrammar.fill_at`` and ``next_state``."""

    name = "constrained, state level"

    def begin(self, compiled: cd.CompiledGrammar) -> tuple[Fill, Accept]:
        state = compiled.start_state
        fill_at, next_state, address = compiled.fill_at, compiled.next_state, self.buffer.ctypes.data

        def fill() -> int:
            return fill_at(state, address)

        def accept(token: int) -> bool:
            nonlocal state
            state = next_state(state, token)
            return state != 0

        return fill, accept


class Llguidance(Engine):
    """``compile`` takes a grammar string as ``LLMatcher`` takes it."""

    name = "llguidance"

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        tokenizer = vocabulary.peers.get("llguidance")
        if tokenizer is None:
            info = vocabulary.info
            tokenizer = vocabulary.peers["llguidance"] = llguidance.LLTokenizer(
                vocabulary.path.read_text(encoding="utf-8"), n_vocab=info.vocab_size,
                eos_token=list(info.stop_token_ids))
        self.tokenizer = tokenizer

    def compile(self, source: Any) -> llguidance.LLMatcher:
        matcher = llguidance.LLMatcher(self.tokenizer, source, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def begin(self, compiled: llguidance.LLMatcher) -> tuple[Fill, Accept]:
        compiled.reset()
        row = self.buffer[0]
        return partial(compiled.unsafe_compute_mask_ptr, row.ctypes.data, row.nbytes), compiled.consume_token

    def version(self) -> str:
        return version("llguidance")


class XGrammar(Engine):
    """``compile`` takes a function from an ``xgrammar.GrammarCompiler`` to a compiled grammar."""

    name = "XGrammar"

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        info = vocabulary.peers.get("xgrammar")
        if info is None:
            tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(vocabulary.path))
            info = vocabulary.peers["xgrammar"] = xgrammar.TokenizerInfo.from_huggingface(
                tokenizer, vocab_size=vocabulary.info.vocab_size,
                stop_token_ids=list(vocabulary.info.stop_token_ids))
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, source: Any) -> xgrammar.CompiledGrammar:
        try:
            return source(self.compiler)
        except (RuntimeError, ValueError) as error:
            raise Refused(str(error)) from None

    def begin(self, compiled: xgrammar.CompiledGrammar) -> tuple[Fill, Accept]:
        matcher = xgrammar.GrammarMatcher(compiled)
        return partial(matcher.fill_next_token_bitmask, self.buffer, 0), matcher.accept_token

    def version(self) -> str:
        return version("xgrammar")
