import re

from constrained.errors import NotRegularError, RegexError
from constrained.limits import Limits
from constrained.regex.builder import TreeBuilder
from constrained.regex.charset import Ranges

__all__ = ["QUANTIFIERS", "PatternReader"]

QUANTIFIERS: frozenset[str]

class PatternReader:
    pattern: str
    at: int
    flags: int
    builder: TreeBuilder
    names: set[str]
    def __init__(self, pattern: str, limits: Limits) -> None: ...
    def error(self, message: str, position: int, hint: str | None = None) -> RegexError: ...
    def not_regular(self, message: str, position: int) -> NotRegularError: ...
    def peek(self) -> str: ...
    def bounds(self, count: re.Match[str], position: int) -> tuple[int, int | None]: ...
    def property(self, position: int) -> Ranges: ...
