"""Which kernels run, and what all tests share.

- ``CONSTRAINED_TEST_PURE=1``: kernels are loaded from their Python source even where they are compiled.
- ``CONSTRAINED_TEST_SHIM=1``: the same, and without Cython's uncompiled mode: on ``cython_shim`` alone.
- ``CONSTRAINED_REQUIRE_COMPILED=1``: the run fails unless every kernel is compiled.
- ``CONSTRAINED_NIGHTLY=1``: property tests run ten times as many examples.
- ``CONSTRAINED_SAME_EXAMPLES=1``: property tests draw the same examples at each run, so that what landed once lands
  again; what other examples find is found by runs without it.
- A kernel source newer than its compiled file ends the run: the compiled one would win silently.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

PACKAGE = Path(__file__).resolve().parent.parent / "constrained"


def switch(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


SHIM = switch("CONSTRAINED_TEST_SHIM")
PURE = SHIM or switch("CONSTRAINED_TEST_PURE")
REQUIRED = switch("CONSTRAINED_REQUIRE_COMPILED")
BUILD = "python setup.py -q build_ext --inplace"


def kernel_sources() -> list[Path]:
    """The files that are compiled."""
    return [path for path in PACKAGE.rglob("*.py") if path.read_text(encoding="utf-8").startswith("# cython:")]


if PURE:
    if any(name.startswith("constrained.") for name in sys.modules):
        raise pytest.UsageError("constrained was imported before tests/conftest.py")
    os.environ["CONSTRAINED_UNCOMPILED"] = "1"  # also for the processes that tests start
if SHIM:
    sys.modules["cython"] = None  # type: ignore[assignment]  # "import cython" now raises ImportError


# No deadlines: a slow or busy machine is no fault of an example.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", settings.get_profile("default"), max_examples=1000)
settings.register_profile("same", settings.get_profile("default"), derandomize=True)
if switch("CONSTRAINED_NIGHTLY"):
    settings.load_profile("nightly")
else:
    settings.load_profile("same" if switch("CONSTRAINED_SAME_EXAMPLES") else "default")


def stale_kernels() -> list[str]:
    """Kernels whose source (or .pxd) is newer than the bundle compiled from them."""
    bundles = [path for suffix in EXTENSION_SUFFIXES if (path := PACKAGE / "kernel" / f"_kernels{suffix}").exists()]
    if not bundles:
        return []
    built = bundles[0].stat().st_mtime
    files = [file for source in kernel_sources() for file in (source, source.with_suffix(".pxd")) if file.exists()]
    return [file.name for file in files if file.stat().st_mtime > built]


def pytest_configure(config: pytest.Config) -> None:
    if PURE and REQUIRED:
        raise pytest.UsageError("CONSTRAINED_TEST_PURE and CONSTRAINED_REQUIRE_COMPILED exclude each other")
    if not PURE and (stale := stale_kernels()):  # before anything is imported: a stale kernel may not even load
        raise pytest.UsageError(f"newer than what was compiled from them: {', '.join(stale)}; run: {BUILD}")
    from constrained.kernel import uncompiled_modules

    if REQUIRED and (missing := uncompiled_modules()):
        raise pytest.UsageError(f"not compiled: {', '.join(missing)}; run: {BUILD}")


def pytest_report_header(config: pytest.Config) -> str:
    from constrained.kernel import COMPILED_MODULES, uncompiled_modules

    missing = uncompiled_modules()
    if not missing:
        return "constrained kernels: compiled"
    names = "all" if len(missing) == len(COMPILED_MODULES) else ", ".join(name.rpartition(".")[2] for name in missing)
    return f"constrained kernels: uncompiled ({names}){' on the shim' if SHIM else ''}"
