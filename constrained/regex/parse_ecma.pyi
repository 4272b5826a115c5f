from constrained.limits import Limits
from constrained.regex.pattern_reader import PatternReader
from constrained.regex.syntax import Node

__all__ = ["parse_ecma"]

def parse_ecma(pattern: str, limits: Limits | None = None) -> Node: ...

class _Parser(PatternReader): ...
