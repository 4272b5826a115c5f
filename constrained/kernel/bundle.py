"""All compiled kernels are one shared object, and this finds them in it.

A kernel alone is a small library; 130 of them lie scattered over memory, each with rooms of its own for code, data and
tables. ``setup.py`` links them into one file, ``constrained/kernel/_kernels.*.so``, in which the code that a first
mask runs stands together (``code_order.txt``): on a machine whose caches are cold it takes a tenth less time.

A shared object may hold the ``PyInit_<last name>`` of many modules; Python looks for the one of the module's name. So
last names of kernels are different, also in different packages (a test looks).

``CONSTRAINED_UNCOMPILED=1`` in the environment leaves the bundle alone: every kernel then runs from its source.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

__all__ = ["BUNDLE", "BundleFinder", "bundle_file", "install"]

BUNDLE = "_kernels"
"""The name of the shared object; there is no module of this name in it."""


class BundleFinder(MetaPathFinder):
    """Finds each of ``names`` (full names of modules) in the shared object ``path``."""

    def __init__(self, names: Iterable[str], path: Path) -> None:
        self.names = frozenset(names)
        self.path = str(path)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module's spec, or None where it is not one of ``names``."""
        if fullname not in self.names:
            return None
        return spec_from_file_location(fullname, self.path, loader=ExtensionFileLoader(fullname, self.path))


def bundle_file() -> Path | None:
    """The shared object for this Python, if it was built."""
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(BUNDLE + suffix)
        if path.exists():
            return path
    return None


def install(names: Iterable[str]) -> None:
    """Make imports of ``names`` find them in the bundle; nothing where there is none, or it is to be left alone.

    It goes before all other finders: that of files would find the source, and so would the one by which pytest
    rewrites the assertions of plugins.
    """
    path = bundle_file()
    if path is None or os.environ.get("CONSTRAINED_UNCOMPILED", "") not in ("", "0"):
        return
    if not any(isinstance(finder, BundleFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, BundleFinder(names, path))
