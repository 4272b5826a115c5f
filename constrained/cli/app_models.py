"""The commands that run a model or measure: generate, extract, chat, trace, bench. Added to the same ``app``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from constrained.cli.app import app, run_command
from constrained.cli.problem import UsageProblem

if TYPE_CHECKING:
    from constrained.cli.outputs import Wanted

__all__ = ["app"]


Schema = Annotated[str | None, typer.Option("--schema", "-s", help="A JSON Schema: a file, or JSON.")]
Type = Annotated[str | None, typer.Option("--type", "-t", help="A Python type as module:Name, from the working "
                                                               "directory.")]
GrammarFile = Annotated[str | None, typer.Option("--grammar", "-g", help="A grammar file: EBNF, .lark, or a pattern "
                                                                         "(.regex).")]
Pattern = Annotated[str | None, typer.Option("--regex", "-r", help="A regular expression (Python's dialect).")]
Choices = Annotated[list[str] | None, typer.Option("--choice", help="One of several texts (give it for each).")]
Model = Annotated[str | None, typer.Option("--model", "-m", help="A GGUF file, a checkpoint directory or the URL of a "
                                                                 "server; default: SmolLM2-135M-Instruct, fetched "
                                                                 "once.")]
Device = Annotated[str | None, typer.Option(help="Where the model runs: cpu, cuda, ...")]
MaxTokens = Annotated[int, typer.Option(min=1, help="Most tokens of an answer; a typed one is steered to a whole end.")]
Temperature = Annotated[float, typer.Option(min=0.0, help="0 takes the likeliest token.")]
Seed = Annotated[int | None, typer.Option(help="Equal seeds give equal answers.")]
Thinking = Annotated[int | None, typer.Option(min=0, metavar="TOKENS", help="Reason in free text first, in at most so "
                                                                            "many tokens.")]
Lines = Annotated[tuple[Path, Path] | None, typer.Option("--jsonl", metavar="IN OUT", help="JSON Lines in and out; a "
                                                         "run that was cut off goes on where it stopped.")]
Batch = Annotated[int, typer.Option(min=1, help="Lines that run at once.")]


Form = tuple[str | None, str | None, str | None, str | None, list[str] | None]
"""--schema, --type, --grammar, --regex, --choice."""


def _sampling(max_tokens: int, temperature: float, seed: int | None, thinking: int | None) -> dict[str, Any]:
    options = {"max_tokens": max_tokens, "temperature": temperature, "seed": seed, "thinking": thinking}
    return {name: value for name, value in options.items() if value is not None}


def _wanted(form: Form) -> Wanted:
    from constrained.cli.outputs import Wanted

    schema, kind, grammar, regex, choice = form
    return Wanted(schema, kind, grammar, regex, tuple(choice or ()))


@app.command()
def generate(
    prompt: Annotated[str | None, typer.Argument(help="What to ask; - reads standard input.")] = None,
    schema: Schema = None, type_: Type = None, grammar: GrammarFile = None, regex: Pattern = None,
    choice: Choices = None, model: Model = None, device: Device = None, max_tokens: MaxTokens = 512,
    temperature: Temperature = 0.0, seed: Seed = None, thinking: Thinking = None, jsonl: Lines = None,
    template: Annotated[str, typer.Option(help="The prompt of a line, with its fields in braces.")] = "{prompt}",
    batch: Batch = 8,
) -> None:
    """Ask a model; the answer has the form that --schema, --type, --grammar, --regex or --choice says.

    Exit code 0; 1: the answer (or that of some line) is not whole; 2: something cannot be read.
    """
    _answer(prompt, (schema, type_, grammar, regex, choice), model, device, jsonl, template, batch,
            _sampling(max_tokens, temperature, seed, thinking))


@app.command()
def extract(
    text: Annotated[str | None, typer.Argument(help="The text to read; - reads standard input.")] = None,
    schema: Schema = None, type_: Type = None, grammar: GrammarFile = None, regex: Pattern = None,
    choice: Choices = None, model: Model = None, device: Device = None, max_tokens: MaxTokens = 512,
    temperature: Temperature = 0.0, seed: Seed = None, thinking: Thinking = None, jsonl: Lines = None,
    template: Annotated[str | None, typer.Option(help="Another prompt, with {text} in it.")] = None,
    batch: Batch = 8,
) -> None:
    """Read data out of texts: generate with a prompt made for it; lines have a field "text" (or are a text).

    Exit codes as for generate.
    """
    from constrained.cli.generate import EXTRACT

    form = EXTRACT if template is None else template
    _answer(text, (schema, type_, grammar, regex, choice), model, device, jsonl, form, batch,
            _sampling(max_tokens, temperature, seed, thinking), needs_form=True)


def _answer(prompt: str | None, wanted: Form, model: str | None, device: str | None,
            jsonl: tuple[Path, Path] | None, template: str, batch: int, options: dict[str, Any], *,
            needs_form: bool = False) -> None:
    def run() -> int:
        from constrained.cli.generate import generate as command
        from constrained.cli.generate import generate_lines
        from constrained.cli.inputs import read_text
        from constrained.cli.outputs import open_model, output_of

        if (prompt is None) == (jsonl is None):
            raise UsageProblem("give either a text or --jsonl IN OUT")
        output_type = output_of(_wanted(wanted))
        if needs_form and output_type is None:
            raise UsageProblem("extract needs a form", hint="--schema, --type, --grammar, --regex or --choice")
        console = Console(stderr=True, highlight=False)
        with open_model(model, device=device, max_batch=batch) as llm:
            if jsonl is not None:
                return generate_lines(console, llm, *jsonl, output_type, template=template, batch=batch,
                                      options=options)
            assert prompt is not None
            text = read_text("-") if prompt == "-" else prompt
            asked = re.sub(r"\{(?:text|prompt)\}", lambda _: text, template)
            return command(console, llm, asked, output_type, options=options)

    run_command(run)


@app.command()
def chat(
    schema: Schema = None, type_: Type = None, grammar: GrammarFile = None, regex: Pattern = None,
    choice: Choices = None, model: Model = None, device: Device = None, max_tokens: MaxTokens = 512,
    temperature: Temperature = 0.0, seed: Seed = None, thinking: Thinking = None,
    system: Annotated[str | None, typer.Option(help="A system message.")] = None,
) -> None:
    """Talk to a model in the terminal, each answer in the form asked for. An empty line ends."""
    def run() -> int:
        from constrained.cli.chat import chat as command
        from constrained.cli.outputs import open_model, output_of

        output_type = output_of(_wanted((schema, type_, grammar, regex, choice)))
        with open_model(model, device=device) as llm:
            return command(Console(stderr=True, highlight=False), llm, output_type, system=system,
                           options=_sampling(max_tokens, temperature, seed, thinking))

    run_command(run)


@app.command()
def trace(
    prompt: Annotated[str, typer.Argument(help="What to ask.")],
    schema: Schema = None, type_: Type = None, grammar: GrammarFile = None, regex: Pattern = None,
    choice: Choices = None, model: Model = None, device: Device = None, max_tokens: MaxTokens = 200,
    temperature: Temperature = 0.0, seed: Seed = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a page (.html), or the data (.json).")] = None,
    layers: Annotated[int, typer.Option(min=0, help="Layers of the logit lens.")] = 8,
    thinking: Thinking = None,
) -> None:
    """Generate, and see each token: its probability before and after the mask, what else could have come, its time."""
    def run() -> int:
        from constrained.cli.outputs import open_model, output_of
        from constrained.cli.trace import trace_command

        output_type = output_of(_wanted((schema, type_, grammar, regex, choice)))
        with open_model(model, device=device) as llm:
            return trace_command(Console(highlight=False), llm, prompt, output_type, out, layers=layers,
                                 options=_sampling(max_tokens, temperature, seed, thinking))

    run_command(run)


@app.command()
def bench(
    schema: Schema = None, type_: Type = None, grammar: GrammarFile = None, regex: Pattern = None,
    tokenizer: Annotated[str | None, typer.Option(help="A tokenizer.json, its folder, or a GGUF file; default: the "
                                                       "demo's model.")] = None,
    texts: Annotated[int, typer.Option(min=1, help="Random texts to walk.")] = 50,
) -> None:
    """Measure what a constraint costs with a tokenizer: compiling, first masks, known masks."""
    def run() -> int:
        from constrained.cli.bench import bench as command
        from constrained.cli.inputs import tokenizer_info
        from constrained.cli.outputs import output_of
        from constrained.typed.output_type import output_type

        kind = output_of(_wanted((schema, type_, grammar, regex, None)))
        if kind is None:
            raise UsageProblem("nothing to measure", hint="--schema, --type, --grammar or --regex")
        return command(Console(highlight=False), output_type(kind).grammar, tokenizer_info(tokenizer), texts=texts)

    run_command(run)
