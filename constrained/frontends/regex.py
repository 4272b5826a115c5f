"""Regular expressions as grammars.

``from_regex`` reads a pattern and gives the ``RuleSet`` of the texts it accepts. What is characters, order,
choice and repetition becomes plain IR, counts as ``Repeat`` nodes; what needs assertions becomes a ``ByteDfa``.
"""

from __future__ import annotations

from constrained.errors import RegexError, UnsatisfiableGrammarError, echo
from constrained.grammar.ir import CharClass, Choice, Expr, Literal, RuleSet, Sequence
from constrained.grammar.ir import Repeat as IrRepeat
from constrained.limits import Limits
from constrained.regex.parse_python import parse_python
from constrained.regex.rewrite import has_assertions, is_nothing, simplify
from constrained.regex.syntax import Alternation, CharSet, Concat, Node, Repeat, Text, children, walk

__all__ = ["from_regex"]

ROOT = "root"


def from_regex(pattern: str, *, dialect: str = "python", limits: Limits | None = None) -> RuleSet:
    """The texts that ``pattern`` matches in full (``dialect="python"``).

    Raises RegexError (unreadable, or not regular; with the position), UnsatisfiableGrammarError (no text
    matches) and GrammarLimitError.
    """
    limits = limits or Limits()
    if dialect != "python":
        raise ValueError(f"dialect must be 'python', not {dialect!r}")
    tree = simplify(parse_python(pattern, limits))
    if is_nothing(tree):
        raise UnsatisfiableGrammarError(f"no text matches the pattern {echo(pattern)}")
    if has_assertions(tree):
        raise RegexError("an assertion", pattern=pattern,
                         position=next(n.position for n in walk(tree) if hasattr(n, "position")))
    return RuleSet({ROOT: plain_expression(tree)}, ROOT)


def plain_expression(root: Node) -> Expr:
    """The IR of a tree without assertions. Linear, with an explicit stack."""
    done: list[Expr] = []
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if isinstance(node, Text):
            done.append(Literal(node.chars.encode()))
        elif isinstance(node, CharSet):
            done.append(CharClass(node.ranges))
        elif not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children(node)))
        elif isinstance(node, Repeat):
            done.append(IrRepeat(done.pop(), node.minimum, node.maximum))
        else:
            count = len(children(node))
            parts = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            if isinstance(node, Concat):
                done.append(Sequence(parts) if parts else Literal(b""))
            else:
                assert isinstance(node, Alternation)
                done.append(Choice(parts))
    return done[0]
