"""Calls written by hand, in the structural tags that XGrammar builds for the model families that it knows.

Its tag must take what the family writes here, as XGrammar reads that tag and as it is read here.
"""

from __future__ import annotations

import json

import pytest

import constrained as cd
from constrained.toolcalls import FAMILIES
from tests.toolcalls.rendering import SCHEMAS, render
from tests.toolcalls.worlds import vocabulary

xgrammar = pytest.importorskip("xgrammar")
builders = pytest.importorskip("xgrammar.builtin_structural_tag")

FAMILY_OF = {
    "llama": "llama3_json", "kimi": "kimi_k2", "kimi_k3": "kimi_k3", "deepseek_r1": "deepseek_v3",
    "deepseek_v3_1": "deepseek_v3_1", "deepseek_v3_2": "deepseek_v3_2", "deepseek_v4": "deepseek_v4",
    "deepseek_v4_1": "deepseek_v4_1", "qwen_3_5": "qwen3_coder", "qwen_3_coder": "qwen3_coder", "qwen_3": "qwen3",
    "mimo": "mimo", "harmony": "harmony", "minimax": "minimax_m2", "minimax_m3": "minimax_m3", "glm_4_7": "glm4_7",
    "gemma_4": "gemma4", "cohere": "cohere_xml", "exaone": "exaone4"}
WRITTEN = {"harmony": (" <|constrain|>", "<|constrain|>"),
           "minimax": ("<minimax:tool_call>", "\n</think>\n\n\n\n<minimax:tool_call>"),
           "qwen_3_5": (">\n</function>", ">\n\n</function>"), "qwen_3_coder": (">\n</function>", ">\n\n</function>")}
"""Where XGrammar's tags ask for something else: one spelling of a header, an end of thoughts, a second line end."""
CALLS = [("get_weather", {"city": "Paris", "days": 2}), ("get", {"url": "a b", "deep": True}), ("now", {})]


def test_every_family_of_theirs_is_one_of_ours() -> None:
    assert set(FAMILY_OF.values()) <= {fmt.name for fmt in FAMILIES}


@pytest.mark.parametrize("model", FAMILY_OF)
def test_calls_fit_their_tags(model: str) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()]
    tag = builders.get_model_structural_tag(model, tools=tools, tool_choice="auto", reasoning="disabled")
    info = xgrammar.TokenizerInfo([bytes([i]) for i in range(256)] + [b"</s>"], stop_token_ids=[256])
    theirs = xgrammar.GrammarCompiler(info, max_threads=1).compile_structural_tag(tag)
    ours = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(tag)
    for name, arguments in CALLS:
        text = render(FAMILY_OF[model], [(name, arguments)])
        if model in WRITTEN and (name == "now" or not model.startswith("qwen")):
            text = text.replace(*WRITTEN[model])
        matcher = xgrammar.GrammarMatcher(theirs)
        assert matcher.accept_string(text) and matcher.is_completed(), text
        state = ours.advance(ours.start_state, text.encode())
        assert state and ours.is_complete(state), text
        spoiled = text.replace(name, "nope")
        assert json.dumps(name) not in spoiled
        state = ours.advance(ours.start_state, spoiled.encode())
        assert not (state and ours.is_complete(state)), spoiled
