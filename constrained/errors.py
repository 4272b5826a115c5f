"""Every error the library raises on bad input, as one tree.

    ConstrainedError (ValueError)
    ├── GrammarError
    │   ├── GrammarSyntaxError          a grammar text cannot be read: line, column, caret
    │   ├── RegexError                  a pattern cannot be read or is not regular: position
    │   ├── SchemaError                 a JSON Schema is wrong: JSON Pointer
    │   │   ├── UnsupportedSchemaError  right, but not enforced exactly: refused
    │   │   └── UnsatisfiableSchemaError  nothing can satisfy it
    │   ├── StructuralTagError          a structural tag is wrong: JSON Pointer
    │   └── UnsatisfiableGrammarError   no text (or none this vocabulary can spell) fits
    ├── GrammarLimitError               a field of ``Limits`` was reached: names it and its value
    ├── TokenizerError                  a vocabulary cannot be read or contradicts itself
    └── BitmaskError                    a bitmask or logits of the wrong shape, dtype, layout or device

A message says where, what was expected and what to do, in at most ``MAX_MESSAGE`` characters; it never
echoes more than ``MAX_ECHO`` characters of the input, and it carries no file path and no address.
"""

from __future__ import annotations

__all__ = [
    "BitmaskError",
    "ConstrainedError",
    "GrammarError",
    "GrammarLimitError",
    "GrammarSyntaxError",
    "NotRegularError",
    "RegexError",
    "SchemaError",
    "StructuralTagError",
    "TokenizerError",
    "UnsatisfiableGrammarError",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
]

MAX_MESSAGE = 2000
MAX_ECHO = 200


def echo(text: str | bytes, limit: int = MAX_ECHO) -> str:
    """``text`` as it may stand in a message: printable, quoted, at most ``limit`` characters."""
    shown = repr(text if len(text) <= limit else text[:limit])
    if len(shown) > limit:
        shown = shown[: limit - 2] + shown[-1]
    return shown if len(text) <= limit else shown + f"... ({len(text)} in all)"


class ConstrainedError(ValueError):
    """Base of all errors of this library. ``hint`` says what to do."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.hint = hint
        text = message if hint is None else f"{message}\nhint: {hint}"
        if len(text) > MAX_MESSAGE:
            text = text[: MAX_MESSAGE - 3] + "..."
        super().__init__(text)


class GrammarError(ConstrainedError):
    """A grammar, pattern or schema cannot be used."""


class GrammarSyntaxError(GrammarError):
    """A grammar text cannot be read. ``line`` and ``column`` count from 1; 0 where there is no place."""

    def __init__(self, message: str, *, line: int = 0, column: int = 0, source: str | None = None,
                 hint: str | None = None) -> None:
        self.line = line
        self.column = column
        place = f"line {line}, column {column}: " if line else ""
        text = place + message
        if source is not None and line:
            text += "\n" + caret(source, line, column)
        super().__init__(text, hint=hint)


class RegexError(GrammarError):
    """A pattern cannot be read, or is not a regular language. ``position`` counts characters from 0."""

    def __init__(self, message: str, *, pattern: str = "", position: int = 0, hint: str | None = None) -> None:
        self.pattern = pattern[:MAX_ECHO]
        self.position = position
        text = f"{message} at position {position}"
        if pattern:
            window, offset = _window(pattern, position)
            text += f"\n  {window}\n  {' ' * offset}^"
        super().__init__(text, hint=hint)


class NotRegularError(RegexError):
    """A pattern is right, but needs memory of what it read before, which no regular language has."""


class SchemaError(GrammarError):
    """A JSON Schema is wrong at ``pointer`` (a JSON Pointer, RFC 6901); ``reason`` is the message without its place."""

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        self.pointer = pointer
        self.reason = message
        super().__init__(f"at {echo(pointer)}: {message}", hint=hint)


class UnsupportedSchemaError(SchemaError):
    """The schema is right but something in it is not enforced exactly. ``remedy`` is the hint without ``option``, which
    tells of an argument of the caller's that leaves out what is not enforced."""

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None, option: str | None = None) -> None:
        self.remedy = hint
        super().__init__(message, pointer=pointer, hint="; ".join(filter(None, (hint, option))) or None)

    def without_option(self) -> UnsupportedSchemaError:
        """The same, for callers who have no such argument."""
        return UnsupportedSchemaError(self.reason, pointer=self.pointer, hint=self.remedy)


class UnsatisfiableSchemaError(SchemaError):
    """No value satisfies the schema."""


class StructuralTagError(GrammarError):
    """A structural tag is wrong at ``pointer`` (a JSON Pointer, RFC 6901)."""

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(f"at {echo(pointer)}: {message}", hint=hint)


class UnsatisfiableGrammarError(GrammarError):
    """No text fits the grammar, or none that the vocabulary can spell."""


class GrammarLimitError(ConstrainedError):
    """A field of :class:`constrained.Limits` was reached: ``limit`` names it, ``value`` is its setting."""

    def __init__(self, limit: str, value: int, message: str, *, hint: str | None = None) -> None:
        self.limit = limit
        self.value = value
        super().__init__(f"{message} (Limits.{limit} = {value})",
                         hint=hint or f"simplify the input, or raise Limits({limit}=...)")

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_limit_error, (self.limit, self.value, str(self)))


class TokenizerError(ConstrainedError):
    """A tokenizer or vocabulary cannot be read, or contradicts itself."""


class BitmaskError(ConstrainedError):
    """A bitmask, or the logits it should act on, has the wrong shape, dtype, layout or device."""


def _rebuild_limit_error(limit: str, value: int, text: str) -> GrammarLimitError:
    error = GrammarLimitError.__new__(GrammarLimitError)
    ValueError.__init__(error, text)
    error.limit, error.value, error.hint = limit, value, None
    return error


def _window(text: str, position: int, width: int = 60) -> tuple[str, int]:
    """A one-line cut of ``text`` around ``position`` and the caret's offset in it."""
    start = max(0, min(position - width // 2, len(text) - width))
    cut = text[start : start + width]
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in cut)
    return shown, position - start


def caret(source: str, line: int, column: int) -> str:
    """The source line (cut to a window) and a caret under ``column``; both count from 1."""
    lines = source.split("\n", line)
    text = lines[line - 1] if line - 1 < len(lines) else ""
    window, offset = _window(text, column - 1)
    return f"  {window}\n  {' ' * offset}^"
