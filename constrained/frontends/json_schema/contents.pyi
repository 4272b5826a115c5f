from typing import Any

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.dialects import Dialect

def content_of(schema: dict[str, Any], depth: int = 1) -> tuple[Any, ...] | None: ...
def leaves(dialect: Dialect, max_repeat: int) -> dict[Any, Denotation]: ...
