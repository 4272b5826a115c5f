"""What the documents say is so: the README's example runs, and every link between documents leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted((REPOSITORY / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def text_of(path: Path) -> str:
    if not path.exists():
        pytest.skip("not a checkout")
    return path.read_text(encoding="utf-8")


def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", text_of(REPOSITORY / "README.md"), re.DOTALL)
    exec(compile(blocks[0], "README.md", "exec"), {})
    promised = re.findall(r"print\(.*#\s*(.+)", blocks[0])
    assert promised
    assert capsys.readouterr().out.split("\n") == [*promised, ""]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    outside = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
    for link in LINK.findall(outside.sub("", text_of(path))):
        if "://" not in link:
            assert (path.parent / link).exists(), link


def test_the_commands_of_the_readme_exist() -> None:
    text = text_of(REPOSITORY / "README.md")
    assert (REPOSITORY / "scripts" / "test").stat().st_mode & 0o100
    extras = set(re.findall(r"'\.\[(\w+)\]'", text))
    import tomllib

    known = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extras and extras <= set(known["optional-dependencies"])
