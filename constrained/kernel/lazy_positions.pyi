from constrained.kernel.program import Program

class LazyPositions:
    @property
    def program(self) -> Program: ...
