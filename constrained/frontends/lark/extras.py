r"""What other libraries add to lark's notation: read here, and written so that lark can read the rest.

    call: <|python_tag|> body <|eom_id|>      # control tokens, by text or id: <[128010]>, <[1-3,7]>, <[^5]>, <[*]>
    body: %json {"type": "object"}            # a JSON Schema
    word: %regex {"substring_words": "a b c"} # a run of pieces of a text
    head[lazy]: TEXT "<function"              # ends at the first chance
    note[suffix="</note>", capture="note"]: /(.|\n)*/
    line[stop="\n"]: /.*/                     # ends before the stop, which the next rule reads, or with the text
    idea[max_tokens=50]: /(.|\n)*/            # 50 tokens, then the shortest way to its end

The text keeps its lines. An addition becomes a terminal that is only declared, so lark's lexer never tries it: what
it reads is open beside the lexer's terminals. A lazy rule's body becomes a terminal definition (lark resolves the
names in it) whose pattern ends in private characters that mark its parts. ``temperature`` is refused by name.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from constrained.errors import GrammarLimitError, RegexError, SchemaError
from constrained.grammar.combinators import MAX_TOKENS
from constrained.grammar.flat import from_flat, to_flat
from constrained.grammar.ir import (
    ByteDfa,
    Capture,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    RuleSet,
    Sequence,
    TokenBudget,
    TokenReference,
)
from constrained.limits import Limits
from constrained.regex.builder import concat
from constrained.regex.determinise import determinise
from constrained.regex.dfa import DEAD, Dfa, minimise, trimmed
from constrained.regex.parse_python import parse_python
from constrained.regex.syntax import Text

from ..json_schema.compile import from_json_schema
from ..regex import byte_dfa
from ..text import Source
from .load import Unsupported

__all__ = ["Additions", "Lazy", "lazy_text", "read_additions"]

#: Ends of the body and of the delimiter in the pattern of a lazy rule.
BODY_END, DELIMITER_END = "\ue000", "\ue001"
MAX_TOKEN_ID = 1 << 31
_TOKEN = re.compile(r"""
    (?P<comment> //[^\n]* | \#[^\n]* )
  | (?P<string>  "(?:\\.|[^"\\\n])*"i? )
  | (?P<regexp>  /(?!/)(?:\\/|\\\\|[^/])*?/[imslux]* )
  | (?P<special> <(?:\[[^\]>\n]*\]|[^\s<>\[\]][^<>\n]*)> )
  | (?P<json>    %json\b ) | (?P<pieces> %regex\b ) | (?P<options> %llguidance\b )
  | (?P<head>    (?:(?<=\n)|\A)[ \t]*[?!]*[a-z_][a-z0-9_]*(?=\[) )
  | (?P<name>    [A-Za-z_][A-Za-z_0-9]* )
  | (?P<line>    \n ) | (?P<other> . )
""", re.VERBOSE | re.DOTALL)
_ATTRIBUTE = re.compile(r"""\s*(?P<key>[a-z_]+)\s*(?:=\s*(?P<value>
    "(?:\\.|[^"\\\n])*"i? | /(?!/)(?:\\/|\\\\|[^/])*?/[imslux]* | [A-Za-z_0-9.]+ ))?\s*(?P<end>[,\]])""", re.VERBOSE)
_COLON = re.compile(r"(?:\.-?\d+)?[ \t]*:")
_IDS = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?(?:,|\Z)")


@dataclass(slots=True, eq=False)
class Lazy:
    """How a rule ends: ``kind`` "lazy", "suffix", "stop" or "whole" (wherever it can); ``literal``: the delimiter, if
    it is one text; ``most``: its budget of tokens; ``ended``: the capture of its suffix."""

    rule: str
    offset: int
    kind: str
    literal: str | None
    capture: str | None
    most: int | None
    ended: str | None = None


@dataclass(slots=True, eq=False)
class Additions:
    """``text`` is what lark reads; ``given`` the expressions of declared terminals; ``rules`` those they refer to."""

    source: Source
    text: str
    given: dict[str, Expr] = field(default_factory=dict)
    rules: dict[str, Expr] = field(default_factory=dict)
    lazy: dict[str, Lazy] = field(default_factory=dict)
    captures: dict[str, str] = field(default_factory=dict)


def read_additions(source: Source, limits: Limits) -> Additions:
    """Takes the additions out of a grammar text. Raises GrammarSyntaxError with their place, SchemaError as
    ``from_json_schema`` does."""
    return _Reader(source, limits).read()


class _Reader:
    def __init__(self, source: Source, limits: Limits) -> None:
        self.source, self.limits = source, limits
        self.found = Additions(source, source.text)
        self.parts: list[str] = []
        self.tail: list[str] = []
        self.tokens: dict[str, str] = {}
        self.prefix = "ADDED"
        while f"{self.prefix}_" in source.text:
            self.prefix += "_X"

    def fresh(self) -> str:
        return f"{self.prefix}_{len(self.found.given) + len(self.found.lazy)}"

    def refuse(self, offset: int, message: str, hint: str | None = None) -> NoReturn:
        line, column = self.source.place(offset)
        raise Unsupported(message, line=line, column=column, source=self.source.text, hint=hint)

    def read(self) -> Additions:
        text, at = self.source.text, 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            assert match is not None
            kind, at = match.lastgroup, match.end()
            if kind == "special":
                self.parts.append(self.special(match[0], match.start()))
            elif kind == "json":
                at = self.value(at, match.start(), self.schema)
            elif kind == "pieces":
                at = self.value(at, match.start(), self.pieces)
            elif kind == "options":
                self.refuse(match.start(), "%llguidance options are not supported", "leave them out")
            elif kind == "head":
                at = self.head(match)
            else:
                self.parts.append(match[0])
        declared = list(self.found.given)
        if declared or self.tail:
            self.parts.append("\n" + "".join(f"%declare {name}\n" for name in declared) + "".join(self.tail))
        self.found.text = "".join(self.parts)
        return self.found

    # -- tokens ------------------------------------------------------------------------------------------------

    def special(self, written: str, offset: int) -> str:
        """A token reference as a declared terminal; the same one each time."""
        if written not in self.tokens:
            name = self.tokens[written] = self.fresh()
            self.found.given[name] = (self.ids(written[2:-2], offset) if written.startswith("<[")
                                      else TokenReference((written,)))
        return self.tokens[written]

    def ids(self, body: str, offset: int) -> Expr:
        negated = body.startswith("^")
        if body.strip() == "*":
            return TokenReference((), exclude=True)
        ids: set[int | str] = set()
        at = int(negated)
        while at < len(body) or not ids:
            match = _IDS.match(body, at)
            if match is None:
                self.source.fail(offset, "expected token ids, as in <[128010]> or <[1-3,7]>")
            first = last = int(match[1]) if len(match[1]) < 11 else MAX_TOKEN_ID
            if match[2]:
                last = int(match[2]) if len(match[2]) < 11 else MAX_TOKEN_ID
            if last >= MAX_TOKEN_ID or first > last:
                self.source.fail(offset, f"a token id runs from 0 to {MAX_TOKEN_ID - 1}, ranges upwards")
            if last - first + len(ids) > self.limits.max_positions:
                raise GrammarLimitError("max_positions", self.limits.max_positions,
                                        "too many token ids in one reference")
            ids.update(range(first, last + 1))
            at = match.end()
        return TokenReference(tuple(sorted(ids, key=str)), exclude=negated)

    # -- values ------------------------------------------------------------------------------------------------

    def value(self, at: int, start: int, make: Any) -> int:
        """Reads the JSON value behind a keyword."""
        text = self.source.text
        while at < len(text) and text[at] in " \t\r\n":
            at += 1
        try:
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
        except json.JSONDecodeError as error:
            self.source.fail(min(error.pos, len(text)), f"a JSON value must follow: {error.msg}")
        except RecursionError:
            raise GrammarLimitError("max_nesting", self.limits.max_nesting, "a JSON value is nested too deep") from None
        name = self.fresh()
        self.found.given[name] = Literal(b"")  # keeps the name
        self.found.given[name] = make(value, start, name)
        self.parts.append(name + "\n" * text.count("\n", start, end))
        return int(end)

    def schema(self, value: Any, offset: int, name: str) -> Expr:
        try:
            rules = from_json_schema(value, limits=self.limits)
        except SchemaError as error:
            error.args = (f"%json in line {self.source.place(offset)[0]}: {error.args[0]}",)
            raise
        return self.adopt(rules, name)

    def adopt(self, rules: RuleSet, prefix: str) -> Expr:
        root, heads, entries = to_flat(rules)
        moved = tuple(("reference", f"{prefix} {entry[1]}") if entry[0] == "reference" else entry for entry in entries)
        renamed = from_flat((f"{prefix} {root}", tuple((f"{prefix} {one}", number) for one, number in heads), moved))
        self.found.rules.update(renamed.rules)
        return Reference(renamed.root)

    def pieces(self, value: Any, offset: int, name: str) -> Expr:
        """Any run of pieces of a text, the empty one too."""
        known = ("substring_chunks", "substring_words", "substring_chars")
        if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in known:
            self.refuse(offset, f"%regex takes one of {', '.join(known)}", "write other patterns as /.../")
        ((key, of),) = value.items()
        chunks = key == "substring_chunks"
        if not isinstance(of, list if chunks else str) or not all(isinstance(piece, str) for piece in of):
            self.source.fail(offset, f"{key} must be {'a list of strings' if chunks else 'a string'}")
        pieces = re.findall(r"\s+|\w+|[^\w\s]+", str(of)) if key == "substring_words" else [*of]
        try:
            data = [piece.encode() for piece in pieces]
        except UnicodeEncodeError:
            self.source.fail(offset, f"{key} holds half of a surrogate pair")
        rule = f"{name} run"
        for i in range(len(data) + 1):
            rest: Expr = Literal(b"")
            if i < len(data):
                rest = Choice((Literal(b""), Sequence((Literal(data[i]), Reference(f"{rule} {i + 1}")))))
            self.found.rules[f"{rule} {i}"] = rest
        return Choice(tuple(Reference(f"{rule} {i}") for i in range(len(data) + 1)))

    # -- attributes --------------------------------------------------------------------------------------------

    def head(self, match: re.Match[str]) -> int:
        """``name[attributes]:`` at the beginning of a line, and the body of a lazy rule."""
        text, at = self.source.text, match.end() + 1
        name = match[0].strip().lstrip("?!")
        attributes: dict[str, tuple[str | None, int]] = {}
        while True:
            one = _ATTRIBUTE.match(text, at)
            if one is None:
                self.source.fail(at, 'expected attributes, as in name[lazy, capture="x"]: ...')
            attributes[one["key"]] = (one["value"], one.start("key"))
            at = one.end()
            if one["end"] == "]":
                break
        colon = _COLON.match(text, at)
        if colon is None:
            self.source.fail(at, f'expected ":" after the attributes of rule {name}')
        self.check(name, attributes)
        self.parts.append(match[0] + text[at : colon.end()])
        capture = self.capture(name, attributes)
        kinds: list[str] = [kind for kind in ("suffix", "stop", "lazy") if kind in attributes]
        if "max_tokens" in attributes and not kinds:
            kinds = ["whole"]
        if not kinds:
            if capture is not None:
                self.found.captures[name] = capture
            return colon.end()
        end = self.body_end(colon.end())
        self.lazy_rule(name, match.start(), kinds, attributes, capture, colon.end(), end)
        return end

    def check(self, name: str, attributes: dict[str, tuple[str | None, int]]) -> None:
        for key, (value, offset) in attributes.items():
            if key == "temperature":
                self.refuse(offset, f"rule {name}: the attribute {key} is not supported",
                            "set it where tokens are sampled")
            if key not in ("lazy", "stop", "suffix", "capture", "stop_capture", "max_tokens"):
                self.source.fail(offset, f"unknown attribute {key}",
                                 hint="known: lazy, stop, suffix, capture, stop_capture, max_tokens")
            if key == "stop_capture" and "suffix" not in attributes:
                self.refuse(offset, f"rule {name}: stop_capture needs a suffix: a stop is not read",
                            'use suffix="..."')
            if key == "max_tokens" and (value is None or not value.isdecimal() or not 0 < int(value[:12]) < MAX_TOKENS):
                self.source.fail(offset, f"max_tokens is a number from 1 to {MAX_TOKENS - 1}")
            if (value is None) != (key == "lazy") and key != "capture":
                self.source.fail(offset, f"{key} takes {'no value' if key == 'lazy' else 'a value'}")
        both = [key for key in ("stop", "suffix") if key in attributes]
        if len(both) == 2:
            self.source.fail(attributes["stop"][1], "a rule has a stop or a suffix, not both")

    def capture(self, name: str, attributes: dict[str, tuple[str | None, int]], key: str = "capture") -> str | None:
        if key not in attributes:
            return None
        value, offset = attributes[key]
        if value is None:
            return name
        if not value.startswith('"') or value.endswith("i"):
            self.source.fail(offset, 'the name of a capture is a string, as in capture="x"')
        return str(json.loads(value)) if "\\" not in value else value[1:-1]

    def body_end(self, at: int) -> int:
        """Where a rule's body ends: the end of a line that no | continues."""
        text, depth = self.source.text, 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            assert match is not None
            if match.lastgroup == "line" and depth <= 0 and not re.compile(r"\s*\|").match(text, match.end()):
                return at
            depth += (match[0] in "([") - (match[0] in ")]") if match.lastgroup == "other" else 0
            at = match.end()
        return at

    def lazy_rule(self, rule: str, offset: int, kinds: list[str], attributes: dict[str, tuple[str | None, int]],
                  capture: str | None, start: int, end: int) -> None:
        body = self.source.text[start:end]
        for one in _TOKEN.finditer(body):
            if one.lastgroup == "name" and one[0].strip("_")[:1].islower():
                self.source.fail(start + one.start(), f"rule {rule}: a lazy rule holds terminals only, not {one[0]}",
                                 hint="write it in upper case, as a terminal")
            if one.lastgroup in ("special", "json", "pieces"):
                self.source.fail(start + one.start(), f"rule {rule}: a lazy rule holds terminals only")
        lines = [re.sub(r"\s//.*|\s#.*", "", line) for line in body.split("\n")]
        kind, name = kinds[0], self.fresh()
        value = attributes.get(kind, ("", 0))[0] or ""
        most = int(attributes["max_tokens"][0] or 0) if "max_tokens" in attributes else None
        if most is not None and kind == "stop":
            self.refuse(attributes["max_tokens"][1], f"rule {rule}: max_tokens and stop together are not supported",
                        'use suffix="..."')
        literal = None
        if value.startswith('"') and not value.endswith("i"):
            try:
                literal = json.loads(value)
            except json.JSONDecodeError:
                self.source.fail(attributes[kind][1], f"the {kind} cannot be read as a string")
        if literal == "":
            self.refuse(attributes[kind][1], f"an empty {kind} is not supported", "leave it out")
        ended = self.capture(rule, attributes, "stop_capture")
        if literal is None and (kind == "stop" or (kind == "suffix" and (capture or ended) is not None)):
            where = " of a captured rule" if kind == "suffix" else ""
            self.refuse(attributes[kind][1], f"a {kind}{where} must be a string")
        self.found.lazy[name] = Lazy(rule, offset, kind, literal, capture, most, ended)
        delimiter = f' ({value})' if kind in ("suffix", "stop") else ""
        self.tail.append(f'{name}: ({" ".join(lines)}) "{BODY_END}"{delimiter} "{DELIMITER_END}"\n')
        self.parts.append(f" {name}" + "\n" * body.count("\n"))


def lazy_text(lazy: Lazy, pattern: str, source: Source, limits: Limits) -> Expr | None:
    """The texts of a lazy rule, from the pattern that lark has made of its definition; None if there are none."""
    body, _, delimiter = pattern.partition(BODY_END)
    delimiter = delimiter.partition(DELIMITER_END)[0]
    line, column = source.place(lazy.offset)
    try:
        tree = parse_python(f"(?:{body})", limits)
        end = (Text(lazy.literal) if lazy.literal is not None else parse_python(f"(?:{delimiter})", limits)
               if delimiter else None)
        whole = minimise(determinise(concat([tree, end]) if end is not None else tree, limits, body))
    except RegexError as error:
        raise Unsupported(f"rule {lazy.rule}: {str(error).splitlines()[0]}", line=line, column=column,
                          source=source.text, hint=error.hint) from None
    rows = whole.rows
    if lazy.kind != "whole":  # the first chance to end is the end
        rows = tuple([(DEAD,) * len(row) if state in whole.accepting else row for state, row in enumerate(rows)])
    first = trimmed(Dfa(whole.classes, rows, whole.accepting))
    if not first.accepting:
        return None
    if lazy.literal is None:
        text = _bounded(byte_dfa(first, limits), lazy)
        return text if lazy.capture is None else Capture(lazy.capture, text)
    before = frozenset(state for state in range(len(first.rows)) if _reads(first, state, lazy.literal))
    kept = trimmed(Dfa(first.classes, first.rows, before))
    if not kept.accepting:
        return None
    if lazy.kind == "stop" and 0 in before:
        raise Unsupported(f"rule {lazy.rule}: its text may be empty, which is not supported with a stop", line=line,
                          column=column, source=source.text, hint='make it read something (/.+/), or use suffix="..."')
    text = _bounded(byte_dfa(kept, limits), lazy)
    if lazy.capture is not None:
        text = Capture(lazy.capture, text)
    data = lazy.literal.encode()
    if lazy.kind == "stop":
        return Sequence((text, _stands_here(data)))
    return Sequence((text, Literal(data) if lazy.ended is None else Capture(lazy.ended, Literal(data))))


def _bounded(dfa: ByteDfa, lazy: Lazy) -> Expr:
    return dfa if lazy.most is None else TokenBudget(dfa, lazy.most)


def _reads(dfa: Dfa, state: int, text: str) -> bool:
    for char in text:
        letter = next(i for i, ranges in enumerate(dfa.classes) if any(a <= ord(char) <= b for a, b in ranges))
        state = dfa.rows[state][letter]
        if state == DEAD:
            return False
    return state in dfa.accepting


def _stands_here(data: bytes) -> NotFollowedBy:
    """``data`` follows, or the text ends: anything else is what must not follow."""
    broken = len(data)
    rows = []
    for i, byte in enumerate(data):
        row = [(0, byte - 1, broken)] if byte else []
        row += [(byte, byte, i + 1)] if i + 1 < len(data) else []
        row += [(byte + 1, 255, broken)] if byte < 255 else []
        rows.append(tuple(row))
    return NotFollowedBy(ByteDfa((*rows, ()), frozenset((broken,))), frozenset(range(1, len(data))))
