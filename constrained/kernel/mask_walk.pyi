from collections.abc import Collection, Iterable, Sequence

from constrained.kernel.automaton import Automaton
from constrained.kernel.mask_threads import MaskThreads
from constrained.kernel.token_trie import TokenTrie

class MaskWalk(MaskThreads):
    @property
    def vocab_size(self) -> int: ...
    @property
    def n_sets(self) -> int: ...
    def __init__(
        self,
        automaton: Automaton,
        trie: TokenTrie,
        stop_ids: list[int],
        regions: list[bytes],
        token_sets: Sequence[Collection[int]],
        max_mask_bytes: int,
        max_walk_nodes: int,
        by_id_only: Iterable[int] = ...,
    ) -> None: ...
