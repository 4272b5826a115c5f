# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Images and annexes come into a program: their positions and edges, when somebody means to go there.

A grammar refers to any JSON value, a number, a string and the like in many places, its objects may have keys that it
does not name, and the first mask seldom comes to any of that. ``Program`` has placed what belongs to images
(``kernel.images``) and annexes (``kernel.annexes``), and written rules and loops; what is left is to write positions
and edges to where they are expected. The one way into an image is a call of its rule, so whoever takes the start of a
rule asks for it by ``need_position``; into an annex an edge of its door leads, so who follows an edge asks by
``need_annexes``. Of what is not in the program yet (``kernel.later``) all of them say ``Unwritten``.

Everything is written once, under the program's lock, for all automata that read the program; each of them asks by
itself before it goes there, so none sees half of it.
Cost: 2 ns a position and edge of an image, 5 ns of an annex.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex
    from cython.cimports.constrained.kernel.arena import copy_bytes, copy_ints, zero_bytes, zero_shorts
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.memory import unset_ints
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.partition import ByteSets, collect, sets_of
    from cython.cimports.constrained.kernel.program import LINK, MOST_REGIONS, SPOT, Program
else:
    from constrained.kernel.annexes import Annex
    from constrained.kernel.arena import copy_bytes, copy_ints, zero_bytes, zero_shorts
    from constrained.kernel.images import Image
    from constrained.kernel.memory import unset_ints
    from constrained.kernel.network import Network
    from constrained.kernel.partition import ByteSets, collect, sets_of
    from constrained.kernel.program import LINK, MOST_REGIONS, SPOT, Program

MOST_RULES = cython.declare(cython.int, 256)
"""Of an image."""


class Unwritten(Exception):
    """What is asked for is not in this program yet: see ``kernel.later``."""


@cython.cfunc
@cython.exceptval(-1, check=False)
def need_position(program: Program, p: cython.int) -> cython.int:
    """Write the image that position ``p``, at least ``behind``, is of."""
    k: cython.int = 0
    while k + 1 < program.n_images and program.links[LINK * (k + 1)] <= p:
        k += 1
    with program.lock:
        _link(program, k)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def need_annexes(program: Program) -> cython.int:
    """Write all annexes: most programs have one or two."""
    with program.lock:
        _write_annexes(program)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def need_all(program: Program) -> cython.int:
    """Write all images and annexes, for whoever reads a program from its first position to its last."""
    k: cython.int
    with program.lock:
        _write_annexes(program)
        for k in range(program.n_images):
            _link(program, k)
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _write_annexes(program: Program) -> cython.int:
    """Write the annexes, if they are not. Edges that are not used lead to -1, from a position that nobody enters."""
    annex: Annex
    spot: cython.p_int = program.spots
    k: cython.int
    at: cython.int
    base: cython.int
    last: cython.int
    if program.has_annexes:
        return 0
    for k in range(0, SPOT * program.n_annexes, SPOT):
        annex = program.blocks[spot[k]]
        base = spot[k + 1]
        last = base + annex.size
        zero_bytes(program.p_accept, base, annex.size + 1)
        unset_ints(program.p_loop, base, annex.size + 1)
        program.p_region[last] = 0
        at = annex.write(program.p_off, program.e_a, program.e_b, program.e_to, program.p_region, spot[k + 2], base,
                         spot[k + 4], spot[k + 5])
        for base in range(4 * last, 4 * last + 4):
            program.p_off[base] = at
        program.p_off[4 * last + 4] = spot[k + 3]
        for at in range(at, spot[k + 3]):
            program.e_a[at] = 0
            program.e_b[at] = 0
            program.e_to[at] = -1
    program.has_annexes = True
    return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _link(program: Program, k: cython.int) -> cython.int:
    """Write image ``k``, if it is not. The three positions that every program has are left out."""
    image: Image = program.images[k]
    part: Program = image.part
    link: cython.p_int = program.links
    numbers = cython.declare(cython.int[256])
    n: cython.int = part.n_positions
    first: cython.int = link[LINK * k]
    at: cython.int = link[LINK * k + 1]
    loops: cython.int = link[LINK * k + 2]
    regions: cython.int = link[LINK * k + 4]
    shift: cython.int = first - 3
    edges: cython.int = part.p_off[4 * n]
    off: cython.p_int = program.p_off
    to: cython.p_int = program.e_to
    i: cython.int
    e: cython.int
    if image.later:
        raise Unwritten
    if link[LINK * k + 5]:
        return 0
    for i in range(12, 4 * n + 1):
        off[i + 4 * shift] = part.p_off[i] + at
    for i in range(edges):
        to[at + i] = part.e_to[i] + shift
    copy_ints(program.e_a, at, part.e_a, edges)
    copy_ints(program.e_b, at, part.e_b, edges)
    program.number_rules(k, numbers)
    for i in range(image.n_calling):
        e = image.calling[i]
        program.e_a[at + e] = numbers[part.e_a[e]]
    copy_bytes(program.p_accept, first, part.p_accept, 3, n - 3)
    unset_ints(program.p_loop, first, n - 3)
    zero_shorts(program.p_region, first, n - 3)
    if len(part.regions) > 1:
        for i in range(3, n):
            if part.p_region[i] != 0 and part.p_region[i] + regions <= MOST_REGIONS:
                program.p_region[i + shift] = part.p_region[i] + regions
    for i in range(part.n_loops):
        program.p_loop[part.l_pos[i] + shift] = loops + i
    link[LINK * k + 5] = 1
    return 0


@cython.cfunc
def image_of_network(net: Network, name: str, recursive: cython.bint, calls: tuple, texts: tuple,
                     largest: cython.longlong) -> Image:
    """The image of rule 0 of a network through all its passes but that for classes; None: it has none."""
    part: Program
    image: Image
    sets: ByteSets
    if net.n_rules > MOST_RULES or (net.has_dead and net.r_dead[0]):
        return None
    part = Program(net, False)
    if part.lazy or part.counted:
        return None
    need_annexes(part)
    image = Image(part, name, recursive, calls, texts, largest)
    image.nullable = net.r_nullable[0] != 0
    sets = sets_of(net)
    collect(net, sets)
    image.hold(sets.alone, sets.family())
    image.find_calling(part.p_off)
    sets.end()
    return image
