"""Imports point down: each package of ``constrained`` knows only those below it, and siblings do not know each other.

    cli                                      8
    server   integrations   testing          7
    typed                                    6
    toolcalls                                5
    api   decoder                            4
    frontends   engine   masks               3
    grammar   grammars                       2
    vocabulary   regex                       1
    kernel   errors   garbage   limits       0

torch is imported in the decoder, the integrations and the masks only; numpy is the only other package that the core
needs, everything else is imported in the module (or the function) made for it. That is checked twice: by the imports as
they are written, and by running the core in a process where no other package can be imported.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import constrained.kernel

PACKAGE = Path(constrained.kernel.__file__).parent.parent
LAYERS = (
    {"kernel", "errors", "limits"},
    {"vocabulary", "regex", "garbage"},
    {"grammar", "grammars"},
    {"frontends", "engine", "masks"},
    {"api", "decoder"},
    {"toolcalls"},
    {"typed"},
    {"server", "integrations", "testing"},
    {"cli"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
PACKAGES = {
    "torch": {"decoder", "integrations", "masks"},
    "triton": {"masks"},
    "transformers": {"integrations", "cli"},
    "outlines_core": {"integrations"},
    "tokenizers": {"vocabulary", "cli"},
    "tiktoken": {"vocabulary"},
    "gguf": {"cli"},
    "safetensors": {"decoder"},
    "jinja2": {"decoder"},
    "typer": {"cli"},
    "rich": {"cli"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "lark": {"frontends"},
    "pydantic": {"frontends", "typed", "server"},
    "pytest": {"testing"},
    "jsonschema": {"frontends", "testing"},
    "xgrammar": {"integrations"},
    "llguidance": {"integrations"},
    "vllm": {"integrations"},
    "sglang": {"integrations"},
}
"""Optional packages, and the rooms that may import them."""

ALONE = """
import sys
from importlib.metadata import packages_distributions

refused = set(packages_distributions()) - {"constrained", "numpy", "cython", "Cython"}
refused = {name for name in refused if not name.startswith(("_", "__editable__"))} - set(sys.modules)
sys.modules.update(dict.fromkeys(refused))  # importing them now fails, as if they were not installed
import constrained as cd
info = cd.TokenizerInfo.from_bytes([bytes([i]) for i in range(256)] + [b"</s>"], stop_token_ids=256)
compiler = cd.GrammarCompiler(info)
for grammar in (cd.Grammar.builtin("json"), cd.Grammar.from_regex(r"\\d+(?=a)a|b")):
    matcher = cd.GrammarMatcher(compiler.compile_grammar(grammar))
    bitmask = cd.allocate_token_bitmask(1, info.vocab_size)
    assert matcher.fill_next_token_bitmask(bitmask)
    import numpy
    logits = numpy.zeros((1, info.vocab_size), numpy.float32)
    cd.apply_token_bitmask_inplace(logits, bitmask)
    assert numpy.isinf(logits).any() and matcher.accept_token(ord("1"))
"""


def files() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py*")) if path.suffix in (".py", ".pyi")]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported module by full name, with its line; relative ones resolved."""
    package = ["constrained", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module.startswith("cython.cimports."):
                module = module.removeprefix("cython.cimports.")
            yield module, node.lineno
            if module == "constrained":  # "from constrained import errors"
                for alias in node.names:
                    yield f"constrained.{alias.name}", node.lineno


def room(module: str) -> str:
    """The part of the package: ``constrained.grammar.ir`` and ``constrained/grammar/ir.py`` are in ``grammar``."""
    return module.split(".")[1]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py").removesuffix(".pyi")
    if here == "__init__":
        return  # the public names: it may see everything
    assert here in LEVEL, f"{here} has no layer: add it to the table above"
    for module, line in imports(path):
        package = module.split(".")[0]
        assert here in PACKAGES.get(package, {here}), f"line {line}: {package} is not for {here}"
        if not module.startswith("constrained.") or room(module) == here:
            continue
        there = room(module)
        assert there in LEVEL, f"line {line}: {there} has no layer"
        assert LEVEL[there] < LEVEL[here], f"line {line}: {here} must not know {there}"


def test_every_package_has_a_layer() -> None:
    found = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix == ".py" or
             (path.is_dir() and any(path.rglob("*.py")))}
    assert found - {"__init__"} <= set(LEVEL)


def test_the_core_runs_on_numpy_alone() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=PACKAGE.parent, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr[-2000:]
