# ruff: noqa: E402 - imports follow pytest.importorskip
"""What a newcomer gets wrong: typed errors that say what to write, never a wrong prompt or an option without effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pydantic = pytest.importorskip("pydantic")
pytest.importorskip("torch")

import constrained as cd
from constrained.errors import RegexError
from constrained.typed.errors import AnnotationError, PromptError, SourceError, ToolError
from tests.typed.tiny import tiny_model


def prompt_of(llm: cd.LLM, messages: Any) -> str:
    engine: Any = llm.engine
    call, _ = llm._call(messages)
    return b"".join(engine.info.token_bytes(i) for i in engine.prompt_ids(call)).decode()


def test_contents_in_parts_are_their_text(tiny: cd.LLM) -> None:
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    assert prompt_of(tiny, [{"role": "user", "content": parts}]) == prompt_of(tiny, "hello")
    for wrong in ([{"type": "image_url", "image_url": {"url": "x"}}], [5], 5, [{"type": "text"}]):
        with pytest.raises(PromptError, match="no text"):
            tiny.generate([{"role": "user", "content": wrong}])


@pytest.mark.parametrize(("messages", "words"), [([], "empty"), ([{"role": "user"}], "no content"),
                                                 ([{"role": "tool", "content": None}], "no content")])
def test_messages_that_say_nothing(tiny: cd.LLM, messages: Any, words: str) -> None:
    with pytest.raises(PromptError, match=words):
        tiny.generate(messages)


def test_sampling_that_is_none(tiny: cd.LLM) -> None:
    with pytest.raises(cd.ConstrainedError, match="not dict"):
        tiny.generate("x", sampling={"temperature": 1})


def test_options_that_a_source_does_not_have() -> None:
    for options in ({"tokenizer": object()}, {"device": "cpu"}, {"quantized": True}, {"max_len": 10},
                    {"tool_format": "qwen3"}):
        with pytest.raises(SourceError, match=f"{next(iter(options))}="):
            cd.LLM("http://127.0.0.1:9/v1", **options)
    with pytest.raises(SourceError, match="tokenizer="):
        cd.LLM(tiny_model(), tokenizer=object())
    for length in (0, -1, 10**9):
        with pytest.raises(SourceError, match="max_len"):
            cd.LLM(tiny_model(), max_len=length)
    with pytest.raises(SourceError, match="max_batch"):
        cd.LLM(tiny_model(), max_batch=0)


def test_a_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no config\.json"):
        cd.LLM(str(tmp_path))
    (tmp_path / "some.gguf").write_bytes(b"GGUF")
    with pytest.raises(SourceError, match=r"'some\.gguf'"):
        cd.LLM(tmp_path)


def test_types_that_are_none(tiny: cd.LLM) -> None:
    for kind in (pydantic.BaseModel, list[pydantic.BaseModel], Callable[[], int], b"x"):
        with pytest.raises(AnnotationError) as caught:
            tiny.generate("x", kind)
        assert "unsupported=" not in str(caught.value) and caught.value.__cause__ is None
    assert str(caught.value).startswith("b'x' is no type")


def test_patterns_are_shown_as_they_were_written(tiny: cd.LLM) -> None:
    with pytest.raises(RegexError) as caught:
        tiny.generate("x", cd.Regex("ab(c"))
    assert "(?a)" not in str(caught.value) and "position 2" in str(caught.value)


def test_parameters_that_no_grammar_can_hold() -> None:
    def call_back(function: Callable[[], int]) -> str:
        """Call it."""
        return str(function())

    with pytest.raises(ToolError, match="call_back") as caught:
        cd.tool(call_back)
    assert "unsupported=" not in str(caught.value)


def test_arguments_have_little_whitespace(tiny: cd.LLM) -> None:
    """A model that likes blanks is not let run away with them."""
    @cd.tool
    def f(a: int) -> str:
        """Do it."""
        return str(a)

    for seed in range(4):
        result = tiny.chat("x", tools=[f], tool_choice="required", temperature=5.0, seed=seed, max_tokens=200)
        for one in result.message.tool_calls:  # type: ignore[union-attr]
            text = one.function.arguments
            assert not any(pair in text for pair in ("  ", "\t\t", "\n\n", " \n", "\n "))
