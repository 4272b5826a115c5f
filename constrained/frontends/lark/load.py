"""lark's own loader: a grammar's text as lark's rules, terminals and LALR table; its errors as ours.

Everything the notation can say (imports, templates, aliases, priorities, ``%override``, ``%extend``, repetition) is
lark's reading of it. ``Loaded`` keeps what the other modules need and nothing else of lark is asked afterwards.

No file is read but what the caller hands over: lark's library of grammars, ``sources`` and ``import_paths``.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from constrained.errors import ConstrainedError, GrammarLimitError, GrammarSyntaxError, echo
from constrained.limits import Limits

from ..text import Source

__all__ = ["END", "Loaded", "Production", "Table", "Terminal", "Unsupported", "fail", "load", "require_lark"]

#: The terminal that stands for the end of the text in lark's tables.
END = "$END"
#: The directory that relative imports are looked for in: a place where no file can be.
_NOWHERE = os.path.join(os.devnull, "grammar.lark")


class Unsupported(GrammarSyntaxError):
    """The grammar is right, but something in it is not done exactly here, and refused by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """A terminal: the pattern as ``re`` reads it; ``literal``: the text, if it is a string without flags."""

    name: str
    pattern: str
    literal: str | None
    is_string: bool
    flags: frozenset[str]
    value: str
    priority: int
    shown: str


@dataclass(frozen=True, slots=True, eq=False)
class Production:
    """``origin -> symbols``; which symbols are terminals lark's naming tells (upper case)."""

    origin: str
    symbols: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """lark's LALR table. ``goto[state][symbol]``; ``scanned[state]``: terminals its lexer tries there;
    ``open[state]``: whether a terminal that it does not try is taken there.

    ``barred[state, production]``: look-aheads at which lark, in a conflict, does something else than reduce.
    """

    goto: list[dict[str, int]]
    start: int
    scanned: list[frozenset[str]]
    open: list[bool]
    barred: dict[tuple[int, int], frozenset[str]]


@dataclass(slots=True, eq=False)
class Loaded:
    """``terminals`` in the order in which lark's lexer tries them; ``table`` None without a lexer."""

    source: Source
    start: str
    terminals: dict[str, Terminal]
    ignored: tuple[str, ...]
    productions: list[Production]
    table: Table | None = None
    declared: frozenset[str] = frozenset()
    #: Terminals that the lexer never tries (``hidden``), by name; they are declared, too.
    hidden: dict[str, Terminal] = field(default_factory=dict)
    by_origin: dict[str, list[Production]] = field(default_factory=dict)
    #: (a regex, a string that replaces it) where the string, taken whole, is found by the regex.
    embedded: dict[str, list[str]] = field(default_factory=dict)


def require_lark() -> Any:
    """The package ``lark``, which is an extra."""
    try:
        import lark
    except ImportError:
        raise ConstrainedError("Lark grammars are read by the package lark, which is not installed",
                               hint="pip install 'constrained[lark]'") from None
    return lark


def fail(source: Source, name: str, message: str, *, hint: str | None = None, unsupported: bool = False) -> NoReturn:
    """Raises at the place where ``name`` is defined, or else first written."""
    found = None
    if name:
        word = re.escape(name)
        found = (re.search(rf"^[ \t]*(?:%\w+[ \t]+)?[?!]?{word}(?![\w])(?=[^\n:]*:)", source.text, re.MULTILINE)
                 or re.search(rf"(?<!\w){word}(?!\w)", source.text))
    line, column = source.place(found.start() + len(found[0]) - len(name)) if found else (0, 0)
    kind = Unsupported if unsupported else GrammarSyntaxError
    raise kind(message, line=line, column=column, source=source.text, hint=hint)


def load(source: Source, *, start: str, lexer: bool, limits: Limits, sources: Mapping[str, str] | None = None,
         import_paths: Iterable[str | os.PathLike[str]] = (), postlex: Any = None, text: str | None = None,
         hidden: frozenset[str] = frozenset()) -> Loaded:
    """What lark reads in ``source`` (in ``text``, if the two differ).

    ``lexer``: with the LALR table and for the contextual lexer; else for Earley.

    Raises GrammarSyntaxError where lark refuses the grammar (a conflict of two reductions too) and GrammarLimitError
    where it is nested too deep for lark.
    """
    require_lark()
    if not isinstance(start, str) or not start:
        raise GrammarSyntaxError(f"start must be the name of a rule, not {start!r:.50}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            paths = [_finder(sources or {}), *(os.fspath(path) for path in import_paths)]
            return _load(source, source.text if text is None else text, start, lexer, paths, postlex, hidden)
    except RecursionError:
        raise GrammarLimitError("max_nesting", limits.max_nesting,
                                "the grammar is nested deeper than lark can read") from None


def _finder(sources: Mapping[str, str]) -> Any:
    """lark's way to ask for an imported file, answered out of ``sources``."""
    texts = {name.removesuffix(".lark").replace("\\", "/").replace("/", "."): text for name, text in sources.items()}

    def find(_base: Any, path: str) -> tuple[str, str]:
        name = path.removesuffix(".lark").replace(os.sep, ".")
        if name not in texts:
            raise FileNotFoundError(path)
        return os.path.join(os.path.dirname(_NOWHERE), path), texts[name]

    return find


def _load(source: Source, text: str, start: str, lexer: bool, paths: list[Any], postlex: Any,
          hidden: frozenset[str]) -> Loaded:
    import lark
    from lark.lexer import BasicLexer

    kept: dict[str, Any] = {}
    options: dict[str, Any] = {"start": [start], "import_paths": paths, "source_path": _NOWHERE,
                               "maybe_placeholders": False}
    if lexer:
        options |= {"parser": "lalr", "lexer": "contextual", "postlex": postlex,
                    "_plugins": {"LALR_Parser": _table_maker(kept), "ContextualLexer": _lexer_keeper(kept)}}
    else:
        options |= {"parser": "earley", "lexer": "dynamic_complete", "ambiguity": "forest"}
    try:
        made = lark.Lark(text, **options)
        order = BasicLexer(made.lexer_conf).terminals if lexer else made.terminals
    except RecursionError:
        raise
    except Exception as error:  # lark raises what its parts raise: ours to name, whatever it is
        _refused(source, start, error)
    out_of_sight = {str(one.name): _terminal(one) for one in order if one.name in hidden}
    order = [one for one in order if one.name not in hidden]
    terminals = {str(one.name): _terminal(one) for one in order}  # lark's names are tokens
    # The numbering is that of lark's rules; equal rules of one origin were joined by lark.
    productions = [Production(str(rule.origin.name), tuple([str(symbol.name) for symbol in rule.expansion]), number)
                   for number, rule in enumerate(made.rules)]
    terminal_names = {str(symbol.name) for rule in made.rules for symbol in rule.expansion if symbol.is_term}
    productions = _reached(productions, start)  # lark keeps rules that only use each other
    known = terminal_names.intersection(symbol for one in productions for symbol in one.symbols)
    loaded = Loaded(source, start, terminals, tuple(map(str, made.ignore_tokens)), productions,
                    declared=frozenset(known - set(terminals)), hidden=out_of_sight)
    for production in productions:
        loaded.by_origin.setdefault(production.origin, []).append(production)
    if start not in loaded.by_origin:
        fail(source, start, f"there is no rule {echo(start)} to start with", hint="pass start=...")
    if lexer:
        loaded.embedded = _embedded(order)
        loaded.table = _table(kept, made.rules, start, set(terminals), set(loaded.ignored))
    return loaded


def _reached(productions: list[Production], start: str) -> list[Production]:
    """The productions that ``start`` can use."""
    by_origin: dict[str, list[Production]] = {}
    for one in productions:
        by_origin.setdefault(one.origin, []).append(one)
    seen, stack = {start}, [start]
    while stack:
        for one in by_origin.get(stack.pop(), ()):
            for symbol in one.symbols:
                if symbol in by_origin and symbol not in seen:
                    seen.add(symbol)
                    stack.append(symbol)
    return [one for one in productions if one.origin in seen]


def _terminal(one: Any) -> Terminal:
    is_string = one.pattern.type == "str"
    literal = one.pattern.value if is_string and not one.pattern.flags else None
    return Terminal(str(one.name), one.pattern.to_regexp(), literal, is_string, frozenset(one.pattern.flags),
                    one.pattern.value, one.priority, one.user_repr())


def _embedded(order: list[Any]) -> dict[str, list[str]]:
    """lark's rule for keywords: of equal priority, and matched whole by the regex where it stands alone."""
    found: dict[str, list[str]] = {}
    for pattern in order:
        if pattern.pattern.type != "re":
            continue
        compiled = re.compile(pattern.pattern.to_regexp())
        for string in order:
            if string.pattern.type == "str" and string.priority == pattern.priority:
                match = compiled.match(string.pattern.value)
                if match is not None and match[0] == string.pattern.value:
                    found.setdefault(str(pattern.name), []).append(str(string.name))
    return found


def _table_maker(kept: dict[str, Any]) -> Any:
    """A stand-in for lark's LALR parser that keeps the analysis the table was made from."""
    from lark.parsers.lalr_analysis import LALR_Analyzer

    def make(parser_conf: Any, debug: bool = False, strict: bool = False) -> Any:
        analysis = LALR_Analyzer(parser_conf, debug=debug, strict=strict)
        analysis.compute_lalr()
        analysis._parse_table = analysis.parse_table  # where lark looks for it next
        kept["analysis"] = analysis
        return analysis

    return make


def _lexer_keeper(kept: dict[str, Any]) -> Any:
    """A stand-in for lark's contextual lexer that keeps what it would always try."""
    def make(conf: Any, states: Any, always_accept: Iterable[str] = ()) -> Any:
        kept["always"] = frozenset(map(str, always_accept))
        return conf

    return make


def _table(kept: dict[str, Any], rules: list[Any], start: str, terminals: set[str], ignored: set[str]) -> Table:
    analysis = kept["analysis"]
    states = analysis.parse_table.states
    always = (kept["always"] | ignored) & terminals
    by_value = {rule: number for number, rule in enumerate(rules)}
    goto: list[dict[str, int]] = []
    scanned: list[frozenset[str]] = []
    is_open: list[bool] = []
    barred: dict[tuple[int, int], frozenset[str]] = {}
    sets: dict[frozenset[str], frozenset[str]] = {}
    for state, items in enumerate(analysis.lr0_itemsets):  # lark numbers the states of its table in this order
        actions = states[state]
        goto.append({str(symbol): to for symbol, (action, to) in actions.items() if action.name == "Shift"})
        accepts = frozenset(map(str, actions)) & terminals | always
        scanned.append(sets.setdefault(accepts, accepts))
        # terminals are written in upper case, nonterminals in lower case
        is_open.append(any(name not in terminals and name != END and name.lstrip("_")[:1].isupper()
                           for name in map(str, actions)))
        for symbol, reductions in items.lookaheads.items():
            action, chosen = actions[symbol.name]
            for rule in reductions:
                if action.name == "Shift" or chosen != rule:
                    key = (state, by_value[rule])
                    barred[key] = barred.get(key, frozenset()) | {str(symbol.name)}
    return Table(goto, analysis.parse_table.start_states[start], scanned, is_open, barred)


_PLACE = re.compile(r",? ?(?:at )?line (\d+),? col(?:umn)? (\d+)(?: in [^:\n]*)?:?")


def _refused(source: Source, start: str, error: Exception) -> NoReturn:
    """Raises our error for one of lark's."""
    message = str(error).strip() or type(error).__name__
    if isinstance(error, OSError):
        name = os.path.basename(str(error.filename or "")).removesuffix(".lark")
        fail(source, name, f"there is no grammar {echo(name)} to import",
             hint="pass its text as sources={...}, or directories as import_paths=[...]")
    place = _PLACE.search(message)
    if place is not None:
        line, column = int(place[1]), int(place[2])
        text = _PLACE.sub("", message.split("\n")[0], count=1).strip(" ,:") or "unexpected input"
        at_end = line > source.text.count("\n") + 1
        raise GrammarSyntaxError(text, line=line, column=max(column, 1), source=source.text + "\n",
                                 hint="the grammar ends too early" if at_end else None) from None
    text = message.replace("\n\n", "\n")
    hint = None
    if "Reduce/Reduce" in message:
        text = "the grammar is not LALR(1): " + " ".join(text.split())
        hint = 'read it with mode="scannerless", give a rule a priority, or rewrite one of the rules'
    if isinstance(error, (KeyError, AttributeError, TypeError, AssertionError)):
        text = f"lark cannot read the grammar: {type(error).__name__} {text}"
    named = re.search(r"'([A-Za-z_][\w]*)'|(?:rule|terminal|token|template|symbol)s? '?([A-Za-z_]\w*)", text)
    fail(source, next((g for g in named.groups() if g), "") if named else "", text, hint=hint)
