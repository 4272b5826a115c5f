r"""Python's ``re`` syntax (3.11 and later) as a tree, without recursion.

Follows ``re/_parser.py`` construct by construct, messages included where they help. Two spellings are read
besides: ``\p{..}`` and ``\P{..}`` (Unicode properties) and ``(?<name>...)``. Refused with their position:
back-references and conditionals (not regular). The flags i, s, m, x, a and u act globally at the start and in
``(?flags:...)``; L needs bytes and is refused, as in ``re`` itself. Cost: about 0.5 us a character; runs of
ordinary characters are taken whole.
"""

from __future__ import annotations

import re
import sys
import unicodedata

from constrained.limits import Limits
from constrained.regex.builder import Frame
from constrained.regex.charset import ANY, Ranges, complement, normalise, union
from constrained.regex.folding import python_ignore_case
from constrained.regex.pattern_reader import QUANTIFIERS, PatternReader
from constrained.regex.syntax import NOTHING, Anchor, AnchorKind, Look, Node
from constrained.regex.unicode import (
    ASCII_DIGITS,
    ASCII_SPACES,
    ASCII_WORD,
    python_digits,
    python_spaces,
    python_word,
)
from constrained.regex.width import fixed_width

__all__ = ["parse_python"]

IGNORE_CASE, MULTILINE, DOT_ALL, VERBOSE, ASCII, UNICODE = 1, 2, 4, 8, 16, 32
_FLAGS = {"i": IGNORE_CASE, "m": MULTILINE, "s": DOT_ALL, "x": VERBOSE, "a": ASCII, "u": UNICODE}
_TYPE_FLAGS = ASCII | UNICODE

_NEWLINE: Ranges = ((10, 10),)
_NOT_NEWLINE: Ranges = complement(_NEWLINE)
_PLAIN = re.compile(r"[^\\\[(){*+?|.^$\ud800-\udfff]+")
_PLAIN_VERBOSE = re.compile(r"[^\\\[(){*+?|.^$#\s\ud800-\udfff]+")
_COUNT = re.compile(r"\{([0-9]*)(?:(,)([0-9]*))?\}")
_HEX = re.compile(r"[0-9a-fA-F]*")
_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_OCTAL = frozenset("01234567")
#: Until Python 3.14 ``\B`` does not match in an empty text.
_ANCHORS = {"A": AnchorKind.START, "Z": AnchorKind.END, "b": AnchorKind.BOUNDARY,
            "B": AnchorKind.NOT_BOUNDARY if sys.version_info >= (3, 14) else AnchorKind.NOT_BOUNDARY_IN_TEXT}


def parse_python(pattern: str, limits: Limits | None = None) -> Node:
    """The tree of ``pattern``.

    Raises RegexError (with the position) on a pattern that ``re.compile`` refuses or that is not regular, and
    GrammarLimitError beyond ``max_source_chars``, ``max_nesting`` or ``max_repeat``.
    """
    return PythonParser(pattern, limits or Limits()).parse()


class PythonParser(PatternReader):
    # -- the loop over the pattern ------------------------------------------------------------------------

    def parse(self) -> Node:
        pattern, builder = self.pattern, self.builder
        while self.at < len(pattern):
            plain = _PLAIN_VERBOSE if self.flags & VERBOSE else _PLAIN
            run = plain.match(pattern, self.at)
            if run is not None:
                self.at = run.end()
                self.literal(run.group())
                continue
            position = self.at
            char = pattern[position]
            self.at += 1
            if char == "\\":
                self.escape(position)
            elif char == "[":
                builder.charset(self.bracket(position))
            elif char in "*+?{":
                self.quantifier(char, position)
            elif char == ".":
                builder.charset(ANY if self.flags & DOT_ALL else _NOT_NEWLINE)
            elif char == "(":
                self.group(position)
            elif char == ")":
                self.close(position)
            elif char == "|":
                builder.alternate()
            elif char == "^":
                kind = AnchorKind.LINE_START if self.flags & MULTILINE else AnchorKind.START
                builder.add(Anchor(kind, _NEWLINE, position), "anchor")
            elif char == "$":
                kind = AnchorKind.LINE_END if self.flags & MULTILINE else AnchorKind.END_OR_LAST_NEWLINE
                builder.add(Anchor(kind, _NEWLINE, position), "anchor")
            elif char == "#" and self.flags & VERBOSE:
                end = pattern.find("\n", position)
                self.at = len(pattern) if end < 0 else end + 1
            elif self.flags & VERBOSE and char in " \t\n\r\v\f":
                continue
            else:
                self.literal(char)
        if builder.depth:
            raise self.error("a group is opened but never closed", builder.top.position, "add the missing )")
        return builder.finish()

    def literal(self, run: str) -> None:
        """Adds ordinary characters, in all their cases where case is ignored; what a quantifier binds, alone."""
        builder = self.builder
        if self.flags & IGNORE_CASE:
            for char in run:
                builder.charset(self.fold(normalise([(ord(char), ord(char))]), (), False))
        elif "\ud800" <= run <= "\udfff":
            builder.add(NOTHING)  # a lone surrogate has no UTF-8 form
        elif len(run) > 1 and (self.flags & VERBOSE or self.peek() in QUANTIFIERS):
            builder.text(run[:-1])
            builder.text(run[-1])
        else:
            builder.text(run)

    def fold(self, members: Ranges, categories: Ranges, negated: bool) -> Ranges:
        if self.flags & IGNORE_CASE:
            return python_ignore_case(members, categories, negated, bool(self.flags & ASCII))
        plain = union(members, categories)
        return complement(plain) if negated else plain

    # -- quantifiers ----------------------------------------------------------------------------------------

    def quantifier(self, char: str, position: int) -> None:
        builder = self.builder
        minimum, maximum = {"*": (0, None), "+": (1, None), "?": (0, 1), "{": (0, None)}[char]
        if char == "{":
            count = _COUNT.match(self.pattern, position)
            if count is None or count.group() == "{}":
                self.literal("{")
                return
            minimum, maximum = self.bounds(count, position)
        if builder.last in ("", "anchor"):
            raise self.error("nothing to repeat", position, f"escape it as \\{char} if it is meant as a character")
        if builder.last == "repeat":
            raise self.error("a quantifier on a quantifier", position, "put the quantified part into (?:...)")
        mode = self.peek()
        if mode in ("?", "+") and mode:
            self.at += 1
        else:
            mode = ""
        builder.quantify(minimum, maximum, mode, position)

    # -- groups -----------------------------------------------------------------------------------------------

    def group(self, position: int) -> None:
        """Reads what follows ``(`` up to the group's body."""
        builder, pattern = self.builder, self.pattern
        frame = Frame("group", position, restore=self.flags)
        if self.peek() != "?":
            builder.open(frame)
            return
        self.at += 1
        char = self.peek()
        self.at += 1
        if char == "":
            raise self.error("the pattern ends inside a group's head", position)
        if char == "#":
            end = pattern.find(")", self.at)
            if end < 0:
                raise self.error("a comment is never closed", position, "add the missing )")
            self.at = end + 1
            return
        if char == ":":
            builder.open(frame)
        elif char == ">":
            frame.kind = "atomic"
            builder.open(frame)
        elif char in "=!":
            frame.kind, frame.negative = "look", char == "!"
            builder.open(frame)
        elif char == "<" and self.peek() in ("=", "!") and self.peek():
            frame.kind, frame.ahead, frame.negative = "look", False, self.peek() == "!"
            self.at += 1
            builder.open(frame)
        elif char == "<" or (char == "P" and self.peek() == "<"):
            self.at += char == "P"
            self.name(">", position)
            builder.open(frame)
        elif char == "P" and self.peek() == "=":
            raise self.not_regular("a back-reference", position)
        elif char == "(":
            raise self.not_regular("a conditional group", position)
        elif char in _FLAGS or char in "-L":
            self.inline_flags(position, frame)
        else:
            raise self.error(f"unknown group (?{char}" if char != "P" else "unknown group (?P", position)

    def name(self, end: str, position: int) -> None:
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            raise self.error("a group name is never closed", position, f"add the missing {end}")
        name = self.pattern[self.at : stop]
        if not name.isidentifier():
            raise self.error("a group name must be an identifier", self.at)
        if name in self.names:
            raise self.error("a group name is used twice", self.at)
        self.names.add(name)
        self.at = stop + 1

    def inline_flags(self, position: int, frame: Frame) -> None:
        builder, pattern = self.builder, self.pattern
        self.at = position + 2
        on = off = 0
        removing = False
        while True:
            char = self.peek()
            where = self.at
            self.at += 1
            if char == "-" and not removing:
                removing = True
                if pattern[self.at : self.at + 1] in ("", ":", ")"):
                    raise self.error("a flag is missing after -", where)
            elif char in _FLAGS and char:
                flag = _FLAGS[char]
                if removing:
                    if flag & _TYPE_FLAGS:
                        raise self.error("the flags a and u cannot be turned off", where)
                    off |= flag
                else:
                    if flag & _TYPE_FLAGS and on & _TYPE_FLAGS & ~flag:
                        raise self.error("the flags a and u exclude each other", where)
                    on |= flag
            elif char == "L":
                raise self.error("the flag L needs a bytes pattern", where)
            elif char == ":" or (char == ")" and not removing):
                break
            else:
                raise self.error("unknown flag" if char.isalpha() else "a : or ) is missing", where)
        if on & off:
            raise self.error("a flag is turned on and off", position)
        if char == ")":
            if builder.depth or builder.top.options or builder.top.items:
                raise self.error("global flags not at the start of the pattern", position,
                                 "move them to the start, or write (?flags:...)")
        else:
            builder.open(frame)
        if on & _TYPE_FLAGS:
            self.flags &= ~_TYPE_FLAGS
        self.flags = (self.flags | on) & ~off

    def close(self, position: int) -> None:
        builder = self.builder
        if not builder.depth:
            raise self.error("a ) without its (", position, r"escape it as \) if it is meant as a character")
        frame = builder.close()
        self.flags = frame.restore
        look = builder.top.items[-1]
        if frame.kind == "look" and isinstance(look, Look) and not look.ahead and fixed_width(look.body) is None:
            raise self.error("a look-behind must have one fixed width", frame.position,
                             "write one look-behind for each width, joined by |")

    # -- escapes ----------------------------------------------------------------------------------------------

    def category(self, char: str) -> Ranges | None:
        r"""The set of ``\d \w \s`` and their negations."""
        ascii_only = bool(self.flags & ASCII)
        lower = char.lower()
        if lower == "d":
            ranges = ASCII_DIGITS if ascii_only else python_digits()
        elif lower == "s":
            ranges = ASCII_SPACES if ascii_only else python_spaces()
        elif lower == "w":
            ranges = ASCII_WORD if ascii_only else python_word()
        else:
            return None
        return ranges if char == lower else complement(ranges)

    def escape(self, position: int) -> None:
        """An escape outside a set."""
        builder, pattern = self.builder, self.pattern
        char = self.peek()
        if char == "":
            raise self.error("the pattern ends in a backslash", position, "write \\\\ for a backslash")
        if char in "AZbB":
            self.at += 1
            word = ASCII_WORD if self.flags & ASCII else python_word() if char in "bB" else ()
            builder.add(Anchor(_ANCHORS[char], word, position), "anchor")
            return
        if char in "pP":
            members = self.property(position)
            builder.charset(self.fold(members, (), char == "P"))
            return
        ranges = self.category(char)
        if ranges is not None:
            self.at += 1
            builder.charset(ranges)
            return
        if char in _DIGITS and char != "0":
            digits = pattern[self.at : self.at + 3]
            if not (len(digits) == 3 and all(c in _OCTAL for c in digits)):
                raise self.not_regular("a back-reference", position)
            self.at += 3
            self.literal(self.octal(digits, position))
            return
        self.literal(self.character_escape(position))

    def octal(self, digits: str, position: int) -> str:
        value = int(digits, 8)
        if value > 0o377:
            raise self.error("an octal escape goes beyond \\377", position, "write \\uXXXX")
        return chr(value)

    def character_escape(self, position: int) -> str:
        """The one character an escape stands for, inside a set and outside; ``at`` is on the character after it."""
        char = self.peek()
        self.at += 1
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char in "xuU":
            length = {"x": 2, "u": 4, "U": 8}[char]
            digits = _HEX.match(self.pattern, self.at, self.at + length)
            text = digits.group() if digits else ""
            if len(text) != length:
                raise self.error(f"\\{char} needs {length} hexadecimal digits", position)
            self.at += length
            if int(text, 16) > 0x10FFFF:
                raise self.error("a character beyond U+10FFFF", position)
            return chr(int(text, 16))
        if char == "N":
            end = self.pattern.find("}", self.at)
            if self.peek() != "{" or end < 0:
                raise self.error("\\N needs a character name in braces", position)
            name = self.pattern[self.at + 1 : end]
            try:
                found = unicodedata.lookup(name)
            except KeyError:
                found = ""
            if len(found) != 1:
                raise self.error("\\N with an unknown character name", position)
            self.at = end + 1
            return found
        if char == "0" or char in _OCTAL:
            digits_end = self.at
            while digits_end < self.at + 2 and self.pattern[digits_end : digits_end + 1] in _OCTAL:
                digits_end += 1
            text = char + self.pattern[self.at : digits_end]
            self.at = digits_end
            return self.octal(text, position)
        if char in _LETTERS or char in _DIGITS:
            raise self.error(f"unknown escape \\{char}", position, f"write {char} if it is meant as a character")
        return char

    # -- sets ---------------------------------------------------------------------------------------------------

    def bracket(self, position: int) -> Ranges:
        """A set; ``at`` is behind its ``[``."""
        pattern = self.pattern
        negated = self.peek() == "^"
        self.at += negated
        first = True
        members: list[tuple[int, int]] = []
        categories: list[Ranges] = []
        while True:
            start = self.at
            if start >= len(pattern):
                raise self.error("a set is never closed", position, "add the missing ]")
            if pattern[start] == "]" and not first:
                self.at += 1
                break
            first = False
            low = self.member(categories, members)
            if self.peek() != "-" or self.at + 1 >= len(pattern) or pattern[self.at + 1] == "]":
                if low is not None:
                    members.append((low, low))
                continue
            self.at += 1
            high = self.member([], []) if low is not None else None
            if low is None or high is None:
                raise self.error("a class cannot be the end of a range", start, r"escape the - as \-")
            if high < low:
                raise self.error("a range runs backwards", start, "swap its ends")
            members.append((low, high))
        return self.fold(normalise(members), union(*categories), negated)

    def member(self, categories: list[Ranges], members: list[tuple[int, int]]) -> int | None:
        """One member of a set: its code point, or None after adding what a class escape stands for."""
        position = self.at
        char = self.pattern[position]
        self.at += 1
        if char != "\\":
            return ord(char)
        char = self.peek()
        if char == "":
            raise self.error("a set is never closed", position, "add the missing ]")
        if char in "pP":
            ranges = self.property(position)
            members.extend(ranges if char == "p" else complement(ranges))
            return None
        category = self.category(char)
        if category is not None:
            self.at += 1
            categories.append(category)
            return None
        if char == "b":
            self.at += 1
            return 8
        return ord(self.character_escape(position))
