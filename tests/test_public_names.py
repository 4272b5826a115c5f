"""The public names: what ``constrained`` offers is written down once, sorted, documented and complete."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import constrained

PACKAGE = Path(constrained.__file__).parent
MODULES = sorted(
    ".".join(("constrained", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)
DOCUMENTED = [name for name in constrained.__all__ if name not in ("bitmask_dtype",)]


def test_the_list_is_sorted_and_has_no_name_twice() -> None:
    """As ruff sorts them: constants, classes, functions."""
    def place(name: str) -> tuple[int, str]:
        return 0 if name.isupper() else 1 if name[0].isupper() else 2, name

    assert list(constrained.__all__) == sorted(set(constrained.__all__), key=place)


def test_every_name_is_there() -> None:
    for name in constrained.__all__:
        assert getattr(constrained, name) is not None


def test_nothing_else_is_public() -> None:
    """What the module holds beside the list are its own sub-packages and private names."""
    held = {name for name, value in vars(constrained).items() if not name.startswith("_")
            and not inspect.ismodule(value) and name not in ("annotations", "Any", "TYPE_CHECKING")}
    assert held <= set(constrained.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        constrained.frobnicate  # noqa: B018


@pytest.mark.parametrize("name", DOCUMENTED)
def test_public_things_are_documented(name: str) -> None:
    """Classes and functions have a docstring, and so has every public method that they define."""
    thing = getattr(constrained, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and thing.__module__.startswith("constrained"):
        for member, value in vars(thing).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, (classmethod, property))):
                assert inspect.getdoc(value), f"{name}.{member}"


def test_errors_are_one_tree() -> None:
    errors = {name: getattr(constrained, name) for name in constrained.__all__ if name.endswith("Error")}
    assert all(issubclass(error, constrained.ConstrainedError) for error in errors.values())
    assert issubclass(constrained.ConstrainedError, ValueError)
    from constrained import errors as module

    assert sorted(errors) == sorted(module.__all__)


def module_lists() -> list[str]:
    """Modules that say what they offer."""
    return [name for name in MODULES if name != "constrained" and "__all__" in source(name)]


def source(name: str) -> str:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", module_lists())
def test_a_module_defines_what_it_lists(name: str) -> None:
    """Read from the source, so that modules of optional packages are checked too."""
    tree = ast.parse(source(name))
    bound: set[str] = set()
    listed: list[str] = []
    lazily = False
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
            lazily |= node.name == "__getattr__"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign):
            names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            bound.update(names)
            if "__all__" in names:
                listed = ast.literal_eval(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            bound.add(node.target.id)
    assert len(listed) == len(set(listed))
    assert lazily or set(listed) <= bound


def test_the_version_has_a_place_in_the_changes() -> None:
    changes = PACKAGE.parent / "CHANGELOG.md"
    if not changes.exists():
        pytest.skip("not a checkout")
    assert f"## {constrained.__version__}" in changes.read_text(encoding="utf-8")
