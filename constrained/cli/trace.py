"""``constrained trace``: generate, and see each token: in the terminal, and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from constrained.typed.llm import LLM
from constrained.typed.trace import Trace, TraceStep, trace

__all__ = ["show", "trace_command"]


def trace_command(console: Console, llm: LLM, prompt: str, output_type: Any, target: Path | None, *, layers: int,
                  options: dict[str, Any]) -> int:
    """Print the trace; write the page (or the data, for ``.json``) where ``target`` says."""
    seen = trace(llm, prompt, output_type, layers=layers, **options)
    show(console, seen)
    if target is not None:
        seen.save(target)
        console.print(f"written: {target}")
    return 0


def show(console: Console, seen: Trace) -> None:
    """The text with colours, then a line for each token that was chosen."""
    line = Text()
    for step in seen.steps:
        line.append(step.before, "dim")
        line.append(step.text, _style(step))
    console.print(line, soft_wrap=True)
    console.print()
    console.print(Text(str(seen)), soft_wrap=True, highlight=False)
    console.print(Text("grey: forced by the grammar; green to red: likely to unlikely under the mask; underlined: the "
                       "model wanted something else; italic: thinking", "dim"), soft_wrap=True)


def _style(step: TraceStep) -> str:
    news = " underline" if step.wanted and not step.wanted[0].allowed else " italic" if step.thinking else ""
    if step.forced:
        return "bright_black" + news
    return ("green" if step.probability > 0.5 else "yellow" if step.probability > 0.1 else "red") + news
