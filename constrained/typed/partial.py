"""Values that are still being written: what of them can no longer change.

Idea: the text is known to be a prefix of valid JSON (a grammar writes it), so a scanner with one small stack is enough;
nothing is guessed or repaired. A string counts when its quote is closed, a number when the character after it is there
(``1`` may become ``12``), ``true``, ``false`` and ``null`` with their last letter; an object shows its closed members
from its ``{`` on, a list its whole elements.

So snapshots are monotone: a member once shown keeps its value, a list only grows, and the last snapshot equals
``json.loads`` of the whole text. (An object that is a *list element* appears only whole; one that is a *member* appears
when it opens and grows.)

Cost: amortised constant time a character; a snapshot copies the open containers only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

__all__ = ["MISSING", "Partial", "PartialJson"]

T = TypeVar("T")

_BLANKS = " \t\n\r"
_NUMBER = frozenset("+-0123456789.eE")
_STARTS = frozenset('0"tfn')
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}


class _Missing:
    """No value yet: not even that it is null is known."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


class PartialJson:
    """Scans JSON text as it comes. ``feed`` tells whether more became certain; ``snapshot`` is what is certain."""

    __slots__ = ("_key", "_root", "_scalar", "_stack", "_text", "broken", "done")

    def __init__(self) -> None:
        self._root: Any = MISSING
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._key: list[str | None] = []  # of each open object: the member being written
        self._text: list[str] = []  # of the scalar being written
        self._scalar = ""  # "": none; '"' string, "\\" string after a backslash, "0" number, "t" "f" "n" word
        self.done = False
        """The value is whole."""
        self.broken = False
        """The text is no JSON (a server wrote it): nothing becomes certain any more."""

    def feed(self, text: str) -> bool:
        """Add text; whether anything became certain. What comes after the value is ignored."""
        changed = False
        try:
            for char in text:
                if self.done or self.broken:
                    break
                if self._scalar:
                    taken, ended = self._in_scalar(char)
                    changed |= ended
                    if taken:
                        continue
                if char in _BLANKS or char in ":,":
                    continue
                changed |= self._begin(char)
        except (LookupError, ValueError, RecursionError):
            self.broken = True
        return changed

    def finish(self) -> bool:
        """The text has ended: a number at the end of it is whole."""
        return self._scalar == "0" and not self._stack and self.feed(" ")

    @property
    def snapshot(self) -> Any:
        """What is certain, ``MISSING`` before anything is; later text does not change it."""
        if not self._stack or self._root is MISSING:
            return self._root
        # only open containers can still change, and they lie on one path from the root
        copy: Any = _copy(self._stack[0])
        above = copy
        for depth in range(1, len(self._stack)):
            holder = self._stack[depth - 1]
            if isinstance(holder, list):  # an element shows when it is whole
                break
            key = self._key[depth - 1]
            if key is None:
                break
            child = _copy(self._stack[depth])
            above[key] = child
            above = child
        return copy

    def _begin(self, char: str) -> bool:
        """The first character of a value, of a member's name, or a closing bracket."""
        if char == "{":
            self._open({})
            return True
        if char == "[":
            self._open([])
            return True
        if char in "}]":
            self._close()
            return True
        self._text = [char]
        self._scalar = "0" if char in _NUMBER else char
        if self._scalar not in _STARTS:
            raise ValueError(char)
        return False

    def _in_scalar(self, char: str) -> tuple[bool, bool]:
        """One character inside a scalar: whether it was part of it, and whether it made something certain."""
        kind = self._scalar
        if kind == "0":
            if char in _NUMBER:
                self._text.append(char)
                return True, False
            self._close_number()
            return False, True
        self._text.append(char)
        if kind == "\\":
            self._scalar = '"'
        elif kind == '"':
            if char == "\\":
                self._scalar = "\\"
            elif char == '"':
                return True, self._close_string()
        else:
            word, value = _WORDS[kind]
            if char != word[len(self._text) - 1]:
                raise ValueError(char)
            if len(self._text) == len(word):
                self._scalar = ""
                self._put(value)
                return True, True
        return True, False

    def _close_string(self) -> bool:
        text: str = json.loads("".join(self._text), strict=False)
        self._scalar = ""
        if self._stack and isinstance(self._stack[-1], dict) and self._key[-1] is None:
            self._key[-1] = text
            return False
        self._put(text)
        return True

    def _close_number(self) -> None:
        self._scalar = ""
        self._put(json.loads("".join(self._text)))

    def _put(self, value: Any) -> None:
        if not self._stack:
            self._root, self.done = value, True
            return
        holder = self._stack[-1]
        if isinstance(holder, list):
            holder.append(value)
        else:
            key = self._key[-1]
            if key is None:
                raise ValueError("a value without a name")
            holder[key] = value
            self._key[-1] = None

    def _open(self, value: dict[str, Any] | list[Any]) -> None:
        if not self._stack:
            self._root = value
        self._stack.append(value)
        self._key.append(None)

    def _close(self) -> None:
        value = self._stack.pop()
        self._key.pop()
        if self._stack:
            self._put(value)
        else:
            self.done = True


def _copy(value: dict[str, Any] | list[Any]) -> Any:
    return value.copy()


class Partial(Generic[T]):
    """A snapshot of a value of type ``T`` that is being written.

    Members read as attributes or items: None (attribute) or ``KeyError`` (item) until they are certain. Values are
    JSON's (a date is text still); ``event.output`` of the last event has the type. Immutable.
    """

    __slots__ = ("_complete", "_value")

    _value: Any
    _complete: bool

    def __init__(self, value: Any = MISSING, complete: bool = False) -> None:
        object.__setattr__(self, "_value", value)
        object.__setattr__(self, "_complete", complete)

    def to_python(self) -> Any:
        """Dicts, lists and scalars; ``MISSING`` before anything is certain. Not to be changed."""
        return self._value

    def is_complete(self) -> bool:
        """Nothing is missing any more."""
        return self._complete

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self._value, Mapping) and name in self._value:
            return _wrapped(self._value[name], self._complete)
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a partial value cannot be changed")

    def __getitem__(self, key: Any) -> Any:
        return _wrapped(self._value[key], self._complete)

    def __contains__(self, key: object) -> bool:
        return isinstance(self._value, (Mapping, list)) and key in self._value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._value) if isinstance(self._value, (Mapping, list)) else iter(())

    def __len__(self) -> int:
        return len(self._value) if isinstance(self._value, (Mapping, list)) else 0

    def __eq__(self, other: object) -> bool:
        return bool(self._value == (other._value if isinstance(other, Partial) else other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Partial({self._value!r}{'' if self._complete else ', ...'})"


def _wrapped(value: Any, complete: bool) -> Any:
    return Partial(value, complete) if isinstance(value, dict) else value
