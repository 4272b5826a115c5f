from constrained.kernel.automaton import Automaton

class GuardHoles:
    def __init__(self, automaton: Automaton) -> None: ...
