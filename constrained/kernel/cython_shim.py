"""Stands in for ``import cython`` on machines without Cython: the kernels then run uncompiled.

Kernel files carry ``from __future__ import annotations``, so names used only in annotations are never looked up;
what is here is what the code itself touches. ``tests/kernel/test_cython_shim.py`` reads the kernels' syntax trees
and fails on a name that is missing here. The meanings are those of Cython's own uncompiled mode: decorators and
contexts do nothing, numbers are Python's, nothing wraps or truncates.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

compiled = False
NULL = None

PLAIN_DECORATORS = frozenset({"cclass", "cfunc", "ccall", "inline", "final", "internal", "no_gc"})
DECORATORS_WITH_ARGUMENTS = frozenset({
    "exceptval", "returns", "locals", "annotation_typing", "freelist", "boundscheck", "wraparound",
    "initializedcheck", "cdivision", "nonecheck", "overflowcheck",
})
INTEGERS = frozenset({
    "char", "schar", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong",
    "size_t", "ssize_t", "Py_ssize_t", "Py_hash_t",
})
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(INTEGERS, int), "float": float, "double": float, "bint": bool,
}


class CType:
    """A C type's name: called, it converts as Python does; ``cython.int[4]`` is an array, made as a list of zeros."""

    def __init__(self, convert: Callable[[Any], Any] | None = None, length: int | None = None) -> None:
        self.convert = convert
        self.length = length

    def __call__(self, value: Any = 0) -> Any:
        if self.length is not None:
            return [0] * self.length if value == 0 else value
        return value if self.convert is None else self.convert(value)

    def __getitem__(self, index: Any) -> CType:
        return CType(length=index if isinstance(index, int) else None)


class GilMark:
    """``nogil`` and ``gil``: a decorator, a decorator with a flag, or a context; each does nothing."""

    def __call__(self, thing: Any = None) -> Any:
        return thing if callable(thing) else self

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        return None


nogil = GilMark()
gil = GilMark()


class pymutex:  # noqa: N801 (Cython's name)
    """A lock for ``with self.lock:``, not re-entrant."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._lock.release()


def declare(kind: Any = None, value: Any = NULL, **_names: Any) -> Any:
    """The value, or the type's zero (a list of zeros for an array)."""
    if value is not NULL:
        return cast(kind, value)
    return kind() if isinstance(kind, CType) else None


def cast(kind: Any, value: Any, **_options: Any) -> Any:
    return kind(value) if isinstance(kind, CType) else value


def sizeof(_thing: Any) -> int:
    """1: uncompiled, sizes count items."""
    return 1


def likely(condition: T) -> T:
    return condition


unlikely = likely


def _same(thing: T) -> T:
    return thing


def _decorator(*_args: Any, **_kwargs: Any) -> Callable[[T], T]:
    return _same


def __getattr__(name: str) -> Any:
    """The names that would shadow Python's own if they were written out here."""
    if name in PLAIN_DECORATORS:
        return _same
    if name in DECORATORS_WITH_ARGUMENTS:
        return _decorator
    if name in CONVERSIONS:
        return CType(CONVERSIONS[name])
    if name in ("void", "const", "pointer") or name.startswith(("p_", "pp_")):
        return CType()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
