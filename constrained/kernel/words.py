# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Long literals: the passes of lowering see two of their positions, however many bytes they have.

Most positions of a grammar spell a text, a key of an object, say: each reads one byte and leads to the next, and no
pass has anything to find out about them. So a literal of ``WORD`` bytes or more is a *word* in the network: its first
byte leads to a *door*, as that of an annex (``kernel.annexes``) whose byte edges nobody sees, and the span that the
door names (``sp_top`` -3) holds all bytes and where the last one leads. ``Program`` writes the others; their positions
come behind all positions of the network and before those of annexes.

Nothing is written so where a pass must see all edges (guards, left recursion, bytes that no token can spell).
Cost: 2 ns a byte.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.network import Network
else:
    from constrained.kernel.network import Network

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

WORD = cython.declare(cython.int, 5)
"""Bytes of a literal from which on a door and a span take less than its positions."""


@cython.cfunc
@cython.exceptval(-1, check=False)
def add_word(net: Network, data: bytes, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
    """``Network.add_literal`` for ``WORD`` bytes or more; the positions count as there."""
    text: cython.p_const_uchar = data
    door: cython.int
    size: cython.Py_ssize_t = len(data) - 2  # positions that are not here
    if size > net.most - net.n:
        raise NetworkTooLarge
    net.most -= cython.cast(cython.int, size)
    door = net.add_position(origin)
    net.add_edge(start, 0, text[0], text[0], door)
    net.head[4 * door] = -2 - net.add_span(door, 1, end, data, 0, 0, -3)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def collect_word(data: bytes, alone: cython.p_uint) -> cython.int:
    """Put the bytes that a word's door and what is behind it read into the set ``alone``."""
    text: cython.p_const_uchar = data
    i: cython.Py_ssize_t
    byte: cython.int
    for i in range(1, len(data)):
        byte = text[i]
        alone[byte >> 5] |= cython.cast(cython.uint, 1) << (byte & 31)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def place_words(net: Network, first: cython.int) -> cython.int:
    """Number the positions behind doors from ``first`` on: ``sp_size`` becomes each word's first. How many they are."""
    data: bytes
    k: cython.int
    at: cython.int = first
    for k in range(net.n_spans):
        if net.sp_top[k] == -3:
            net.sp_size[k] = at
            if not (net.has_dead and net.p_dead[net.sp_base[k]]):
                data = net.blocks[k]
                at += cython.cast(cython.int, len(data)) - 2
    return at - first


@cython.cfunc
@cython.exceptval(-1, check=False)
def write_words(net: Network, off: cython.p_int, a: cython.p_int, b: cython.p_int, to: cython.p_int, first: cython.int,
                at: cython.int) -> cython.int:
    """Write the positions that were numbered from ``first`` on, and their edges from ``at`` on; the next free edge."""
    data: bytes
    text: cython.p_const_uchar
    p: cython.int = first
    k: cython.int
    i: cython.Py_ssize_t
    for k in range(net.n_spans):
        if net.sp_top[k] != -3 or (net.has_dead and net.p_dead[net.sp_base[k]]):
            continue
        data = net.blocks[k]
        text = data
        for i in range(2, len(data)):
            off[4 * p] = at
            a[at] = text[i]
            b[at] = text[i]
            at += 1
            off[4 * p + 1] = at
            off[4 * p + 2] = at
            off[4 * p + 3] = at
            p += 1
            to[at - 1] = p
        to[at - 1] = net.sp_end[k]
    return at
