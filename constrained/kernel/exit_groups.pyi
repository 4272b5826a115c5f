from constrained.kernel.automaton import Automaton
from constrained.kernel.hole_regions import HoleRegions
from constrained.kernel.token_trie import TokenTrie

class ExitGroups:
    def __init__(self, automaton: Automaton, trie: TokenTrie, regions: HoleRegions) -> None: ...
