from collections.abc import Callable, Mapping
from typing import Any

from constrained.frontends.json_schema.dialects import Dialect
from constrained.frontends.json_schema.scalar_texts import Tables
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits

class Way:
    def __init__(self, dialect: Dialect, limits: Limits, options: tuple[Any, ...], tables: Tables | None,
                 texts: dict[Any, Any], most_texts: int, host: Callable[..., Any]) -> None: ...

class Front:
    def __init__(self, read: Callable[[Any, Limits], Any], find_dialect: Callable[[str | None, Any, Any], Dialect],
                 uris: Mapping[str | None, Dialect],
                 make: Callable[[Dialect, Limits, tuple[Any, ...]], Way]) -> None: ...
    def rules(self, schema: Any, draft: str | int | None, registry: Any, limits: Limits, options: tuple[Any, ...],
              strict: bool) -> RuleSet | None: ...
