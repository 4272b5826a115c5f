from constrained.kernel.class_trie import ClassTrie
from constrained.kernel.token_trie import TokenTrie

class RegionReach:
    def __init__(self, trie: TokenTrie, classes: ClassTrie | None, root: int) -> None: ...
