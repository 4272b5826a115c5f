from constrained.kernel.program import Program
from constrained.kernel.stacks import Stacks

class Automaton(Stacks):
    @property
    def epoch(self) -> int: ...
    def __init__(self, program: Program, max_threads: int) -> None: ...
