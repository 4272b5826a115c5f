"""The shim has every name that the kernels touch, and behaves as Cython's own uncompiled mode does."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import pytest

import constrained.kernel
from constrained.kernel import COMPILED_MODULES, cython_shim

ROOT = Path(constrained.kernel.__file__).parent.parent.parent


def is_compiled_test(test: ast.expr) -> bool:
    return isinstance(test, ast.Attribute) and test.attr == "compiled"


def names_used(source: str) -> set[str]:
    """Attributes of ``cython`` that uncompiled code evaluates: not in annotations, not under ``if cython.compiled``."""
    found: set[str] = set()
    work: list[ast.AST] = [ast.parse(source)]
    while work:
        node = work.pop()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cython":
            found.add(node.attr)
        if isinstance(node, ast.If) and is_compiled_test(node.test):
            work += [node.test, *node.orelse]
        elif isinstance(node, ast.AnnAssign):
            work += [node.target] + ([node.value] if node.value else [])
        elif isinstance(node, ast.FunctionDef):
            arguments = node.args
            work += node.body + node.decorator_list + arguments.defaults
            work += [default for default in arguments.kw_defaults if default is not None]
        else:
            work += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize("name", COMPILED_MODULES)
def test_the_shim_has_every_name_a_kernel_uses(name: str) -> None:
    used = names_used(ROOT.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
    missing = sorted(attribute for attribute in used if not hasattr(cython_shim, attribute))
    assert missing == []
    assert used


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = cython_shim.no_such_name


def test_decorators_return_what_they_decorate() -> None:
    def function() -> int:
        return 1

    for decorator in (cython_shim.cfunc, cython_shim.nogil, cython_shim.inline, cython_shim.cclass,
                      cython_shim.exceptval(check=False), cython_shim.returns(cython_shim.int),
                      cython_shim.nogil(True)):
        assert decorator(function) is function


def test_values_are_pythons() -> None:
    assert cython_shim.compiled is False
    assert cython_shim.declare(cython_shim.int) == 0
    assert cython_shim.declare(cython_shim.int, 7) == 7
    assert cython_shim.declare(cython_shim.int[4]) == [0, 0, 0, 0]
    assert cython_shim.cast(cython_shim.int, 2.5) == 2
    assert cython_shim.cast(cython_shim.uint, 1 << 40) == 1 << 40
    items = [1]
    assert cython_shim.cast(cython_shim.p_int, items) is items
    assert cython_shim.sizeof(cython_shim.int) == 1
    assert cython_shim.unlikely(False) is False


def test_the_lock_excludes_and_survives_an_error() -> None:
    lock = cython_shim.pymutex()
    count = 0

    def add() -> None:
        nonlocal count
        for _ in range(200):
            with lock:
                seen = count
                count = seen + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 800
    with pytest.raises(KeyError), lock:
        raise KeyError
    with lock, cython_shim.nogil, cython_shim.gil:
        pass
