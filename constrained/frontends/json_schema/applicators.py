# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Keywords that apply other schemas to the same value: allOf, anyOf, oneOf, not, if, dependencies, unevaluated*.

Each is a function of what is found so far and gives what is left of it; the keywords are applied in the order of
``APPLIED``. Within what their siblings leave, few alternatives are possible.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.frontends.json_schema.denotation import ANYTHING, NOTHING
from constrained.frontends.json_schema.objects import disjoint_cells, distance, split_cells
from constrained.frontends.json_schema.strings import ANY_STRING

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.arrays import ArrayShape
    from cython.cimports.constrained.frontends.json_schema.denotation import (
        Denotation,
        conjunction,
        difference,
        disjunction,
        no_array,
    )
    from cython.cimports.constrained.frontends.json_schema.document import Place
    from cython.cimports.constrained.frontends.json_schema.objects import ObjectShape, meet, no_object
    from cython.cimports.constrained.frontends.json_schema.places import Places
else:
    from constrained.frontends.json_schema.arrays import ArrayShape
    from constrained.frontends.json_schema.denotation import (
        Denotation,
        conjunction,
        difference,
        disjunction,
        no_array,
    )
    from constrained.frontends.json_schema.document import Place
    from constrained.frontends.json_schema.objects import ObjectShape, meet, no_object
    from constrained.frontends.json_schema.places import Places

__all__ = ["APPLIED", "all_of", "applied", "unevaluated_items", "unevaluated_properties"]

APPLIED = ("allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies")
"""The keywords that ``applied`` knows."""
MOST_COMBINED = cython.declare(cython.Py_ssize_t, 128)
"""Combinations of schemas of ``anyOf`` that are told apart for the unevaluated keywords."""
FEW_BRANCHES = cython.declare(cython.Py_ssize_t, 8)
"""Fewer branches of ``oneOf`` are told apart one by one; of more it is looked for a member that does it."""


@cython.ccall
def applied(normaliser: Places, place: Place, keyword: str, found: Denotation) -> Denotation:
    """What a keyword, which stands, leaves of ``found``."""
    value = place.schema[keyword]
    if keyword == "allOf":
        return all_of(normaliser, place, value, found)
    if keyword == "anyOf":
        return _any_of(normaliser, place, value, found)
    if keyword == "oneOf":
        return _one_of(normaliser, place, value, found)
    if keyword == "not":
        return normaliser.without(found, normaliser.under(place, "not"))
    if keyword == "if":
        return _if(normaliser, place, found)
    if keyword == "dependentSchemas":
        return _dependent_schemas(normaliser, place, found)
    return _dependencies(normaliser, place, found)


@cython.cfunc
def _branches(normaliser: Places, place: Place, keyword: str, value) -> list:
    return [normaliser.under(place, keyword, i) for i in range(len(value))]


@cython.ccall
def all_of(normaliser: Places, place: Place, value, found: Denotation) -> Denotation:
    """Values in all of some schemas."""
    for branch in _branches(normaliser, place, "allOf", value):
        found = conjunction(found, normaliser.denote(branch), normaliser)
    return found


@cython.cfunc
def _any_of(normaliser: Places, place: Place, value, found: Denotation) -> Denotation:
    branches: list = [conjunction(found, normaliser.denote(branch), normaliser)
                      for branch in _branches(normaliser, place, "anyOf", value)]
    if normaliser.tracking and len(branches) > 1:
        # what is evaluated depends on all branches that hold, so those combinations are alternatives too
        combined: list = []
        both: Denotation
        i: cython.Py_ssize_t
        for branch in branches:
            for i in range(len(combined)):
                both = conjunction(combined[i], branch, normaliser)
                if not _is_none(both, normaliser):
                    combined.append(both)
            combined.append(branch)
            if len(combined) > MOST_COMBINED:
                return normaliser.relaxed(
                    place, "anyOf", f"unevaluated keywords over anyOf, of which more than {MOST_COMBINED} combinations "
                    "of schemas may hold", _all_evaluated(found))
        branches = combined
    return disjunction(branches, normaliser)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _is_none(found: Denotation, normaliser: Places) -> cython.bint:
    """Whether it is plain that there is no such value."""
    if found.null or found.booleans or len(found.numbers) or len(found.strings):
        return False
    for shape in found.arrays:
        if not no_array(shape, normaliser):
            return False
    for shape in found.objects:
        if not no_object(shape, normaliser):
            return False
    return True


def _all_evaluated(found: Denotation):
    """The same values, of which nothing is left unevaluated."""
    return found.changed(
        arrays=tuple([shape.changed(evaluated=-1) for shape in found.arrays]),
        objects=tuple([shape.changed(evaluated=(frozenset(), (ANY_STRING,))) for shape in found.objects]))


@cython.cfunc
def _one_of(normaliser: Places, place: Place, value, found: Denotation) -> Denotation:
    """Each branch without all others, within what the siblings leave: that often tells the branches apart."""
    i: cython.Py_ssize_t
    branch: Denotation
    listed: list = _branches(normaliser, place, "oneOf", value)
    expressions: list = list(dict.fromkeys(listed))
    branches: list = [conjunction(found, normaliser.denote(e), normaliser) for e in expressions]
    if len(normaliser.inexact) > 0 and not normaliser.inexact.isdisjoint(expressions):
        return disjunction(branches, normaliser)
    if len(listed) == len(expressions) and _tagged(normaliser, branches):
        return disjunction(branches, normaliser)
    exact: list = []
    for i in range(len(branches)):
        if len(listed) > len(expressions) and listed.count(expressions[i]) > 1:
            continue  # a schema that stands twice can never be the only one
        branch = branches[i]
        for other in _nearest_first(branch, branches[:i] + branches[i + 1 :]):
            if branch.is_nothing():
                break
            branch = difference(branch, other, normaliser)
        exact.append(branch)
    return disjunction(exact, normaliser) if len(exact) > 0 else NOTHING


@cython.cfunc
@cython.exceptval(-1, check=False)
def _tagged(normaliser: Places, branches: list) -> cython.bint:
    """Whether a required member with a text of its own in each branch tells many objects apart."""
    b: Denotation
    shape: ObjectShape
    if len(branches) < FEW_BRANCHES:
        return False  # told apart one by one, and more
    names: object = None
    for branch in branches:
        b = branch
        if len(b.objects) == 0 or b.null or b.booleans or len(b.numbers) > 0 or len(b.strings) > 0 or (
                len(b.arrays) > 0):
            return False
        for one in b.objects:
            shape = one
            names = shape.required if names is None else names & shape.required
            if not names:
                return False
    for name in names:
        if _tells_apart(normaliser, branches, name):
            return True
    return False


@cython.cfunc
@cython.exceptval(-1, check=False)
def _tells_apart(normaliser: Places, branches: list, name) -> cython.bint:
    """Whether a member has texts, few and known, and other ones in each branch."""
    d: Denotation
    value: cython.int
    seen: set = set()
    for branch in branches:
        texts: set = set()
        for shape in cython.cast(Denotation, branch).objects:
            value = cython.cast(ObjectShape, shape).at(name)
            if value in normaliser.active:
                return False
            d = normaliser.denote(value)
            if d.null or d.booleans or len(d.numbers) > 0 or len(d.arrays) > 0 or len(d.objects) > 0:
                return False
            for string in d.strings:
                if string.values is None:
                    return False
                texts.update(string.values)
        if not seen.isdisjoint(texts):
            return False
        seen |= texts
    return True


@cython.cfunc
def _if(normaliser: Places, place: Place, found: Denotation) -> Denotation:
    schema = place.schema
    if "then" not in schema and "else" not in schema and not normaliser.tracking:
        return found
    expression: cython.int = normaliser.under(place, "if")
    then: Denotation = conjunction(found, normaliser.denote(expression), normaliser)
    if "then" in schema:
        then = conjunction(then, normaliser.denote(normaliser.under(place, "then")), normaliser)
    other: Denotation = found
    if "else" in schema:
        other = conjunction(found, normaliser.denote(normaliser.under(place, "else")), normaliser)
    return disjunction([then, normaliser.without(other, expression)], normaliser)


@cython.cfunc
def _dependent_schemas(normaliser: Places, place: Place, found: Denotation) -> Denotation:
    for name in place.schema["dependentSchemas"]:
        then = normaliser.denote(normaliser.under(place, "dependentSchemas", name))
        found = _if_present(normaliser, name, then, found)
    return found


@cython.cfunc
def _dependencies(normaliser: Places, place: Place, found: Denotation) -> Denotation:
    then: Denotation
    for name, needs in place.schema["dependencies"].items():
        if isinstance(needs, list):
            shape = ObjectShape(required=frozenset(needs))
            then = Denotation(True, 3, ANYTHING.numbers, ANYTHING.strings, ANYTHING.arrays, (shape,))
        else:
            then = normaliser.denote(normaliser.under(place, "dependencies", name))
        found = _if_present(normaliser, name, then, found)
    return found


@cython.cfunc
def _if_present(normaliser: Places, name, then: Denotation, found: Denotation) -> Denotation:
    """Of ``found``, everything that is no object with ``name``, or satisfies ``then``."""
    without = Denotation(True, 3, ANYTHING.numbers, ANYTHING.strings, ANYTHING.arrays, (ObjectShape(((name, 0),)),))
    having = Denotation(False, 0, (), (), (), (ObjectShape(required=frozenset([name])),))
    present = conjunction(conjunction(found, having, normaliser), then, normaliser)
    return disjunction([conjunction(found, without, normaliser), present], normaliser)


@cython.ccall
def unevaluated_properties(normaliser: Places, place: Place, found: Denotation) -> Denotation:
    """``found`` with what is asked of the members that no keyword looked at."""
    rest: cython.int = normaliser.under(place, "unevaluatedProperties")
    shapes: list = []
    shape: ObjectShape
    for one in found.objects:
        shape = one
        names, cells = shape.evaluated if shape.evaluated is not None else (frozenset(), ())
        left: list = [(ANY_STRING, rest)] if rest != 0 else []
        if cells:
            left = split_cells([(cell, 1) for cell in disjoint_cells(cells)], rest)
        closing = ObjectShape(tuple([(name, 1) for name in names]), tuple(left), said=True,
                              evaluated=(frozenset(), (ANY_STRING,)))
        shapes.extend(meet(shape, closing, normaliser))
    return Denotation(found.null, found.booleans, found.numbers, found.strings, found.arrays, tuple(shapes))


@cython.ccall
def unevaluated_items(normaliser: Places, place: Place, found: Denotation) -> Denotation:
    """``found`` with what is asked of the items that no keyword looked at."""
    rest: cython.int = normaliser.under(place, "unevaluatedItems")
    shapes: list = []
    shape: ArrayShape
    for one in found.arrays:
        shape = one
        if shape.evaluated == -1:
            shapes.append(shape)
            continue
        left = normaliser.expressions.disjunction([*shape.also, rest]) if shape.also else rest
        closing = ArrayShape((1,) * (shape.evaluated or 0), left, evaluated=-1)
        both = shape.intersect(closing, normaliser)
        if both is not None:
            shapes.append(both)
    return Denotation(found.null, found.booleans, found.numbers, found.strings, tuple(shapes), found.objects)


@cython.cfunc
def _nearest_first(branch: Denotation, others: list) -> list:
    """``others`` in the order in which taking them off ``branch`` makes few alternatives."""
    far: list = []
    i: cython.Py_ssize_t
    if len(others) < 3 or len(branch.objects) == 0:
        return others
    first: ObjectShape = branch.objects[0]
    for i in range(len(others)):
        there_are: cython.Py_ssize_t = 0
        for shape in cython.cast(Denotation, others[i]).objects:
            there_are += distance(first, shape)
        far.append((there_are, i))
    far.sort()
    return [others[i] for _, i in far]
