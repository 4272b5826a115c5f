# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
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

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.limits import Limits
from constrained.regex.charset import ANY
from constrained.regex.folding import ecma_closure
from constrained.regex.syntax import NOTHING, AnchorKind
from constrained.regex.unicode import ASCII_DIGITS, ASCII_WORD, ECMA_LINE_ENDS, ECMA_SPACES

if cython.compiled:
    from cython.cimports.constrained.regex.builder import Frame, TreeBuilder
    from cython.cimports.constrained.regex.charset import complement, normalise, union_of
    from cython.cimports.constrained.regex.pattern_reader import PatternReader
    from cython.cimports.constrained.regex.syntax import Anchor, Node
else:
    from constrained.regex.builder import Frame, TreeBuilder
    from constrained.regex.charset import complement, normalise, union_of
    from constrained.regex.pattern_reader import PatternReader
    from constrained.regex.syntax import Anchor, Node

__all__ = ["parse_ecma"]

IGNORE_CASE = cython.declare(cython.int, 1)
MULTILINE = cython.declare(cython.int, 2)
DOT_ALL = cython.declare(cython.int, 4)
_FLAGS = {"i": IGNORE_CASE, "m": MULTILINE, "s": DOT_ALL}

_COUNT = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GLOBAL_FLAGS = re.compile(r"\(\?([ims]+)\)")
_MODIFIERS = re.compile(r"\(\?([ims]*)(-([ims]*))?:")
_NAME = re.compile(r"\(\?P?<([^>]*)>")
_HEX2 = re.compile(r"[0-9a-fA-F]{2}")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_BRACED_HEX = re.compile(r"\{([0-9a-fA-F]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}

_START = AnchorKind.START
_END = AnchorKind.END
_NOT_LINE_ENDS = complement(ECMA_LINE_ENDS)
#: Letters of classes: the class, and what is not of it; a word is another one where case is ignored.
_CLASSES = {"d": ASCII_DIGITS, "D": complement(ASCII_DIGITS), "s": ECMA_SPACES, "S": complement(ECMA_SPACES),
            "w": ASCII_WORD, "W": complement(ASCII_WORD)}


def parse_ecma(pattern, limits=None):
    """The tree of ``pattern``.

    Raises RegexError (with the position) on a pattern that cannot be read or is not regular, and GrammarLimitError
    beyond ``max_source_chars``, ``max_nesting`` or ``max_repeat``.
    """
    parser: _Parser = _Parser(pattern, limits or Limits())
    return parser.parse()


@cython.final
@cython.cclass
class _Parser(PatternReader):
    # -- the loop over the pattern ------------------------------------------------------------------------

    @cython.cfunc
    def parse(self) -> Node:
        pattern: str = self.pattern
        builder: TreeBuilder = self.builder
        size: cython.Py_ssize_t = len(pattern)
        position: cython.Py_ssize_t
        char: cython.Py_UCS4
        if pattern.startswith("(?"):
            leading = _GLOBAL_FLAGS.match(pattern)
            if leading is not None:
                self.flags = self.flag_bits(leading.group(1), 0)
                self.at = leading.end()
        while self.at < size:
            position = self.at
            char = pattern[position]
            if not is_sign(char):
                self.at += 1
                while self.at < size and not is_sign(pattern[self.at]):
                    self.at += 1
                self.literal(pattern[position:self.at])
                continue
            self.at += 1
            if char == "\\":
                self.escape(position)
            elif char == "[":
                builder.charset(self.bracket(position))
            elif char == "*" or char == "+" or char == "?" or char == "{":
                self.quantifier(char, position)
            elif char == ".":
                builder.charset(ANY if self.flags & DOT_ALL else _NOT_LINE_ENDS)
            elif char == "(":
                self.group(position)
            elif char == ")":
                if len(builder.stack) == 1:
                    raise self.error("a ) without its (", position, r"escape it as \) if it is meant as a character")
                self.flags = builder.close().restore
            elif char == "|":
                builder.alternate()
            elif char == "^":
                kind = AnchorKind.LINE_START if self.flags & MULTILINE else _START
                builder.add(Anchor(kind, ECMA_LINE_ENDS, position), "anchor")
            elif char == "$":
                kind = AnchorKind.LINE_END if self.flags & MULTILINE else _END
                builder.add(Anchor(kind, ECMA_LINE_ENDS, position), "anchor")
            else:
                builder.add(NOTHING)  # a lone surrogate has no UTF-8 form
        if len(builder.stack) > 1:
            raise self.error("a group is opened but never closed", builder.top.position, "add the missing )")
        return builder.finish()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def literal(self, run: str) -> cython.int:
        """Adds ordinary characters, in all their cases where case is ignored; what a quantifier binds, alone."""
        last: cython.Py_ssize_t = len(run) - 1
        char: cython.Py_UCS4
        if self.flags & IGNORE_CASE:
            for one in run:
                self.builder.charset(self.fold(((ord(one), ord(one)),)))
            return 0
        if last > 0 and self.at < len(self.pattern):
            char = self.pattern[self.at]
            if char == "*" or char == "+" or char == "?" or char == "{":
                self.builder.text(run[:last])
                self.builder.text(run[last])
                return 0
        self.builder.text(run)
        return 0

    @cython.cfunc
    def fold(self, ranges: tuple) -> tuple:
        return ecma_closure(ranges) if self.flags & IGNORE_CASE else ranges

    @cython.cfunc
    def flag_bits(self, letters, position: cython.Py_ssize_t):
        if len(set(letters)) != len(letters):
            raise self.error("a flag is given twice", position)
        return sum([_FLAGS[letter] for letter in letters])

    # -- quantifiers and groups -------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def quantifier(self, char: cython.Py_UCS4, position: cython.Py_ssize_t) -> cython.int:
        builder: TreeBuilder = self.builder
        minimum = 1 if char == "+" else 0
        maximum = 1 if char == "?" else None
        if char == "{":
            count = _COUNT.match(self.pattern, position)
            if count is None:
                self.literal("{")
                return 0
            minimum, maximum = self.bounds(count, position)
        if builder.last == "" or builder.last == "anchor":
            raise self.error("nothing to repeat", position, f"escape it as \\{char} if it is meant as a character")
        if builder.last == "repeat":
            hint = "ECMA-262 has no possessive quantifiers" if char == "+" else "put the quantified part into (?:...)"
            raise self.error("a quantifier on a quantifier", position, hint)
        if self.at < len(self.pattern) and self.pattern[self.at] == "?":
            self.at += 1
            builder.quantify(minimum, maximum, "?", position)
        else:
            builder.quantify(minimum, maximum, "", position)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def group(self, position: cython.Py_ssize_t) -> cython.int:
        """Reads the head of a group."""
        pattern: str = self.pattern
        flags: cython.int = self.flags
        frame: Frame = Frame("group", position, flags)
        if self.at < len(pattern) and pattern[self.at] == "?":
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
        return 0

    # -- escapes ----------------------------------------------------------------------------------------------

    @cython.cfunc
    def word(self) -> tuple:
        r"""``\w``: with the flags i and u also what folds to a word character."""
        return ecma_closure(ASCII_WORD) if self.flags & IGNORE_CASE else ASCII_WORD

    @cython.cfunc
    def category(self, position: cython.Py_ssize_t):
        r"""The set of ``\d \s \w \p{..}`` and their negations; ``at`` is on the letter and moves only if it is one.
        None: it is none."""
        letter: str = self.peek()
        found = _CLASSES.get(letter)
        if found is not None:
            self.at += 1
            if self.flags & IGNORE_CASE and letter in "wW":
                return self.word() if letter == "w" else complement(self.word())
            return found
        if letter == "p" or letter == "P":
            found = self.property(position)
            return found if letter == "p" else complement(found)
        return None

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def escape(self, position: cython.Py_ssize_t) -> cython.int:
        """An escape outside a set."""
        char: str = self.peek()
        if char == "b" or char == "B":
            self.at += 1
            kind = AnchorKind.BOUNDARY if char == "b" else AnchorKind.NOT_BOUNDARY
            self.builder.add(Anchor(kind, self.word(), position), "anchor")
            return 0
        ranges = self.category(position)
        if ranges is not None:
            self.builder.charset(self.fold(ranges))
            return 0
        if char == "k" or ("1" <= char <= "9" and len(char) == 1):
            raise self.not_regular("a back-reference", position)
        code = self.character(position)
        self.builder.charset(self.fold(normalise([(code, code)])))
        return 0

    @cython.cfunc
    def character(self, position: cython.Py_ssize_t):
        """The code point an escape stands for, inside a set and outside; ``at`` is behind the backslash."""
        char: str = self.peek()
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
            found = _HEX2.match(self.pattern, self.at)
            if found is None:
                raise self.error("\\x needs two hexadecimal digits", position)
            self.at = found.end()
            return int(found.group(), 16)
        if char == "u":
            return self.unicode_escape(position)
        if char.isascii() and (char.isalpha() or char.isdecimal()):
            raise self.error(f"unknown escape \\{char}", position, f"write {char} if it is meant as a character")
        return ord(char)

    @cython.cfunc
    def unicode_escape(self, position: cython.Py_ssize_t):
        r"""``\uXXXX``, two of them as a surrogate pair, or ``\u{X...}``; ``at`` is behind the u."""
        braced = _BRACED_HEX.match(self.pattern, self.at)
        if braced is not None:
            self.at = braced.end()
            digits = braced[1].lstrip("0")
            code = int(digits or "0", 16) if len(digits) <= 6 else 0x110000
            if code > 0x10FFFF:
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

    @cython.cfunc
    def bracket(self, position: cython.Py_ssize_t) -> tuple:
        """A set; ``at`` is behind its ``[``. ``[]`` matches nothing, ``[^]`` any character."""
        pattern: str = self.pattern
        size: cython.Py_ssize_t = len(pattern)
        start: cython.Py_ssize_t
        negated: cython.bint = self.at < size and pattern[self.at] == "^"
        members: list = []
        classes: list = []
        ranges: tuple
        if negated:
            self.at += 1
        while True:
            start = self.at
            if start >= size:
                raise self.error("a set is never closed", position, "add the missing ]")
            if pattern[start] == "]":
                self.at += 1
                break
            low = self.member(classes)
            if self.at + 1 >= size or pattern[self.at] != "-" or pattern[self.at + 1] == "]":
                if low is not None:
                    members.append((low, low))
                continue
            self.at += 1
            high = self.member(classes)
            if low is None or high is None:
                # Annex B: next to a class the - is a character, and so is what is not the class.
                members.extend([(code, code) for code in (low, 0x2D, high) if code is not None])
                continue
            if high < low:
                raise self.error("a range runs backwards", start, "swap its ends")
            members.append((low, high))
        ranges = normalise(members)
        if classes:
            classes.append(ranges)
            ranges = union_of(classes)
        ranges = self.fold(ranges)
        return complement(ranges) if negated else ranges

    @cython.cfunc
    def member(self, classes: list):
        """One member of a set: its code point, or None after adding the class an escape stands for."""
        position: cython.Py_ssize_t = self.at
        char: cython.Py_UCS4 = self.pattern[position]
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


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_sign(char: cython.Py_UCS4) -> cython.bint:
    """Whether a character does not stand for itself outside a set: a sign of the syntax, or a surrogate."""
    if char <= "?":
        return char == "(" or char == ")" or char == "*" or char == "+" or char == "?" or char == "." or char == "$"
    if char < "\x7f":
        return char == "\\" or char == "[" or char == "{" or char == "|" or char == "^"
    return 0xD800 <= ord(char) <= 0xDFFF
