"""Recorded coverage: a file beside the test, so that a change of what is enforced shows up in review.

``constrain(T).coverage_is_as_recorded()`` compares with ``__coverage__/<test>.json``; ``pytest --update-coverage`` is
what writes it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from constrained.frontends.json_schema.coverage import CoverageReport

__all__ = ["compare", "file_name"]


def file_name(test_id: str) -> str:
    """A name for the recording of one test: its own, with what file systems do not like replaced."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", test_id.rsplit("::", 1)[-1]).strip("-") + ".json"


def compare(report: CoverageReport, path: Path, *, update: bool) -> None:
    """Raise ``AssertionError`` where ``report`` is not what was recorded; ``update`` records it."""
    found = {entry.pointer: f"{entry.status}: {entry.reason}" if entry.reason else entry.status
             for entry in sorted(report.entries, key=lambda entry: entry.pointer)}
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    if not path.exists():
        raise AssertionError(f"nothing is recorded in {path.name}: run pytest --update-coverage and commit the file")
    recorded: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    if recorded == found:
        return
    lines = [f"  {pointer or '/'}: recorded {recorded.get(pointer, 'nothing')!r}, now {found.get(pointer, 'nothing')!r}"
             for pointer in sorted(recorded.keys() | found.keys()) if recorded.get(pointer) != found.get(pointer)]
    raise AssertionError(f"coverage is not what {path.name} says (pytest --update-coverage records it anew):\n"
                         + "\n".join(lines[:20]))
