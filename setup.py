"""The compiled kernels; everything else is in pyproject.toml.

Each file of ``constrained`` whose first line is a ``# cython:`` directive is compiled (``constrained/kernel``
names them), and all of them are linked into one shared object (``constrained/kernel/bundle.py`` tells why and finds
them there). Without a compiler the build succeeds and the same files run uncompiled (slowly). Two switches at build
time:

- ``CONSTRAINED_REQUIRE_COMPILED=1``: fail when a kernel cannot be compiled.
- ``CONSTRAINED_DISABLE_COMPILED=1``: compile nothing; the wheel is pure.

A level of optimisation in ``CFLAGS`` stands instead of ``-O3``: ``CFLAGS=-O1`` builds in half the time.

Build in place for development: ``python setup.py -q build_ext --inplace``.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import LinkError

PACKAGE = Path("constrained")
KERNELS = PACKAGE / "kernel"
BUNDLE = "constrained.kernel._kernels"
WORKERS = os.cpu_count() or 1
COLD = (KERNELS / "cold.h").as_posix()
ORDER = KERNELS / "code_order.txt"
COMPACT = ["-fno-plt", "-fno-align-loops", "-fno-align-jumps", "-fno-align-labels", "-ffunction-sections",
           "-include", COLD]
"""No stubs for calls of the interpreter, no padding, ways to a traceback apart: a schema's first mask runs cold
code, and touches 3,590 lines of it instead of 3,880 (means of 34 middle schemas of MaskBench under callgrind). Each
function is a section of its own, so that the linker can put them in order."""


def switch(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def kernel_bundle() -> list[Extension]:
    """The one extension, of the C of all kernels; none where nothing is to be compiled."""
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
    kernels = cythonize(
        [Extension(".".join(source.with_suffix("").parts), [source.as_posix()]) for source in sources],
        build_dir="build/cython",
        # processes only where they are forked: elsewhere a new one would run this file again
        nthreads=WORKERS if sys.platform == "linux" else 0,
        quiet=True,
    )
    flags = [] if os.name == "nt" else ["-g0"] if "-O" in os.environ.get("CFLAGS", "") else ["-O3", "-g0"]
    if sys.platform == "linux":
        flags += COMPACT
    return [Extension(BUNDLE, [source for kernel in kernels for source in kernel.sources],
                      extra_compile_args=flags, depends=[COLD, ORDER.as_posix()], optional=not required)]


def linker_script(order: Path) -> str:
    """The functions of ``order`` (lines of a kernel and the names of its functions) before all others.

    A name that is not there is no error: compilers differ in what they inline. ``NAME.*`` are the compiler's copies.
    """
    lines = ["SECTIONS", "{", "  .text_first : ALIGN(64)", "  {"]
    for line in order.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kernel, *names = line.split()
            lines += [f"    *{kernel}.o(.text.{name} .text.{name}.*)" for name in names]
    return "\n".join([*lines, "  }", "}", "INSERT BEFORE .text;", ""])


class BuildKernels(build_ext):
    """Compiles the files of the bundle beside each other: those newer than their objects, all where flags are new."""

    def build_extension(self, ext: Extension) -> None:
        command = Path(self.build_temp, "command")  # what the objects there were compiled with
        flags = " ".join([*getattr(self.compiler, "compiler_so", []), *ext.extra_compile_args])
        self.force = self.force or not command.exists() or command.read_text(encoding="utf-8") != flags
        compile_all, link = self.compiler.compile, self.compiler.link_shared_object

        def compile_changed(sources: list[str], output_dir: str | None = None, **options: Any) -> list[str]:
            def one(source: str) -> str:
                made = self.compiler.object_filenames([source], output_dir=output_dir)[0]
                if self.force or not is_newer(made, (source, COLD)):
                    compile_all([source], output_dir=output_dir, **options)
                return made

            with ThreadPoolExecutor(WORKERS) as pool:
                return list(pool.map(one, sources))

        def link_in_order(objects: list[str], output: str, **options: Any) -> None:
            """With the order of functions where the linker takes one (GNU's does), else without."""
            script = Path(self.build_temp, "code_order.ld")
            script.write_text(linker_script(ORDER), encoding="utf-8")
            ordered = [*(options.pop("extra_postargs", None) or ()), f"-Wl,-T,{script.as_posix()}"]
            self.compiler.force = True  # it looks at the objects alone, and the order may be newer
            try:
                link(objects, output, extra_postargs=ordered, **options)
            except LinkError:
                link(objects, output, extra_postargs=ordered[:-1], **options)

        self.compiler.compile = compile_changed
        if sys.platform == "linux":
            self.compiler.link_shared_object = link_in_order
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile, self.compiler.link_shared_object = compile_all, link
        command.write_text(flags, encoding="utf-8")  # only now: a build that was cut short has objects of both kinds

    def get_export_symbols(self, ext: Extension) -> list[str]:
        """None by name: each kernel's initialiser exports itself."""
        return []


def is_newer(made: str, sources: tuple[str, ...]) -> bool:
    """``made`` is there and no older than any of ``sources``."""
    return os.path.exists(made) and all(os.path.getmtime(made) >= os.path.getmtime(source) for source in sources)


setup(ext_modules=kernel_bundle(), cmdclass={"build_ext": BuildKernels})
