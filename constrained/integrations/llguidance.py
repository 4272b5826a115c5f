"""Regular grammars on llguidance behind the matcher's interface: to compare, and on the way from there to here.

llguidance's own grammars are read by a lexer that takes the longest match, so a grammar of characters cannot be handed
over as it is; a regular one can, as one regular expression (``rust_regex``). The rest is refused. The stop tokens
are ours. Its limits are lifted as far as it lets them; where it still gives up the error says so.
"""

from __future__ import annotations

from typing import Any

import llguidance
import numpy as np

from constrained.errors import GrammarError, GrammarLimitError, echo
from constrained.grammar.ir import RuleSet
from constrained.integrations.peer_matcher import PeerCompiler, PeerGrammar
from constrained.integrations.rust_regex import to_rust_regex
from constrained.limits import Limits
from constrained.vocabulary.tokenizer_info import TokenizerInfo

__all__ = ["LlguidanceCompiler"]


class _Vocabulary:
    """The shape in which llguidance takes a vocabulary."""

    def __init__(self, info: TokenizerInfo) -> None:
        self.info = info
        self.eos_token_id = info.stop_token_ids[0]
        self.bos_token_id = None
        # it wants a name for every id; 0xFF cannot begin text, so a token that is none is never matched as text
        self.tokens = [info.token_bytes(i) or b"\xff<%d>" % i for i in range(info.vocab_size)]
        self.special_token_ids = [i for i in range(info.vocab_size) if not info.token_bytes(i)]
        self._by_bytes = {data: i for i, data in reversed(list(enumerate(self.tokens)))}

    def __call__(self, text: bytes | str) -> list[int]:
        """Some tokens of a text: longest first. Used for forced tokens only, which this backend does not ask for."""
        data = text.encode() if isinstance(text, str) else text
        found: list[int] = []
        while data:
            length = next((n for n in range(min(len(data), 64), 0, -1) if data[:n] in self._by_bytes), 0)
            if not length:
                raise ValueError("the vocabulary cannot spell the text")
            found.append(self._by_bytes[data[:length]])
            data = data[length:]
        return found


class LlguidanceCompiler(PeerCompiler):
    """Compiles regular grammars for one vocabulary."""

    def __init__(self, tokenizer_info: TokenizerInfo, *, limits: Limits | None = None) -> None:
        super().__init__(tokenizer_info, limits)
        wrapper = llguidance.TokenizerWrapper(_Vocabulary(tokenizer_info))
        self._tokenizer = llguidance.LLTokenizer(wrapper, n_vocab=tokenizer_info.vocab_size,
                                                 eos_token=list(tokenizer_info.stop_token_ids))

    def compile_rules(self, rules: RuleSet) -> PeerGrammar:
        """Compile rules. Raises GrammarError where the grammar is not regular or llguidance refuses it."""
        written = to_rust_regex(rules, self.limits.max_dfa_states, "max_dfa_states", self.limits.max_dfa_states)
        pattern = written.pattern.removesuffix("\\z")
        if written.empty:
            pattern = f"(?:{pattern})?" if pattern else ""
        source = llguidance.LLMatcher.grammar_from_regex(pattern)
        first = llguidance.LLMatcher(self._tokenizer, source, log_level=0)
        if first.is_error():
            raise GrammarError(f"llguidance refuses the grammar: {echo(first.get_error())}")
        return PeerGrammar(self.tokenizer_info, lambda: Running(first.deep_copy()))


class Running:
    """llguidance's matcher as ``peer_matcher.Peer``. Its errors stick to a matcher, so each is raised at once."""

    def __init__(self, matcher: Any) -> None:
        self.matcher = matcher

    def take(self, token_id: int) -> bool:
        # it marks a matcher that was given a wrong token as broken: ask first
        if self.matcher.validate_tokens([token_id]) != 1:
            return False
        taken: bool = self.matcher.consume_token(token_id)
        self._check()
        return taken

    def fill(self, row: np.ndarray[Any, np.dtype[np.int32]]) -> None:
        self.matcher.unsafe_compute_mask_ptr(row.ctypes.data, row.nbytes)
        self._check()

    def back(self, count: int) -> None:
        self.matcher.rollback(count)
        self._check()

    def may_end(self) -> bool:
        done: bool = self.matcher.is_accepting()
        return done

    def copy(self) -> Running:
        return Running(self.matcher.deep_copy())

    def _check(self) -> None:
        if self.matcher.is_error():
            raise GrammarLimitError("max_dfa_states", 0, f"llguidance gave up: {echo(self.matcher.get_error())}")
