"""Keywords that apply other schemas to the same value: allOf, anyOf, oneOf, not, if, dependencies, unevaluated*.

Each is a function of what is found so far and gives what is left of it; the keywords are applied in the order of
``APPLICATORS``. Within what their siblings leave, few alternatives are possible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from constrained.errors import SchemaError
from constrained.frontends.json_schema.arrays import ArrayShape
from constrained.frontends.json_schema.denotation import (
    ANYTHING,
    NOTHING,
    Denotation,
    conjunction,
    difference,
    disjunction,
)
from constrained.frontends.json_schema.document import Place
from constrained.frontends.json_schema.expressions import FALSE, TRUE
from constrained.frontends.json_schema.objects import Cell, ObjectShape, disjoint_cells, distance, meet, split_cells
from constrained.frontends.json_schema.reading import mapping_of, names_of
from constrained.frontends.json_schema.strings import ANY_STRING

if TYPE_CHECKING:
    from constrained.frontends.json_schema.normalise import Normaliser

__all__ = ["APPLICATORS", "all_of", "unevaluated_items", "unevaluated_properties"]


def _branches(normaliser: Normaliser, place: Place, keyword: str, value: Any) -> list[int]:
    if not isinstance(value, list) or not value:
        raise SchemaError(f"{keyword} must be a list of schemas that is not empty",
                          pointer=f"{place.pointer}/{keyword}")
    return [normaliser.under(place, keyword, i) for i in range(len(value))]


def all_of(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    for branch in _branches(normaliser, place, "allOf", value):
        found = conjunction(found, normaliser.denote(branch), normaliser)
    return found


def _any_of(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    branches = [conjunction(found, normaliser.denote(branch), normaliser)
                for branch in _branches(normaliser, place, "anyOf", value)]
    if normaliser.tracking and len(branches) > 1:
        # what is evaluated depends on all branches that hold, so those combinations are alternatives too
        if len(branches) > 6:
            return normaliser.relaxed(place, "anyOf", "unevaluated keywords over more than six schemas of anyOf", found)
        combined = [found]
        for branch in branches:
            combined += [conjunction(c, branch, normaliser) for c in combined]
        branches = [c for c in combined[1:] if not c.is_nothing()] or [NOTHING]
    return disjunction(branches, normaliser)


def _one_of(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    """Each branch without all others, within what the siblings leave: that often tells the branches apart."""
    listed = _branches(normaliser, place, "oneOf", value)
    expressions = list(dict.fromkeys(listed))
    branches = [conjunction(found, normaliser.denote(e), normaliser) for e in expressions]
    if not normaliser.inexact.isdisjoint(expressions):
        return disjunction(branches, normaliser)
    if len(listed) == len(expressions) and _tagged(normaliser, branches):
        return disjunction(branches, normaliser)
    exact: list[Denotation] = []
    for i, branch in enumerate(branches):
        if listed.count(expressions[i]) > 1:  # a schema that stands twice can never be the only one
            continue
        for other in _nearest_first(branch, branches[:i] + branches[i + 1 :]):
            if not branch.is_nothing():
                branch = difference(branch, other, normaliser)
        exact.append(branch)
    return disjunction(exact, normaliser) if exact else NOTHING


def _tagged(normaliser: Normaliser, branches: list[Denotation]) -> bool:
    """Whether a required member with a text of its own in each branch tells many objects apart."""
    if len(branches) < 8:
        return False  # told apart one by one, and more
    shapes = [branch.objects for branch in branches]
    if not all(shapes) or any(b.null or b.booleans or b.numbers or b.strings or b.arrays for b in branches):
        return False
    for name in frozenset.intersection(*(shape.required for objects in shapes for shape in objects)):
        seen: set[str] = set()
        for objects in shapes:
            texts = _texts(normaliser, [shape.at(name) for shape in objects])
            if texts is None or not seen.isdisjoint(texts):
                break
            seen |= texts
        else:
            return True
    return False


def _texts(normaliser: Normaliser, values: list[int]) -> set[str] | None:
    """The values of expressions that have only texts, few and known."""
    found: set[str] = set()
    for value in values:
        if value in normaliser.active:
            return None
        d = normaliser.denote(value)
        if d.null or d.booleans or d.numbers or d.arrays or d.objects:
            return None
        for string in d.strings:
            if string.values is None:
                return None
            found.update(string.values)
    return found


def _not(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    return normaliser.without(found, normaliser.under(place, "not"))


def _if(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    schema = place.schema
    if "then" not in schema and "else" not in schema and not normaliser.tracking:
        return found
    expression = normaliser.under(place, "if")
    then = conjunction(found, normaliser.denote(expression), normaliser)
    if "then" in schema:
        then = conjunction(then, normaliser.denote(normaliser.under(place, "then")), normaliser)
    other = found
    if "else" in schema:
        other = conjunction(found, normaliser.denote(normaliser.under(place, "else")), normaliser)
    return disjunction([then, normaliser.without(other, expression)], normaliser)


def _dependent_schemas(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    for name in mapping_of(place, "dependentSchemas"):
        then = normaliser.denote(normaliser.under(place, "dependentSchemas", name))
        found = _if_present(normaliser, name, then, found)
    return found


def _dependencies(normaliser: Normaliser, place: Place, value: Any, found: Denotation) -> Denotation:
    for name, needs in mapping_of(place, "dependencies").items():
        if isinstance(needs, list):
            shape = ObjectShape(required=names_of(place, "dependencies", name))
            then = Denotation(True, 3, ANYTHING.numbers, ANYTHING.strings, ANYTHING.arrays, (shape,))
        else:
            then = normaliser.denote(normaliser.under(place, "dependencies", name))
        found = _if_present(normaliser, name, then, found)
    return found


def _if_present(normaliser: Normaliser, name: str, then: Denotation, found: Denotation) -> Denotation:
    """Of ``found``, everything that is no object with ``name``, or satisfies ``then``."""
    without = Denotation(True, 3, ANYTHING.numbers, ANYTHING.strings, ANYTHING.arrays, (ObjectShape(((name, FALSE),)),))
    having = Denotation(False, 0, (), (), (), (ObjectShape(required=frozenset([name])),))
    present = conjunction(conjunction(found, having, normaliser), then, normaliser)
    return disjunction([conjunction(found, without, normaliser), present], normaliser)


def unevaluated_properties(normaliser: Normaliser, place: Place, found: Denotation) -> Denotation:
    rest = normaliser.under(place, "unevaluatedProperties")
    shapes: list[ObjectShape] = []
    for shape in found.objects:
        names, cells = shape.evaluated if shape.evaluated is not None else (frozenset(), ())
        left: list[Cell] = [(ANY_STRING, rest)] if rest != FALSE else []
        if cells:
            left = split_cells([(cell, TRUE) for cell in disjoint_cells(cells)], rest)
        closing = ObjectShape(tuple((name, TRUE) for name in names), tuple(left), said=True,
                              evaluated=(frozenset(), (ANY_STRING,)))
        shapes.extend(meet(shape, closing, normaliser))
    return Denotation(found.null, found.booleans, found.numbers, found.strings, found.arrays, tuple(shapes))


def unevaluated_items(normaliser: Normaliser, place: Place, found: Denotation) -> Denotation:
    rest = normaliser.under(place, "unevaluatedItems")
    shapes: list[ArrayShape] = []
    for shape in found.arrays:
        if shape.evaluated == -1:
            shapes.append(shape)
            continue
        left = normaliser.expressions.disjunction([*shape.also, rest]) if shape.also else rest
        closing = ArrayShape((TRUE,) * (shape.evaluated or 0), left, evaluated=-1)
        both = shape.intersect(closing, normaliser)
        if both is not None:
            shapes.append(both)
    return Denotation(found.null, found.booleans, found.numbers, found.strings, tuple(shapes), found.objects)


def _nearest_first(branch: Denotation, others: list[Denotation]) -> list[Denotation]:
    """``others`` in the order in which taking them off ``branch`` makes few alternatives."""
    if len(others) < 3 or not branch.objects:
        return others
    first = branch.objects[0]
    return sorted(others, key=lambda other: sum(distance(first, shape) for shape in other.objects))


APPLICATORS: dict[str, Callable[[Normaliser, Place, Any, Denotation], Denotation]] = {
    "allOf": all_of, "anyOf": _any_of, "oneOf": _one_of, "not": _not, "if": _if,
    "dependentSchemas": _dependent_schemas, "dependencies": _dependencies,
}
