# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Values are written when a text comes to them: what stands for them until then.

The first mask of a JSON schema seldom comes further than to the keys of its outermost object, and most of a schema is
in its members' values. So a grammar may be lowered in two steps. At first ``RuleWriter`` writes for what follows
``nodes.before_value`` a call of one rule, ``later``, whose image (``kernel.images``) nobody may enter: who asks for it
(``linking.need_position``, ``need_all``) gets ``Unwritten``, so that nothing that depends on it is ever told. Then
``SharedGrammar.write_whole`` lowers the grammar as a whole, and the automaton begins a new epoch with that.

Only where it is known that each value has a text and that no limit can be met: an error must come from compiling, and
a key is offered only if its value can be written. Either ``inlining.RuleTable`` has seen it by reading all rules, or
the front end is sure of it (``RuleSet.sure``); then values are not even read.
Cost: both steps choose the rules (``inlining``), and the second one writes everything; of a grammar that was read it is
known whether that is worth while (``worth_while``).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.completable import find_dead
    from cython.cimports.constrained.kernel.images import Image
    from cython.cimports.constrained.kernel.network import Network, new_network
    from cython.cimports.constrained.kernel.nullable import find_nullable
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.starts import add_root, make_starts
else:
    from constrained.kernel.completable import find_dead
    from constrained.kernel.images import Image
    from constrained.kernel.network import Network, new_network
    from constrained.kernel.nullable import find_nullable
    from constrained.kernel.program import Program
    from constrained.kernel.starts import add_root, make_starts

LEAST = cython.declare(cython.int, 60)
"""Leaves in values that are worth a second step,"""
MOST = cython.declare(cython.int, 8_000)
"""and leaves of a grammar whose second step is short enough for a step of a text."""

_image: list = []


@cython.cfunc
@cython.exceptval(check=False)
def worth_while(early: cython.longlong, leaves: cython.longlong) -> cython.bint:
    """Whether to write only ``early`` of a grammar's leaves at first."""
    return leaves <= MOST and leaves - early >= LEAST


@cython.cfunc
def later_image() -> Image:
    """The image of the rule that nobody enters; one for the process."""
    net: Network
    image: Image
    if not _image:
        net = new_network(100)
        net.add_positions(2, -1)
        net.add_rule(3, 3, 4)
        net.add_edge(3, 0, 0, 0, 4)
        net.r_high[0] = 5
        find_nullable(net)
        make_starts(net)
        add_root(net)
        find_dead(net)
        image = Image(Program(net, False), "", False, (), (), 0)
        image.later = True
        net.give_back()
        _image.append(image)
    return _image[0]
