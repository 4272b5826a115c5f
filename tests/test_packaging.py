"""What the wheel carries, and that it builds with kernels, without a compiler, and without kernels.

The builds run in a copy of the tree, with the setuptools and Cython of this environment. Those that compile are
heavy and run nightly.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from constrained.kernel import COMPILED_MODULES

pytest.importorskip("setuptools", minversion="77")

REPOSITORY = Path(__file__).resolve().parent.parent
NIGHTLY = os.environ.get("CONSTRAINED_NIGHTLY", "") not in ("", "0")
nightly = pytest.mark.skipif(not NIGHTLY, reason="compiles all kernels: CONSTRAINED_NIGHTLY=1 runs it")
SOURCES = ("constrained", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md")


def build(folder: Path, **switches: str) -> tuple[list[str], str]:
    """The names in the wheel (none if the build failed), and what the build printed."""
    tree = folder / "tree"
    tree.mkdir()
    for name in SOURCES:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
        elif source.exists():
            shutil.copy(source, tree / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CONSTRAINED_")}
    done = subprocess.run([sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", str(folder)], cwd=tree,
                          env={**environment, **switches}, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        return [], done.stdout + done.stderr
    with zipfile.ZipFile(wheels[0]) as wheel:
        return [wheels[0].name, *wheel.namelist()], done.stdout + done.stderr


def compiled(names: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in names if name.endswith((".so", ".pyd"))}


def test_a_wheel_without_kernels_is_pure_and_carries_all_data(tmp_path: Path) -> None:
    names, output = build(tmp_path, CONSTRAINED_DISABLE_COMPILED="1")
    assert names, output[-2000:]
    assert names[0].endswith("-py3-none-any.whl")
    assert not compiled(names)
    carried = {name for name in names if name.startswith("constrained/")}
    expected = {path.relative_to(REPOSITORY).as_posix() for suffix in ("py", "pyi", "pxd", "ebnf", "json", "typed")
                for path in (REPOSITORY / "constrained").rglob(f"*.{suffix}")}
    assert sorted(expected - carried) == []
    assert "constrained/py.typed" in carried


def test_required_and_disabled_exclude_each_other(tmp_path: Path) -> None:
    names, output = build(tmp_path, CONSTRAINED_DISABLE_COMPILED="1", CONSTRAINED_REQUIRE_COMPILED="1")
    assert not names
    assert "exclude each other" in output


@nightly
def test_without_a_compiler_the_build_succeeds_unless_kernels_are_required(tmp_path: Path) -> None:
    (tmp_path / "optional").mkdir()
    (tmp_path / "required").mkdir()
    names, output = build(tmp_path / "optional", CC="/bin/false")
    assert names and not compiled(names), output[-2000:]
    names, output = build(tmp_path / "required", CC="/bin/false", CONSTRAINED_REQUIRE_COMPILED="1")
    assert not names


@nightly
def test_with_a_compiler_every_kernel_is_in_the_wheel(tmp_path: Path) -> None:
    names, output = build(tmp_path, CONSTRAINED_REQUIRE_COMPILED="1")
    assert compiled(names) == {"constrained/kernel/_kernels"}, output[-2000:]
    bundle = next(name for name in names if "_kernels" in name)
    with zipfile.ZipFile(tmp_path / names[0]) as wheel:
        code = wheel.read(bundle)
    for name in COMPILED_MODULES:
        assert f"PyInit_{name.rpartition('.')[2]}\0".encode() in code
    assert {f"{name.replace('.', '/')}.py" for name in COMPILED_MODULES} <= set(names)
