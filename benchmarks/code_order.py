"""Which functions of the kernels first masks run: writes constrained/kernel/code_order.txt for the linker (setup.py).

    python benchmarks/code_order.py            # needs valgrind; two minutes
    python benchmarks/code_order.py --every 3  # each third schema of the sample

Schemas of the MaskBench sample go from text to their first mask under callgrind, which names each function that ran.
Those of the schemas in the middle (by length of text) come first, then all others, each in the order in which they ran
first: what runs after another stands behind it. Run it where functions of the first mask were added or renamed in
number; a name that is gone costs nothing but its place.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance import maskbench_schemas, shared_dir

ORDER = Path(__file__).resolve().parent.parent / "constrained" / "kernel" / "code_order.txt"
VOCABULARY = ("llama3_1", 128256)


def texts(part: str, every: int) -> list[str]:
    """Texts of schemas: the middle tenth by length, or all."""
    made = sorted((json.dumps(schema) for _, schema, _ in maskbench_schemas(shared_dir())), key=len)
    if part == "middle":
        made = made[len(made) * 9 // 20 : len(made) * 11 // 20]
    return made[::every]


def run(part: str, every: int) -> None:
    """Under valgrind: what is done inside of libffi's call is counted, so ctypes calls back."""
    from peers import load_vocabulary

    import constrained as cd

    name, size = VOCABULARY
    info = load_vocabulary(shared_dir() / "data" / "tokenizers" / name / "tokenizer.json", size).info
    compiler = cd.GrammarCompiler(info, cache_limit_bytes=0)
    bitmask = cd.allocate_token_bitmask(1, info.vocab_size)
    todo = texts(part, every)

    def first_masks() -> None:
        for text in todo:
            try:
                matcher = cd.GrammarMatcher(compiler.compile_json_schema(text, property_order="any"))
            except cd.ConstrainedError:
                continue
            matcher.fill_next_token_bitmask(bitmask)

    counted = ctypes.CFUNCTYPE(None)(first_masks)
    subprocess.run(["callgrind_control", "-i", "on", str(os.getpid())], check=True, stdout=subprocess.DEVNULL)
    counted()


def functions(part: str, every: int) -> list[tuple[str, str]]:
    """The kernel (``constrained/kernel/network``) and the name of each function that ran."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
                        "--toggle-collect=ffi_call", f"--callgrind-out-file={out}", sys.executable, __file__,
                        "--part", part, "--every", str(every)], check=True, stderr=subprocess.DEVNULL,
                       env={**os.environ, "PYTHONHASHSEED": "0"})
        return read(out)


def read(out: Path) -> list[tuple[str, str]]:
    """The functions of kernels that have costs in a file of callgrind's, which numbers them as it meets them.

    A kernel's name stands in its functions' names as Cython writes it; of helpers that each kernel has (``__Pyx_...``)
    no one can tell whose ran, so they keep their places.
    """
    names: dict[str, str] = {}
    found: dict[tuple[str, str], int] = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        match = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if match is None:
            continue
        kind, number, name = match.groups()
        if name:
            names[number] = name
        if kind == "fn" and (kernel := kernel_of(names[number])):
            function = kernel, re.sub(r"('\d+|\..*)$", "", names[number])
            found[function] = min(int(number), found.get(function, int(number)))
    return sorted(found, key=found.__getitem__)


def kernel_of(name: str) -> str | None:
    """``__pyx_f_11constrained_6kernel_7network_7Network_add_edge``: constrained/kernel/network."""
    match = re.match(r"__pyx_\w*?_(?=11constrained_)", name)
    if match is None:
        return None
    at, parts = match.end(), []
    while (part := re.match(r"(\d+)", name[at:])) and len(parts) < 4:
        begin = at + part.end()
        end = begin + int(part.group(1))
        parts.append(name[begin:end])
        at = end + 1
        if (ORDER.parent.parent.parent / ("/".join(parts) + ".py")).exists():
            return "/".join(parts)
    return None


def write(functions: list[tuple[str, str]]) -> None:
    """A line for each run of functions of one kernel."""
    ordered = list(dict.fromkeys(functions))
    lines = ["# Made by benchmarks/code_order.py: functions that first masks run, those of most schemas first."]
    for kernel, run in itertools.groupby(ordered, key=lambda function: function[0]):
        lines.append(f"{kernel} {' '.join(name for _, name in run)}")
    ORDER.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"{len(ordered)} functions of {len({kernel for kernel, _ in ordered})} kernels")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", choices=["middle", "all"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run(options.part, options.every)
    else:
        write(functions("middle", options.every) + functions("all", options.every))
