"""``from_lark``: a Lark grammar as rules, in one of two modes.

``lexer``: exactly the texts that ``Lark(grammar, parser="lalr", lexer="contextual")`` parses: ``lexing`` finds what
each terminal reads where, ``contexts`` copies the rules by what the parser's state makes a difference to.
``scannerless``: exactly the texts that ``Lark(grammar, parser="earley", lexer="dynamic_complete")`` parses: a terminal
may end wherever its pattern's preferred match of what was read ends, and what is ignored may stand between any two.

``docs/lark.md`` says what is read, what is refused and what is added to lark's notation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from constrained.errors import ConstrainedError, UnsatisfiableGrammarError
from constrained.grammar.ir import (
    ByteDfa,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
)
from constrained.limits import Limits

from ..text import Source
from .columns import expand, head_of
from .contexts import annotate
from .extras import Additions, lazy_text, read_additions
from .follow import Follow
from .graphs import automata
from .indentation import AT_END, Indentation, indentation_of
from .lexing import Lexicon
from .load import END, Loaded, fail, load, require_lark
from .pruning import ANYTHING
from .rules import Sketch, Template
from .scannerless import whole_match
from .segments import cut
from .sharing import shared

__all__ = ["from_lark"]

MODES = ("lexer", "scannerless")
ANY_BYTE = ByteDfa((((0, 255, 1),), ()), frozenset((1,)))


def from_lark(text: str | bytes, *, start: str = "start", mode: str = "lexer", sources: Mapping[str, str] | None = None,
              import_paths: Iterable[str | os.PathLike[str]] = (), postlex: Any = None,
              limits: Limits | None = None) -> RuleSet:
    """Read a Lark grammar.

    Args:
        text: the grammar, ``str`` or UTF-8 bytes.
        start: the rule to start with.
        mode: ``"lexer"`` (LALR with lark's contextual lexer) or ``"scannerless"`` (Earley with dynamic_complete).
        sources: texts of grammars that ``%import`` may name, by dotted name (``"sub.names"``) or path.
        import_paths: directories with further grammars. No other file is read, besides lark's own library.
        postlex: a ``lark.indenter.Indenter`` (``PythonIndenter()``), in lexer mode: blocks by indentation, in columns
            up to ``Limits.max_indentation``.

    Raises:
        GrammarSyntaxError: lark refuses the grammar (line and column where lark tells them), two reductions are in
            conflict in lexer mode, or (``Unsupported``) something is not done exactly; its name is in the message.
        UnsatisfiableGrammarError: no text fits. GrammarLimitError: ``max_source_chars``, ``max_nesting``,
            ``max_dfa_states``, ``max_repeat``. ConstrainedError: lark is not installed.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r:.50}")
    limits = limits or Limits()
    source = Source(text, limits)
    if isinstance(postlex, type):
        postlex = postlex()
    if postlex is not None and mode != "lexer":
        raise ConstrainedError("a post-lexer needs a lexer", hint='use mode="lexer"')
    require_lark()
    checked = None if postlex is None else indentation_of(postlex)
    added = read_additions(source, limits)
    loaded = load(source, start=start, lexer=mode == "lexer", limits=limits, sources=sources, import_paths=import_paths,
                  postlex=postlex, text=added.text, hidden=frozenset(added.lazy))
    given: dict[str, Expr | None] = dict(added.given)
    given |= {name: lazy_text(added.lazy[name], one.pattern, source, limits) for name, one in loaded.hidden.items()}
    known = () if checked is None else (checked.indent, checked.dedent)
    for name in sorted(loaded.declared.difference(known, given)):
        fail(source, name, f"%declare {name}: nothing says what this terminal reads", unsupported=True)
    lexicon = Lexicon(loaded, limits)
    writer = _Texts(loaded, added, given)
    rules = _lexer(loaded, lexicon, checked, writer) if mode == "lexer" else _scannerless(loaded, lexicon, writer)
    if rules is None:
        raise UnsatisfiableGrammarError("no text fits the grammar", hint="look for a rule that always needs itself")
    return rules


def _lexer(loaded: Loaded, lexicon: Lexicon, indentation: Indentation | None, writer: _Texts) -> RuleSet | None:
    if indentation is not None:
        indentation.lexicon = lexicon
    done = annotate(loaded, lexicon, indentation, writer.added.captures)
    if not done.sketch.finish(done.root):
        return None
    root = done.sketch.merge(done.root)
    names = lexicon.names()
    declared = sorted(loaded.declared)
    texts: list[Expr] = []
    reads = [(ignored, [number] if number >= 0 else [ANYTHING] if number < -1 else [])
             for ignored, number, _ in done.readings]
    follow = Follow(done.sketch, root, reads, done.ignored, lexicon)
    for t, (ignored, number, line) in enumerate(done.readings):
        skipped = writer.ignored(follow.skipped(ignored), ignored)
        body: Expr | None = None
        if line == AT_END:
            body = NotFollowedBy(ANY_BYTE)
        elif line > 0:
            assert indentation is not None
            body = head_of(indentation, line, lexicon.limits)
        elif number >= 0:
            body = follow.text(t, number)
        elif number < -1:
            body = writer.declared(declared[-2 - number])
        texts.append(writer.text(names.get(number, END), skipped, body))
    if indentation is None:
        return writer.finished(done.sketch, root, texts)
    bare = frozenset(t for t, (_, _, line) in enumerate(done.readings) if line == AT_END)
    graphs, root = cut(*automata(done.sketch, root, bare), done.sketch, bare)
    graphs, root = shared(graphs, root, done.sketch, bare)
    sketch, root = expand(done.sketch, graphs, root, indentation, lexicon, texts, lexicon.limits, writer.named)
    return writer.written(sketch, root, texts)


def _scannerless(loaded: Loaded, lexicon: Lexicon, writer: _Texts) -> RuleSet | None:
    """The rules as they are; ignored text, each by its first match, before every terminal and at the end."""
    sketch = Template()
    numbers = {name: sketch.new(name) for name in loaded.by_origin}
    sketch.captures = {numbers[rule]: name for rule, name in writer.added.captures.items() if rule in numbers}
    numbers_of_ignored = {number for name in loaded.ignored for number in lexicon.scanner(frozenset((name,))).ignored}
    skipped = writer.ignored([lexicon.expression(number) for number in sorted(numbers_of_ignored)], 0)
    terminals: dict[str, int] = {}
    for production in loaded.productions:
        for symbol in production.symbols:
            if symbol not in numbers:
                terminals.setdefault(symbol, len(terminals))
        sketch.alternatives[numbers[production.origin]].append(
            tuple([numbers[symbol] if symbol in numbers else ~terminals[symbol] for symbol in production.symbols]))
    texts: list[Expr | None] = [
        writer.declared(name) if name in loaded.declared else
        whole_match(loaded.terminals[name], lexicon.trees[name], loaded.source, lexicon.limits) for name in terminals]
    for name, expression in zip(list(terminals), texts, strict=True):
        if expression is None:  # nothing matches: leave out what needs it
            for options in sketch.alternatives:
                options[:] = [one for one in options if ~terminals[name] not in one]
    root = sketch.new(loaded.start)
    sketch.alternatives[root].append((numbers[loaded.start], ~len(texts)))
    if not sketch.finish(root):
        return None
    written = [writer.text(name, skipped, expression if expression is not None else Choice(()))
               for name, expression in zip(terminals, texts, strict=True)]
    return writer.finished(sketch, root, [*written, writer.text(END, skipped, None)])


class _Texts:
    """Rules of texts beside those of a sketch: what takes more than a literal is written once."""

    def __init__(self, loaded: Loaded, added: Additions, given: dict[str, Expr | None]) -> None:
        self.added, self.given = added, given
        self.rules: dict[str, Expr] = dict(added.rules)
        self.taken = {*loaded.by_origin, *added.rules}
        self.kept: dict[int, Expr | None] = {}

    def named(self, name: str, body: Expr) -> Reference:
        fresh, number = name, 1
        while fresh in self.taken:
            number += 1
            fresh = f"{name}.{number}"
        self.taken.add(fresh)
        self.rules[fresh] = body
        return Reference(fresh)

    def ignored(self, parts: list[Expr], number: int) -> Expr | None:
        """Any number of what is ignored; None if nothing is."""
        if number not in self.kept:
            one = parts[0] if len(parts) == 1 else Choice(tuple(parts))
            self.kept[number] = self.named("IGNORED", Repeat(one, 0, None)) if parts else None
        return self.kept[number]

    def declared(self, name: str) -> Expr:
        """What an addition reads."""
        found = self.given.get(name)
        return Choice(()) if found is None else found

    def text(self, name: str, skipped: Expr | None, body: Expr | None) -> Expr:
        """One terminal with what is ignored before it."""
        if body is not None and not isinstance(body, (Literal, NotFollowedBy, Reference, TokenReference)):
            body = self.named(name, body)
        items = [part for part in (skipped, body) if part is not None]
        return Literal(b"") if not items else items[0] if len(items) == 1 else Sequence(tuple(items))

    def finished(self, template: Template, root: int, texts: list[Expr]) -> RuleSet:
        """The rules of a template without columns."""
        sketch = Sketch()
        graphs, root = automata(template, root, frozenset())
        graphs, root = shared(graphs, root, template, frozenset())
        sketch.names, sketch.captures = template.names, template.captures
        sketch.graphs = {n: ([list(row.items()) for row in made.edges], made.accepting) for n, made in graphs.items()}
        return self.written(sketch, root, texts)

    def written(self, sketch: Sketch, root: int, texts: list[Expr]) -> RuleSet:
        rules = sketch.written(root, texts)
        return RuleSet({**rules.rules, **self.rules}, rules.root)
