from constrained.kernel.program import Program

class PositionSets:
    @property
    def program(self) -> Program: ...
