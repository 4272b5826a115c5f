"""``CountedDfa`` and ``CountedGraph``: automata whose characters are counted.

A format or pattern beside ``minLength`` or ``maxLength`` is a product of its automaton and a counter: as many copies
as there are counts. Written out in Python it takes 10 us a state; ``kernel.rule_writer`` writes it from the automaton
and the bounds in 20 ns. To whoever does not know it, this is a ``ByteDfa`` like any other: its ``transitions`` are made
when they are asked for.

Where that product is too large it is made over characters (``kernel.counted_products``), a ``Graph`` whose edges are
arrays that the writer reads as they are.
"""

from __future__ import annotations

from typing import Any

from constrained.grammar.ir import ByteDfa, Expr, Graph
from constrained.kernel.counted_products import CountedProduct

__all__ = ["CountedDfa", "CountedGraph"]

_Rows = tuple[tuple[tuple[int, int, int], ...], ...]


class CountedDfa(ByteDfa):
    """The texts of ``inner`` of ``minimum`` to ``maximum`` characters (None: no end).

    A character ends where a state below ``boundary`` is entered; the others are in the middle of one.
    State ``s`` with ``n`` characters is ``n * len(inner.transitions) + s``; counts stop at ``top``.
    """

    __slots__ = ("_accepting", "_transitions", "boundary", "inner", "maximum", "minimum")

    inner: ByteDfa
    boundary: int
    minimum: int
    maximum: int | None
    _transitions: _Rows | None
    _accepting: frozenset[int] | None

    def __init__(self, inner: ByteDfa, boundary: int, minimum: int, maximum: int | None) -> None:
        values: dict[str, Any] = {"inner": inner, "boundary": boundary, "minimum": minimum, "maximum": maximum,
                                  "_transitions": None, "_accepting": None}
        for name, value in values.items():  # the base is frozen
            object.__setattr__(self, name, value)

    @property
    def top(self) -> int:
        """The largest count that is told apart."""
        return self.minimum if self.maximum is None else self.maximum

    @property
    def transitions(self) -> _Rows:
        """The rows of the product."""
        known = self._transitions
        if known is None:
            rows: list[tuple[tuple[int, int, int], ...]] = []
            size = len(self.inner.transitions)
            for count in range(self.top + 1):
                for row in self.inner.transitions:
                    found: list[tuple[int, int, int]] = []
                    for first, last, to in row:
                        after = count + (to < self.boundary)
                        if after > self.top and self.maximum is None:
                            after = self.top
                        if after <= self.top:
                            found.append((first, last, after * size + to))
                    rows.append(tuple(found))
            known = tuple(rows)
            object.__setattr__(self, "_transitions", known)
        return known

    @property
    def accepting(self) -> frozenset[int]:
        """The accepting states of the product."""
        known = self._accepting
        if known is None:
            size = len(self.inner.transitions)
            known = frozenset(count * size + state for count in range(self.minimum, self.top + 1)
                              for state in self.inner.accepting)
            object.__setattr__(self, "_accepting", known)
        return known


class CountedGraph(Graph):
    """The graph of a product: an edge that reads set ``i`` is one edge for each of ``labels[i]``.

    A label is a class of characters of one byte each, or a reference. ``edges`` and ``accepting`` are made when they
    are asked for.
    """

    __slots__ = ("_accepting", "_edges", "labels", "product")

    product: CountedProduct
    labels: tuple[tuple[Expr, ...], ...]
    _edges: tuple[tuple[tuple[Expr, int], ...], ...] | None
    _accepting: frozenset[int] | None

    def __init__(self, product: CountedProduct, labels: tuple[tuple[Expr, ...], ...]) -> None:
        values: dict[str, Any] = {"product": product, "labels": labels, "_edges": None, "_accepting": None}
        for name, value in values.items():  # the base is frozen
            object.__setattr__(self, name, value)

    @property
    def edges(self) -> tuple[tuple[tuple[Expr, int], ...], ...]:
        """The edges of each state."""
        known = self._edges
        if known is None:
            labels = self.labels
            known = tuple([tuple([(one, to) for read, to in self.product.row(state) for one in labels[read]])
                           for state in range(self.product.states())])
            object.__setattr__(self, "_edges", known)
        return known

    @property
    def accepting(self) -> frozenset[int]:
        """The accepting states."""
        known = self._accepting
        if known is None:
            known = self.product.accepting()
            object.__setattr__(self, "_accepting", known)
        return known

    def parts(self, most: int) -> tuple[Expr, ...]:
        """What edges read, each as often as it is read, at most ``most`` times."""
        return tuple([one for label, uses in zip(self.labels, self.product.uses(), strict=True)
                      for _ in range(min(uses, most)) for one in label])
