from typing import Any

from constrained.kernel.token_automaton import TokenAutomaton
from constrained.kernel.token_trie import TokenTrie
from constrained.kernel.value_reader import ValueReader

class Closing:
    def __init__(self, trie: TokenTrie) -> None: ...

def blank_runs(trie: TokenTrie) -> list[list[int]]: ...

class ValueWalk:
    def __init__(self, reader: ValueReader, automaton: TokenAutomaton, owner: Any, closing: Closing) -> None: ...
    def walk(
        self, reader: int, state: int, without: bool, others: list[tuple[int, int, int]]
    ) -> list[int] | None: ...
    def survives(self, reader: int, state: int, data: bytes) -> bool: ...
