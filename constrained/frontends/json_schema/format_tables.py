"""Least automata of the formats, made from their patterns beforehand and kept as text in ``format_data``.

Making one takes up to 0.3 s (an IPv6 address in each URI), reading one 1 ms, and a test holds the two equal. After a
change of a pattern: ``python -m constrained.frontends.json_schema.format_tables`` writes the data anew.

Data: for each format the classes (``first-last`` joined by ``,``, in hexadecimal), then a line for each state: ``*``
where it accepts, and ``class>state`` for each class that goes on; all compressed (zlib) and in base 85.
"""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

from constrained.regex.charset import complement, normalise
from constrained.regex.dfa import DEAD, Dfa

__all__ = ["packed", "unpacked"]


def packed(dfa: Dfa) -> str:
    """``dfa`` as text. The class that leads nowhere is left out."""
    kept = [index for index in range(len(dfa.classes)) if any(row[index] != DEAD for row in dfa.rows)]
    lines = [" ".join(",".join(f"{first:x}-{last:x}" for first, last in dfa.classes[index]) for index in kept)]
    for state, row in enumerate(dfa.rows):
        moves = [f"{place:x}>{row[index]:x}" for place, index in enumerate(kept) if row[index] != DEAD]
        lines.append(" ".join(["*"] * (state in dfa.accepting) + moves))
    return base64.b85encode(zlib.compress("\n".join(lines).encode(), 9)).decode()


def unpacked(text: str) -> Dfa:
    """The automaton that ``packed`` wrote."""
    head, *lines = zlib.decompress(base64.b85decode(text)).decode().split("\n")
    classes = [tuple([(int(first, 16), int(last, 16)) for first, _, last in
                      (pair.partition("-") for pair in part.split(","))]) for part in head.split(" ")]
    rest = complement(normalise(pair for ranges in classes for pair in ranges))
    if rest:
        classes.append(rest)
    rows: list[tuple[int, ...]] = []
    accepting: list[int] = []
    for state, line in enumerate(lines):
        row = [DEAD] * len(classes)
        for word in line.split():
            if word == "*":
                accepting.append(state)
            else:
                place, _, target = word.partition(">")
                row[int(place, 16)] = int(target, 16)
        rows.append(tuple(row))
    return Dfa(tuple(classes), tuple(rows), frozenset(accepting))


def main() -> None:
    """Writes ``format_data.py`` beside this file."""
    from constrained.frontends.json_schema.formats import tabled

    lines = ['"""Automata of the formats, written by ``format_tables``."""', "", "from __future__ import annotations",
             "", '__all__ = ["DATA"]', "", "DATA = {"]
    for name, dfa in tabled():
        text = packed(dfa)
        lines.append(f'    "{name}": (')
        lines += [f"        {text[at : at + 100]!r}" for at in range(0, len(text), 100)]
        lines.append("    ),")
    Path(__file__).with_name("format_data.py").write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
