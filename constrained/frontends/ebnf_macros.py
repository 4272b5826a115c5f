r"""Macros of the EBNF dialect: ``Name(arguments)`` where no rule has that name.

``Token`` and ``ExcludeToken`` are XGrammar's; ``AnyTextUntil``, ``Bytes``, ``ByteDfa``, ``NotFollowedBy``,
``TokenBudget`` and ``Unordered`` write the nodes of the grammar IR that have no other notation, so that every grammar
can be printed and read again. Arguments are strings, integers, ``true``/``false`` and tuples of these, by position or
as ``name=value``, as in XGrammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from ..errors import GrammarError, GrammarSyntaxError, echo
from ..grammar import combinators as make
from ..grammar.ir import AnyTextUntil, ByteDfa, Distinct, Expr, NotFollowedBy, Unordered
from .text import SIMPLE_ESCAPES, Source, unescape

__all__ = ["MACROS", "REFUSED", "Arguments"]

Value = str | int | bool | tuple["Value", ...]

_MAX_TUPLES = 2


class Arguments:
    """The arguments of one macro call, read from the token stream up to the closing parenthesis."""

    def __init__(self, source: Source, name: str, offset: int, read: Callable[[], re.Match[str]],
                 refer: Callable[[str, int], Expr]) -> None:
        self.source, self.name, self.offset = source, name, offset
        self._read = read
        self._refer = refer
        self.values: list[Value] = []
        self.named: dict[str, Value] = {}
        self._parse()

    def fail(self, message: str) -> NoReturn:
        self.source.fail(self.offset, f"{self.name}(...): {message}")

    def _parse(self) -> None:
        match = self._read()
        if match["sign"] != "(":
            self._unexpected(match, "the arguments")
        match = self._read()
        while match["sign"] != ")":
            keyword = match["name"]
            if keyword is not None and not keyword.lstrip("-").isdecimal() and keyword not in ("true", "false"):
                after = self._read()
                if after["sign"] != "=":
                    self._unexpected(after, '"=" after the name of an argument')
                if keyword in self.named:
                    self.fail(f"{echo(keyword)} is given twice")
                self.named[keyword] = self._value(self._read())
            else:
                self.values.append(self._value(match))
            match = self._read()
            if match["sign"] == ",":
                match = self._read()
            elif match["sign"] != ")":
                self._unexpected(match, '"," or ")"')

    def _value(self, match: re.Match[str]) -> Value:
        """One value; tuples nest at most ``_MAX_TUPLES`` deep, by an explicit stack."""
        stack: list[list[Value]] = []
        while True:
            if match["sign"] == "(":
                if len(stack) == _MAX_TUPLES:
                    self._unexpected(match, "a string, an integer, true or false")
                stack.append([])
                match = self._read()
                if match["sign"] != ")":
                    continue
            value = tuple(stack.pop()) if match["sign"] == ")" and stack else self._scalar(match)
            if not stack:
                return value
            stack[-1].append(value)
            match = self._read()
            if match["sign"] == ",":
                match = self._read()
            elif match["sign"] != ")":
                self._unexpected(match, '"," or ")"')

    def _scalar(self, match: re.Match[str]) -> Value:
        name = match["name"]
        if match["text"] is not None:
            return unescape(self.source, match.start("text") + 1, match.end() - 1, SIMPLE_ESCAPES)
        if name in ("true", "false"):
            return name == "true"
        if name is not None and name.isdecimal() and len(name) <= 10:
            return int(name)
        self._unexpected(match, "a string, an integer, true, false or a tuple")

    def _unexpected(self, match: re.Match[str], what: str) -> NoReturn:
        kind = match.lastgroup or "end"
        found = "the end of the grammar" if kind == "end" else echo(match[kind], 40)
        self.source.fail(match.start(kind), f"expected {what} in {self.name}(...), found {found}")

    def reference(self, name: str) -> Expr:
        """The rule of that name; that there is one is checked with all other references."""
        return self._refer(name, self.offset)

    def only(self, *names: str) -> None:
        """Refuse any named argument but these."""
        for name in self.named:
            if name not in names:
                self.fail(f"there is no argument {echo(name)}" + (f"; known: {', '.join(names)}" if names else ""))

    def flag(self, name: str, default: bool) -> bool:
        value = self.named.get(name, default)
        if not isinstance(value, bool):
            self.fail(f"{name} is true or false")
        return value

    def build(self, make_it: Callable[[], Expr]) -> Expr:
        """Call a combinator and put the macro's place on what it refuses."""
        try:
            return make_it()
        except GrammarSyntaxError:
            raise
        except GrammarError as error:
            self.fail(str(error))


def _tokens(arguments: Arguments, exclude: bool) -> Expr:
    arguments.only()
    tokens = [value for value in arguments.values if isinstance(value, (int, str)) and not isinstance(value, bool)]
    if len(tokens) != len(arguments.values) or not (tokens or exclude):
        arguments.fail("takes one or more token ids, or texts of tokens")
    return arguments.build(lambda: make.token(*tokens, exclude=exclude))


def _token(arguments: Arguments) -> Expr:
    return _tokens(arguments, False)


def _exclude_token(arguments: Arguments) -> Expr:
    return _tokens(arguments, True)


def _any_text_until(arguments: Arguments) -> Expr:
    arguments.only("consume", "excludes", "max_chars")
    stops = [value for value in arguments.values if isinstance(value, str)]
    if len(stops) != len(arguments.values):
        arguments.fail("takes strings")
    consume = arguments.flag("consume", True)
    given = arguments.named.get("excludes", ())
    excludes = [value for value in given if isinstance(value, str)] if isinstance(given, tuple) else []
    if not isinstance(given, tuple) or len(excludes) != len(given):
        arguments.fail("excludes is a tuple of strings")
    most = arguments.named.get("max_chars")
    if most is not None and type(most) is not int:
        arguments.fail("max_chars is a number")
    return arguments.build(lambda: make.any_text_until(
        *stops, consume=consume, excludes=excludes, max_chars=most if isinstance(most, int) else None))


def _capture(arguments: Arguments) -> Expr:
    arguments.only()
    if len(arguments.values) != 2 or not all(isinstance(value, str) for value in arguments.values):
        arguments.fail('takes a name and the name of a rule, as in Capture("city", "string")')
    name, rule = arguments.values
    return arguments.build(lambda: make.capture(str(name), arguments.reference(str(rule))))


def _distinct(arguments: Arguments) -> Expr:
    arguments.only()
    if len(arguments.values) != 1 or not isinstance(arguments.values[0], str):
        arguments.fail('takes the name of a rule whose texts are JSON arrays or objects, as in Distinct("names")')
    return Distinct(arguments.reference(arguments.values[0]))


def _bytes(arguments: Arguments) -> Expr:
    arguments.only()
    if len(arguments.values) != 1 or not isinstance(arguments.values[0], str):
        arguments.fail(r"takes one string, each character of which is a byte, as in Bytes(\"\xff\xfe\")")
    text = arguments.values[0]
    if any(ord(char) > 255 for char in text):
        arguments.fail("every character must be below U+0100: it stands for a byte")
    return make.literal(text.encode("latin-1"))


def _byte_dfa(arguments: Arguments) -> Expr:
    arguments.only("states", "accepting")
    states = arguments.named.get("states")
    accepting = arguments.named.get("accepting", ())
    if not isinstance(states, int) or isinstance(states, bool) or not 0 < states <= 1 << 24:
        arguments.fail("states is the number of states, from 1")
    if not isinstance(accepting, tuple) or not all(type(s) is int and s < states for s in accepting):
        arguments.fail("accepting is a tuple of states")
    table: list[list[tuple[int, int, int]]] = [[] for _ in range(states)]
    for edge in arguments.values:
        if not isinstance(edge, tuple) or len(edge) != 4 or not all(type(n) is int for n in edge):
            arguments.fail("an edge is (state, first byte, last byte, next state)")
        state, first, last, target = (n for n in edge if isinstance(n, int))
        if state >= states or target >= states or not first <= last <= 255:
            arguments.fail("an edge is (state, first byte, last byte, next state), within the states and in order")
        if table[state] and table[state][-1][1] >= first:
            arguments.fail(f"the edges of state {state} are not sorted and disjoint")
        table[state].append((first, last, target))
    return ByteDfa(tuple(map(tuple, table)), frozenset(s for s in accepting if isinstance(s, int)))


def _not_followed_by(arguments: Arguments) -> Expr:
    at_end = arguments.named.pop("at_end", ())
    dfa = _byte_dfa(arguments)
    assert isinstance(dfa, ByteDfa)
    if not isinstance(at_end, tuple) or not all(type(s) is int and s < len(dfa.transitions) for s in at_end):
        arguments.fail("at_end is a tuple of states")
    return NotFollowedBy(dfa, frozenset(s for s in at_end if isinstance(s, int)))


def _token_budget(arguments: Arguments) -> Expr:
    most = arguments.named.pop("maximum", None)
    if not isinstance(most, int):
        arguments.fail("maximum is a number of tokens")
    text = (_byte_dfa if "states" in arguments.named else _any_text_until)(arguments)
    assert isinstance(text, (ByteDfa, AnyTextUntil))
    return arguments.build(lambda: make.token_budget(text, most))


def _unordered(arguments: Arguments) -> Expr:
    arguments.only("separator", "required", "free", "minimum", "maximum", "in_order")
    named = arguments.named

    def rule(value: Value) -> Expr:
        if not isinstance(value, str):
            arguments.fail("items, separator and free are names of rules, in quotation marks")
        return arguments.reference(value)

    def count(name: str, default: int | None) -> int | None:
        value = named.get(name, default)
        if value is not None and (type(value) is not int or value < 0):
            arguments.fail(f"{name} is a number")
        return value if isinstance(value, int) else None

    items = tuple(rule(value) for value in arguments.values)
    required = named.get("required", ())
    if not isinstance(required, tuple) or not all(type(i) is int and i < len(items) for i in required):
        arguments.fail("required is a tuple of numbers of items, the first being 0")
    if "separator" not in named:
        arguments.fail("needs separator=, the name of a rule")
    free = rule(named["free"]) if "free" in named else None
    in_order = named.get("in_order", False)
    if not isinstance(in_order, bool):
        arguments.fail("in_order is true or false")
    return Unordered(items, frozenset(i for i in required if isinstance(i, int)), rule(named["separator"]), free,
                     count("minimum", 0) or 0, count("maximum", None), in_order)


MACROS: dict[str, Callable[[Arguments], Expr]] = {
    "AnyTextUntil": _any_text_until,
    "ByteDfa": _byte_dfa,
    "Bytes": _bytes,
    "Capture": _capture,
    "Distinct": _distinct,
    "ExcludeToken": _exclude_token,
    "NotFollowedBy": _not_followed_by,
    "Token": _token,
    "TokenBudget": _token_budget,
    "Unordered": _unordered,
}
REFUSED = {
    "Regex": "write it out as classes and repetitions, or use from_regex",
    "Substring": "write the alternatives out",
    "TagDispatch": "use a structural tag, or AnyTextUntil(\"<tag>\") followed by the rule",
    "TokenTagDispatch": "use a structural tag, or !<[id]>* <[id]> followed by the rule",
}
