"""Delimiters as a vocabulary has them: each may be spelled in ordinary tokens, or be one token of its own.

A delimiter text is *encoded*: every place where the text of a control or added token stands becomes one placeholder, a
lone surrogate, which no text holds. So delimiters are compared, sorted and cut as plain strings, and a placeholder
becomes "these bytes, or that token" when the expression is written. An added token that a grammar names so is read by
its id only within that grammar: it is no part of free text or of strings (see ``TokenReference``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from constrained.grammar import combinators as make
from constrained.grammar.ir import Expr, Literal, TokenReference

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["Delimiters"]

FIRST, LAST = 0xD800, 0xDFFF

KEPT = 16
"""Vocabularies whose pattern is remembered."""

_patterns: dict[str, re.Pattern[str] | None] = {}


def _pattern(info: TokenizerInfo) -> re.Pattern[str] | None:
    """What finds the texts of tokens, the longest first. Blank ones are no delimiters: they are text in every sense."""
    if info.fingerprint not in _patterns:
        texts = [text for text in info.token_ids_by_text if len(text) > 2 and text.strip(" \t\r\n▁")]
        made = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True)))) if texts else None
        if len(_patterns) >= KEPT:
            _patterns.clear()
        _patterns[info.fingerprint] = made
    return _patterns[info.fingerprint]


class Delimiters:
    """The delimiters of one grammar. Without a vocabulary every text is only spelled."""

    def __init__(self, info: TokenizerInfo | None) -> None:
        self.info = info
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}
        self.pattern = None if info is None else _pattern(info)
        self._known: dict[str, Expr] = {}

    def encode(self, text: str) -> str:
        """``text`` with a placeholder for each token in it."""
        return text if self.pattern is None else self.pattern.sub(self._placeholder, text)

    def _placeholder(self, match: re.Match[str]) -> str:
        text = match[0]
        number = self.numbers.get(text)
        if number is None:
            if FIRST + len(self.texts) > LAST:
                return text  # more than 2,048 different ones: spelled only
            number = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return chr(FIRST + number)

    def is_token(self, char: str) -> bool:
        """Whether a character of an encoded text is a placeholder."""
        return FIRST <= ord(char) <= LAST

    def spelled(self, encoded: str) -> bytes:
        """The bytes of an encoded text."""
        if encoded.isascii():
            return encoded.encode()
        return "".join(self.texts[ord(char) - FIRST] if self.is_token(char) else char for char in encoded).encode()

    def token(self, char: str) -> TokenReference:
        """The token of a placeholder."""
        return TokenReference((self.texts[ord(char) - FIRST],))

    def expression(self, encoded: str) -> Expr:
        """Either spelling of each token, and the text around them."""
        if encoded.isascii() or not self.texts:
            return Literal(encoded.encode()) if encoded else make.empty()
        known = self._known.get(encoded)
        if known is None:
            parts: list[Expr] = []
            start = 0
            for at, char in enumerate(encoded):
                if self.is_token(char):
                    parts.append(make.literal(encoded[start:at]))
                    parts.append(make.choice(Literal(self.spelled(char)), self.token(char)))
                    start = at + 1
            parts.append(make.literal(encoded[start:]))
            known = self._known[encoded] = make.sequence(*parts)
        return known

    def dispatch(self, options: list[tuple[str, Expr]]) -> Expr:
        """One of encoded texts, each with what follows it; common beginnings are written once.

        Cost: the characters of the texts, times the branchings along them. No recursion.
        """
        done: list[Expr] = []
        # (slice of the sorted options, characters that are already written) -> its expression goes to done
        ordered = sorted(options, key=lambda option: option[0])
        stack: list[tuple[int, int, int, int]] = [(0, len(ordered), 0, -1)]
        while stack:
            low, high, skip, joined = stack.pop()
            if joined >= 0:  # the branches behind a common beginning are done
                branches = done[-joined:]
                del done[-joined:]
                done.append(make.sequence(self.expression(ordered[low][0][high:skip]), make.choice(*branches)))
                continue
            first, last = ordered[low][0], ordered[high - 1][0]
            if high - low == 1:
                done.append(make.sequence(self.expression(first[skip:]), ordered[low][1]))
                continue
            common = skip
            while common < min(len(first), len(last)) and first[common] == last[common]:
                common += 1
            at = low
            groups: list[tuple[int, int, int, int]] = []
            ended: list[Expr] = []
            while at < high and len(ordered[at][0]) == common:
                ended.append(ordered[at][1])
                at += 1
            while at < high:
                begin, char = at, ordered[at][0][common]
                while at < high and ordered[at][0][common] == char:
                    at += 1
                groups.append((begin, at, common, -1))
            # the order of the stack: groups first, then what joins them; what has ended is done at once
            done.extend(ended)
            stack.append((low, skip, common, len(groups) + len(ended)))
            stack.extend(reversed(groups))
        return done[0]
