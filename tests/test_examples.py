"""Every example runs with the built-in model, and what it returns is what it promises."""

from __future__ import annotations

import importlib
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from tests.typed.models import smollm2

__all__ = ["smollm2"]

EXAMPLES = sorted(path.stem for path in (Path(__file__).parent.parent / "examples").glob("*.py"))


def example(name: str) -> Any:
    return importlib.import_module(f"examples.{name}")


def test_every_example_has_a_test() -> None:
    """Here, or in a test that names its file."""
    others = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name in EXAMPLES if f"test_{name}" not in globals() and f"{name}.py" not in others] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_stands_alone(name: str) -> None:
    """``python examples/NAME.py`` has the folder of the examples on its path, and not the repository's."""
    text = (Path(__file__).parent.parent / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert not re.search(r"^\s*(from|import) (examples|tests|benchmarks)\b", text, re.MULTILINE)


def test_extract(smollm2: Any) -> None:
    people = example("extract").main(smollm2)
    assert [person.profession for person in people] == ["mathematician", "chemist"]
    assert people[0].name == "Ada Lovelace"


def test_classify(smollm2: Any) -> None:
    found = example("classify").main(smollm2)
    assert len(found) == 2 and all(one in example("classify").Sentiment for one in found)


def test_sql_agent(smollm2: Any) -> None:
    run = example("sql_agent").main(smollm2)
    assert [call.function.name for call in run.steps[0].tool_calls] == ["population"]
    assert run.steps[0].results[0].error is None and len(run.steps) == 2
    assert run.output.city in ("Rome", "Paris", "Oslo") and run.usage.forced_tokens > 10


def test_sql_grammar(smollm2: Any) -> None:
    assert isinstance(example("sql_grammar").main(smollm2), list)


def test_stream(smollm2: Any) -> None:
    stages = example("stream").main(smollm2)
    assert set(stages[-1]) == {"title", "minutes", "ingredients"} and len(stages) >= 5
    for before, after in pairwise(stages):
        assert before.keys() <= after.keys() and all(
            after[key][: len(value)] == value if isinstance(value, list) else after[key] == value
            for key, value in before.items())


def test_batch(smollm2: Any) -> None:
    person, wet, phone, free = (result.output for result in example("batch").main(smollm2))
    assert person.name and wet in ("yes", "no") and re.fullmatch("[0-9]{3}-[0-9]{4}", phone) and isinstance(free, str)


def test_tictactoe(smollm2: Any) -> None:
    moves = example("tictactoe").main(smollm2)
    assert 5 <= len(moves) <= 9 and len(set(moves)) == len(moves)


def test_extract_jsonl(smollm2: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = ["A used bicycle for 120 euros.", "New headphones, only 35 dollars!", "Old lamp, 5 euros."]
    source.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts[:2])))
    assert example("extract_jsonl").main(source, target, smollm2) == 2
    source.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)))
    assert example("extract_jsonl").main(source, target, smollm2) == 1
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["id"] for row in rows] == [0, 1, 2] and set(rows[0]) == {"id", "name", "price", "used"}


@pytest.mark.parametrize("page", ["README.md", "docs/typed.md"])
def test_what_the_pages_promise_of_the_built_in_model(smollm2: Any, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import pydantic

    import constrained

    path = Path(__file__).parent.parent / page
    if not path.exists():
        pytest.skip("not a checkout")
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [one for one in blocks if "@llm.fn" in one and "extract(" in one]
    *lines, call = block.strip().splitlines()
    asked, promised = call.split("#", 1)
    monkeypatch.setattr(constrained, "LLM", lambda: smollm2)
    names: dict[str, Any] = {"cd": constrained, "Person": pydantic.create_model("Person", name=str, age=int)}
    exec(compile("\n".join(lines), page, "exec", dont_inherit=True), names)
    assert repr(eval(asked, names)) == promised.strip()
