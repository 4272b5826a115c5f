"""Every fixture of the shared tool-call formats: as structural tags, and through the families they describe."""

from __future__ import annotations

import json
from typing import Any

import pytest

import constrained as cd
from constrained.toolcalls import TextDelta, ToolCallEnd, ToolSpec, get_format
from tests.shared_data import require_shared, shared_dir
from tests.toolcalls.rendering import CITY
from tests.toolcalls.worlds import vocabulary

FAMILIES_OF = {
    "hermes/qwen2.5/qwen3/smollm3(xml)": ("hermes", "qwen3", "smollm3"),
    "qwen3-coder/qwen3.5 xml": ("qwen3_coder",),
    "llama3.1 json": ("llama3_json",),
    "llama3.2/4/gemma3 pythonic": ("llama3_pythonic", "llama4_pythonic", "gemma3_pythonic"),
    "mistral v3-v7": ("mistral_v3", "mistral_v7"),
    "mistral v11/v13+": ("mistral_v11", "mistral_v13"),
    "deepseek v3/r1": ("deepseek_v3",),
    "deepseek v3.1": ("deepseek_v3_1",),
    "gpt-oss harmony": ("harmony",),
    "functiongemma": ("functiongemma",),
    "smollm2": ("smollm2",),
    "phi4-mini tokens": ("phi4",),
    "phi4-mini functools": ("phi4_functools",),
    "command-r7b / command-a (cmd3)": ("command_r7b",),
    "command-r v1": ("command_r",),
}


def fixtures() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((require_shared() / "data" / "toolcall-formats.json").read_text("utf-8"))
    return found


def accepts(tag: Any, text: str) -> bool:
    grammar = cd.GrammarCompiler(vocabulary(())).compile_structural_tag(tag)
    state = grammar.advance(grammar.start_state, text.encode())
    return bool(state) and grammar.is_complete(state)


@pytest.mark.skipif(shared_dir() is None, reason="the shared data are not here (set CONSTRAINED_SHARED)")
def test_no_fixture_is_left_out() -> None:
    assert set(fixtures()) == set(FAMILIES_OF)


@pytest.mark.parametrize("name", FAMILIES_OF)
def test_as_structural_tags(name: str) -> None:
    fixture = fixtures()[name]
    tag = {"type": "structural_tag", "format": fixture["format"]}
    for text in fixture["accept"]:
        assert accepts(tag, text), text
    for text in fixture["reject"]:
        assert not accepts(tag, text), text


@pytest.mark.parametrize(("name", "family"), [(name, f) for name, found in FAMILIES_OF.items() for f in found])
def test_through_the_family(name: str, family: str) -> None:
    fixture = fixtures()[name]
    fmt, tools = get_format(family), [ToolSpec("get_weather", None, CITY)]
    tag = fmt.structural_tag(tools)
    for text in fixture["accept"]:
        assert accepts(tag, text), text
        parser = fmt.parser(tools)
        events = parser.feed(text.encode()) + parser.finish()
        found = [(event.name, json.loads(event.arguments)) for event in events if isinstance(event, ToolCallEnd)]
        assert len(found) == text.count("get_weather") - text.count("function get_weather")
        assert all(name == "get_weather" and "city" in arguments for name, arguments in found)
        if not found and "<" not in text:
            assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
    for text in fixture["reject"]:
        assert not accepts(tag, text), text
