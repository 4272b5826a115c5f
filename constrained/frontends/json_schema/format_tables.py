"""Least automata of the formats, and that of numbers, made from their patterns beforehand and kept as text in
``format_data``.

Making one takes up to 0.3 s (an IPv6 address in each URI), reading one 20-100 us, and a test holds the two equal. After
a change of a pattern: ``python -m constrained.frontends.json_schema.format_tables`` writes the data anew.

Data: the classes (``first-last`` joined by ``,``, in hexadecimal) as a line, then a table of 16-bit numbers, low byte
first, column by column: for each class the next state of every state (-1: dead), then whether it accepts; all
compressed (zlib) and in base 64. Cost of reading: 3 ns a state and class.
"""

from __future__ import annotations

import binascii
import zlib
from pathlib import Path

import numpy as np

from constrained.kernel.dfa_tables import table_of_columns
from constrained.regex.charset import complement, normalise
from constrained.regex.dfa import DEAD, Dfa

__all__ = ["packed", "unpacked"]


def packed(dfa: Dfa) -> str:
    """``dfa``, the least one of its language, as text. The class that leads nowhere is left out.

    Raises OverflowError beyond 32,767 states.
    """
    if len(dfa.rows) > 0x7FFF:
        raise OverflowError("an automaton of a format has more states than 16 bits number")
    kept = [index for index in range(len(dfa.classes)) if any(row[index] != DEAD for row in dfa.rows)]
    head = " ".join(",".join(f"{first:x}-{last:x}" for first, last in dfa.classes[index]) for index in kept)
    table = np.array([[row[index] for row in dfa.rows] for index in kept]
                     + [[int(state in dfa.accepting) for state in range(len(dfa.rows))]], dtype="<i2")
    return binascii.b2a_base64(zlib.compress(head.encode() + b"\n" + table.tobytes(), 9), newline=False).decode()


def unpacked(text: str) -> Dfa:
    """The automaton that ``packed`` wrote."""
    head, _, body = zlib.decompress(binascii.a2b_base64(text)).partition(b"\n")
    classes = [tuple([(int(first, 16), int(last, 16)) for first, _, last in
                      [pair.partition("-") for pair in part.split(",")]]) for part in head.decode().split(" ")]
    count = len(classes)
    rest = complement(normalise(pair for ranges in classes for pair in ranges))
    if rest:
        classes.append(rest)
    table, accepting = table_of_columns(body, count, bool(rest))
    return Dfa(tuple(classes), table, accepting, least=True)


def main() -> None:
    """Writes ``format_data.py`` beside this file."""
    from constrained.frontends.json_schema.formats import tabled
    from constrained.frontends.json_schema.number_texts import canonical_numbers

    lines = ['"""Automata of the formats and of numbers, written by ``format_tables``."""', "",
             "from __future__ import annotations", "", '__all__ = ["DATA", "NUMBERS"]', "", "DATA = {"]
    for name, dfa in tabled():
        lines += [f'    "{name}": (', *_wrapped(packed(dfa), 8), "    ),"]
    lines += ["}", "", "#: ``number_texts.canonical_numbers``.", "NUMBERS = (",
              *_wrapped(packed(canonical_numbers()), 4), ")", ""]
    Path(__file__).with_name("format_data.py").write_text("\n".join(lines), encoding="utf-8")


def _wrapped(text: str, margin: int) -> list[str]:
    return [f"{' ' * margin}{text[at : at + 100]!r}" for at in range(0, len(text), 100)]


if __name__ == "__main__":
    main()
