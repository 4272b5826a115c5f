# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The cyclic garbage collector, put off while a grammar is made.

Reading a schema and writing its rules makes many small objects, nearly none of them in cycles: collections in between
walk over all of them, again and again, and find nothing (a tenth of the time; a full collection of a large process
takes 100 ms). ``postponed`` switches the collector off for such a piece of work of milliseconds; reference counting
goes on. The switch belongs to the process: where two threads do the same, whoever ends first switches it on again, and
a program that has switched it off finds it off.

What is left of the work stays: the tuples of a large grammar's nodes, thousands of them, which the next collection
would walk over only to find that nothing in them can be in a cycle, and to forget them. ``settle`` tells it before, at
a fifth of the cost.

Cost: 50 ns; ``settle`` 20 ns a node.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.nodes import Choice, Node, Repeat, Sequence, Unordered

import gc

__all__ = ["postponed", "settle"]


@cython.cclass
class postponed:
    """Within this context nothing is collected, if that was not switched off anyway."""

    def __enter__(self) -> None:
        self._was_on = put_off()

    def __exit__(self, kind, error, trace) -> None:
        go_on(self._was_on)


@cython.cfunc
@cython.exceptval(check=False)
def put_off() -> cython.bint:
    """Collect nothing until ``go_on`` is told what this returns: ``postponed`` for kernels."""
    was_on: cython.bint
    if cython.compiled:
        was_on = PyGC_Disable() != 0  # noqa: F821 - the .pxd
    else:
        was_on = gc.isenabled()
        gc.disable()
    return was_on


@cython.cfunc
@cython.exceptval(check=False)
def go_on(was_on: cython.bint) -> cython.void:
    if was_on:
        if cython.compiled:
            PyGC_Enable()  # noqa: F821 - the .pxd
        else:
            gc.enable()


def settle(nodes) -> None:
    """Take the tuples of ``nodes`` (``kernel.nodes``), and of those below them, out of the collector's sight.

    Only those in which nothing is known to it, as it would do itself; below any other one no more is looked at.
    """
    node: Node
    kind: cython.int
    if cython.compiled:
        waiting: list = list(nodes)
        while waiting:
            found = waiting.pop()
            if not isinstance(found, Node):
                continue
            node = found
            kind = node.kind
            if kind == 3:
                _hide(cython.cast(Sequence, node).items, waiting)
            elif kind == 4:
                _hide(cython.cast(Choice, node).options, waiting)
            elif kind == 5:
                _hide(cython.cast(Repeat, node).held, waiting)
            elif kind == 8:
                _hide(cython.cast(Unordered, node).items, waiting)
                _hide(cython.cast(Unordered, node).held, waiting)


@cython.cfunc
def _hide(held: tuple, waiting: list):
    """Hide one tuple; what is in it is to be looked at. One that is hidden already was met before."""
    if cython.compiled:
        if not PyObject_GC_IsTracked(held):  # noqa: F821 - the .pxd
            return
        for one in held:
            if PyObject_IS_GC(one):  # noqa: F821 - the .pxd
                return
        PyObject_GC_UnTrack(cython.cast(cython.p_void, held))  # noqa: F821 - the .pxd
        waiting.extend(held)
