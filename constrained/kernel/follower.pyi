from collections.abc import Iterable
from typing import Any

from constrained.kernel.shared_grammar import SharedGrammar
from constrained.kernel.token_automaton import TokenAutomaton

class Follower:
    _compiled: Any
    _auto: Any
    _stops: frozenset[int]
    _held: Any
    _finder: Any
    _tracked: Any
    _carried: Any
    _before: Any
    number: int
    _quick: bool
    _stops_given: bool
    _fast: TokenAutomaton | None
    _state: int
    _history: list[int]
    _steps: list[Any]
    _terminated: bool
    _without_stop: bool
    _calls: int
    _array: Any
    _row: int
    _address: int
    def __init__(
        self,
        compiled: SharedGrammar,
        *,
        override_stop_tokens: Iterable[int] | int | None = None,
        terminate_without_stop_token: bool = False,
    ) -> None: ...
    def _follow_as(self, other: Follower) -> None: ...
    def accept_token(self, token_id: int) -> bool: ...
    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool: ...
    def _take(self, token_id: Any, after: int) -> bool: ...
    def _push(self, step: Any, after: int) -> None: ...
