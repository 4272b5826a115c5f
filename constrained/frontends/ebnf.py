r"""EBNF: one dialect that reads GBNF (llama.cpp) and XGrammar's EBNF as they are.

    root   ::= "{" pair ("," pair)* "}"     # a rule ends where the next one begins
    pair   ::= [a-z]+ ":" [^,}\n]{1,20}

``docs/ebnf.md`` describes the dialect and where its two parents differ. The reader makes two passes of one
regular expression over the text: the first finds the rule names (a dotted name is one name where it is defined,
else name, any character, name), the second builds the expressions with an explicit stack of open groups, so
the depth of a text is bounded by ``Limits.max_nesting`` and never by Python's own stack.

Cost: about 1 us a token of the notation; a literal or a class is one token whatever its length.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import NoReturn

from ..errors import GrammarLimitError, GrammarSyntaxError, echo
from ..grammar import combinators as make
from ..grammar.analysis import require_productive
from ..grammar.ir import CharClass, Expr, Reference, RuleSet
from ..limits import Limits
from . import ebnf_macros
from .text import ESCAPE, SIMPLE_ESCAPES, Source, code_point, unescape

__all__ = ["from_ebnf"]

_SPACE = r"(?:[ \t\r\n\f\v]++|\#[^\r\n]*+)*+"
_TOKEN = re.compile(
    rf"""{_SPACE}(?:
      (?P<head>  [A-Za-z0-9_.\-]++ (?={_SPACE}::=) )
    | (?P<name>  [A-Za-z0-9_.\-]++ )
    | (?P<text>  "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+' )
    | (?P<class> \[[^\]\\]*+(?:\\.[^\]\\]*+)*+\] )
    | (?P<token> !?<(?:\[[0-9]++\]|[^\[>\r\n][^>\r\n]*+)> )
    | (?P<sign>  ::= | \(= | [|()*+?{{}},=] )
    | (?P<end>   \Z )
    | (?P<bad>   . )
    )""",
    re.VERBOSE | re.DOTALL,
)
_DOTTED = re.compile(r"\.|[^.]+")
_MEMBER = re.compile(ESCAPE.pattern + r"|(?P<bare>[^\\])", re.DOTALL)
_ITEM = 'a string, a class "[...]", a rule name, ".", a token "<...>" or "("'
_QUANTIFIERS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def from_ebnf(text: str | bytes, *, root: str = "root", limits: Limits | None = None,
              notes: list[str] | None = None) -> RuleSet:
    """Read a grammar in EBNF (GBNF and XGrammar's dialect included), ``str`` or UTF-8 bytes.

    ``notes`` receives one line for each thing that was read and means nothing here (XGrammar's look-ahead).

    Raises ``GrammarSyntaxError`` with line, column and caret for anything that cannot be read, for unknown and
    duplicate rules and for a missing ``root``; ``UnsatisfiableGrammarError`` where no text can ever fit; and
    ``GrammarLimitError`` beyond ``limits``.
    """
    limits = limits or Limits()
    reader = _Reader(Source(text, limits), limits)
    rules = reader.rules()
    if root not in rules:
        raise GrammarSyntaxError(f"there is no root rule {echo(root)}; rules: {_some(list(rules))}",
                                 hint="name the first rule so, or pass root=...")
    grammar = RuleSet(rules, root)
    require_productive(grammar)
    if notes is not None:
        notes += [f"line {line}: the look-ahead (= ...) is a remark and changes nothing"
                  for line in reader.source.lines(reader.look_aheads)]
    return grammar


class _Group:
    """An open group, or the body of a rule: its finished alternatives and the items of the last one."""

    __slots__ = ("ahead", "items", "offset", "options", "quantified")

    def __init__(self, offset: int, ahead: bool = False) -> None:
        self.offset = offset
        self.ahead = ahead
        self.options: list[Expr] = []
        self.items: list[Expr] = []
        self.quantified = 0

    def finish(self) -> Expr:
        last = make.sequence(*self.items)
        return make.choice(*self.options, last) if self.options else last


class _Reader:
    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.look_aheads: list[int] = []
        self.defined: dict[str, int] = {}
        self.references: dict[str, int] = {}  # name -> offset of the first use
        self.classes: dict[str, CharClass] = {}
        self.tokens: Iterator[re.Match[str]] = iter(())

    def rules(self) -> dict[str, Expr]:
        self._collect_names()
        self.tokens = _TOKEN.finditer(self.source.text)
        rules: dict[str, Expr] = {}
        match = self._next()
        if match.lastgroup == "end":
            raise GrammarSyntaxError("the grammar is empty", hint='write a rule, as in root ::= "yes" | "no"')
        while match.lastgroup == "head":
            name = match["head"]
            offset = match.start("head")
            self._next()  # the "::=" that made it a head
            rules[name], match = self._body(name, offset)
        if match.lastgroup != "end":
            self._expected("a rule, as in name ::= ...", match)
        for name, offset in self.references.items():
            if name not in self.defined:
                close = difflib.get_close_matches(name[:60], list(self.defined)[:200], 1)
                hint = f"did you mean {close[0]}?" if close else "define it, or quote it if it is text"
                self.source.fail(offset, f"no rule is called {echo(name)}", hint=hint)
        return rules

    def _collect_names(self) -> None:
        depth = 0
        for match in _TOKEN.finditer(self.source.text):
            if match.lastgroup == "sign":
                depth += 1 if match["sign"][0] == "(" else -1 if match["sign"] == ")" else 0
                if depth > self.limits.max_nesting:  # before the rest of a hostile text is scanned
                    self._too_deep()
            elif match.lastgroup == "head":
                depth = 0
                name, offset = match["head"], match.start("head")
                if name in self.defined:
                    line, _ = self.source.place(self.defined[name])
                    self.source.fail(offset, f"the rule {echo(name)} is defined twice, first in line {line}")
                self.defined[name] = offset
            elif match.lastgroup == "bad":
                return  # the second pass says what is wrong

    def _too_deep(self) -> NoReturn:
        raise GrammarLimitError("max_nesting", self.limits.max_nesting, "groups are nested too deep")

    def _next(self) -> re.Match[str]:
        match = next(self.tokens, None)
        assert match is not None  # "end" is matched once and nothing is read after it
        if match.lastgroup == "bad":
            self._bad(match.start("bad"))
        return match

    def _body(self, name: str, start: int) -> tuple[Expr, re.Match[str]]:
        """The expression of one rule, and the token after it."""
        group = _Group(start)
        stack: list[_Group] = []
        source = self.source
        while True:
            match = self._next()
            kind = match.lastgroup
            if kind == "text":
                offset = match.start("text")
                group.items.append(make.literal(unescape(source, offset + 1, match.end() - 1, SIMPLE_ESCAPES)))
            elif kind == "name":
                pushed = self._name(match, group.items)
                if pushed is not None:  # a macro: its arguments were read too
                    group.items.append(pushed)
            elif kind == "class":
                group.items.append(self._class(match))
            elif kind == "token":
                group.items.append(self._token(match))
            elif kind == "sign":
                sign, offset = match["sign"], match.start("sign")
                if sign == "|":
                    group.options.append(make.sequence(*group.items))
                    group.items = []
                elif sign in ("(", "(="):
                    if sign == "(=" and stack:
                        source.fail(offset, "a look-ahead (= ...) stands at the end of a rule, outside of all groups")
                    if len(stack) >= self.limits.max_nesting:
                        self._too_deep()
                    stack.append(group)
                    group = _Group(offset, ahead=sign == "(=")
                elif sign == ")":
                    if not stack:
                        source.fail(offset, 'this ")" closes nothing', hint="remove it, or open a group before it")
                    inner = group
                    group = stack.pop()
                    if inner.ahead:
                        return self._after_look_ahead(inner, group)
                    group.items.append(inner.finish())
                elif sign in "*+?{":
                    self._quantify(group, sign, offset)
                    continue
                elif sign == "::=":
                    self._stray_assign(offset)
                else:
                    self._expected(_ITEM, match)
            elif stack:
                line, column = source.place(group.offset)
                self._expected(f'")" for the group opened in line {line}, column {column}', match)
            else:
                return group.finish(), self._rule_end(match)
            group.quantified = 0

    def _rule_end(self, match: re.Match[str]) -> re.Match[str]:
        if match.lastgroup == "head" and not _starts_line(self.source.text, match.start("head")):
            self.source.fail(match.start("head"), f"the rule {echo(match['head'])} must begin on a new line")
        return match

    def _after_look_ahead(self, ahead: _Group, rule: _Group) -> tuple[Expr, re.Match[str]]:
        """XGrammar's look-ahead says what follows the rule in any case, to make its masks faster; it never changes
        which texts are accepted. So it is read, its names are checked, and it is left out."""
        self.look_aheads.append(ahead.offset)
        match = self._next()
        if match.lastgroup not in ("head", "end"):
            self._expected("the next rule after a look-ahead", match)
        return rule.finish(), self._rule_end(match)

    def _name(self, match: re.Match[str], items: list[Expr]) -> Expr | None:
        name, offset = match["name"], match.start("name")
        if name in self.defined:
            items.append(self._reference(name, offset))
        elif name in ebnf_macros.MACROS and self.source.text.startswith("(", match.end()):
            return ebnf_macros.MACROS[name](ebnf_macros.Arguments(self.source, name, offset, self._next,
                                                                    self._reference))
        elif name in ebnf_macros.REFUSED and self.source.text.startswith("(", match.end()):
            self.source.fail(offset, f"the macro {name}(...) is not supported", hint=ebnf_macros.REFUSED[name])
        elif "." in name:
            items += [make.any_char() if part[0] == "." else self._reference(part[0], offset + part.start())
                      for part in _DOTTED.finditer(name)]
        else:
            items.append(self._reference(name, offset))
        return None

    def _reference(self, name: str, offset: int) -> Reference:
        self.references.setdefault(name, offset)
        return Reference(name)

    def _class(self, match: re.Match[str]) -> CharClass:
        written = match["class"]
        made = self.classes.get(written)
        if made is None:
            made = self.classes[written] = self._read_class(match.start("class"), written)
        return made

    def _read_class(self, start: int, written: str) -> CharClass:
        negated = written.startswith("[^")
        points: list[tuple[int, bool]] = []
        offsets: list[int] = []
        for member in _MEMBER.finditer(written, 2 if negated else 1, len(written) - 1):
            offsets.append(start + member.start())
            bare = member["bare"]
            if bare is not None:
                points.append((ord(bare), bare == "-"))
            else:
                points.append((code_point(self.source, member, offsets[-1], SIMPLE_ESCAPES), False))
        pairs = make.pair_up(points)
        if any(first > last for first, last in pairs):
            i = next(i for i in range(len(points) - 2) if points[i + 1][1] and points[i][0] > points[i + 2][0])
            first, last = points[i][0], points[i + 2][0]
            self.source.fail(offsets[i], f"the range runs backwards, from U+{first:04X} to U+{last:04X}",
                             hint=r"write \- for a hyphen that is meant as itself")
        return make.ranges(pairs, negated=negated)

    def _token(self, match: re.Match[str]) -> Expr:
        written = match["token"]
        exclude = written.startswith("!")
        body = written[1:] if exclude else written
        if not body.startswith("<["):
            return make.token(body, exclude=exclude)
        digits = body[2:-2].lstrip("0") or "0"
        if len(digits) > 10 or int(digits) >= 1 << 31:
            self.source.fail(match.start("token"), f"a token id runs from 0 to {(1 << 31) - 1}")
        return make.token(int(digits), exclude=exclude)

    def _quantify(self, group: _Group, sign: str, offset: int) -> None:
        bounds = self._bounds(offset) if sign == "{" else _QUANTIFIERS[sign]
        if not group.items:
            self.source.fail(offset, f'nothing stands before "{sign}" that it could repeat', hint=f"expected {_ITEM}")
        group.quantified += 1
        if group.quantified > self.limits.max_nesting:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting, "repetitions are nested too deep")
        group.items[-1] = make.repeat(group.items[-1], *bounds, limits=self.limits)

    def _bounds(self, offset: int) -> tuple[int, int | None]:
        """``{m}``, ``{m,}``, ``{m,n}`` after the brace was read; ``{m,-1}`` is XGrammar's way to print ``{m,}``."""
        minimum = self._count(self._next())
        match = self._next()
        maximum: int | None = minimum
        if match["sign"] == ",":
            match = self._next()
            maximum = None
            if match["sign"] != "}":
                maximum = None if match["name"] == "-1" else self._count(match)
                match = self._next()
        if match["sign"] != "}":
            self._expected('"," or "}"', match)
        if maximum is not None and minimum > maximum:
            self.source.fail(offset, f"a repetition cannot be at least {minimum} and at most {maximum}")
        return minimum, maximum

    def _count(self, match: re.Match[str]) -> int:
        digits = match["name"]
        if digits is None or not digits.isdecimal():
            hint = "write {0,n} for at most n" if match["sign"] == "," else None
            self._expected("a count", match, hint=hint)
        digits = digits.lstrip("0") or "0"
        if len(digits) > 18 or int(digits) > self.limits.max_repeat:
            raise GrammarLimitError("max_repeat", self.limits.max_repeat,
                                    f"a repetition is bounded by {echo(digits, 40)}")
        return int(digits)

    def _expected(self, what: str, match: re.Match[str], *, hint: str | None = None) -> NoReturn:
        kind = match.lastgroup or "end"
        offset = match.start(kind)
        found = "the end of the grammar" if kind == "end" else echo(match[kind], 40)
        if kind == "head":
            found = f"the next rule, {found}"
        elif kind == "name" and what.startswith("a rule,"):
            after = _TOKEN.match(self.source.text, match.end())
            offset = len(self.source.text) if after is None else after.start(after.lastgroup or "end")
            name = echo(match[kind], 60)
            self.source.fail(offset, f'expected "::=" after the rule name {name}, found {self.source.shown(offset)}')
        self.source.fail(offset, f"expected {what}, found {found}", hint=hint)

    def _stray_assign(self, offset: int) -> NoReturn:
        before = self.source.text[:offset].rstrip()[-200:]
        if re.search(r"[A-Za-z0-9_.\-]\[[^\]]*\]$", before):
            self.source.fail(offset, "rule options name[...] ::= are not supported",
                             hint="remove the brackets; budgets and captures are not part of a grammar here")
        self.source.fail(offset, 'a rule name must stand before "::="',
                         hint="names are made of letters, digits, _ - and .")

    def _bad(self, offset: int) -> NoReturn:
        text = self.source.text
        char = text[offset]
        if char in "\"'":
            self.source.fail(offset, f"this string is never closed: expected {char}",
                             hint='write \\" for a quote inside a string' if char == '"' else None)
        if char == "[":
            self.source.fail(offset, "this class is never closed: expected ]",
                             hint=r"write \] for a bracket inside a class")
        if char in "<!":
            self.source.fail(offset, "expected a token reference: <text>, <[id]>, !<text> or !<[id]>",
                             hint='quote it if it is text, as in "<"')
        if char == ":":
            self.source.fail(offset, 'expected "::=" after a rule name', hint='quote it if it is text, as in ":"')
        self.source.fail(offset, f"unexpected character {echo(char)} (U+{ord(char):04X}): expected {_ITEM}",
                         hint="quote it if it is text")


def _starts_line(text: str, offset: int) -> bool:
    line = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset))
    return text[line + 1 : offset].strip(" \t\f\v") == ""


def _some(names: list[str], most: int = 10) -> str:
    return ", ".join(echo(name, 60) for name in names[:most]) + (", ..." if len(names) > most else "")
