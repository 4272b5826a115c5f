r"""Print a grammar as EBNF text that ``from_ebnf`` reads back: the same language, rule by rule.

One rule a line, the alternatives of a long one below each other. Rule names that the notation cannot write get
a name it can; an expression that several places share becomes a rule of its own, so the text stays linear in
the number of nodes. Nodes without a notation (raw bytes, byte automata, free text up to a stop) are written as
the macros of ``docs/ebnf.md``. No recursion: a stack of pieces yet to be written.
"""

from __future__ import annotations

import re

from . import combinators as make
from .ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Distinct,
    Expr,
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
from .lazy import LazyDfa
from .unfolded import unfolded

__all__ = ["rule_names", "show"]

# How tightly an expression binds: a looser one in a tighter place gets parentheses.
_CHOICE, _SEQUENCE, _ITEM, _ATOM = range(4)
_WIDTH = 100
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\-]")
_TOKEN_TEXT = re.compile(r"<[^\[>\r\n][^>\r\n]*>")
_STRING_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CLASS_ESCAPES = {"]": "\\]", "[": "\\[", "^": "\\^", "-": "\\-", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def rule_names(rule_set: RuleSet) -> dict[str, str]:
    """The name each rule is printed under: its own where the notation can write it."""
    names: dict[str, str] = {}
    taken = {name for name in rule_set.rules if name and not _NOT_A_NAME.search(name)}
    for name in rule_set.rules:
        names[name] = name if name in taken else _fresh(_NOT_A_NAME.sub("_", name) or "rule", taken)
    return names


def show(rule_set: RuleSet) -> str:
    """The grammar as EBNF. Read it back with ``from_ebnf(text, root=rule_names(rule_set)[rule_set.root])``."""
    names = rule_names(rule_set)
    rule_set = unfolded(rule_set)
    names |= {name: one for name, one in rule_names(rule_set).items() if name not in names}
    printer = _Printer(names)
    pending = [(names[name], body) for name, body in rule_set.rules.items()]
    taken = set(names.values())
    for node in _shared(rule_set):
        printer.named[id(node)] = _fresh("shared", taken)
        pending.append((printer.named[id(node)], node))
    return "".join(printer.rule(name, body) for name, body in pending)


def _fresh(base: str, taken: set[str]) -> str:
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def _shared(rule_set: RuleSet) -> list[Expr]:
    """What is printed as a rule of its own, in the order it is met: composite expressions that stand in more than one
    place, and the parts of captures and of groups in any order, which name rules."""
    uses: dict[int, int] = {}
    found: list[Expr] = []
    parts: set[int] = set()
    stack: list[Expr] = list(reversed(list(rule_set.rules.values())))
    while stack:
        node = stack.pop()
        count = uses[id(node)] = uses.get(id(node), 0) + 1
        if isinstance(node, (Unordered, Capture, Distinct)):
            for part in children(node):
                if id(part) not in parts and not isinstance(part, Reference):
                    parts.add(id(part))
                    found.append(part)
        if count == 1:
            stack.extend(reversed(children(node)))
        elif count == 2 and children(node) and id(node) not in parts:
            found.append(node)
    return found


class _Printer:
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.named: dict[int, str] = {}  # shared expressions, by identity

    def rule(self, name: str, body: Expr) -> str:
        if isinstance(body, Choice) and len(body.options) > 1:
            options = [self.expression(option, _SEQUENCE) for option in body.options]
            line = f"{name} ::= {' | '.join(options)}\n"
            if len(line) > _WIDTH:
                return f"{name} ::=\n    " + "\n  | ".join(options) + "\n"
            return line
        return f"{name} ::= {self.expression(body, _CHOICE, top=True)}\n"

    def expression(self, expr: Expr, level: int, *, top: bool = False) -> str:
        written: list[str] = []
        stack: list[str | tuple[Expr, int]] = []
        self._pieces(expr, level, stack, written, by_name=not top)
        while stack:
            piece = stack.pop()
            if isinstance(piece, str):
                written.append(piece)
            else:
                self._pieces(*piece, stack, written)
        return "".join(written)

    def _pieces(self, expr: Expr, level: int, stack: list[str | tuple[Expr, int]], written: list[str], *,
                by_name: bool = True) -> None:
        """Write ``expr`` if it is a leaf, else put its parts on the stack, the first on top."""
        if by_name and id(expr) in self.named:
            written.append(self.named[id(expr)])
        elif isinstance(expr, (Sequence, Choice)):
            parts = children(expr)
            if not parts:
                written.append('""' if isinstance(expr, Sequence) else "[]")
                return
            own = _SEQUENCE if isinstance(expr, Sequence) else _CHOICE
            if len(parts) == 1:
                stack.append((parts[0], level))
                return
            if own < level:
                written.append("(")
                stack.append(")")
            for i in range(len(parts) - 1, -1, -1):
                stack.append((parts[i], own + 1))
                if i:
                    stack.append(" " if own == _SEQUENCE else " | ")
        elif isinstance(expr, Repeat):
            if level == _ATOM:
                written.append("(")
                stack.append(")")
            stack.append(_quantifier(expr.minimum, expr.maximum))
            stack.append((expr.body, _ATOM))
        elif isinstance(expr, Reference):
            written.append(self.names[expr.name])
        elif isinstance(expr, Unordered):
            written.append(self._unordered(expr))
        elif isinstance(expr, (Capture, Distinct)):
            body = self.names[expr.body.name] if isinstance(expr.body, Reference) else self.named[id(expr.body)]
            name = f"{_literal(expr.name.encode())}, " if isinstance(expr, Capture) else ""
            written.append(f'{type(expr).__name__}({name}"{body}")')
        else:
            written.append(_leaf(expr))

    def _unordered(self, expr: Unordered) -> str:
        """The macro; its parts have rules of their own."""
        def rule(part: Expr) -> str:
            return f'"{self.names[part.name] if isinstance(part, Reference) else self.named[id(part)]}"'

        arguments = [rule(item) for item in expr.items]
        arguments.append(f"separator={rule(expr.separator)}")
        if expr.required:
            arguments.append(f"required=({', '.join(map(str, sorted(expr.required)))})")
        if expr.free is not None:
            arguments.append(f"free={rule(expr.free)}")
        if expr.minimum:
            arguments.append(f"minimum={expr.minimum}")
        if expr.maximum is not None:
            arguments.append(f"maximum={expr.maximum}")
        if expr.in_order:
            arguments.append("in_order=true")
        return f"Unordered({', '.join(arguments)})"


def _quantifier(minimum: int, maximum: int | None) -> str:
    if maximum is None:
        return {0: "*", 1: "+"}.get(minimum, f"{{{minimum},}}")
    if (minimum, maximum) == (0, 1):
        return "?"
    return f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{maximum}}}"


def _leaf(expr: Expr) -> str:
    if isinstance(expr, Literal):
        return _literal(expr.data)
    if isinstance(expr, CharClass):
        return _char_class(expr)
    if isinstance(expr, TokenReference):
        return _token(expr)
    if isinstance(expr, AnyTextUntil):
        arguments = [_literal(stop) for stop in expr.stops] + ([] if expr.consume else ["consume=false"])
        if expr.excludes:
            arguments.append(f"excludes=({', '.join(map(_literal, expr.excludes))})")
        if expr.max_chars is not None:
            arguments.append(f"max_chars={expr.max_chars}")
        return f"AnyTextUntil({', '.join(arguments)})"
    if isinstance(expr, TokenBudget):
        inner = _leaf(expr.text)  # one level deep
        return f"TokenBudget(maximum={expr.maximum}, {inner.partition('(')[2]}"
    if isinstance(expr, LazyDfa):
        return f"LazyDfa({expr.source!r})"
    name, dfa = ("NotFollowedBy", expr.dfa) if isinstance(expr, NotFollowedBy) else ("ByteDfa", expr)
    assert isinstance(dfa, ByteDfa)
    arguments = [f"states={len(dfa.transitions)}", f"accepting=({', '.join(map(str, sorted(dfa.accepting)))})"]
    if isinstance(expr, NotFollowedBy) and expr.at_end:
        arguments.append(f"at_end=({', '.join(map(str, sorted(expr.at_end)))})")
    arguments += [f"({state}, {first}, {last}, {target})"
                  for state, row in enumerate(dfa.transitions) for first, last, target in row]
    return f"{name}({', '.join(arguments)})"


def _literal(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f'Bytes("{_escaped(data.decode("latin-1"), _STRING_ESCAPES, ascii_only=True)}")'
    return f'"{_escaped(text, _STRING_ESCAPES)}"'


def _char_class(expr: CharClass) -> str:
    if expr.ranges == make.any_char().ranges:
        return "."
    ranges, caret = expr.ranges, ""
    negated = make.ranges(ranges, negated=True).ranges
    if ranges and ranges[-1][1] == make.LAST_CODE_POINT and len(negated) <= len(ranges):
        ranges, caret = negated, "^"
    written = []
    for first, last in ranges:
        written.append(_escaped(chr(first), _CLASS_ESCAPES))
        if last > first:
            written.append(("-" if last > first + 1 else "") + _escaped(chr(last), _CLASS_ESCAPES))
    return f"[{caret}{''.join(written)}]"


def _token(expr: TokenReference) -> str:
    if len(expr.tokens) == 1:
        one = expr.tokens[0]
        mark = "!" if expr.exclude else ""
        if isinstance(one, int):
            return f"{mark}<[{one}]>"
        if _TOKEN_TEXT.fullmatch(one):
            return mark + one
    if not expr.tokens and not expr.exclude:
        return "[]"
    arguments = [str(one) if isinstance(one, int) else _literal(one.encode("utf-8")) for one in expr.tokens]
    return f"{'ExcludeToken' if expr.exclude else 'Token'}({', '.join(arguments)})"


def _escaped(text: str, escapes: dict[str, str], *, ascii_only: bool = False) -> str:
    if text.isascii() and text.isprintable() and not any(char in text for char in escapes):
        return text
    return "".join(escapes.get(char) or _one(char, ascii_only) for char in text)


def _one(char: str, ascii_only: bool) -> str:
    point = ord(char)
    if char.isprintable() and (point < 0x80 or not ascii_only):
        return char
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
