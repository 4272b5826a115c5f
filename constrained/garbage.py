# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The cyclic garbage collector, put off while a grammar is made.

Reading a schema and writing its rules makes many small objects, nearly none of them in cycles: collections in between
walk over all of them, again and again, and find nothing (a tenth of the time; a full collection of a large process
takes 100 ms). ``postponed`` switches the collector off for such a piece of work of milliseconds; reference counting
goes on. The switch belongs to the process: where two threads do the same, whoever ends first switches it on again, and
a program that has switched it off finds it off.

Cost: 50 ns.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

import gc

__all__ = ["postponed"]


@cython.cclass
class postponed:
    """Within this context nothing is collected, if that was not switched off anyway."""

    def __enter__(self) -> None:
        if cython.compiled:
            self._was_on = PyGC_Disable() != 0  # noqa: F821 - the .pxd
        else:
            self._was_on = gc.isenabled()
            gc.disable()

    def __exit__(self, kind, error, trace) -> None:
        if self._was_on:
            if cython.compiled:
                PyGC_Enable()  # noqa: F821 - the .pxd
            else:
                gc.enable()
