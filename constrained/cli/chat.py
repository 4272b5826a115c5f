"""``constrained chat``: a conversation in the terminal, every answer under the constraint if there is one."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console

from constrained.cli.generate import streamed
from constrained.errors import ConstrainedError
from constrained.typed.llm import LLM

__all__ = ["chat"]


def chat(console: Console, llm: LLM, output_type: Any, *, system: str | None, options: dict[str, Any]) -> int:
    """Read lines until an empty one or the end of input. ``/new`` forgets the conversation."""
    if sys.stdin.isatty():
        console.print("[dim]an empty line ends, /new begins anew[/dim]")
    messages: list[dict[str, Any]] = []
    while True:
        if sys.stdin.isatty():
            console.print("[bold]you[/bold] ", end="")
        line = sys.stdin.readline()
        if not line.strip():
            return 0
        if line.strip() == "/new":
            messages.clear()
            continue
        messages.append({"role": "user", "content": line.rstrip("\n")})
        given = [{"role": "system", "content": system}, *messages] if system else list(messages)
        try:
            result = streamed(llm, given, output_type, options)
        except ConstrainedError as error:
            console.print(f"[bold red]error:[/bold red] {error}")
            messages.pop()
            continue
        messages.append({"role": "assistant", "content": result.text})
