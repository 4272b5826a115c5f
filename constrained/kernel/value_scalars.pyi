from constrained.kernel.value_states import ValueStates


class ValueScalars(ValueStates): ...
