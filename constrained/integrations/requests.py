"""What a request to an inference engine may ask for, as a compiled grammar.

vLLM and SGLang hand a backend a kind (``json``, ``regex``, ...) and a text. The texts are the peers' own dialects: JSON
Schema, regular expressions, XGrammar's EBNF or Lark, structural tags. What cannot be enforced exactly raises; an engine
turns that into an error of the request, never into a request without its constraint.
"""

from __future__ import annotations

import json
from typing import Any

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import ConstrainedError, GrammarError, SchemaError, echo
from constrained.grammar import combinators as make

__all__ = ["KINDS", "check_request", "compile_request", "is_lark"]

KINDS = ("json", "json_object", "regex", "grammar", "choice", "structural_tag")


def compile_request(compiler: GrammarCompiler, kind: str, spec: str, *, any_whitespace: bool = True) -> CompiledGrammar:
    """Compile what a request asks for.

    Args:
        kind: one of ``KINDS``. ``choice`` is a JSON list of texts, ``grammar`` is EBNF or Lark, ``json_object`` ignores
            ``spec`` and is any JSON object.
        spec: the text of it.
        any_whitespace: JSON with free (bounded) whitespace, or on one line with the separators of ``json.dumps``.

    Raises:
        ConstrainedError: the kind is unknown, or the text cannot be compiled; see the front ends.
    """
    layout: dict[str, Any] = {} if any_whitespace else {"any_whitespace": False, "separators": (", ", ": ")}
    if kind in ("json", "json_object"):
        return compiler.compile_json_schema(spec if kind == "json" else {"type": "object"}, **layout)
    if kind == "regex":
        return compiler.compile_regex(spec)
    if kind == "structural_tag":
        return compiler.compile_structural_tag(spec)
    return compiler.compile_grammar(_grammar(kind, spec))


def check_request(kind: str, spec: str) -> None:
    """Raise what ``compile_request`` would, as far as that can be told without a vocabulary."""
    if kind == "json":
        Grammar.from_json_schema(spec)
    elif kind == "regex":
        Grammar.from_regex(spec)
    elif kind == "structural_tag":
        Grammar.from_structural_tag(spec)
    elif kind != "json_object":
        _grammar(kind, spec)


def _grammar(kind: str, spec: str) -> Grammar:
    if kind == "choice":
        return _choice(spec)
    if kind == "grammar":
        return Grammar.from_lark(spec) if is_lark(spec) else Grammar.from_ebnf(spec)
    raise ConstrainedError(f"unknown kind of constraint {kind!r:.50}", hint=f"one of {', '.join(KINDS)}")


def is_lark(text: str) -> bool:
    """Whether a grammar is Lark rather than EBNF: no rule of it is defined with ``::=``."""
    for line in text.splitlines():
        start = line.split("#", 1)[0].split("//", 1)[0]
        name, found, _ = start.partition("::=")
        if found and name.strip().replace("_", "").replace("-", "").replace(".", "").isalnum():
            return False
    return True


def _choice(spec: str) -> Grammar:
    options = _loaded(spec, "a list of choices")
    if not isinstance(options, list) or not options or not all(isinstance(option, str) for option in options):
        raise GrammarError(f"choices are a list of texts, not {echo(spec)}")
    return Grammar.of(make.choice(*(make.literal(option) for option in options)))


def _loaded(spec: str, what: str) -> Any:
    try:
        return json.loads(spec)
    except ValueError as error:
        raise SchemaError(f"{what} is no JSON: {error}") from None
