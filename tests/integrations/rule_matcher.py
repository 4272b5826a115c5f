"""A matcher that asks a Python function which ids may follow: the tests' double, independent of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

Rule = Callable[[tuple[int, ...]], set[int]]


class RuleMatcher:
    """``rule(ids so far)`` is the set of allowed next ids; a stop id in it means that the text may end."""

    def __init__(self, rule: Rule, vocab_size: int, stop_token_ids: Sequence[int], ids: tuple[int, ...] = ()) -> None:
        self.rule = rule
        self.vocab_size = vocab_size
        self.compiled = SimpleNamespace(tokenizer_info=SimpleNamespace(vocab_size=vocab_size))
        self.stop_token_ids = stop_token_ids
        self.ids = ids

    def is_terminated(self) -> bool:
        return bool(self.ids) and self.ids[-1] in self.stop_token_ids

    def accept_token(self, token_id: int) -> bool:
        if self.is_terminated() or token_id not in self.rule(self.ids):
            return False
        self.ids = (*self.ids, token_id)
        return True

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        assert not self.is_terminated()
        allowed = self.rule(self.ids)
        assert allowed
        for word in range(bitmask.shape[1]):
            bits = sum(1 << bit for bit in range(32) if 32 * word + bit in allowed)
            bitmask[index, word] = bits - (1 << 32) if bits >> 31 else bits
        return True

    def rollback(self, num_tokens: int = 1) -> None:
        assert 0 <= num_tokens <= len(self.ids)
        self.ids = self.ids[: len(self.ids) - num_tokens]

    def fork(self) -> RuleMatcher:
        return RuleMatcher(self.rule, self.vocab_size, self.stop_token_ids, self.ids)


def accepts(rule: Rule, ids: Sequence[int], stop_token_ids: Sequence[int]) -> bool:
    """Whether ``ids`` is legal as far as it goes: it may stop short, or end and then hold anything."""
    for i, token_id in enumerate(ids):
        if token_id not in rule(tuple(ids[:i])):
            return False
        if token_id in stop_token_ids:
            return True
    return True
