"""``constrained generate`` and ``extract``: one answer, or JSON Lines in and out.

A JSONL run writes one line for each input line, in order, as soon as it is there: ``{"line": 3, "output": ...}`` (with
the input's ``id``, if it has one), or ``"error"`` in place of ``"output"``. So a run that was cut off knows where it
stopped: started again with the same files it goes on with the next line, and a last line that was cut off is written
again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from constrained.cli.outputs import as_json
from constrained.cli.problem import UsageProblem
from constrained.errors import ConstrainedError, echo
from constrained.typed.llm import LLM
from constrained.typed.results import Result

__all__ = ["EXTRACT", "generate", "generate_lines", "streamed"]

EXTRACT = "Extract the data from this text.\n\n{text}"
"""The prompt of ``extract``."""


def generate(console: Console, llm: LLM, prompt: str, output_type: Any, *, options: dict[str, Any]) -> int:
    """Print one answer on standard output, figures on standard error; 1 if the output is not whole."""
    if output_type is None:
        result = streamed(llm, prompt, None, options)
    else:
        result = llm.generate(prompt, output_type, **options)
        print(_shown(result))
    usage = result.usage
    console.print(f"[dim]{usage.output_tokens} tokens, {usage.forced_tokens} of them forced, "
                  f"{usage.prompt_tokens} in the prompt; {result.finish_reason}[/dim]")
    return 0 if result.finish_reason in ("stop", "length") and not _error(result) else 1


def streamed(llm: LLM, prompt: Any, output_type: Any, options: dict[str, Any]) -> Result[Any]:
    """Print an answer as it comes."""
    try:
        with llm.stream(prompt, output_type, **options) as events:
            for delta in events.text_deltas:
                sys.stdout.write(delta)
                sys.stdout.flush()
            return events.result
    finally:
        print()


def _shown(result: Result[Any]) -> str:
    if _error(result) is not None:
        return result.text
    value = result.output
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False, indent=2)


def _error(result: Result[Any]) -> str | None:
    try:
        _ = result.output
    except ConstrainedError as error:
        return str(error)
    return None


def generate_lines(console: Console, llm: LLM, source: Path, target: Path, output_type: Any, *, template: str,
                   batch: int, options: dict[str, Any]) -> int:
    """Answer every line of ``source``; 1 if some line has an error."""
    lines = list(_lines(source, template))
    done = _finished(target)
    if done > len(lines):
        raise UsageProblem(f"{target} has {done} lines, {source} has {len(lines)}: this is another run's output",
                           hint="give another output file, or remove it")
    failed = 0
    columns = (TextColumn("[progress.description]{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn())
    with target.open("a", encoding="utf-8") as out, Progress(*columns, console=console) as progress:
        task = progress.add_task(f"{source.name}", total=len(lines), completed=done)
        for start in range(done, len(lines), batch):
            part = lines[start : start + batch]
            results = llm.generate_batch([prompt for _, prompt in part], output_type, **options)
            for number, ((key, _), result) in enumerate(zip(part, results, strict=True), start + 1):
                row: dict[str, Any] = {"line": number} if key is None else {"line": number, "id": key}
                error = _error(result)
                if error is None:
                    row["output"] = as_json(result.output)
                else:
                    failed += 1
                    row["error"] = error
                    row["text"] = result.text
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            out.flush()
            progress.update(task, advance=len(part))
    more = f", {done} were there before" if done else ""
    console.print(f"{len(lines) - done} lines written to {target}{more}"
                  + (f"; {failed} of them with an error" if failed else ""), soft_wrap=True)
    return 1 if failed else 0


def _lines(source: Path, template: str) -> Iterator[tuple[Any, str]]:
    """Of each line its id (None without one) and its prompt: the template with the line's fields in it."""
    try:
        content = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{source}: {error}") from None
    lines = content.removesuffix("\n").split("\n") if content else []  # other line ends may stand within JSON texts
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise UsageProblem(f"{source}, line {number}: empty", hint="one JSON object a line")
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageProblem(f"{source}, line {number}: no JSON: {error}") from None
        if isinstance(row, str):
            row = {"text": row}
        if not isinstance(row, dict):
            raise UsageProblem(f"{source}, line {number}: neither an object nor a text")
        try:
            yield row.get("id"), template.format_map(row)
        except KeyError as error:
            raise UsageProblem(f"{source}, line {number}: no field {error}, which the template names",
                               hint=f"its fields: {echo(', '.join(row))}") from None
        except (ValueError, IndexError, AttributeError) as error:
            raise UsageProblem(f"the template {echo(template)} cannot be filled in: {error}",
                               hint="{{ and }} write braces") from None


def _finished(target: Path) -> int:
    """How many whole lines there are; what is behind them is cut off."""
    if not target.exists():
        return 0
    content = target.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with target.open("r+b") as file:
            file.truncate(len(whole))
    return whole.count(b"\n")
