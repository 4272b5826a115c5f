"""Reading a request body: JSON bytes to checked values, with the name of the field in every complaint.

``Fields`` wraps one JSON object and hands out typed values; ``param`` names are those that OpenAI's clients show
(``response_format.json_schema.schema``, ``tools[0].function``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from constrained.server.problems import ApiError, bad_request

__all__ = ["Fields", "parse_body"]

CONSTRAINT_LIKE = re.compile(r"guid|gramm|regex|ebnf|gbnf|lark|schema|constrain|structur|choice|pattern|format|json|"
                             r"logits_processor|template", re.IGNORECASE)
"""Unknown fields with such names are refused: whoever sends one counts on its being kept."""

OUTPUT_LIKE = re.compile(r"allow|banned|_bans?\b|bad_words|forbid|suppress|force|bias|penalt|beam|mirostat|predict|"
                         r"max_|min_|_tokens|length|truncat|echo|best_of|stop|sampl|temperature|top_|typical|seed|thinking|"
                         r"budget|eos|web_search|audio|suffix|logprob|^n$", re.IGNORECASE)
"""And such: names under which other engines take what changes the text that is written."""

ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
MISSING: Any = object()


def parse_body(data: bytes) -> Fields:
    """The JSON object in a request body. Raises :class:`ApiError` (400) for anything else."""
    try:
        value = json.loads(data, parse_constant=_no_constant)
    except RecursionError:
        raise bad_request("the body is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError, an integer of thousands of digits
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise bad_request(f"the body is not valid JSON: {reason}") from None
    if not isinstance(value, dict):
        raise bad_request("the body must be a JSON object")
    if ESCAPED_SURROGATE.search(data):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise bad_request("the body holds half of a surrogate pair, which is no character") from None
    return Fields(value)


def _no_constant(name: str) -> None:
    raise ValueError(name)


class Fields:
    """One JSON object of a request; ``path`` is where it stands."""

    __slots__ = ("path", "value")

    def __init__(self, value: Mapping[str, Any], path: str = "") -> None:
        self.value = value
        self.path = path

    def name(self, key: str) -> str:
        """``key`` as errors name it."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, message: str, code: str | None = None) -> ApiError:
        """A 400 about ``key``."""
        return bad_request(f"{self.name(key)}: {message}", self.name(key), code)

    def has(self, key: str) -> bool:
        """``key`` is there and not null."""
        return self.value.get(key) is not None

    def check_known(self, known: frozenset[str], *, strict: bool = False,
                    instead: str = "response_format or structured_outputs") -> None:
        """Refuse unknown fields that sound like a constraint or change what is written, or with ``strict`` all.

        ``instead``: where this endpoint takes constraints.
        """
        for key in self.value:
            if key in known or self.value[key] is None:
                continue
            like_constraint = CONSTRAINT_LIKE.search(key)
            if strict or like_constraint or (OUTPUT_LIKE.search(key) and not _is_off(key, self.value[key])):
                shown = key if len(key) <= 60 else key[:57] + "..."
                message = f"unknown field {self.name(shown)!r}"
                if not strict and like_constraint:
                    message += f", which is not ignored since it may be meant as a constraint; use {instead}"
                elif not strict:
                    message += ", which is not ignored since it may be meant to change what is written"
                raise bad_request(message, self.name(shown), "unsupported_parameter")

    def text(self, key: str, default: str | None = None, *, limit: int | None = None) -> str | None:
        """A string, or the default where the field is absent or null."""
        value = self.value.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(key, f"must be a string, not {_kind(value)}")
        if limit is not None and len(value) > limit:
            raise self.wrong(key, f"is longer than {limit} characters")
        return value

    def needed_text(self, key: str, *, limit: int | None = None) -> str:
        """A string that must be there."""
        value = self.text(key, limit=limit)
        if value is None:
            raise self.wrong(key, "is required")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean."""
        value = self.value.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, f"must be a boolean, not {_kind(value)}")
        return value

    def optional_flag(self, key: str) -> bool | None:
        """A boolean, None where absent."""
        return None if not self.has(key) else self.flag(key)

    def integer(self, key: str, default: int | None = None, *, low: int, high: int) -> int | None:
        """An integer in [low, high]; a float without a fraction counts."""
        value = self.value.get(key)
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, f"must be an integer, not {_kind(value)}")
        if not low <= value <= high:
            raise self.wrong(key, f"must be from {low} to {high}")
        return value

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        """A number in [low, high]."""
        value = self.value.get(key)
        if value is None:
            return default
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self.wrong(key, f"must be a number, not {_kind(value)}")
        if not (low <= value <= high) or math.isnan(value):
            raise self.wrong(key, f"must be from {low} to {high}")
        return float(value)

    def object(self, key: str) -> Fields | None:
        """An object, None where absent."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, f"must be an object, not {_kind(value)}")
        return Fields(value, self.name(key))

    def needed_object(self, key: str) -> Fields:
        """An object that must be there."""
        found = self.object(key)
        if found is None:
            raise self.wrong(key, "is required")
        return found

    def items(self, key: str, *, limit: int) -> list[Any]:
        """A list, empty where absent."""
        value = self.value.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, f"must be a list, not {_kind(value)}")
        if len(value) > limit:
            raise self.wrong(key, f"has more than {limit} entries")
        return value

    def objects(self, key: str, *, limit: int) -> Iterator[Fields]:
        """A list of objects, one by one."""
        for i, one in enumerate(self.items(key, limit=limit)):
            place = f"{self.name(key)}[{i}]"
            if not isinstance(one, dict):
                raise bad_request(f"{place}: must be an object, not {_kind(one)}", place)
            yield Fields(one, place)


def _is_off(key: str, value: Any) -> bool:
    """Whether a field says that something is not wanted: what some clients always send."""
    if key in ("n", "best_of"):
        return value == 1 and value is not True
    return value is False or (isinstance(value, (str, list, dict)) and not value)


def _kind(value: Any) -> str:
    """JSON's word for a value."""
    if value is None:
        return "null"
    for types, word in ((bool, "a boolean"), ((int, float), "a number"), (str, "a string"), (list, "a list"),
                        (dict, "an object")):
        if isinstance(value, types):
            return word
    return type(value).__name__
