from constrained.kernel.hole_regions import HoleRegions
from constrained.kernel.token_trie import TokenTrie

class FoundTokens:
    def __init__(self, trie: TokenTrie, regions: HoleRegions) -> None: ...
