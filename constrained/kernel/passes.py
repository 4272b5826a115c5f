# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The passes of lowering over a network without guards and budgets, in one go: most grammars are of that kind.

``engine.lowering`` calls the same passes one by one where more is to be seen to, and words the errors.
``lower_plainly`` takes a grammar all the way without a line of interpreted code, or leaves it to that.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.completable import find_dead
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.nullable import empty_items, find_nullable
    from cython.cimports.constrained.kernel.partition import find_classes
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.pruning import drop_dead, is_possible
    from cython.cimports.constrained.kernel.regions import find_regions
    from cython.cimports.constrained.kernel.rule_writer import RuleWriter
    from cython.cimports.constrained.kernel.starts import add_root, make_starts
else:
    from constrained.kernel.completable import find_dead
    from constrained.kernel.network import Network
    from constrained.kernel.nullable import empty_items, find_nullable
    from constrained.kernel.partition import find_classes
    from constrained.kernel.program import Program
    from constrained.kernel.pruning import drop_dead, is_possible
    from constrained.kernel.regions import find_regions
    from constrained.kernel.rule_writer import RuleWriter
    from constrained.kernel.starts import add_root, make_starts

from constrained.kernel.automaton_writer import RepeatTooLarge  # noqa: E402 - Python names in both modes
from constrained.kernel.network import NetworkTooLarge  # noqa: E402

EMPTY_ITEMS: int = 1
LEFT_RECURSION: int = 2
IMPOSSIBLE: int = 3


@cython.ccall
def plain_program(net: Network):
    """The program of a network without guards and budgets, or what is in its way: ``EMPTY_ITEMS``, ``LEFT_RECURSION``
    (no rule has a start yet) or ``IMPOSSIBLE``.
    """
    find_nullable(net)
    if empty_items(net):
        return 1
    if not make_starts(net):
        return 2
    add_root(net)
    find_regions(net)  # may split positions
    find_dead(net)
    if not is_possible(net):
        return 3
    drop_dead(net)
    find_classes(net, [])
    return Program(net)


@cython.ccall
def lower_plainly(writer: RuleWriter, root: str):
    """The program of a writer's grammar, which may have values left for later (``kernel.later``); or, for
    ``engine.lowering`` to go on with, its network and what is in ``plain_program``'s way (0: it has not been there, for
    the grammar wants other passes); or None: begin anew.
    """
    net: Network
    program: Program
    later: cython.bint
    try:
        net = writer.run(root)
        if net.guard_dfas or net.budgets:
            return net, 0
        later = writer.later
        found = plain_program(net)
    except (NetworkTooLarge, RepeatTooLarge):
        return None
    if type(found) is not Program:
        return None if later else (net, found)
    program = found
    net.give_back()
    if later and (program.lazy or program.counted):
        return None  # these are read as a whole
    return program
