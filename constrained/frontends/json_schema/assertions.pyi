from typing import Any

from constrained.frontends.json_schema.denotation import Denotation
from constrained.frontends.json_schema.document import Place
from constrained.frontends.json_schema.places import Places

APPLIES: int
REFERS: int

def kinds_of(schema: dict[str, Any]) -> int: ...
def own_denotation(normaliser: Places, place: Place, kinds: int) -> Denotation: ...
