from constrained.kernel.value_states import ValueStates

LONG_NUMBER: int

class ValueScalars(ValueStates): ...
