"""The second opinion on a wrong schema: what its metaschema says, to word an error.

Reading a schema checks the shapes of its keywords, which finds the first thing that is wrong. The metaschema knows what
the right thing would have been. It costs milliseconds and the package ``jsonschema``, so it runs only after a failure,
and only where that is installed.
"""

from __future__ import annotations

from typing import Any

from constrained.errors import SchemaError, echo
from constrained.frontends.json_schema.dialects import Dialect

__all__ = ["worded"]


def worded(error: SchemaError, schema: Any, dialect: Dialect) -> SchemaError:
    """``error``, or the same with what the metaschema says as its hint."""
    if error.hint is not None:
        return error
    try:
        from jsonschema import exceptions, validators
    except ImportError:
        return error
    kind = validators.validator_for({"$schema": dialect.uri + ("#" if "draft-0" in dialect.uri else "")})
    try:
        found = exceptions.best_match(kind(kind.META_SCHEMA).iter_errors(schema))
    except Exception:  # a schema that is wrong may be so in ways the oracle does not expect
        return error
    if found is None:
        return error
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in found.absolute_path)
    message = str(error).split("\n", 1)[0].split(": ", 1)[1]
    return SchemaError(message, pointer=error.pointer,
                       hint=f"the metaschema of {dialect.name} says at {echo(pointer)}: {found.message[:200]}")
