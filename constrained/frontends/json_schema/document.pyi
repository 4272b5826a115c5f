from typing import Any

from constrained.frontends.json_schema.dialects import Dialect
from constrained.frontends.json_schema.shapes import Checked

class Place:
    schema: Any
    pointer: str
    scope: Any
    dialect: Dialect
    entered: bool
    def __init__(self, schema: Any, pointer: str, scope: Any, dialect: Dialect, entered: bool = False) -> None: ...
    def child(self, key: str | int) -> Place: ...
    def inner(self, key: str, name: str | int) -> Place: ...

class Document:
    root: Any
    dialect: Dialect
    registry: Any
    mentioned: frozenset[str]
    plain: bool
    def __init__(self, root: Any, dialect: Dialect, registry: Any = None, checked: Checked | None = None, *,
                 nameless: bool = False) -> None: ...
    def root_place(self) -> Place: ...
    def enter(self, place: Place) -> Place: ...
    def follow(self, place: Place, ref: Any, keyword: str = "$ref") -> Place: ...

def is_index(step: str) -> bool: ...
