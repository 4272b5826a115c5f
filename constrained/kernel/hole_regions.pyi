from constrained.kernel.automaton import Automaton
from constrained.kernel.token_trie import TokenTrie

class HoleRegions:
    def __init__(self, automaton: Automaton, trie: TokenTrie, regions: list[bytes]) -> None: ...
