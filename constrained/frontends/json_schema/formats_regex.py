r"""The format ``regex``: patterns of ECMA-262 with the flag u, as far as a small regular language can say them.

Groups nest to a depth, written out; the grammar is that of ECMA-262, section "Patterns". What depends on an order of
numbers or characters (``{2,1}``, ``[b-a]``) is offered where few digits decide it. What depends on the rest of the
pattern is offered where that is little to remember: a group with a name is the only one of a plain pattern, and
``\k<...>`` follows where that name is a letter.
"""

from __future__ import annotations

import string

__all__ = ["ecma_pattern"]

DEPTH = 3

_CATEGORY = "(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfon]?)"
_SYNTAX = r"^$\\.*+?()\[\]{}|/"


def _quantifier() -> str:
    ordered = [f"{first},[{first + 1}-9]" for first in range(9)]
    ordered.append("[0-9],[1-9][0-9]")
    return rf"(?:(?:[*+?]|\{{(?:[1-9]?[0-9],?|{'|'.join(ordered)})\}})\??)"


def ecma_pattern() -> str:
    """The language, in Python's syntax."""
    code = (r"(?:x[0-9A-Fa-f]{2}|c[A-Za-z]"
            r"|u(?:[0-9A-Ca-cE-Fe-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|\{0*[0-9A-Fa-f]{1,5}\}))")
    shorthand = rf"(?:[dDsSwW]|[pP]\{{{_CATEGORY}\}})"
    escape = rf"\\(?:[fnrtv{_SYNTAX}]|{shorthand}|{code})"
    single = rf"(?:[^\\\]^-]|\\(?:[bfnrtv{_SYNTAX}-]|{code}))"
    ranges = r"(?:0-[1-9]|1-[2-9]|a-[b-z]|A-[B-Z])"
    # A hyphen stands at an end, and no single character stands before one that would make a range of it.
    charset = rf"\[\^?(?:-?(?:{single}|\^(?!\])|\\{shorthand}|{ranges})*)?-?\]".replace(r"\^(?!\])|", "")
    atom = rf"(?:[^{_SYNTAX}]|\.|{escape}|{charset})"
    quantifier = _quantifier()
    level = flat = rf"(?:{atom}{quantifier}?|[$^|]|\\[bB])*"
    for _ in range(DEPTH):
        # A look-around takes no quantifier; with groups in it, their ends would be of two kinds at each depth.
        group = rf"\((?:(?:\?:)?{level}\){quantifier}?|\?(?:[=!]|<[=!]){flat}\))"
        level = rf"(?:{atom}{quantifier}?|[$^|]|\\[bB]|{group})*"
    # A plain pattern with one group, which has a name; it is referred to where it stands first, named by a letter.
    simple = rf"(?:[^{_SYNTAX}]|\.|\\[dDsSwW])[*+?]?"
    named = rf"\^?(?:{simple})*\(\?<[$_A-Za-z][$_A-Za-z0-9]*>(?:{simple})*\)[*+?]?(?:{simple})*\$?"
    referred = "|".join(rf"\(\?<{name}>(?:{simple})*\)[*+?]?(?:{simple}|\\k<{name}>[*+?]?)*\$?"
                        for name in string.ascii_lowercase)
    return f"(?s:{level}|{named}|{referred})"
