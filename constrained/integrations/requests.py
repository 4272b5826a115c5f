"""What a request to an inference engine may ask for, as a compiled grammar.

vLLM and SGLang hand a backend a kind (``json``, ``regex``, ...) and a text. The texts are the peers' own dialects: JSON
Schema, regular expressions, XGrammar's EBNF or Lark, structural tags; ``api.requests`` reads them. What cannot be
enforced exactly raises; an engine turns that into an error of the request, never into a request without its constraint.
"""

from __future__ import annotations

from constrained.api.compiler import GrammarCompiler
from constrained.api.requests import grammar_of_request
from constrained.engine.compiled import CompiledGrammar
from constrained.errors import ConstrainedError

__all__ = ["KINDS", "check_request", "compile_request"]

KINDS = ("json", "json_object", "regex", "grammar", "choice", "structural_tag")
"""Those of ``api.requests`` by the names that engines give them."""


def compile_request(compiler: GrammarCompiler, kind: str, spec: str, *, any_whitespace: bool = True) -> CompiledGrammar:
    """Compile what a request asks for; the compiler's cache knows it by these arguments.

    Args:
        kind: one of ``KINDS``. ``choice`` is a JSON list of texts, ``grammar`` is EBNF or Lark, ``json_object`` ignores
            ``spec`` and is any JSON object.
        spec: the text of it.
        any_whitespace: JSON with free (bounded) whitespace, or on one line with the separators of ``json.dumps``.

    Raises:
        ConstrainedError: the kind is unknown, or the text cannot be compiled; see the front ends.
    """
    return compiler.compile_request(_known(kind), spec, layout="any" if any_whitespace else "line")


def check_request(kind: str, spec: str) -> None:
    """Raise what ``compile_request`` would, as far as that can be told without a vocabulary."""
    grammar_of_request(_known(kind), spec)


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise ConstrainedError(f"unknown kind of constraint {kind!r:.50}", hint=f"one of {', '.join(KINDS)}")
    return kind
