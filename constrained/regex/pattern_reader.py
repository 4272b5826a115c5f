# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
r"""What the readers of the pattern dialects share: a place in the pattern, errors that name it, counts, properties.

A dialect extends ``PatternReader``, walks the pattern with ``at`` and hands pieces to ``builder``; nothing recurses.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.errors import GrammarLimitError, NotRegularError, RegexError
from constrained.regex.unicode import unicode_property

if cython.compiled:
    from cython.cimports.constrained.regex.builder import TreeBuilder
else:
    from constrained.regex.builder import TreeBuilder

__all__ = ["QUANTIFIERS", "PatternReader"]

_NOT_REGULAR = "it needs memory of what a group matched, which no regular language has; write the alternatives out"
QUANTIFIERS = frozenset("*+?{")

#: No count of more digits is worth converting: every limit is far below.
_MAX_COUNT_DIGITS = 20


@cython.cclass
class PatternReader:
    """Raises RegexError on what is no ``str``, GrammarLimitError beyond ``max_source_chars``."""

    def __init__(self, pattern, limits):
        if not isinstance(pattern, str):
            raise RegexError(f"a pattern is a str, not {type(pattern).__name__}")
        if len(pattern) > limits.max_source_chars:
            raise GrammarLimitError("max_source_chars", limits.max_source_chars,
                                    f"the pattern has {len(pattern)} characters")
        self.pattern = pattern if type(pattern) is str else str.__str__(pattern)
        self.at = 0
        self.flags = 0
        self.builder = TreeBuilder(limits)
        self.names = set()

    def error(self, message, position, hint=None):
        return RegexError(message, pattern=self.pattern, position=position, hint=hint)

    def not_regular(self, message, position):
        """The error for what can be read and is no regular language."""
        return NotRegularError(message, pattern=self.pattern, position=position, hint=_NOT_REGULAR)

    @cython.ccall
    def peek(self) -> str:
        """The character at ``at``; behind the last one the empty text."""
        return self.pattern[self.at] if self.at < len(self.pattern) else ""

    def bounds(self, count, position):
        """Least and greatest of ``{m}``, ``{m,}``, ``{m,n}`` or ``{,n}`` (None: no greatest); ``at`` moves behind."""
        self.at = count.end()
        low, comma, high = count.groups()
        minimum = self._number(low, position) if low else 0
        maximum = minimum if not comma else self._number(high, position) if high else None
        if maximum is not None and maximum < minimum:
            raise self.error("the least count is greater than the greatest", position, "swap the two numbers")
        return minimum, maximum

    def _number(self, digits, position):
        if len(digits.lstrip("0")) > _MAX_COUNT_DIGITS:
            limits = self.builder.limits
            raise GrammarLimitError("max_repeat", limits.max_repeat,
                                    f"the repetition at position {position} counts to a number of {len(digits)} digits")
        return int(digits.lstrip("0") or "0")

    def property(self, position):
        r"""The set of ``\p{name}``, for ``\P`` too; ``at`` is on the letter and moves behind the brace."""
        end = self.pattern.find("}", self.at)
        if self.pattern[self.at + 1 : self.at + 2] != "{" or end < 0:
            raise self.error("\\p needs a property name in braces", position)
        name = self.pattern[self.at + 2 : end]
        ranges = unicode_property(name)
        if ranges is None:
            raise self.error(f"no exact table for the property {name[:40]!r}", position,
                             "use a general category such as \\p{Lu} or a binary property such as \\p{ASCII}")
        self.at = end + 1
        return ranges
