from constrained.kernel.network import Network
from constrained.kernel.program import Program
from constrained.kernel.rule_writer import RuleWriter

EMPTY_ITEMS: int
LEFT_RECURSION: int
IMPOSSIBLE: int

def plain_program(net: Network) -> Program | int: ...
def lower_plainly(writer: RuleWriter, root: str) -> Program | tuple[Network, int] | None: ...
