from typing import Any

from constrained.kernel.token_trie import TokenTrie

class SharedTables:
    info: Any
    trie: TokenTrie
    stops: frozenset[int]
    stop_ids: tuple[int, ...]
    unspellable: frozenset[int]
    closed: bool
    spares: list[Any]
    def __init__(self, info: Any, trie: TokenTrie) -> None: ...

class SharedGrammar:
    rules: Any
    tokenizer_info: Any
    limits: Any
    tables: Any
    program: Any
    automaton: Any
    live: Any
    by_id_only: frozenset[int]
    calls_ahead: int
    _graph: Any
    _held: list[Any]
    _texts: list[Any]
    _has_distinct: bool
    _budget: int
    _kept: int
    _looks: int
    _started: int
    def __init__(self, rules: Any, tokenizer_info: Any, limits: Any, tables: Any = ..., *,
                 lasting: bool = ...) -> None: ...
    def write_whole(self) -> None: ...
    def matcher_begins(self, matcher: Any) -> int: ...
    def text_begins(self) -> int: ...
