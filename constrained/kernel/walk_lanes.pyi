from constrained.kernel.automaton import Automaton
from constrained.kernel.token_trie import TokenTrie

class WalkLanes:
    def __init__(self, automaton: Automaton, trie: TokenTrie) -> None: ...
