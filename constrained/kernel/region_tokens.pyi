from constrained.kernel.class_trie import ClassTrie
from constrained.kernel.token_trie import TokenTrie

class RegionTokens:
    def __init__(self, trie: TokenTrie, classes: ClassTrie, root: int) -> None: ...
