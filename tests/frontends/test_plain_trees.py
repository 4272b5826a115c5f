"""Trees as expressions: which characters JSON spells in one way, and that the order of parts is kept."""

from __future__ import annotations

from constrained.frontends.plain_trees import json_leaf, plain_expression
from constrained.grammar.ir import CharClass, Choice, Literal, Repeat, Sequence
from constrained.kernel import nodes
from constrained.regex.syntax import EMPTY, Alternation, CharSet, Concat, Text
from constrained.regex.syntax import Repeat as TreeRepeat

OTHERS = Literal(b"others")


def test_plain_characters_of_json() -> None:
    leaf = json_leaf(lambda node: OTHERS)
    plain = {code for code in range(0x300) if 0x20 <= code <= 0x7E and chr(code) not in '"\\'}
    for code in range(0x300):
        text, one = Text("a" + chr(code)), CharSet(((code, code),))
        assert (leaf(text) is not OTHERS) == (leaf(one) is not OTHERS) == (code in plain)
        for first in range(max(code - 3, 0), code):
            wide = CharSet(((0x30, 0x31), (first, code)))
            assert (leaf(wide) is not OTHERS) == plain.issuperset(range(first, code + 1))
    found = leaf(Text("ab"))
    assert isinstance(found, Literal) and found.data == b"ab"


def test_parts_stay_in_their_order() -> None:
    a, b, c, d = (Text(char) for char in "abcd")
    digit = CharSet(((0x30, 0x39),))
    tree = Concat((Alternation((Concat((a, b)), TreeRepeat(Concat((c, digit, d)), 2, None), EMPTY)), digit, a))
    found = plain_expression(tree)
    assert isinstance(found, Sequence)
    choice, one, last = found.items
    assert isinstance(choice, Choice) and isinstance(one, CharClass) and isinstance(last, Literal)
    pair, loop, empty = choice.options
    assert isinstance(pair, Sequence) and isinstance(loop, Repeat) and isinstance(empty, Literal)
    assert (loop.minimum, loop.maximum, empty.data, last.data) == (2, None, b"", b"a")
    assert isinstance(loop.body, Sequence)
    assert [item.data if isinstance(item, nodes.Literal) else item for item in (*pair.items, *loop.body.items)] == [
        b"a", b"b", b"c", one, b"d"]
    assert plain_expression(a) is last
