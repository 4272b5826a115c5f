from collections.abc import Mapping
from typing import Any

from constrained.frontends.json_schema.dialects import Dialect
from constrained.frontends.json_schema.direct import Writer
from constrained.frontends.json_schema.direct_document import Way
from constrained.limits import Limits

class Kind:
    def __init__(self, dialect: Dialect, limits: Limits, assert_formats: bool | str,
                 spelling: Mapping[str, Any]) -> None: ...

class Host:
    def __init__(self, kind: Kind, writer: Writer, document: Any, strict: bool) -> None: ...

def way_of(dialect: Dialect, limits: Limits, options: tuple[Any, ...]) -> Way: ...
