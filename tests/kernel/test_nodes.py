"""The compiled nodes: values that nobody changes, freed without recursion, pickled as they are."""

from __future__ import annotations

import pickle
import threading

import pytest

from constrained.grammar.ir import ByteDfa, CharClass, Choice, Literal, Reference, Repeat, Sequence, Unordered
from constrained.kernel import uncompiled_modules

DEEP = 20_000
compiled = "constrained.kernel.nodes" not in uncompiled_modules()


def test_what_a_node_is_made_of() -> None:
    word = Literal(b"ab")
    group = Unordered((word,), frozenset({0}), Literal(b","), free=Reference("x"), minimum=1)
    assert (group.items, group.required, group.minimum, group.maximum) == ((word,), {0}, 1, None)
    assert isinstance(group.separator, Literal) and isinstance(group.free, Reference)
    assert group.separator.data == b"," and group.free.name == "x"
    assert Unordered((), frozenset(), word).free is None
    repeat = Repeat(word, 2, None)
    assert repeat.body is word and (repeat.minimum, repeat.maximum) == (2, None)
    assert repr(word) == "Literal(data=b'ab')"
    assert Sequence((word,)) != Sequence((word,))  # by identity


def test_a_node_survives_a_pickle() -> None:
    letters = CharClass(((97, 122),))
    automaton = ByteDfa((((97, 97, 1),), ()), frozenset({1}))
    again = pickle.loads(pickle.dumps(Choice((letters, Repeat(automaton, 0, 3)))))
    assert again.options[0].ranges == ((97, 122),)
    assert again.options[1].body.transitions == (((97, 97, 1),), ())
    assert again.options[1].body.accepting == {1}
    assert (again.options[1].minimum, again.options[1].maximum) == (0, 3)


@pytest.mark.skipif(not compiled, reason="uncompiled nodes are plain objects")
def test_compiled_nodes_are_read_only() -> None:
    node = Sequence((Literal(b"a"),))
    with pytest.raises(AttributeError):
        node.items = ()  # type: ignore[misc]


@pytest.mark.skipif(not compiled, reason="uncompiled, it is the interpreter that frees objects")
def test_deep_nodes_end_on_a_small_stack() -> None:
    def build_and_drop() -> None:
        node: Repeat | Sequence | Choice | Unordered = Repeat(Literal(b"a"), 1, 2)
        for k in range(DEEP):
            if k % 4 == 0:
                node = Repeat(node, 1, 2)
            elif k % 4 == 1:
                node = Sequence((node,))
            elif k % 4 == 2:
                node = Choice((node,))
            else:
                node = Unordered((), frozenset(), node)
        del node
        done.append(True)

    done: list[bool] = []
    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=build_and_drop)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert done
