# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Decimal numbers counted by remainder, as blocks and tables: rows that are nothing but arithmetic.

``size`` is what the digits read so far are counted by; reading digit ``d`` after remainder ``r`` leaves
``(10 r + d) % size``. Cost: 5 ns an edge.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.blocks import Block
    from cython.cimports.constrained.kernel.dfa_tables import Table
    from cython.cimports.constrained.kernel.memory import grow_int
else:
    from constrained.kernel.blocks import Block
    from constrained.kernel.dfa_tables import Table
    from constrained.kernel.memory import grow_int

ZERO = cython.declare(cython.int, 0x30)
POINT = cython.declare(cython.int, 0x2E)


@cython.cfunc
@cython.exceptval(check=False)
def _digit(block: Block, at: cython.int, digit: cython.int, to: cython.int) -> cython.int:
    block.lo[at] = ZERO + digit
    block.hi[at] = ZERO + digit
    block.to[at] = to
    return at + 1


@cython.cfunc
@cython.exceptval(check=False)
def _point(block: Block, at: cython.int, to: cython.int) -> cython.int:
    block.lo[at] = POINT
    block.hi[at] = POINT
    block.to[at] = to
    return at + 1


@cython.cfunc
@cython.exceptval(-1, check=False)
def _finish(block: Block, edges: cython.int, accepting: frozenset) -> cython.int:
    i: cython.int = 0
    state: cython.int
    block.first[block.n] = edges
    block.edges = edges
    for state in accepting:
        block.final[i] = state
        i += 1
    block.measure()
    return 0


def magnitude_block(size: cython.int, scale: cython.int, places: cython.int, accepting: frozenset) -> Block:
    """Unsigned numbers without exponent. State 0 starts, 1 follows a zero, ``2 + r`` other whole numbers; behind the
    point ``2 + size + p * size + r``, for ``p`` places from 0 to ``places``, where further ones are alike.

    Up to ``scale`` places hold digits that count, those after are zeros. ``places`` 0: there is no point.
    ``2 + size * (places + 2)`` must be below 2**27.
    """
    block: Block = Block()
    n: cython.int = 2 + size + (size * (places + 1) if places > 0 else 0)
    tail: cython.int = 2 + size
    r: cython.int
    p: cython.int
    d: cython.int
    to: cython.int
    e: cython.int = 0
    block._room(n, 11 * n, cython.cast(cython.int, len(accepting)))
    block.first[0] = 0
    e = _digit(block, e, 0, 1)
    for d in range(1, 10):
        e = _digit(block, e, d, 2 + d % size)
    block.first[1] = e
    if places > 0:
        e = _point(block, e, tail)
    for r in range(size):
        block.first[2 + r] = e
        if places > 0:
            e = _point(block, e, tail + r)
        for d in range(10):
            e = _digit(block, e, d, 2 + (10 * r + d) % size)
    if places > 0:
        for p in range(places + 1):
            to = tail + (p + 1 if p < places else p) * size
            for r in range(size):
                block.first[tail + p * size + r] = e
                if p >= scale:
                    e = _digit(block, e, 0, to + r)
                    continue
                for d in range(10):
                    e = _digit(block, e, d, to + (10 * r + d) % size)
    _finish(block, e, accepting)
    return block


def mantissa_block(moduli: list, accepting: frozenset) -> Block:
    """``d.ddd`` counted by the modulus of its place. State 0 starts, ``1 + r`` follows one digit; behind the point a
    block of remainders for each place, ``moduli[0]`` for none. All moduli together must be below 2**27.
    """
    block: Block = Block()
    size: cython.int = moduli[0]
    n: cython.int = 1 + size
    after: cython.int
    base: cython.int
    place: cython.int
    r: cython.int
    d: cython.int
    e: cython.int = 0
    for after in moduli:
        n += after
    block._room(n, 10 * n, cython.cast(cython.int, len(accepting)))
    block.first[0] = 0
    for d in range(1, 10):
        e = _digit(block, e, d, 1 + d % size)
    for r in range(size):
        block.first[1 + r] = e
        e = _point(block, e, 1 + size + r)
    base = 1 + size
    for place in range(1, len(moduli)):
        after = moduli[place]
        for r in range(size):
            block.first[base + r] = e
            for d in range(10):
                e = _digit(block, e, d, base + size + (10 * r + d) % after)
        base += size
        size = after
    for r in range(size):
        block.first[base + r] = e
    _finish(block, e, accepting)
    return block


def blank_table(states: cython.int, k: cython.int) -> Table:
    """A table of so many states over ``k`` classes that lead nowhere yet. ``states * k`` must be below 2**31."""
    i: cython.int
    table: Table = Table((), k)
    table.n = states
    table.next = grow_int(table.next, states * k + 1)
    if not table.next:
        raise MemoryError
    for i in range(states * k):
        table.next[i] = -1
    return table


def lead_digits(table: Table, row: cython.int, first: cython.int, count: cython.int, to: cython.int,
                size: cython.int) -> None:
    """Digits (classes 0 to 9) of rows ``row`` on, those of the remainders ``first`` to ``first + count - 1``: they lead
    to ``to`` plus the new remainder by ``size``."""
    i: cython.int
    d: cython.int
    left: cython.int
    at: cython.int
    for i in range(count):
        at = (row + i) * table.k
        left = cython.cast(cython.int, cython.cast(cython.longlong, first + i) * 10 % size)
        for d in range(10):
            table.next[at + d] = to + left
            left += 1
            if left == size:
                left = 0


def lead_ends(table: Table, row: cython.int, first: cython.int, count: cython.int, to: cython.int,
              size: cython.int) -> None:
    """As ``lead_digits``, but only digits that leave no remainder lead on, all to state ``to``."""
    i: cython.int
    d: cython.int
    left: cython.longlong
    for i in range(count):
        left = cython.cast(cython.longlong, first + i) * 10
        for d in range(10):
            if (left + d) % size == 0:
                table.next[(row + i) * table.k + d] = to


def lead(table: Table, row: cython.int, column: cython.int, to: cython.int) -> None:
    """One cell."""
    table.next[row * table.k + column] = to


def add_row(table: Table, row: list) -> None:
    """One state more, the last."""
    j: cython.int
    table.next = grow_int(table.next, (table.n + 1) * table.k + 1)
    if not table.next:
        raise MemoryError
    for j in range(table.k):
        table.next[table.n * table.k + j] = row[j]
    table.n += 1
