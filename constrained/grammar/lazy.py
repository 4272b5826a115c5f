"""``LazyDfa``: an automaton over bytes whose states are found when a text meets them.

What is decided by a large number (a remainder) or by the whole of a short text (a punycode label) has a finite
automaton that nobody wants to write down. A ``LazySource`` is such an automaton as a few functions of its states, which
may be any hashable values; the engine (``kernel.lazy_positions``) asks them and remembers the answers. To whoever does
not know it, a ``LazyDfa`` is a ``ByteDfa`` whose rows come into being when they are indexed.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol, runtime_checkable

from constrained.grammar.ir import ByteDfa

__all__ = ["LazyDfa", "LazySource"]

Ranges = tuple[tuple[int, int], ...]


@runtime_checkable
class LazySource(Protocol):
    """A deterministic automaton over bytes. From every state that it names, some text must lead to an end.

    Sources are values: equal ones (``==``, ``hash``) are the same automaton, and they can be pickled.
    """

    @property
    def alphabet(self) -> bytes:
        """Every byte that is read anywhere."""

    def start(self) -> Hashable:
        """The first state."""

    def reads(self, state: Any) -> Ranges:
        """The bytes that may be read: sorted, disjoint ``(first, last)``. ``step`` may still say None for some, but
        not for all, unless the state accepts."""

    def step(self, state: Any, byte: int) -> Hashable | None:
        """The state after one of these bytes; None if no text goes on so."""

    def accepts(self, state: Any) -> bool:
        """Whether a text may end here. The first state must not accept and read on."""

    def left(self, state: Any) -> int:
        """Bytes of some text from here to an end, 0 where one is; some next byte leads to a state with fewer."""


class _Rows:
    """``rows[s]``: the row of state number ``s``, a byte at a time. States are numbered as they are met."""

    def __init__(self, source: LazySource) -> None:
        self.source = source
        self.states: list[Any] = [source.start()]
        self.numbers: dict[Any, int] = {self.states[0]: 0}
        self.rows: dict[int, tuple[tuple[int, int, int], ...]] = {}

    def __getitem__(self, number: int) -> tuple[tuple[int, int, int], ...]:
        known = self.rows.get(number)
        if known is None:
            state = self.states[number]
            found: list[tuple[int, int, int]] = []
            for first, last in self.source.reads(state):
                for byte in range(first, last + 1):
                    after = self.source.step(state, byte)
                    if after is None:
                        continue
                    to = self.numbers.setdefault(after, len(self.states))
                    if to == len(self.states):
                        self.states.append(after)
                    found.append((byte, byte, to))
            known = self.rows[number] = tuple(found)
        return known


class _Accepting:
    """``s in accepting`` for the numbers of ``_Rows``."""

    def __init__(self, rows: _Rows) -> None:
        self.rows = rows

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.rows.source.accepts(self.rows.states[number])


class LazyDfa(ByteDfa):
    """The texts of ``source``."""

    __slots__ = ("_rows", "source")

    source: LazySource
    _rows: _Rows | None

    def __init__(self, source: LazySource) -> None:
        object.__setattr__(self, "source", source)  # the base is frozen
        object.__setattr__(self, "_rows", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyDfa, (self.source,)

    @property
    def transitions(self) -> Any:
        """The rows, to be indexed by state."""
        if self._rows is None:
            object.__setattr__(self, "_rows", _Rows(self.source))
        return self._rows

    @property
    def accepting(self) -> Any:
        """To be asked for states that were met."""
        return _Accepting(self.transitions)
