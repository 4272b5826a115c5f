from constrained.kernel.automaton import Automaton
from constrained.kernel.exit_groups import ExitGroups
from constrained.kernel.token_trie import TokenTrie

class Literals:
    def __init__(self, automaton: Automaton, trie: TokenTrie, groups: ExitGroups) -> None: ...
