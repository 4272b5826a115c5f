from collections.abc import Mapping
from typing import Any

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.document import Document, Place
from constrained.frontends.json_schema.expressions import Algebra
from constrained.frontends.json_schema.strings import StringShape
from constrained.limits import Limits

class Places(Algebra):
    document: Document
    limits: Limits
    assert_formats: bool | str
    denoted: dict[int, Denotation]
    places: list[Place]
    active: dict[int, None]
    notes: dict[tuple[str, str, str], None]
    tracking: bool
    dynamic: bool
    inexact: set[int]
    names_only: bool
    def at(self, place: Place) -> int: ...
    def under(self, place: Place, keyword: str, name: str | int | None = None) -> int: ...
    def all_under(self, place: Place, keyword: str, schemas: Mapping[str, Any]) -> dict[str, int]: ...
    def constant(self, value: Any) -> int: ...
    def denote(self, expression: int) -> Denotation: ...
    def without(self, found: Denotation, expression: int) -> Denotation: ...
    def strings_of(self, expression: int) -> tuple[StringShape, ...]: ...
    def values(self, values: list[Any]) -> Denotation: ...
    def relaxed(self, place: Place, keyword: str, reason: str, instead: Denotation) -> Denotation: ...
