r"""ECMA-262 patterns with the flag ``u`` as a tree, without recursion; what JSON Schema calls a regex.

Follows the grammar of ECMA-262 (section 22.2.1, Patterns) with ``[UnicodeMode]``. The tree is that of the
pattern itself; that a search may find it anywhere is ``rewrite.search_form``'s part. Since schemas are written
for many matchers, these are read too, with the one meaning they can have:

* an escaped character that needs no escape (``\-``, ``\_``, ``\"``, ``\'``, ``\@``), letters and digits excepted;
* ``{``, ``}`` and ``]`` as characters where they cannot be a quantifier or the end of a set (Annex B.1.2);
* a class next to ``-`` in a set, as in ``[\w-.]``: the ``-`` is a character (Annex B.1.2);
* quantified look-aheads (Annex B.1.2) and look-behinds;
* ``(?P<name>...)`` for ``(?<name>...)``, and ``(?ims)`` at the very start for the flags.

``(?ims-ims:...)`` is ECMA-262 2025. Refused with the position: back-references, names of properties that there
is no exact table for, escaped letters without a meaning (``\A``, ``\Z``, ``\z``, ``\h``), possessive quantifiers
and atomic groups, which the standard does not have.
"""

from __future__ import annotations

import re

from constrained.limits import Limits
from constrained.regex.builder import Frame
from constrained.regex.charset import ANY, Ranges, complement, normalise, union
from constrained.regex.folding import ecma_closure
from constrained.regex.pattern_reader import QUANTIFIERS, PatternReader
from constrained.regex.syntax import NOTHING, Anchor, AnchorKind, Node
from constrained.regex.unicode import ASCII_DIGITS, ASCII_WORD, ECMA_LINE_ENDS, ECMA_SPACES

__all__ = ["parse_ecma"]

IGNORE_CASE, MULTILINE, DOT_ALL = 1, 2, 4
_FLAGS = {"i": IGNORE_CASE, "m": MULTILINE, "s": DOT_ALL}

_PLAIN = re.compile(r"[^\\\[(){*+?|.^$\ud800-\udfff]+")
_COUNT = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GLOBAL_FLAGS = re.compile(r"\(\?([ims]+)\)")
_MODIFIERS = re.compile(r"\(\?([ims]*)(-([ims]*))?:")
_NAME = re.compile(r"\(\?P?<([^>]*)>")
_HEX2 = re.compile(r"[0-9a-fA-F]{2}")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_BRACED_HEX = re.compile(r"\{([0-9a-fA-F]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def parse_ecma(pattern: str, limits: Limits | None = None) -> Node:
    """The tree of ``pattern``.

    Raises RegexError (with the position) on a pattern that cannot be read or is not regular, and GrammarLimitError
    beyond ``max_source_chars``, ``max_nesting`` or ``max_repeat``.
    """
    return _Parser(pattern, limits or Limits()).parse()


class _Parser(PatternReader):
    # -- the loop over the pattern ------------------------------------------------------------------------

    def parse(self) -> Node:
        pattern, builder = self.pattern, self.builder
        leading = _GLOBAL_FLAGS.match(pattern)
        if leading is not None:
            self.flags = self.flag_bits(leading.group(1), 0)
            self.at = leading.end()
        while self.at < len(pattern):
            run = _PLAIN.match(pattern, self.at)
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
                builder.charset(ANY if self.flags & DOT_ALL else complement(ECMA_LINE_ENDS))
            elif char == "(":
                self.group(position)
            elif char == ")":
                if not builder.depth:
                    raise self.error("a ) without its (", position, r"escape it as \) if it is meant as a character")
                self.flags = builder.close().restore
            elif char == "|":
                builder.alternate()
            elif char == "^":
                kind = AnchorKind.LINE_START if self.flags & MULTILINE else AnchorKind.START
                builder.add(Anchor(kind, ECMA_LINE_ENDS, position), "anchor")
            elif char == "$":
                kind = AnchorKind.LINE_END if self.flags & MULTILINE else AnchorKind.END
                builder.add(Anchor(kind, ECMA_LINE_ENDS, position), "anchor")
            else:
                builder.add(NOTHING)  # a lone surrogate has no UTF-8 form
        if builder.depth:
            raise self.error("a group is opened but never closed", builder.top.position, "add the missing )")
        return builder.finish()

    def literal(self, run: str) -> None:
        """Adds ordinary characters, in all their cases where case is ignored; what a quantifier binds, alone."""
        if self.flags & IGNORE_CASE:
            for char in run:
                self.builder.charset(self.fold(normalise([(ord(char), ord(char))])))
        elif len(run) > 1 and self.peek() in QUANTIFIERS:
            self.builder.text(run[:-1])
            self.builder.text(run[-1])
        else:
            self.builder.text(run)

    def fold(self, ranges: Ranges) -> Ranges:
        return ecma_closure(ranges) if self.flags & IGNORE_CASE else ranges

    def flag_bits(self, letters: str, position: int) -> int:
        if len(set(letters)) != len(letters):
            raise self.error("a flag is given twice", position)
        return sum(_FLAGS[letter] for letter in letters)

    # -- quantifiers and groups -------------------------------------------------------------------------------

    def quantifier(self, char: str, position: int) -> None:
        builder = self.builder
        minimum, maximum = {"*": (0, None), "+": (1, None), "?": (0, 1), "{": (0, None)}[char]
        if char == "{":
            count = _COUNT.match(self.pattern, position)
            if count is None:
                self.literal("{")
                return
            minimum, maximum = self.bounds(count, position)
        if builder.last in ("", "anchor"):
            raise self.error("nothing to repeat", position, f"escape it as \\{char} if it is meant as a character")
        if builder.last == "repeat":
            hint = "ECMA-262 has no possessive quantifiers" if char == "+" else "put the quantified part into (?:...)"
            raise self.error("a quantifier on a quantifier", position, hint)
        lazy = self.peek() == "?"
        self.at += lazy
        builder.quantify(minimum, maximum, "?" if lazy else "", position)

    def group(self, position: int) -> None:
        """Reads the head of a group."""
        pattern, frame = self.pattern, Frame("group", position, restore=self.flags)
        flags = self.flags
        if self.peek() == "?":
            head = pattern[self.at + 1 : self.at + 3]
            modifiers = _MODIFIERS.match(pattern, position)
            name = _NAME.match(pattern, position)
            if head[:1] in ("=", "!") and head:
                frame.kind, frame.negative = "look", head[0] == "!"
                self.at += 2
            elif head in ("<=", "<!"):
                frame.kind, frame.ahead, frame.negative = "look", False, head[1] == "!"
                self.at += 3
            elif modifiers is not None:
                on, off = self.flag_bits(modifiers[1], position), self.flag_bits(modifiers[3] or "", position)
                if on & off or (modifiers[2] and not (on or off)):
                    raise self.error("a flag is turned on and off, or none is named", position)
                flags = (flags | on) & ~off
                self.at = modifiers.end()
            elif name is not None:
                if not name[1].replace("$", "_").isidentifier():
                    raise self.error("a group name must be an identifier", position)
                if name[1] in self.names:
                    raise self.error("a group name is used twice", position)
                self.names.add(name[1])
                self.at = name.end()
            else:
                hint = "ECMA-262 has no atomic groups" if head[:1] == ">" else None
                if pattern.startswith("P=", self.at + 1):
                    raise self.not_regular("a back-reference", position)
                raise self.error("unknown group (?" + head[:1], position, hint)
        self.builder.open(frame)
        self.flags = flags

    # -- escapes ----------------------------------------------------------------------------------------------

    def word(self) -> Ranges:
        r"""``\w``: with the flags i and u also what folds to a word character."""
        return ecma_closure(ASCII_WORD) if self.flags & IGNORE_CASE else ASCII_WORD

    def category(self, position: int) -> Ranges | None:
        r"""The set of ``\d \s \w \p{..}`` and their negations; ``at`` is on the letter and moves only if it is one."""
        char = self.peek()
        if char in ("p", "P"):
            ranges = self.property(position)
        elif char in ("d", "D", "s", "S", "w", "W"):
            self.at += 1
            ranges = {"d": ASCII_DIGITS, "s": ECMA_SPACES, "w": self.word()}[char.lower()]
        else:
            return None
        return complement(ranges) if char.isupper() else ranges

    def escape(self, position: int) -> None:
        """An escape outside a set."""
        char = self.peek()
        if char in ("b", "B"):
            self.at += 1
            kind = AnchorKind.BOUNDARY if char == "b" else AnchorKind.NOT_BOUNDARY
            self.builder.add(Anchor(kind, self.word(), position), "anchor")
            return
        ranges = self.category(position)
        if ranges is not None:
            self.builder.charset(self.fold(ranges))
            return
        if char == "k" or ("1" <= char <= "9" and len(char) == 1):
            raise self.not_regular("a back-reference", position)
        code = self.character(position)
        self.builder.charset(self.fold(normalise([(code, code)])))

    def character(self, position: int) -> int:
        """The code point an escape stands for, inside a set and outside; ``at`` is behind the backslash."""
        pattern = self.pattern
        char = self.peek()
        self.at += 1
        if char == "":
            raise self.error("the pattern ends in a backslash", position, "write \\\\ for a backslash")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "c":
            letter = self.peek()
            if not (letter.isascii() and letter.isalpha()):
                raise self.error("\\c needs a letter", position)
            self.at += 1
            return ord(letter) % 32
        if char == "0":
            if self.peek().isdecimal():
                raise self.error("an octal escape", position, "write \\xHH")
            return 0
        if char == "x":
            found = _HEX2.match(pattern, self.at)
            if found is None:
                raise self.error("\\x needs two hexadecimal digits", position)
            self.at = found.end()
            return int(found.group(), 16)
        if char == "u":
            return self.unicode_escape(position)
        if char.isascii() and (char.isalpha() or char.isdecimal()):
            raise self.error(f"unknown escape \\{char}", position, f"write {char} if it is meant as a character")
        return ord(char)

    def unicode_escape(self, position: int) -> int:
        r"""``\uXXXX``, two of them as a surrogate pair, or ``\u{X...}``; ``at`` is behind the u."""
        braced = _BRACED_HEX.match(self.pattern, self.at)
        if braced is not None:
            self.at = braced.end()
            code = int(braced[1][-8:], 16)
            if code > 0x10FFFF or len(braced[1].lstrip("0")) > 6:
                raise self.error("a character beyond U+10FFFF", position)
            return code
        found = _HEX4.match(self.pattern, self.at)
        if found is None:
            raise self.error("\\u needs four hexadecimal digits, or some in braces", position)
        self.at = found.end()
        code = int(found.group(), 16)
        low = _LOW_SURROGATE.match(self.pattern, self.at) if 0xD800 <= code <= 0xDBFF else None
        if low is not None:
            self.at = low.end()
            return 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return code

    # -- sets ---------------------------------------------------------------------------------------------------

    def bracket(self, position: int) -> Ranges:
        """A set; ``at`` is behind its ``[``. ``[]`` matches nothing, ``[^]`` any character."""
        pattern = self.pattern
        negated = self.peek() == "^"
        self.at += negated
        members: list[tuple[int, int]] = []
        classes: list[Ranges] = []
        while True:
            start = self.at
            if start >= len(pattern):
                raise self.error("a set is never closed", position, "add the missing ]")
            if pattern[start] == "]":
                self.at += 1
                break
            low = self.member(classes)
            if self.peek() != "-" or self.at + 1 >= len(pattern) or pattern[self.at + 1] == "]":
                members += [(low, low)] if low is not None else []
                continue
            self.at += 1
            high = self.member(classes)
            if low is None or high is None:
                # Annex B: next to a class the - is a character, and so is what is not the class.
                members += [(code, code) for code in (low, 0x2D, high) if code is not None]
                continue
            if high < low:
                raise self.error("a range runs backwards", start, "swap its ends")
            members.append((low, high))
        ranges = self.fold(union(normalise(members), *classes))
        return complement(ranges) if negated else ranges

    def member(self, classes: list[Ranges]) -> int | None:
        """One member of a set: its code point, or None after adding the class an escape stands for."""
        position = self.at
        char = self.pattern[position]
        self.at += 1
        if char != "\\":
            return ord(char)
        ranges = self.category(position)
        if ranges is not None:
            classes.append(ranges)
            return None
        if self.peek() == "b":
            self.at += 1
            return 8
        return self.character(position)
