"""Docstrings of tools in the three common forms."""

from __future__ import annotations

import pytest

from constrained.typed.docstrings import parse_docstring

GOOGLE = """Weather of a city.

    Looks it up.

    Args:
        city (str): its name,
            in English
        unit: C or F

    Returns:
        str: words
    """
NUMPY = """Weather of a city.

    Looks it up.

    Parameters
    ----------
    city : str
        its name,
        in English
    unit : {"C", "F"}, optional
        C or F

    Returns
    -------
    str
        words
    """
SPHINX = """Weather of a city.

    Looks it up.

    :param str city: its name,
        in English
    :param unit: C or F
    :type unit: str
    :returns: words
    :raises KeyError: never
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_the_same_in_three_forms(text: str) -> None:
    found = parse_docstring(text)
    assert found.description == "Weather of a city.\n\nLooks it up."
    assert found.parameters == {"city": "its name, in English", "unit": "C or F"}


@pytest.mark.parametrize(("text", "description", "parameters"), [
    (None, "", {}), ("", "", {}), ("One line.", "One line.", {}),
    ("Args: not a section.", "Args: not a section.", {}),
    ("Do.\n\nArgs:\n    x: a: b\n\nMore text.", "Do.\n\nMore text.", {"x": "a: b"}),
    ("Do.\n\nNote:\n    inside\n\nOutside.", "Do.\n\nOutside.", {}),
    ("Do.\n\nParameters\n----------\na, b : int\n    both", "Do.", {"a": "", "b": "both"}),
    ("Do.\n\nArgs:\n    *names: all of them", "Do.", {"names": "all of them"}),
    (":param x:", "", {"x": ""}),
])
def test_cases(text: str | None, description: str, parameters: dict[str, str]) -> None:
    found = parse_docstring(text)
    assert (found.description, found.parameters) == (description, parameters)
