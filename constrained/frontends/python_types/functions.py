"""What Pydantic calls while it validates: its own functions, whose meaning is known, and those of users.

A user's function may refuse anything, so it is no grammar: it is noted, and what it is given is enforced. Pydantic's
own are told by their module and name: some refuse nothing, some are constraints, some ask for what no grammar knows.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from constrained.frontends.python_types.hosts import HOSTS

__all__ = ["Called", "called"]

#: Refuse nothing of what they are given here.
_HARMLESS = frozenset((
    "path_validator", "SecretStr", "SecretBytes", "defaultdict_validator", "sequence_validator", "ordered_dict_typed",
    "dict_validator", "deque_validator", "counter_validator", "mapping_like_validator", "SecretField._validate",
    "GenerateSchema._literal_schema.<locals>.<lambda>",  # with use_enum_values: the value of a member of a Literal
))
_HOST_VALIDATORS = {
    f"ip_{version}_{kind}_validator": f"IP{version}{kind.capitalize()}"
    for version in ("v4", "v6") for kind in ("address", "interface", "network")
}
_CONSTRAINTS = {
    "greater_than_validator": "gt", "greater_than_or_equal_validator": "ge", "less_than_validator": "lt",
    "less_than_or_equal_validator": "le", "multiple_of_validator": "multiple_of",
    "min_length_validator": "min_length", "max_length_validator": "max_length",
}
#: What of Pydantic's own cannot be enforced, and what to write instead.
_BEYOND = {
    "PathType": ("it asks the file system", "use pathlib.Path"),
    "pattern": ("it must be a regular expression", "use str, and compile it afterwards"),
    "import_string": ("it imports what is named", "use str"),
    "NameEmail": ("a name may be any text", "use EmailStr"),
    "EncodedStr": ("its encoder is a function", "use str"),
    "EncodedBytes": ("its encoder is a function", "use bytes with val_json_bytes='base64'"),
    "IPv6Network": ("a network's address ends in zero bits after its prefix, however it is abbreviated",
                    "use ipaddress.IPv6Interface, or str"),
}


class Called(NamedTuple):
    """A function in a core schema.

    ``kind``: ``harmless``, ``host`` (``name`` is in ``HOSTS``), ``constraint`` (``name`` and ``value``), ``bytesize``,
    ``email``, ``fraction``, ``base64``, ``url``, ``beyond`` (``reason`` and ``hint``) or ``user``.
    """

    kind: str
    name: str
    value: Any = None
    reason: str = ""
    hint: str = ""


def called(schema: Mapping[str, Any]) -> Called:
    """The function of a ``function-...`` schema."""
    function = schema["function"]["function"]
    given: dict[str, Any] = {}
    while isinstance(function, functools.partial):
        given = {**function.keywords, **given}
        function = function.func
    owner = getattr(function, "__self__", None)
    function = getattr(function, "__func__", function)
    name = getattr(function, "__name__", type(function).__name__)
    qualified = getattr(function, "__qualname__", name)
    module = getattr(function, "__module__", "") or ""
    if module.split(".")[0] not in ("pydantic", "pydantic_core", "ipaddress"):
        return Called("user", qualified)
    if name in _HARMLESS or qualified in _HARMLESS:
        return Called("harmless", name)
    host = _HOST_VALIDATORS.get(name, qualified.removesuffix("._validate"))
    if host in HOSTS:
        return Called("host", host)
    if name in _CONSTRAINTS and _CONSTRAINTS[name] in given:
        return Called("constraint", _CONSTRAINTS[name], given[_CONSTRAINTS[name]])
    if "_BaseUrl" in qualified or "_BaseMultiHostUrl" in qualified:
        return Called("url", name)
    if name == "fraction_validator":  # before Pydantic 2.14
        return Called("fraction", name)
    if qualified == "EmailStr._validate":
        return Called("email", name)
    if qualified.startswith("ByteSize."):
        return Called("bytesize", name)
    if type(owner).__name__ == "EncodedBytes":
        encoder = getattr(getattr(owner, "encoder", None), "__name__", "")
        if encoder in ("Base64Encoder", "Base64UrlEncoder"):
            return Called("base64", encoder)
    for key, (reason, hint) in _BEYOND.items():
        if key in qualified or key in name or key == host:
            return Called("beyond", qualified, None, reason, hint)
    return Called("beyond", qualified, None, "what it refuses is not known", "use a plainer type")
