"""One list of compiled modules, equal to the files; and the mode that was asked for is the mode that runs."""

from __future__ import annotations

import ast
import os
from importlib import import_module
from pathlib import Path

import pytest

import constrained.kernel
from constrained.kernel import COMPILED_MODULES, is_compiled, uncompiled_modules

PACKAGE = Path(constrained.kernel.__file__).parent.parent


def sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text(encoding="utf-8").startswith("# cython:")]


def module(path: Path) -> str:
    return ".".join(("constrained", *path.relative_to(PACKAGE).with_suffix("").parts))


def file_of(name: str, suffix: str) -> Path:
    return PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(suffix)


def test_the_list_names_the_files_that_setup_compiles() -> None:
    assert sorted(COMPILED_MODULES) == sorted(map(module, sources()))


def test_last_names_are_different() -> None:
    """One shared object holds them all, and finds each by the last part of its name."""
    last = [name.rpartition(".")[2] for name in COMPILED_MODULES]
    assert sorted(last) == sorted(set(last))


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_a_kernel_has_the_common_shape(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    directives = text.splitlines()[0]
    for directive in ("language_level=3", "freethreading_compatible=True"):
        assert directive in directives
    assert "from constrained.kernel import cython_shim as cython" in text
    assert path.with_suffix(".pyi").exists(), "mypy needs a stub: memoryviews and C types are no Python types"


@pytest.mark.parametrize("name", COMPILED_MODULES)
def test_a_kernel_is_loaded_from_the_file_that_the_list_says(name: str) -> None:
    origin = import_module(name).__file__ or ""
    assert origin.endswith(".py") is (name in uncompiled_modules())


def test_the_mode_asked_for_is_the_mode_that_runs() -> None:
    if os.environ.get("CONSTRAINED_TEST_PURE", "") not in ("", "0"):
        assert len(uncompiled_modules()) == len(COMPILED_MODULES)
    if os.environ.get("CONSTRAINED_REQUIRE_COMPILED", "") not in ("", "0"):
        assert is_compiled()


def defined(path: Path) -> dict[str, set[str]]:
    """Public functions and classes with their public methods; not those that only C sees, nor attributes."""
    names: dict[str, set[str]] = {}

    def visible(node: ast.stmt) -> bool:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            return False
        marks = {mark.attr if isinstance(mark, ast.Attribute) else getattr(mark, "id", "")
                 for mark in node.decorator_list}
        return not marks & {"cfunc", "property"}

    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef) and visible(item)}
        elif isinstance(node, ast.FunctionDef) and visible(node):
            names[node.name] = set()
    return names


@pytest.mark.parametrize("name", COMPILED_MODULES)
def test_a_stub_names_what_python_sees_of_a_kernel(name: str) -> None:
    assert defined(file_of(name, ".pyi")) == defined(file_of(name, ".py"))
