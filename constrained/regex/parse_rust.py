r"""The syntax of Rust's ``regex`` crate as a tree: what Pydantic's ``pattern`` is written in.

Read by the parser of Python's syntax with what differs: ``$`` is the end of the text and nothing else, ``\d \s \w`` are
Unicode's (UTS 18, annex C), classes know POSIX names, case is ignored by simple folding. Refused with their position,
though Rust reads them: classes inside classes and their operators (``&& -- ~~``), quantifiers on quantifiers, the
flags ``x``, ``U`` and ``R``, flags in the middle, ``\b{start}`` and its kind. Characters that the running Python's
Unicode tables do not know yet are in no class.
"""

from __future__ import annotations

import re

from constrained.errors import RegexError
from constrained.limits import Limits
from constrained.regex.builder import TreeBuilder
from constrained.regex.charset import Ranges, complement, intersection, normalise, union
from constrained.regex.folding import ecma_closure
from constrained.regex.parse_python import IGNORE_CASE, VERBOSE, PythonParser
from constrained.regex.syntax import Anchor, AnchorKind, Node
from constrained.regex.unicode import unicode_property

__all__ = ["RUST_SPACES", "parse_rust"]

RUST_SPACES: Ranges = unicode_property("White_Space") or ()

_COUNT = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_HEX = re.compile(r"\{([0-9A-Fa-f]{1,8})\}")
_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DIGITS: dict[str, Ranges] = {"x": (), "u": (), "U": ()}
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)), "alpha": ((0x41, 0x5A), (0x61, 0x7A)), "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": ((0x30, 0x39),), "graph": ((33, 126),),
    "lower": ((0x61, 0x7A),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


def parse_rust(pattern: str, limits: Limits | None = None) -> Node:
    """The tree of ``pattern``. Raises RegexError (with the position) and GrammarLimitError."""
    return _RustParser(pattern, limits or Limits()).parse()


class _Builder(TreeBuilder):
    def add(self, node: Node, last: str = "atom") -> None:
        if isinstance(node, Anchor) and node.kind is AnchorKind.END_OR_LAST_NEWLINE:
            node = Anchor(AnchorKind.END, node.chars, node.position)
        super().add(node, last)


def _word() -> Ranges:
    names = ("Alphabetic", "M", "Nd", "Pc", "Join_Control")
    return union(*(unicode_property(name) or () for name in names))


def _known(ranges: Ranges) -> Ranges:
    """Without the characters that the running Python has no properties for."""
    return intersection(ranges, unicode_property("Assigned") or ())


class _RustParser(PythonParser):
    def __init__(self, pattern: str, limits: Limits) -> None:
        super().__init__(pattern, limits)
        self.builder = _Builder(limits)

    def fold(self, members: Ranges, categories: Ranges, negated: bool) -> Ranges:
        found = union(members, categories)
        if self.flags & IGNORE_CASE:
            found = ecma_closure(found)
        return complement(found) if negated else found

    def quantifier(self, char: str, position: int) -> None:
        if char == "{" and not _COUNT.match(self.pattern, position):
            raise self.error("a { that begins no count", position, r"escape it as \{")
        super().quantifier(char, position)
        if (self.pattern[self.at - 1] == "+" and self.at - 1 > position) or self.peek() in ("+", "*", "?", "{"):
            raise self.error("a quantifier on a quantifier", position, "put the quantified part into (?:...)")

    def inline_flags(self, position: int, frame: object) -> None:
        end = re.compile("[:)]").search(self.pattern, self.at - 1)
        flags = self.pattern[position + 2 : end.start() if end else position + 2]
        if not re.fullmatch("[ims]*(-[ims]+)?", flags):
            raise self.error(f"flags other than i, m and s: {flags[:10]!r}", position)
        super().inline_flags(position, frame)  # type: ignore[arg-type]
        assert not self.flags & VERBOSE

    def category(self, char: str) -> Ranges | None:
        lower = char.lower()
        if lower == "d":
            ranges: Ranges = unicode_property("Nd") or ()
        elif lower == "s":
            ranges = RUST_SPACES
        elif lower == "w":
            ranges = _word()
        else:
            return None
        return _known(ranges if char == lower else complement(ranges))

    def escape(self, position: int) -> None:
        char = self.peek()
        if char in ("A", "z"):
            self.at += 1
            kind = AnchorKind.START if char == "A" else AnchorKind.END
            self.builder.add(Anchor(kind, (), position), "anchor")
        elif char in ("b", "B"):
            self.at += 1
            if self.peek() == "{":
                raise self.error("a boundary with a name", position, r"write \b")
            kind = AnchorKind.BOUNDARY if char == "b" else AnchorKind.NOT_BOUNDARY
            self.builder.add(Anchor(kind, _word(), position), "anchor")
        elif char in ("p", "P"):
            members = self.property(position)
            self.builder.charset(_known(self.fold(members, (), char == "P")))
        else:
            ranges = self.category(char) if char else None
            if ranges is None:
                self.literal(self.character_escape(position))
            else:
                self.at += 1
                self.builder.charset(self.fold(ranges, (), False))

    def character_escape(self, position: int) -> str:
        char = self.peek()
        self.at += 1
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char in _DIGITS:
            braced = _HEX.match(self.pattern, self.at)
            size = {"x": 2, "u": 4, "U": 8}[char]
            digits = braced.group(1) if braced else self.pattern[self.at : self.at + size]
            if not re.fullmatch(f"[0-9A-Fa-f]{{{1 if braced else size},8}}", digits) or int(digits, 16) > 0x10FFFF:
                raise self.error(f"\\{char} needs {size} hexadecimal digits, or some in braces", position)
            self.at = braced.end() if braced else self.at + size
            return chr(int(digits, 16))
        if not char or char.isalnum() or char in "<>":
            raise self.error(f"unknown escape \\{char}", position)
        return char

    def property(self, position: int) -> Ranges:
        pattern = self.pattern
        if pattern[self.at + 1 : self.at + 2] == "{":
            end = pattern.find("}", self.at)
            name = pattern[self.at + 2 : end] if end > 0 else ""
        else:
            name, end = pattern[self.at + 1 : self.at + 2], self.at + 1
        ranges = unicode_property(name)
        if ranges is None and name:
            ranges = unicode_property(f"Script={name}")
        if ranges is None:
            raise self.error(f"no exact table for the property {name[:40]!r}", position,
                             "use a general category such as \\p{Lu}, a script such as \\p{Greek}, or a class")
        self.at = end + 1
        return ranges

    def bracket(self, position: int) -> Ranges:
        pattern = self.pattern
        negated = self.peek() == "^"
        self.at += negated
        members: list[tuple[int, int]] = []
        classes: list[Ranges] = []
        first = True
        while True:
            start = self.at
            if start >= len(pattern):
                raise self.error("a set is never closed", position, "add the missing ]")
            if pattern[start] == "]" and not first:
                self.at += 1
                break
            first = False
            if pattern[start : start + 2] in ("&&", "--", "~~"):
                raise self.error("an operator on classes", start, "write the resulting class out")
            low = self.item(classes)
            if self.peek() != "-" or pattern[self.at + 1 : self.at + 2] in ("]", "-") or self.at + 1 >= len(pattern):
                if low is not None:
                    members.append((low, low))
                continue
            self.at += 1
            high = self.item([])
            if low is None or high is None or high < low:
                raise self.error("a range without two ends in order", start)
            members.append((low, high))
        found = self.fold(normalise(members), union(*classes), negated)
        return _known(found) if negated and classes else found

    def item(self, classes: list[Ranges]) -> int | None:
        """One member of a set: its code point, or None after adding a class."""
        position = self.at
        char = self.pattern[position]
        if char == "[":
            named = re.compile(r"\[:(\^?)([a-z]+):\]").match(self.pattern, position)
            if named is None or named.group(2) not in _POSIX:
                raise self.error("a class inside a class", position, r"write the resulting class out, or \[")
            self.at = named.end()
            ranges = _POSIX[named.group(2)]
            classes.append(complement(ranges) if named.group(1) else ranges)
            return None
        self.at += 1
        if char != "\\":
            return ord(char)
        char = self.peek()
        if char and char in "pP":
            ranges = self.property(position)
            classes.append(_known(ranges if char == "p" else complement(ranges)))
            return None
        category = self.category(char) if char else None
        if category is not None:
            self.at += 1
            classes.append(category)
            return None
        return ord(self.character_escape(position))

    def error(self, message: str, position: int, hint: str | None = None) -> RegexError:
        return super().error(f"{message} (in Rust's syntax)", position, hint)
