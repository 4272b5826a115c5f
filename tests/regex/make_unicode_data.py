"""Adds to ``constrained/regex/unicode_data.py`` what this Python knows of code points; run by hand after a new version.

python -m tests.regex.make_unicode_data
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

from constrained.frontends.json_schema.formats_idn import kinds_of_characters
from constrained.regex import unicode_data
from constrained.regex.unicode import categories_of_characters, classes_of_characters
from constrained.regex.unicode_runs import packed_runs


def main() -> None:
    kinds = {
        "categories": categories_of_characters(),
        "classes": classes_of_characters(),
        "idn": kinds_of_characters(),
    }
    texts = {kind: packed_runs(labels) for kind, labels in kinds.items()}
    lines = [
        '"""Properties of code points by version of Unicode, written by ``tests/regex/make_unicode_data.py``."""',
        "",
        "from __future__ import annotations",
        "",
        '__all__ = ["RUNS"]',
        "",
        "RUNS: dict[str, dict[str, str]] = {",
    ]
    for version, known in sorted({**unicode_data.RUNS, unicodedata.unidata_version: texts}.items()):
        lines.append(f'    "{version}": {{')
        for kind, text in known.items():
            pieces = [f"            {text[at : at + 96]!r}" for at in range(0, len(text), 96)]
            lines += [f'        "{kind}": (', *pieces, "        ),"]
        lines.append("    },")
    Path(unicode_data.__file__).write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
