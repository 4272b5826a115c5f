"""Whether a text that a server wrote is one of the type that was asked for: servers may ignore constraints.

Plain text is tested against its grammar, the JSON of a ``JsonSchema`` against the grammar of the schema with its
members in any order; Python types have their own validation. Grammars are compiled once a type, over bytes as tokens.
"""

from __future__ import annotations

import json

from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import GrammarError, echo
from constrained.typed.errors import OutputError, PromptError
from constrained.typed.output_type import OutputType
from constrained.typed.types import JsonSchema
from constrained.vocabulary import TokenizerInfo

__all__ = ["check", "checker"]

BYTES = TokenizerInfo.from_bytes([bytes([i]) for i in range(256)] + [b"</s>"], stop_token_ids=256)
_compiled: dict[int, tuple[OutputType, CompiledGrammar | None]] = {}


def checker(output: OutputType) -> CompiledGrammar | None:
    """The grammar that a server's text is tested against; None where the type's own validation is the test.

    Raises :class:`PromptError` for a schema that has no grammar with its members in any order.
    """
    key = id(output)
    held = _compiled.get(key)
    if held is None or held[0] is not output:
        if len(_compiled) > 64:
            _compiled.clear()
        held = _compiled[key] = (output, _compile(output))
    return held[1]


def _compile(output: OutputType) -> CompiledGrammar | None:
    if not output.json:
        return compile_rules(output.grammar.rules, BYTES)
    if not isinstance(output.annotation, JsonSchema):
        return None
    try:
        grammar = Grammar.from_json_schema(output.annotation.schema, property_order="any")
        return compile_rules(grammar.rules, BYTES)
    except GrammarError as error:
        raise PromptError(f"what a server writes cannot be tested against this schema: {error}",
                          hint="a local model is held to it: LLM('model.gguf')") from None


def check(output: OutputType, text: str) -> None:
    """Raises :class:`OutputError` where ``text`` is no text of the type's grammar, or no value of its schema."""
    compiled = checker(output)
    if compiled is None or _accepts(compiled, text):
        return
    if output.json:
        try:
            if _accepts(compiled, json.dumps(json.loads(text))):  # long runs of blanks
                return
        except (ValueError, RecursionError):
            pass  # the same error as below
        raise OutputError(f"the server wrote {echo(text)}, which is no value of the schema", text=text,
                          hint="it does not keep response_format; another server may")
    raise OutputError(f"the server wrote {echo(text)}, which is no text of the grammar", text=text,
                      hint="it does not support structured_outputs; give JSON types, which OpenAI's "
                           "response_format holds to, or another server")


def _accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()
