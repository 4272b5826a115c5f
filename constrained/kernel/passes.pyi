from constrained.kernel.network import Network
from constrained.kernel.program import Program

EMPTY_ITEMS: int
LEFT_RECURSION: int
IMPOSSIBLE: int

def plain_program(net: Network) -> Program | int: ...
