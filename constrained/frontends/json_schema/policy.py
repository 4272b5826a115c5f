"""How values may be spelled: the choices JSON leaves to the writer, as one frozen value.

A schema says which values are valid; a policy says which of a value's many spellings are accepted. The canonical
spelling, what ``json.dumps`` writes (with and without ``ensure_ascii``), always is; the rest is bounded here, so
that a text under the grammar ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from constrained.errors import SchemaError, echo

__all__ = ["DEFAULT_WHITESPACE", "SPELLING", "TextPolicy", "check_formats", "json_policy"]

DEFAULT_WHITESPACE = 64
"""Characters in one run of whitespace where nobody says."""

SPELLING = ("any_whitespace", "max_whitespace_cnt", "indent", "separators", "string_escapes", "max_number_digits",
            "property_order")
"""What says how values are written, in the order of a way's options (``direct_document``)."""

_SPACE = " \t\n\r"


@dataclass(frozen=True, slots=True)
class TextPolicy:
    """Spellings that are accepted beside the canonical one. Hashable: caches are keyed by it."""

    any_whitespace: bool = True
    """Any insignificant whitespace between tokens; False: exactly what ``separators`` and ``indent`` write."""

    max_whitespace_cnt: int | None = DEFAULT_WHITESPACE
    """Characters in one run of whitespace; None: no bound."""

    indent: int | str | None = None
    """As in ``json.dumps``; with ``any_whitespace`` False."""

    separators: tuple[str, str] | list[str] | None = None
    """Item and key separators as in ``json.dumps``; with ``any_whitespace`` False. None: its defaults."""

    string_escapes: str = "any"
    r"""``"any"``: each character of a free string raw or escaped, as ``\uXXXX`` in either case or by its short form;
    ``"canonical"``: as ``json.dumps`` writes it, with or without ``ensure_ascii``. Keys, strings with a pattern or a
    format, and those of a finite set (``enum``, ``const``) or outside of one are canonical in both."""

    max_number_digits: int = 400
    """Digits in one run of a number, before and after its point."""

    property_order: str = "schema"
    """``"schema"``: members in the order of their declaration; ``"any"``: in any order."""

    integer_as_float: bool = True
    """Whether an integer may be written ``1.0`` or ``1e+16``: what drafts from 6 on call an integer."""

    def __post_init__(self) -> None:
        if self.string_escapes not in ("any", "canonical"):
            raise ValueError(f'string_escapes must be "any" or "canonical", not {self.string_escapes!r}')
        if self.property_order not in ("schema", "any"):
            raise ValueError(f'property_order must be "schema" or "any", not {self.property_order!r}')
        if self.separators is not None and (
                not isinstance(self.separators, (tuple, list)) or [type(one) for one in self.separators] != [str, str]):
            raise ValueError(f"separators must be two strings or None, not {self.separators!r:.80}")
        if isinstance(self.separators, list):  # as json.dumps takes them; hashed here
            object.__setattr__(self, "separators", tuple(self.separators))
        if self.indent is not None and not isinstance(self.indent, (int, str)):
            raise ValueError(f"indent must be an int, a string or None, not {self.indent!r:.80}")
        if not isinstance(self.max_number_digits, int) or self.max_number_digits < 1:
            raise ValueError(f"max_number_digits must be a positive int, not {self.max_number_digits!r}")
        if self.max_whitespace_cnt is not None and (
                not isinstance(self.max_whitespace_cnt, int) or self.max_whitespace_cnt < 0):
            raise ValueError(f"max_whitespace_cnt must be an int from 0 on or None, not {self.max_whitespace_cnt!r}")


def json_policy(spelling: Mapping[str, Any], integer_as_float: bool) -> TextPolicy:
    """The policy of what a caller says of the spelling, which has to be one of JSON. Raises ``SchemaError``.

    What ``json.dumps`` would write with other separators is no JSON, so there is nothing that could validate.
    """
    unknown = next((name for name in spelling if name not in SPELLING), None)
    if unknown is not None:
        raise SchemaError(f"unknown option {echo(unknown)}", hint="see docs/json_schema.md for the options")
    try:
        policy = TextPolicy(integer_as_float=integer_as_float, **spelling)
    except ValueError as error:
        raise SchemaError(str(error)) from None
    if policy.separators is not None and [one.strip(_SPACE) for one in policy.separators] != [",", ":"]:
        raise SchemaError(f"separators must be a comma and a colon with whitespace of JSON around them, not "
                          f"{echo(str(policy.separators))}")
    if isinstance(policy.indent, str) and policy.indent.strip(_SPACE):
        raise SchemaError(f"indent must be whitespace of JSON, not {echo(policy.indent)}")
    return policy


def check_formats(assert_formats: bool | str) -> None:
    """Raise ``SchemaError`` where ``assert_formats`` is none of its values."""
    if not isinstance(assert_formats, (bool, int)) and assert_formats != "strict":
        raise SchemaError(f'assert_formats must be True, False or "strict", not {echo(str(assert_formats))}')
