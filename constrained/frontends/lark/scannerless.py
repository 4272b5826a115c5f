"""What a terminal reads without a lexer: every end that lark's ``dynamic_complete`` finds.

lark takes ``re.match`` at a place, and again with the text cut off behind each shorter end. A text is found by one of
these exactly if the pattern's *first* match of that text alone is the whole of it (a preferred match that is cut off
fails; one that is not was found longer). So a terminal reads ``{w: re.match(T, w) is all of w}``, an atomic group: of
``/a|ab/`` just ``a``, of ``/a+?/`` just one a. A terminal that looks ahead is refused: lark shows it a cut-off text.
"""

from __future__ import annotations

from constrained.errors import GrammarLimitError, RegexError
from constrained.grammar.ir import Expr
from constrained.limits import Limits
from constrained.regex.determinise import determinise
from constrained.regex.dfa import minimise
from constrained.regex.rewrite import is_nothing
from constrained.regex.syntax import Atomic, CharSet, Concat, Node, Repeat, Text

from ..regex import plain_expression
from ..text import Source
from .lexing import text_expression
from .load import Terminal
from .patterns import looks_ahead, refuse

__all__ = ["whole_match"]


def whole_match(terminal: Terminal, tree: Node, source: Source, limits: Limits) -> Expr | None:
    """The IR of the texts that the terminal's first match takes whole; None if there are none."""
    if looks_ahead(tree):
        refuse(terminal, source, "it looks ahead, which without a lexer sees a text that is cut off",
               'leave the look-ahead out, or read the grammar with mode="lexer"')
    if is_nothing(tree):
        return None
    if _takes_all(tree):
        return plain_expression(tree)
    try:
        dfa = minimise(determinise(Atomic(tree, 0), limits, terminal.pattern))
    except RegexError as error:
        refuse(terminal, source, str(error).split(" at position")[0], error.hint)
    except GrammarLimitError as error:
        raise GrammarLimitError(error.limit, error.value, f"terminal {terminal.shown} needs too many states") from None
    return text_expression(dfa, limits) if dfa.accepting else None


def _takes_all(tree: Node) -> bool:
    """Whether the first match of every text of the pattern is surely the whole of it: one greedy repetition of single
    characters, after characters. Such counts stay counters."""
    items = tree.items if isinstance(tree, Concat) else (tree,)
    last = items[-1] if items else None
    return (all(isinstance(item, (Text, CharSet)) for item in items[:-1])
            and (isinstance(last, (Text, CharSet))
                 or (isinstance(last, Repeat) and not last.lazy and isinstance(last.body, CharSet))))
