"""Kernels are found in one shared object, before their sources."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from constrained.kernel import COMPILED_MODULES, bundle, is_compiled

ORDER = Path(bundle.__file__).with_name("code_order.txt")


def test_a_finder_finds_its_names_alone() -> None:
    path = Path("x.so").resolve()
    finder = bundle.BundleFinder(["a.b", "c"], path)
    spec = finder.find_spec("a.b")
    assert spec is not None
    assert (spec.name, spec.origin) == ("a.b", str(path))
    assert finder.find_spec("a") is None
    assert finder.find_spec("b") is None


def test_it_stands_once_before_all_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CONSTRAINED_UNCOMPILED", raising=False)
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path
                                           if not isinstance(finder, bundle.BundleFinder)])
    before = list(sys.meta_path)
    monkeypatch.setattr(bundle, "bundle_file", lambda: None)
    bundle.install(["a"])
    assert sys.meta_path == before
    monkeypatch.setattr(bundle, "bundle_file", lambda: tmp_path / "x.so")
    monkeypatch.setenv("CONSTRAINED_UNCOMPILED", "1")
    bundle.install(["a"])
    assert sys.meta_path == before
    monkeypatch.setenv("CONSTRAINED_UNCOMPILED", "0")
    bundle.install(["a"])
    bundle.install(["a"])
    assert isinstance(sys.meta_path[0], bundle.BundleFinder)
    assert sys.meta_path[1:] == before


@pytest.mark.skipif(not is_compiled(), reason="nothing is compiled")
def test_all_kernels_are_in_one_file() -> None:
    assert {import_module(name).__file__ for name in COMPILED_MODULES} == {str(bundle.bundle_file())}


def test_the_order_of_code_names_kernels_that_are_there() -> None:
    """A name that is gone would be passed over in silence; the functions' names are the compiler's to keep."""
    lines = [line.split() for line in ORDER.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert {line[0].replace("/", ".") for line in lines} <= set(COMPILED_MODULES)
    assert all(len(line) > 1 for line in lines)
