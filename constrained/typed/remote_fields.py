"""A call as the fields of a request: its constraint, its sampling, its choice of tools.

JSON types become ``response_format``, plain text types ``structured_outputs``. What a server has no name for is
refused, never left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from constrained.api.grammar import Grammar
from constrained.grammar.ir import Reference, RuleSet
from constrained.typed.errors import PromptError
from constrained.typed.output_type import OutputType, text_type_of
from constrained.typed.types import EBNF, Choice, Lark, Regex

if TYPE_CHECKING:
    from constrained.decoder.sampling_params import SamplingParams

__all__ = ["constraint_fields", "sampling_fields", "tool_choice_field"]

SENT: dict[str, tuple[str, Any]] = {
    "frequency_penalty": ("frequency_penalty", 0.0), "presence_penalty": ("presence_penalty", 0.0),
    "top_k": ("top_k", 0), "min_p": ("min_p", 0.0), "typical_p": ("typical_p", 1.0),
    "repetition_penalty": ("repetition_penalty", 1.0),
    "no_repeat_ngram_size": ("no_repeat_ngram_size", 0), "min_tokens": ("min_tokens", 0), "stop": ("stop", ()),
    "stop_token_ids": ("stop_token_ids", ()), "ignore_eos": ("ignore_eos", False),
    "include_stop": ("include_stop_str_in_output", False)}
"""Fields of ``SamplingParams`` that are sent where they are not at these defaults, and under which names."""
NOT_SENT: dict[str, Any] = {"epsilon_cutoff": 0.0, "eta_cutoff": 0.0, "order": "hf", "stop_in_constraint": False,
                            "time_limit": None, "skip_special_tokens": True, "raw_logprobs": False,
                            "prompt_logprobs": None}


APPLICATORS = frozenset(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef",
                         "dependentSchemas", "dependencies", "unevaluatedProperties", "patternProperties"))


def constraint_fields(output: OutputType) -> dict[str, Any]:
    """What asks a server for texts of a type. Raises :class:`PromptError` where nothing does."""
    if output.json:
        schema = output.schema if isinstance(output.schema, dict) else {}
        strict = _all_required(schema)
        return {"response_format": {"type": "json_schema", "json_schema": {
            "name": "value", "schema": _closed(schema), "strict": strict}}}
    kind = text_type_of(output.annotation)
    if isinstance(kind, Choice):
        return {"structured_outputs": {"choice": list(kind.options)}}
    if isinstance(kind, Regex):
        return {"structured_outputs": {"regex": kind.pattern}}
    if (isinstance(kind, EBNF) and kind.root == "root") or (
            isinstance(kind, Lark) and kind.start == "start" and kind.mode is None):
        return {"structured_outputs": {"grammar": kind.text}}
    rules = output.grammar.rules
    if rules.root == "root":
        return {"structured_outputs": {"grammar": str(output.grammar)}}
    if "root" in rules.rules:
        raise PromptError(f"a server begins with the rule root, and this grammar with {rules.root!r:.100}",
                          hint="call its first rule root")
    begun = RuleSet({"root": Reference(rules.root), **rules.rules}, "root")
    return {"structured_outputs": {"grammar": str(Grammar(begun))}}


def sampling_fields(params: SamplingParams) -> dict[str, Any]:
    """The fields that are not at their defaults. Raises :class:`PromptError` for those that no server knows."""
    body: dict[str, Any] = {}
    for name, (sent, off) in SENT.items():
        value = getattr(params, name)
        if value != off:
            body[sent] = list(value) if isinstance(value, tuple) else value
    if isinstance(params.seed, int):
        body["seed"] = params.seed
    if params.bias_items:
        body["logit_bias"] = {str(i): max(-100.0, min(100.0, bias)) for i, bias in params.bias_items}
    for name, off in NOT_SENT.items():
        if getattr(params, name) != off:
            raise PromptError(f"{name} cannot be asked of a server", hint="a local model takes it: LLM('model.gguf')")
    return body


def _objects(schema: Any) -> list[dict[str, Any]] | None:
    """Every object schema with listed members, the root included; None where some speak of one value together."""
    found: list[dict[str, Any]] = []
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if "allOf" in node or "if" in node or "not" in node:
                return None
            members = node.get("properties")
            if isinstance(members, dict):
                if not APPLICATORS.isdisjoint(node):
                    return None
                found.append(node)
                stack.extend(members.values())
            stack.extend(value for key, value in node.items() if key not in ("const", "enum", "default", "examples",
                                                                             "properties"))
        elif isinstance(node, list):
            stack.extend(node)
    return found


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy in which objects that list their members have no others, as here; as it is where that could go wrong."""
    copy: dict[str, Any] = json.loads(json.dumps(schema))
    for node in _objects(copy) or ():
        node.setdefault("additionalProperties", False)
    return copy


def _all_required(schema: dict[str, Any]) -> bool:
    """OpenAI's ``strict`` wants every member required."""
    objects = _objects(schema)
    return objects is not None and all(set(node["properties"]) == set(node.get("required", ())) for node in objects)


def tool_choice_field(choice: Any) -> Any:
    """``tool_choice`` as OpenAI has it; a list of names is allowed tools."""
    if isinstance(choice, (list, tuple)):
        return {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "function", "function": {"name": name}} for name in choice]}}
    return choice
