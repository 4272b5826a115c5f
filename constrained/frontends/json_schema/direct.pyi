from typing import Any

from constrained.frontends.json_schema.direct_places import Places
from constrained.grammar.ir import Expr

class Union:
    def __init__(self) -> None: ...

class Writer(Places):
    def plain_value(self, schema: Any, pointer: str) -> Expr | None: ...
    def filled(self, schema: Any, depth: int = 3) -> bool: ...
