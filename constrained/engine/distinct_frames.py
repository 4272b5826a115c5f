"""Arrays of different items that are open in a text: what each has seen, and what of its present item is written.

A *frame* stands for one open array, the outermost first. Every byte behind an array's opening bracket is fed to its
frame, those of inner arrays too. A frame cuts the text into items by the rules of JSON, follows whether the present
item may still equal a seen one (``seen_values``), and says no to the byte that makes it equal: the last of a string,
word, array or object, or the one behind a number.

Feeding works on copies. Cost: 2 us a byte and frame, and at an item's end the reading of its text.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from constrained.engine.seen_values import (
    EMPTY,
    NUMBER_BYTES,
    WHITESPACE,
    Pursuit,
    SeenValues,
    pursue,
    spells,
)

__all__ = ["BEFORE", "BEHIND", "INSIDE", "Frame"]

BEFORE, INSIDE, BEHIND = 0, 1, 2
"""Before an item, inside it, behind it."""

NUMBER, STRING, WORD, BOX = range(4)
QUOTE, ESCAPE, COMMA = 0x22, 0x5C, 0x2C


class Frame:
    """One open array. See the module docstring.

    Attributes:
        seen: the items that are finished.
        stage: ``BEFORE``, ``INSIDE`` or ``BEHIND`` an item.
        at: inside an item, where it stands towards those seen; None: it differs from all of them.
        in_string: whether the next byte belongs to a string.
    """

    __slots__ = ("at", "depth", "escaped", "in_string", "kind", "seen", "stage", "text")

    def __init__(self) -> None:
        self.seen: SeenValues = EMPTY
        self.stage = BEFORE
        self.at: Pursuit | None = None
        self.kind = NUMBER
        self.depth = 0  # open brackets of an array or object that is an item; letters missing of a word
        self.in_string = False
        self.escaped = False
        self.text: Any = None  # the present item in pieces: (earlier pieces, piece)

    def copy(self) -> Frame:
        """The same again."""
        other = Frame.__new__(Frame)
        for name in Frame.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def differs(self) -> bool:
        """Whether the present item is begun and can no longer become equal to a seen one."""
        return self.stage == INSIDE and self.at is None

    def key(self) -> Hashable:
        """Equal for frames that behave alike from here on."""
        if self.stage != INSIDE:
            return self.stage, self.seen.log, self.seen.count
        lexed = (self.kind, self.depth, self.in_string, self.escaped)
        told = self.at if self.at is not None and self.kind != BOX else _joined(self.text)
        return self.seen.log, self.seen.count, lexed, told

    def feed(self, byte: int) -> bool:
        """Take a byte; False if it makes the item equal to a seen one. Keep the bytes taken with ``keep``."""
        if self.stage == INSIDE:
            if self.kind != NUMBER:
                if self.at is not None:
                    self.at = pursue(self.at, byte, self.seen)
                self.text = (self.text, byte)
                return self._lex(byte) or self._finish()
            if byte in NUMBER_BYTES:
                if self.at is not None:
                    self.at = pursue(self.at, byte, self.seen)
                self.text = (self.text, byte)
                return True
            if not self._finish():
                return False
        if byte in WHITESPACE:
            return True
        if byte == COMMA:
            self.stage = BEFORE
            return True
        self.stage = INSIDE
        self.at = pursue(None, byte, self.seen)
        self.text = (None, byte)
        self.in_string = byte == QUOTE
        self.escaped = False
        self.depth = 0
        if byte == QUOTE:
            self.kind = STRING
        elif byte in NUMBER_BYTES:
            self.kind = NUMBER
        elif byte in b"[{":
            self.kind = BOX
            self.depth = 1
        else:
            self.kind = WORD
            self.depth = 4 if byte == 0x66 else 3  # false; true and null
        return True

    def close(self) -> bool:
        """The array ends; False if its last item, a number, is a seen one."""
        return self.stage != INSIDE or self._finish()

    def _lex(self, byte: int) -> bool:
        """Whether the item goes on behind this byte."""
        if self.in_string:
            if self.escaped:
                self.escaped = False
            elif byte == ESCAPE:
                self.escaped = True
            elif byte == QUOTE:
                self.in_string = False
                return self.kind != STRING
            return True
        if self.kind == WORD:
            self.depth -= 1
            return self.depth > 0
        if byte == QUOTE:
            self.in_string = True
        elif byte in b"[{":
            self.depth += 1
        elif byte in b"]}":
            self.depth -= 1
        return self.depth > 0

    def _finish(self) -> bool:
        """The item is whole: into the set with it, unless it is there."""
        if self.at is not None and spells(self.at, self.seen):
            return False
        self.seen = self.seen.add(_joined(self.text))
        self.stage = BEHIND
        self.at = self.text = None
        return True


def _joined(text: Any) -> bytes:
    found = bytearray()
    while text is not None:
        text, byte = text
        found.append(byte)
    found.reverse()
    return bytes(found)
