"""What somebody asks of a model's output, as two texts: a kind and a source; and the grammar of it.

Engines and servers pass constraints around as text, since text can be a cache key and travel to another process. Here
is the one place where such a pair becomes a grammar. What cannot be enforced exactly raises; nothing is left out unless
``relax`` asks for it.

    kind               source
    json_schema, json  JSON text of a schema
    json_object        nothing: any JSON object
    regex              a pattern in the syntax of Python's re, matched in full; \\d, \\w, \\s are ASCII's, as in
                       other engines
    ebnf, lark         a grammar; grammar: either, told apart by is_lark
    choice             JSON text of a list of texts
    structural_tag     JSON text of a structural tag
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from constrained.api.grammar import Grammar
from constrained.errors import ConstrainedError, GrammarError, SchemaError, echo
from constrained.grammar import combinators as make
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

__all__ = ["KINDS", "LAYOUTS", "grammar_of_request", "is_lark"]

KINDS = ("json_schema", "json", "json_object", "regex", "ebnf", "lark", "grammar", "choice", "structural_tag")
"""What may be asked for."""

LAYOUTS: dict[str, dict[str, Any]] = {
    "any": {},
    "line": {"any_whitespace": False, "separators": (", ", ": ")},
    "compact": {"any_whitespace": False, "separators": (",", ":")},
}
"""How JSON is written: with free (bounded) whitespace, on one line as ``json.dumps`` does it, or without blanks."""

_TAG_WHITESPACE = {"line": 1, "compact": 0}
_ANY_OBJECT = '{"type": "object"}'


def grammar_of_request(kind: str, source: str, *, layout: str = "any", relax: bool = False, strict_mode: bool = True,
                       tokenizer_info: TokenizerInfo | None = None, limits: Limits | None = None) -> Grammar:
    """The grammar that ``kind`` and ``source`` ask for.

    Args:
        kind: one of ``KINDS``.
        source: see the module docstring.
        layout: one of ``LAYOUTS``. JSON in structural tags has at most so much whitespace in a row as the layout
            writes, unless the tag says ``max_whitespace_cnt``.
        relax: leave out of a JSON Schema what cannot be enforced exactly, instead of refusing it.
        strict_mode: in structural tags objects that say nothing about undeclared members have none.
        tokenizer_info: for structural tags, whose delimiters may then be tokens of the vocabulary.
        limits: budgets.

    Raises:
        ConstrainedError: the kind or the layout is unknown, or the source cannot be compiled; see the front ends.
    """
    if layout not in LAYOUTS:
        raise ConstrainedError(f"unknown layout {layout!r:.50}", hint=f"one of {', '.join(LAYOUTS)}")
    if kind in ("json_schema", "json", "json_object"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever wants to know asks for the coverage
            return Grammar.from_json_schema(_ANY_OBJECT if kind == "json_object" else source, limits=limits,
                                            unsupported="ignore" if relax else "error", **LAYOUTS[layout])
    if kind == "regex":
        return Grammar.from_regex(source, ascii=True, limits=limits)
    if kind == "lark" or (kind == "grammar" and is_lark(source)):
        return Grammar.from_lark(source, limits=limits)
    if kind in ("ebnf", "grammar"):
        return Grammar.from_ebnf(source, limits=limits)
    if kind == "choice":
        return _choice(source)
    if kind == "structural_tag":
        return Grammar.from_structural_tag(_laid_out(source, layout), tokenizer_info=tokenizer_info,
                                           strict_mode=strict_mode, limits=limits)
    raise ConstrainedError(f"unknown kind of constraint {kind!r:.50}", hint=f"one of {', '.join(KINDS)}")


def is_lark(text: str) -> bool:
    """Whether a grammar is Lark rather than EBNF: no rule of it is defined with ``::=``."""
    for line in text.splitlines():
        start = line.split("#", 1)[0].split("//", 1)[0]
        name, found, _ = start.partition("::=")
        if found and name.strip().replace("_", "").replace("-", "").replace(".", "").isalnum():
            return False
    return True


def _choice(source: str) -> Grammar:
    try:
        options = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"a list of choices is no JSON: {error}"[:300]) from None
    if not isinstance(options, list) or not options or not all(isinstance(option, str) for option in options):
        raise GrammarError(f"choices are a list of texts, not {echo(source)}")
    return Grammar.of(make.choice(*(make.literal(option) for option in options)))


def _laid_out(source: str, layout: str) -> Any:
    """A structural tag in which the layout bounds the whitespace of every JSON value."""
    most = _TAG_WHITESPACE.get(layout)
    if most is None:
        return source
    try:
        tag = json.loads(source)
    except (ValueError, RecursionError):
        return source  # the front end says what is wrong
    stack = [tag]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if node.get("type") == "json_schema" and "json_schema" in node:
                node.setdefault("max_whitespace_cnt", most)
            else:
                stack.extend(node.values())
    return tag
