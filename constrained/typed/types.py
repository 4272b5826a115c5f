"""Types beyond Python's own: text of a pattern, of a list of choices, of a grammar, of a JSON Schema.

Each is a frozen value that stands where a type stands: as ``output_type``, as the return annotation of ``@llm.fn``
(also ``Annotated[str, Regex(...)]``), and, for ``Regex`` and ``Choice``, inside Pydantic models as
``Annotated[str, Regex(...)]``. Their values are the texts themselves, not JSON; ``JsonSchema`` gives parsed JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from constrained.api.grammar import Grammar
from constrained.typed.errors import AnnotationError

__all__ = ["EBNF", "Choice", "JsonSchema", "Lark", "Regex", "TextType"]

WHOLE = (r"\A(?:", r")\Z")
"""What is put around a pattern so that it is matched in full."""

_FLAGS = re.compile(r"\(\?([aimsx]+)\)")


class TextType:
    """Base of the types whose values are plain text."""

    def grammar(self) -> Grammar:
        """The grammar of its texts. Raises what the grammar's reader raises."""
        raise NotImplementedError

    def instructions(self) -> str | None:
        """What a prompt says about it, None for nothing."""
        return None


@dataclass(frozen=True, slots=True)
class Regex(TextType):
    """Text that matches a whole pattern (the syntax of ``re``).

    ``\\d``, ``\\w``, ``\\s`` and ``\\b`` mean ASCII's, as with ``re.ASCII``: a model asked for digits should write
    0 to 9; with ``ascii=False`` they mean Unicode's, as ``re`` has them by default. In a Pydantic model:
    ``code: Annotated[str, Regex(r"[A-Z]{3}")]``.
    """

    pattern: str
    ascii: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str):
            raise AnnotationError(f"Regex takes a pattern as text, not {type(self.pattern).__name__}")

    def grammar(self) -> Grammar:
        """The texts that match. Raises ``RegexError``."""
        return Grammar.from_regex(self.pattern, ascii=self.ascii)

    @property
    def _ascii(self) -> bool:
        return self.ascii and "(?u" not in self.pattern

    def instructions(self) -> str | None:
        """Names the pattern."""
        return f"Answer only with text that matches the regular expression {self.pattern}"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """In a model: a text that Pydantic, too, matches in full."""
        from pydantic_core import core_schema

        flags = _FLAGS.match(self.pattern)
        letters = (flags.group(1) if flags else "") + ("a" if self._ascii else "")
        body = self.pattern[flags.end() :] if flags else self.pattern
        return core_schema.str_schema(pattern=f"{f'(?{letters})' if letters else ''}{WHOLE[0]}{body}{WHOLE[1]}",
                                      regex_engine="python-re")


@dataclass(frozen=True, slots=True, init=False)
class Choice(TextType):
    """One of these texts: ``Choice("yes", "no")`` or ``Choice(names)``."""

    options: tuple[str, ...]

    def __init__(self, *options: str | Iterable[str]) -> None:
        given = options[0] if len(options) == 1 and not isinstance(options[0], str) else options
        texts = tuple(given) if isinstance(given, Iterable) else (given,)
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise AnnotationError("Choice takes at least one text, none of them empty",
                                  hint='Choice("yes", "no"); for other values use Literal or an Enum')
        if len(set(texts)) != len(texts):
            raise AnnotationError("Choice has the same text twice")
        object.__setattr__(self, "options", texts)

    def grammar(self) -> Grammar:
        """The texts."""
        from constrained.grammar.combinators import choice

        return Grammar.of(choice(*self.options) if len(self.options) > 1 else self.options[0])

    def instructions(self) -> str | None:
        """Lists the texts."""
        return "Answer only with one of: " + ", ".join(self.options)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """In a model: a ``Literal`` of the texts."""
        from pydantic_core import core_schema

        return core_schema.literal_schema(list(self.options))


@dataclass(frozen=True, slots=True)
class EBNF(TextType):
    """Text of an EBNF grammar (``docs/ebnf.md``). ``root`` names its first rule."""

    text: str
    root: str = "root"

    def grammar(self) -> Grammar:
        """Raises ``GrammarSyntaxError``."""
        return Grammar.from_ebnf(self.text, root=self.root)


@dataclass(frozen=True, slots=True)
class Lark(TextType):
    """Text of a Lark grammar (``docs/lark.md``). ``mode`` None: the front end's own."""

    text: str
    start: str = "start"
    mode: str | None = None

    def grammar(self) -> Grammar:
        """Raises ``GrammarSyntaxError``."""
        options = {} if self.mode is None else {"mode": self.mode}
        return Grammar.from_lark(self.text, start=self.start, **options)


@dataclass(frozen=True, slots=True, init=False)
class JsonSchema:
    """JSON of a schema: a dict, a boolean or JSON text. Its values are parsed JSON (dicts, lists, ...)."""

    text: str

    def __init__(self, schema: Any) -> None:
        if not isinstance(schema, (str, bytes, dict, bool)):
            raise AnnotationError(f"JsonSchema takes a dict, a boolean or JSON text, not {type(schema).__name__}")
        try:
            value = json.loads(schema) if isinstance(schema, (str, bytes)) else schema
            object.__setattr__(self, "text", json.dumps(value, ensure_ascii=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise AnnotationError(f"JsonSchema: this is no JSON: {error}") from None

    @property
    def schema(self) -> Any:
        """The schema, a new value each time."""
        return json.loads(self.text)
