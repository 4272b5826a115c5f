"""The cyclic garbage collector, put off while a grammar is made.

Reading a schema and writing its rules makes many small objects, nearly none of them in cycles: collections in between
walk over all of them, again and again, and find nothing (a tenth of the time; a full collection of a large process
takes 100 ms). ``postponed`` switches the collector off for such a piece of work of milliseconds; reference counting
goes on. The switch belongs to the process: where two threads do the same, whoever ends first switches it on again, and
a program that has switched it off finds it off.
"""

from __future__ import annotations

import gc
from types import TracebackType

__all__ = ["postponed"]


class postponed:
    """Within this context nothing is collected, if that was not switched off anyway."""

    __slots__ = ("_was_on",)

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        if self._was_on:
            gc.disable()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._was_on:
            gc.enable()
