"""Docstrings of tools: what the function does, and what its parameters are, in Google's, NumPy's or Sphinx's form.

    Google                     NumPy                      Sphinx
    Args:                      Parameters                 :param str city: its name
        city (str): its name   ----------                 :returns: the weather
    Returns:                   city : str
        the weather                its name

Read line by line; a description may go on over indented lines. What belongs to no known section is description.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

__all__ = ["ParsedDocstring", "parse_docstring"]

_PARAMETERS = {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"}
_OTHERS = {"returns", "return", "yields", "yield", "raises", "raise", "examples", "example", "note", "notes", "warning",
           "warnings", "warns", "see also", "references", "attributes", "todo", "receives"}
_GOOGLE_ENTRY = re.compile(r"(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_SPHINX_PARAM = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?(\*{0,2}\w+)\s*:\s*(.*)")
_SPHINX_OTHER = re.compile(r":(?:returns?|rtype|raises?|type|yields?|var|ivar|cvar)\b[^:]*:\s*(.*)")


@dataclass(slots=True)
class ParsedDocstring:
    """``description`` without the sections; ``parameters``: names to their descriptions, in order."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def parse_docstring(text: str | None) -> ParsedDocstring:
    """Never raises: what cannot be told apart is description."""
    lines = inspect.cleandoc(text or "").split("\n")
    found = ParsedDocstring()
    description: list[str] = []
    section: str | None = None  # None: description; "" : a section that is left out; else parameters
    name: str | None = None
    entry_indent = -1
    numpy = False
    at = 0
    while at < len(lines):
        line = lines[at]
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        heading, size, underlined = _heading(lines, at)
        sphinx = _SPHINX_PARAM.match(stripped)
        if heading is not None and indent == 0:
            section, numpy = ("parameters" if heading in _PARAMETERS else ""), underlined
            name, entry_indent = None, -1
            at += size
            continue
        if sphinx:
            section, name, entry_indent, numpy = "sphinx", sphinx.group(1).lstrip("*"), indent, False
            found.parameters[name] = sphinx.group(2)
        elif _SPHINX_OTHER.match(stripped):
            section, name = "", None
        elif section is None:
            description.append(line)
        elif section == "":
            if stripped and indent == 0 and not numpy and at and not lines[at - 1].strip():
                section = None  # flush left after a blank line: Google's section has ended
                description.append(line)
        elif section == "sphinx":
            if name is not None and stripped and indent > entry_indent:
                _add(found, name, stripped)
            elif stripped:
                section = None
                description.append(line)
        elif stripped:
            if not numpy and indent == 0:  # Google's entries are indented
                section = None
                description.append(line)
            else:
                entry = (_NUMPY_ENTRY if numpy else _GOOGLE_ENTRY).match(stripped)
                if entry and (entry_indent < 0 or indent <= entry_indent):
                    entry_indent = indent
                    names = [one.strip().lstrip("*") for one in entry.group(1).split(",")]
                    for one in names:
                        found.parameters[one] = "" if numpy else entry.group(2)
                    name = names[-1]
                elif name is not None:
                    _add(found, name, stripped)
        at += 1
    found.description = "\n".join(description).strip()
    return found


def _heading(lines: list[str], at: int) -> tuple[str | None, int, bool]:
    """A section's name in lower case, the lines it takes, and whether it is underlined (NumPy)."""
    word = lines[at].strip()
    following = lines[at + 1].strip() if at + 1 < len(lines) else ""
    known = _PARAMETERS | _OTHERS
    if word.lower() in known and len(following) >= 3 and set(following) == {"-"}:
        return word.lower(), 2, True
    if word.endswith(":") and word[:-1].lower() in known:
        return word[:-1].lower(), 1, False
    return None, 0, False


def _add(found: ParsedDocstring, name: str, text: str) -> None:
    found.parameters[name] = f"{found.parameters[name]} {text}".strip()
