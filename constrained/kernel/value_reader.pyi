from constrained.kernel.value_steps import ValueSteps

class ValueReader(ValueSteps):
    def outlook(self, state: int) -> tuple[bool, bool, int]: ...
