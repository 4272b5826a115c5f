r"""Combinators: write a grammar in Python, and the constructors every front end builds with.

    digits = repeat(char_class("0-9"), 1)
    grammar = rule_set({"root": choice(reference("sum"), digits),
                        "sum": sequence(digits, "+", reference("root"))})

Each function checks its arguments and returns an ``Expr`` of :mod:`constrained.grammar.ir`. Where a smaller
expression has exactly the same language it is returned instead: nested sequences and choices are flattened,
literals side by side are joined, repetitions of repetitions are multiplied out. A plain ``str`` or ``bytes``
stands for its literal wherever an expression is expected.

Cost: linear in the arguments. Flattening copies only small children (``_FLATTEN`` items, ``_JOIN`` bytes), so
that building a deeply nested expression from the inside out stays linear too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..errors import GrammarError, GrammarLimitError, echo
from ..limits import Limits
from .ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Distinct,
    Expr,
    Graph,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenBudget,
    TokenReference,
    Unordered,
    children,
)

__all__ = [
    "any_char",
    "any_text_until",
    "capture",
    "char_class",
    "choice",
    "empty",
    "literal",
    "nothing",
    "optional",
    "ranges",
    "reference",
    "repeat",
    "rule_set",
    "sequence",
    "token",
    "token_budget",
]

LAST_CODE_POINT = 0x10FFFF
MAX_TOKENS = 1 << 28
_SURROGATES = (0xD800, 0xDFFF)
_FLATTEN = 8
_JOIN = 4096
_NODES = frozenset((AnyTextUntil, ByteDfa, Capture, CharClass, Choice, Distinct, Graph, Literal, NotFollowedBy,
                    Reference, Repeat, Sequence, TokenBudget, TokenReference, Unordered))
_EMPTY = Literal(b"")
_NOTHING = Choice(())
_ANY = CharClass(((0, 0xD7FF), (0xE000, LAST_CODE_POINT)))
# One member of a class: an escape, or any character.
_MEMBER = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))|([^\\])", re.DOTALL)
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}

ExprLike = Expr | str | bytes


def _expr(value: ExprLike) -> Expr:
    if type(value) in _NODES:  # nearly all; CountedDfa derives from one
        return value  # type: ignore[return-value]
    if isinstance(value, (str, bytes)):
        return literal(value)
    if not isinstance(value, tuple(_NODES)):
        raise GrammarError(f"an expression, str or bytes is expected, not {type(value).__name__}")
    return value


def empty() -> Literal:
    """The empty text."""
    return _EMPTY


def nothing() -> Choice:
    """No text at all: an alternative that can never be taken."""
    return _NOTHING


def any_char() -> CharClass:
    """Any one code point, line ends included (surrogates are no characters)."""
    return _ANY


def literal(text: str | bytes) -> Literal:
    """Exactly this text (as UTF-8) or these bytes. Raises ``GrammarError`` for a ``str`` with a lone surrogate."""
    if isinstance(text, bytes):
        return Literal(text) if text else _EMPTY
    if not isinstance(text, str):
        raise GrammarError(f"a literal is made of str or bytes, not {type(text).__name__}")
    try:
        return Literal(text.encode("utf-8")) if text else _EMPTY
    except UnicodeEncodeError as error:
        bad = f"U+{ord(text[error.start]):04X} at position {error.start}"
        raise GrammarError(f"{bad} is half of a surrogate pair and no character") from None


def ranges(pairs: Iterable[tuple[int, int]], *, negated: bool = False) -> CharClass:
    """One code point out of inclusive ``(first, last)`` pairs, in any order; ``negated``: any other one.

    Surrogates are left out, since no UTF-8 text holds one. Raises ``GrammarError`` for a pair that is reversed
    or outside U+0000 to U+10FFFF.
    """
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if not 0 <= first <= last <= LAST_CODE_POINT:
            raise GrammarError(f"a range of code points runs from 0 to 0x10FFFF upwards, not from {first} to {last}")
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    if negated:
        gaps, start = [], 0
        for first, last in merged:
            if start < first:
                gaps.append((start, first - 1))
            start = last + 1
        if start <= LAST_CODE_POINT:
            gaps.append((start, LAST_CODE_POINT))
        merged = gaps
    kept: list[tuple[int, int]] = []
    for first, last in merged:
        if last < _SURROGATES[0] or first > _SURROGATES[1]:
            kept.append((first, last))
            continue
        if first < _SURROGATES[0]:
            kept.append((first, _SURROGATES[0] - 1))
        if last > _SURROGATES[1]:
            kept.append((_SURROGATES[1] + 1, last))
    return CharClass(tuple(kept))


def char_class(members: str, *, negated: bool = False) -> CharClass:
    r"""One code point out of ``members``, written as between the brackets of a class: ``char_class("a-z_")``.

    ``-`` between two members makes a range, first or last it stands for itself; a backslash makes punctuation
    literal and introduces ``\n \r \t \f \v \0 \xHH \uHHHH \UHHHHHHHH``. A leading ``^`` is an ordinary member: say
    ``negated=True`` instead. Raises ``GrammarError`` for an unknown escape or a reversed range.
    """
    points: list[tuple[int, bool]] = []  # code point, and whether it is a bare "-"
    position = 0
    while position < len(members):
        match = _MEMBER.match(members, position)
        if match is None:
            raise GrammarError(f"a class ends in a lone backslash: {echo(members)}")
        position = match.end()
        if match[5] is not None:
            points.append((ord(match[5]), match[5] == "-"))
        elif match[4] is not None:
            if match[4].isalnum() and match[4] not in _SIMPLE:
                raise GrammarError(f"unknown escape \\{match[4]} in the class {echo(members)}")
            points.append((ord(_SIMPLE.get(match[4], match[4])), False))
        else:
            points.append((int(match[1] or match[2] or match[3], 16), False))
    return ranges(pair_up(points), negated=negated)


def pair_up(points: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    """Members of a class as inclusive pairs; each is ``(code point, is a bare hyphen)``."""
    pairs, i = [], 0
    while i < len(points):
        first = points[i][0]
        if i + 2 < len(points) and points[i + 1][1]:
            pairs.append((first, points[i + 2][0]))
            i += 3
        else:
            pairs.append((first, first))
            i += 1
    return pairs


def sequence(*items: ExprLike) -> Expr:
    """All items in order; none: the empty text."""
    flat: list[Expr] = []
    for item in items:
        expr = _expr(item)
        if isinstance(expr, Sequence) and len(expr.items) <= _FLATTEN:
            for part in expr.items:
                _append(flat, part)
        else:
            _append(flat, expr)
    if not flat:
        return _EMPTY
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _append(flat: list[Expr], expr: Expr) -> None:
    if isinstance(expr, Literal):
        if not expr.data:
            return
        if flat and isinstance(flat[-1], Literal) and len(flat[-1].data) + len(expr.data) <= _JOIN:
            flat[-1] = Literal(flat[-1].data + expr.data)
            return
    flat.append(expr)


def choice(*options: ExprLike) -> Expr:
    """Any one option; none: nothing matches. Options that can never match are left out."""
    flat: list[Expr] = []
    for option in options:
        expr = _expr(option)
        if isinstance(expr, Choice) and len(expr.options) <= _FLATTEN:
            flat.extend(expr.options)
        elif not (isinstance(expr, CharClass) and not expr.ranges):
            flat.append(expr)
    if not flat:
        return _NOTHING
    return flat[0] if len(flat) == 1 else Choice(tuple(flat))


def repeat(body: ExprLike, minimum: int = 0, maximum: int | None = None, *, limits: Limits | None = None) -> Expr:
    """``body`` between ``minimum`` and ``maximum`` times, both included; None: without end.

    Raises ``GrammarError`` for reversed or negative bounds and ``GrammarLimitError`` beyond
    ``limits.max_repeat``.
    """
    expr = _expr(body)
    bound = (limits or Limits()).max_repeat
    for value in (minimum, maximum):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise GrammarError(f"a repetition is bounded by integers from 0, not {value!r}")
        if value is not None and value > bound:
            raise GrammarLimitError("max_repeat", bound, f"a repetition is bounded by {value}")
    if maximum is not None and minimum > maximum:
        raise GrammarError(f"a repetition cannot be at least {minimum} and at most {maximum}")
    if maximum == 0 or (isinstance(expr, Literal) and not expr.data):
        return _EMPTY
    if isinstance(expr, Repeat) and expr.minimum <= 1:
        # k rounds of one to b cover every count from k to k*b, and k+1 rounds go on where those end; so the union
        # over k is one interval. Rounds of zero only lower its foot.
        top = None if expr.maximum is None or maximum is None else expr.maximum * maximum
        if top is None or top <= bound:
            return repeat(expr.body, minimum * expr.minimum, top, limits=limits)
    if minimum == 1 and maximum == 1:
        return expr
    return Repeat(expr, minimum, maximum)


def optional(body: ExprLike) -> Expr:
    """``body`` or the empty text."""
    return repeat(body, 0, 1)


def capture(name: str, body: ExprLike) -> Capture:
    """``body``, whose place in a text is reported as ``name``: see ``docs/captures.md``. The language is the same."""
    if not isinstance(name, str) or not name:
        raise GrammarError(f"a capture's name is a non-empty str, not {name!r:.60}")
    return Capture(name, _expr(body))


def reference(name: str) -> Reference:
    """The rule of this name, which :func:`rule_set` must be given."""
    if not isinstance(name, str) or not name:
        raise GrammarError(f"a rule name is a non-empty str, not {name!r}")
    return Reference(name)


def token(*tokens: int | str, exclude: bool = False) -> TokenReference:
    """Exactly one token out of these ids and texts; ``exclude``: any one token but these.

    A text names a token by how the vocabulary writes it (``"<|eot_id|>"``), control tokens included.
    """
    for one in tokens:
        if isinstance(one, bool) or not isinstance(one, (int, str)) or one == "":
            raise GrammarError(f"a token is an id or a non-empty text, not {one!r}")
        if isinstance(one, int) and not 0 <= one < 1 << 31:
            raise GrammarError(f"a token id runs from 0 to {(1 << 31) - 1}, not {one}")
    if not tokens and not exclude:
        raise GrammarError("a token reference names at least one token")
    return TokenReference(tuple(dict.fromkeys(tokens)), exclude)


def any_text_until(*stops: str | bytes, consume: bool = True, excludes: Iterable[str | bytes] = (),
                   max_chars: int | None = None) -> AnyTextUntil:
    """UTF-8 text up to and with the first occurrence of one of ``stops``.

    ``excludes`` may not occur in it; ``max_chars`` bounds its code points, the stop's included.

    ``consume`` False: any text in which none of them occurs. No stops and ``consume`` False: any text.
    Raises ``GrammarError`` for an empty stop and for bytes that are no UTF-8.
    """
    if max_chars is not None and (not isinstance(max_chars, int) or isinstance(max_chars, bool) or max_chars < 0):
        raise GrammarError(f"max_chars is an int of at least 0, not {max_chars!r:.60}")
    encoded = _texts(stops)
    if not encoded and consume:
        raise GrammarError("any_text_until needs a stop, or consume=False")
    return AnyTextUntil(encoded, consume, _texts(excludes), max_chars)


def token_budget(text: AnyTextUntil | ByteDfa, maximum: int) -> TokenBudget:
    """``text`` in at most ``maximum`` tokens, and those that complete it on a shortest way: see ``TokenBudget``.

    Raises ``GrammarError`` for a maximum that is no int from 1, and for a text of another kind.
    """
    if not isinstance(text, (AnyTextUntil, ByteDfa)):
        raise GrammarError(f"a token budget is for AnyTextUntil or ByteDfa, not for {type(text).__name__}")
    if not isinstance(maximum, int) or isinstance(maximum, bool) or not 0 < maximum < MAX_TOKENS:
        raise GrammarError(f"a token budget is an int from 1 to {MAX_TOKENS - 1}, not {maximum!r:.60}")
    return TokenBudget(text, maximum)


def _texts(stops: Iterable[str | bytes]) -> tuple[bytes, ...]:
    encoded = []
    for stop in stops:
        data = literal(stop).data
        if not data:
            raise GrammarError("a stop of any_text_until is not empty")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise GrammarError(f"a stop of any_text_until is UTF-8, not {echo(data)}") from None
        encoded.append(data)
    return tuple(dict.fromkeys(encoded))


def rule_set(rules: Mapping[str, ExprLike] | ExprLike, root: str = "root") -> RuleSet:
    """A checked grammar from rules by name, or from one expression.

    Raises ``GrammarError`` for an unknown root and for references to rules that are not there.
    """
    named: dict[str, Expr] = {}
    if isinstance(rules, Mapping):
        for name, body in rules.items():
            named[reference(name).name] = _expr(body)
    else:
        named[root] = _expr(rules)
    if root not in named:
        raise GrammarError(f"there is no rule {echo(root)} to start from; rules: {_names(named)}")
    seen: set[int] = set()
    stack = list(named.values())
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Reference) and node.name not in named:
            raise GrammarError(f"a reference names {echo(node.name)}, and no rule is called so; rules: {_names(named)}")
        stack.extend(children(node))
    return RuleSet(named, root)


def _names(named: Mapping[str, Expr], most: int = 10) -> str:
    shown = ", ".join(echo(name, 60) for name in list(named)[:most])
    return shown + (", ..." if len(named) > most else "")
