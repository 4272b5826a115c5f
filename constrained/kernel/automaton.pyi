from constrained.kernel.stacks import Stacks

class Automaton(Stacks):
    @property
    def epoch(self) -> int: ...
