"""Traces: what they say agrees with the generation, and the page is safe whatever the model writes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import constrained as cd
from constrained.typed.errors import SourceError
from constrained.typed.trace import trace
from constrained.typed.trace_text import summary


def test_a_typed_generation(tiny: Any) -> None:
    seen = trace(tiny, "hello", dict[Literal["a", "b"], int], max_tokens=40, layers=2)
    assert seen.result.output == json.loads(seen.result.text)
    steps = seen.steps
    assert len(steps) == seen.result.usage.output_tokens
    assert sum(step.forced for step in steps) == seen.result.usage.forced_tokens
    assert seen.text.startswith(seen.result.text)
    for step in steps:
        assert 0 <= step.raw_probability <= step.probability + 1e-6 <= 1 + 2e-6
        assert 0 <= step.removed_mass <= 1 and 1 <= step.allowed <= seen.vocab_size
        assert step.raw_probability == pytest.approx(step.probability * (1 - step.removed_mass), abs=1e-4)
        assert sum(choice.probability for choice in step.alternatives) <= 1 + 1e-3
        assert all(choice.allowed for choice in step.alternatives)
        assert len(step.lens) == len(seen.layers) and step.seconds >= 0 and step.mask_seconds > 0
    assert any(not choice.allowed for step in steps for choice in step.wanted)
    # greedy: what came is the likeliest under the mask, wherever there was a choice and the budget did not steer
    free = [step for step in steps[:-8] if not step.forced]
    assert sum(step.alternatives[0].text == step.text for step in free) >= 0.8 * len(free)


def test_free_text(tiny: Any) -> None:
    seen = trace(tiny, "hello", None, max_tokens=5, layers=[1])
    assert len(seen.steps) <= 5 and seen.layers == (1,)
    for step in seen.steps:
        assert step.removed_mass == 0 and step.probability == step.raw_probability and not step.rules


def test_the_stages_of_the_sampler(tiny: Any) -> None:
    options = {"temperature": 1.3, "top_k": 5, "repetition_penalty": 1.2, "min_tokens": 2, "seed": 5}
    seen = trace(tiny, "hello", dict[Literal["a", "b"], int], max_tokens=40, layers=0, **options)
    chosen = [step for step in seen.steps if not step.forced]
    assert chosen and all(not step.stages for step in seen.steps if step.forced)
    for number, step in enumerate(seen.steps):
        if step.forced:
            continue
        names = [stage.name.removesuffix(" (lifted)") for stage in step.stages]
        early = ["min_tokens"] if number < 2 else []
        assert names == ["repetition_penalty 1.2", *early, "temperature 1.3", "top_k 5"]
        last = step.stages[-1]
        assert last.kept <= 5 and (last.probability > 0 or step.steered)
        assert sum(choice.probability for choice in last.top) == pytest.approx(1, abs=1e-3)
    assert "sampler: repetition_penalty 1.2, min_tokens, temperature 1.3, top_k 5" in str(seen)
    free = trace(tiny, "hello", None, max_tokens=5, layers=0)
    assert all([stage.name for stage in step.stages] == ["greedy"] for step in free.steps)
    assert all(step.stages[0].probability == 1 for step in free.steps)  # the same passes give the same numbers
    assert "sampler:" not in str(free)


def test_the_token_limit_is_seen(tiny: Any) -> None:
    seen = trace(tiny, "hello", str, max_tokens=8, layers=0)
    assert seen.result.finish_reason == "stop"
    assert any(step.steered for step in seen.steps) and not any(step.steered for step in seen.steps[:2])
    assert "the token limit steered" in str(seen)
    assert not any(step.steered for step in trace(tiny, "hello", Literal["a"], max_tokens=20, layers=0).steps)


def test_what_was_forced_before_the_first_choice(tiny: Any) -> None:
    seen = trace(tiny, "hello", tuple[Literal["name"], int], max_tokens=40, layers=0)
    text = "".join(step.text for step in seen.steps)
    assert text.startswith('["name", ') and seen.steps[0].forced
    assert sum(step.forced for step in seen.steps) == seen.result.usage.forced_tokens


def test_the_lens_at_the_last_layer_is_the_model(tiny: Any) -> None:
    deepest = tiny.engine.scheduler.model.config.n_layers
    for step in trace(tiny, "hello", int, max_tokens=8, layers=[deepest]).steps:
        assert step.lens[0].text == step.wanted[0].text
        assert step.lens[0].probability == pytest.approx(step.wanted[0].probability, rel=1e-3)


class Tags(HTMLParser):
    """Which elements a page has, and what they would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "action")]


def test_the_page(tiny: Any, tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028"
    seen = trace(tiny, evil, cd.Choice(evil, "b"), max_tokens=200, layers=1)
    path = seen.save(tmp_path / "trace.html")
    html = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(html)
    assert tags.tags.count("script") == 2 and "img" not in tags.tags and not tags.fetched
    assert "default-src 'none'" in html and "http" not in re.sub(r"http-equiv", "", html.split('id="data">')[0])
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    assert data == json.loads(seen.to_json())
    assert data["prompt"] == seen.prompt and len(data["steps"]) == len(seen.steps)
    assert json.loads(seen.save(tmp_path / "trace.json").read_text(encoding="utf-8")) == data


def test_as_text(tiny: Any) -> None:
    seen = trace(tiny, "hello", dict[Literal["name"], int], max_tokens=30, layers=0)
    shown = str(seen)
    assert shown.startswith(summary(seen)) and f"{len(seen.steps)} tokens" in shown
    if any(step.forced for step in seen.steps):
        assert "forced: " in shown
    assert not seen.layers and all(not step.lens for step in seen.steps)


@pytest.mark.parametrize("kind", [dict[Literal["a", "b"], int], None])
def test_a_generation_that_thinks_first(tiny: Any, tmp_path: Path, kind: Any) -> None:
    options = {"thinking": 6, "max_tokens": 40, "temperature": 1.0, "seed": 4, "top_k": 20}
    seen = trace(tiny, "hello", kind, layers=1, **options)
    assert seen.result.text == tiny.generate("hello", kind, **options).text
    thought = [step for step in seen.steps if step.thinking]
    answer = seen.steps[len(thought):]
    assert thought and answer and not any(step.thinking for step in answer)  # thoughts come first
    assert len(seen.steps) == seen.result.usage.output_tokens
    assert seen.prompt.endswith("<think>\n") and not any(step.before for step in seen.steps if step is not answer[0])
    assert answer[0].before.endswith("</think>\n\n")
    assert "".join(step.text for step in thought).startswith(seen.result.reasoning)
    assert all(step.removed_mass == 0 and not step.rules for step in thought)
    for step in answer:
        assert (step.allowed < seen.vocab_size) == (kind is not None)
        if not step.forced:  # drawn from what the sampler left of this prompt's own probabilities
            assert [stage.name for stage in step.stages] == ["top_k 20"]
            assert step.stages[-1].probability > 0 or step.steered
    assert [step.token_id for step in answer] == list(seen.result.token_ids)
    assert "think section" in str(seen) and "the answer begins" in str(seen)
    data = json.loads(seen.save(tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert [step["thinking"] for step in data["steps"]] == [step.thinking for step in seen.steps]


def test_what_cannot_be_traced(tiny: Any) -> None:
    with pytest.raises(SourceError, match="the model itself"):
        trace(cd.LLM("http://127.0.0.1:9/v1", model="m"), "hello", int)
