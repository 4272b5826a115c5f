"""The compiled kernels; everything else is in pyproject.toml.

Each file of ``constrained`` whose first line is a ``# cython:`` directive is compiled (``constrained/kernel``
names them). Without a compiler the build succeeds and the same files run uncompiled (slowly). Two switches at build
time:

- ``CONSTRAINED_REQUIRE_COMPILED=1``: fail when a kernel cannot be compiled.
- ``CONSTRAINED_DISABLE_COMPILED=1``: compile nothing; the wheel is pure.

A level of optimisation in ``CFLAGS`` stands instead of ``-O3``: ``CFLAGS=-O1`` builds in half the time.

Build in place for development: ``python setup.py -q build_ext --inplace``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

PACKAGE = Path("constrained")
WORKERS = os.cpu_count() or 1
COMPACT = ["-fno-plt", "-fno-align-loops", "-fno-align-jumps", "-fno-align-labels",
           "-include", (PACKAGE / "kernel" / "cold.h").as_posix()]
"""No stubs for calls of the interpreter, no padding, ways to a traceback apart: a schema's first mask runs cold
code, and touches 3,590 lines of it instead of 3,880 (means of 34 middle schemas of MaskBench under callgrind)."""


def switch(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def kernel_extensions() -> list[Extension]:
    required, disabled = switch("CONSTRAINED_REQUIRE_COMPILED"), switch("CONSTRAINED_DISABLE_COMPILED")
    if required and disabled:
        raise SystemExit("CONSTRAINED_REQUIRE_COMPILED and CONSTRAINED_DISABLE_COMPILED exclude each other")
    if disabled:
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        if required:
            raise SystemExit("CONSTRAINED_REQUIRE_COMPILED is set, but Cython is not installed") from None
        return []
    here = Path(__file__).parent
    sources = [path.relative_to(here) for path in sorted((here / PACKAGE).rglob("*.py"))
               if path.read_text(encoding="utf-8").startswith("# cython:")]
    if not sources:
        return []
    flags = [] if os.name == "nt" else ["-g0"] if "-O" in os.environ.get("CFLAGS", "") else ["-O3", "-g0"]
    if sys.platform == "linux":
        flags += COMPACT
    extensions = cythonize(
        [Extension(".".join(source.with_suffix("").parts), [source.as_posix()], extra_compile_args=flags)
         for source in sources],
        build_dir="build/cython",
        # processes only where they are forked: elsewhere a new one would run this file again
        nthreads=WORKERS if sys.platform == "linux" else 0,
        quiet=True,
    )
    for extension in extensions:
        extension.optional = not required  # set here: cythonize makes new Extension objects and drops the flag
    return extensions


setup(ext_modules=kernel_extensions(), options={"build_ext": {"parallel": WORKERS}})
