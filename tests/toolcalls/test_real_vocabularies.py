"""Families on the vocabularies of their models: texts in the model's own tokens, delimiters by id."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import constrained as cd
from constrained.toolcalls import ToolCallEnd, ToolSpec, detect_format, get_format
from tests.engine.real_vocabularies import real_vocabulary
from tests.toolcalls.rendering import CITY, render
from tests.toolcalls.worlds import written

TOOLS = [ToolSpec("get_weather", None, CITY)]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Sao </tool_call> Paulo"}), ("get_weather", {"city": "x", "days": 2})]


def tokens(info: cd.TokenizerInfo, text: str) -> list[int]:
    """Delimiters as tokens, but byte by byte inside strings; the rest as the tokenizer writes it."""
    single = {info.token_bytes(i): i for i in range(info.vocab_size) if len(info.token_bytes(i)) == 1}
    names = "|".join(map(re.escape, sorted(info.token_ids_by_text, key=len, reverse=True)))
    found: list[int] = []
    for part in re.split(f'("[^"]*"|{names})', text):
        if part in info.token_ids_by_text:
            found.append(info.token_ids_by_text[part][0])
        elif "<" in part and part.startswith('"'):
            found += [single[bytes([byte])] for byte in part.encode()]
        else:
            found += info.encode(part) or []
    return found


@pytest.mark.parametrize(("name", "family", "text"), [
    ("qwen3", "qwen3", "Let me see.\n"), ("qwen3", "qwen3_coder", "ok\n"), ("gptoss", "harmony", "I look it up."),
    ("deepseek_v3", "deepseek_v3", "ok"), ("deepseek_v3", "deepseek_v3_1", "ok"), ("llama3_1", "llama3_json", ""),
])
def test_calls_in_the_model_s_tokens(name: str, family: str, text: str) -> None:
    info = real_vocabulary(name)
    fmt = get_format(family)
    compiled = cd.GrammarCompiler(info).compile_structural_tag(fmt.structural_tag(TOOLS))
    calls = CALLS if family != "qwen3_coder" else CALLS[1:]  # raw text: there the token would end the call
    ids = tokens(info, render(family, calls, text))
    matcher = cd.GrammarMatcher(compiled)
    mask = cd.allocate_token_bitmask(1, info.vocab_size)
    for number, token in enumerate(ids):
        matcher.fill_next_token_bitmask(mask)
        assert int(mask[0, token >> 5]) >> (token & 31) & 1, (number, info.token_bytes(token))
        assert matcher.accept_token(token)
    assert matcher.is_completed()
    parser = fmt.parser(TOOLS)
    events = parser.feed(written(info, ids)) + parser.finish()
    assert [(event.name, json.loads(event.arguments)) for event in events if isinstance(event, ToolCallEnd)] == calls


def test_families_are_known_by_the_tokens_of_their_vocabularies() -> None:
    for name, family in (("qwen3", "qwen3"), ("gptoss", "harmony"), ("deepseek_v3", "deepseek_v3")):
        assert detect_format(None, real_vocabulary(name).token_ids_by_text).name == family


@pytest.mark.parametrize("end", ["</think>", "\n</thinking>\n"])
def test_a_budget_changes_no_mask_until_it_is_used_up(end: str) -> None:
    info = real_vocabulary("qwen3")
    form = {"type": "tag", "begin": "<think>", "end": end, "content": {"type": "any_text", "excludes": ["<tool_call>"]}}
    bounded = {**form, "content": {**form["content"], "max_tokens": 12}}
    compiler = cd.GrammarCompiler(info)
    free, held = (cd.GrammarMatcher(compiler.compile_structural_tag(one)) for one in (form, bounded))
    begin = info.token_ids_by_text["<think>"]
    prose = 'Let me see: {"a": "é"}\nis \\u00e9, a < b </th ; 1 + 1 = 2, or so I think it is.'
    ids = [*begin, *(info.encode(prose) or [])]
    for number, token in enumerate(ids[:13]):
        assert free.allowed_token_ids() == held.allowed_token_ids(), number
        assert free.accept_token(token) and held.accept_token(token)
    rest = held.find_jump_forward_string().encode()
    texts = {i: info.token_bytes(i) for i in held.allowed_token_ids()}
    named = set(info.token_ids_by_text.get(end, ()))
    assert set(texts) >= named
    if not named:
        assert rest == end.encode()
    assert all(end.encode().startswith(text) for i, text in texts.items() if i not in named)
    assert {i for i in range(info.vocab_size) if i not in named and (text := info.token_bytes(i))
            and end.encode().startswith(text)} == set(texts) - named
