"""``constrained demo``: a small model writes under three grammars, and every figure is measured as it does.

For each text: the same prompt first without a grammar, then under one; an independent judge reads both. Colours show
how much of the vocabulary the mask left at each token. If the demo's budget of tokens ends first, the engine closes the
text by a shortest completion, which is shown as such.
"""

from __future__ import annotations

import codecs
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.cli.demo_model import Piece, Writer, chat_prompt
from constrained.cli.judges import arithmetic_value, json_value
from constrained.cli.timed_matcher import MatcherLog, TimedMatcher
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.vocabulary import TokenizerInfo

__all__ = ["SAMPLES", "run_samples"]

RECORD = r'''root   ::= "{\n  \"name\": " string ",\n  \"age\": " age ",\n  \"city\": " string ",\n  "
           "\"likes\": " list "\n}"
list   ::= "[" string (", " string){0,3} "]"
string ::= "\"" [^"\\\x00-\x1F]{1,40} "\""
age    ::= [1-9] [0-9]?
'''
FREE_TOKENS = 40
TOKENS = 100
STATUS_TOKENS = 50
FORCED, FEW, SOME, MANY = "bold cyan", "green", "yellow", "default"
FEW_SHARE, SOME_SHARE = 0.001, 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """One text of the demo."""

    name: str
    title: str
    prompt: str
    grammar: Callable[[], Grammar]
    source: str
    judge: Callable[[str], Any]
    judged_by: str


SAMPLES = (
    Sample("JSON", "JSON, any value", "Describe a cat in JSON with name, age and color.",
           lambda: Grammar.builtin("json"), "the built-in grammar json (RFC 8259)", json_value, "json.loads"),
    Sample("record", "A JSON record with fixed keys",
           "Alice is 30 years old, lives in Paris, and likes chess and tea. Who is she?",
           lambda: Grammar.from_ebnf(RECORD), "a few lines of EBNF", json_value, "json.loads"),
    Sample("arithmetic", "An arithmetic expression", "What is twelve times seven plus five?",
           lambda: Grammar.builtin("arithmetic"), "the built-in grammar arithmetic", arithmetic_value,
           "Python's parser and float arithmetic"),
)


@dataclass(slots=True)
class Outcome:
    """What one constrained text came to."""

    compile_seconds: float
    log: MatcherLog
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the whole text, the engine's included."""
    tokens: int = 0
    forced: int = 0
    valid: bool = False
    shares: list[float] = field(default_factory=list)
    """Share of the vocabulary that each sampled token was chosen from."""


def run_samples(console: Console, writer: Writer) -> bool:
    """Show all samples; whether every constrained text was valid."""
    compiler = GrammarCompiler(writer.info)
    legend = Text.assemble("colours: ", ("forced", FORCED), " (one way on: the model is not asked)   ",
                           ("under 0.1 %", FEW), "   ", ("under 10 %", SOME), "   more of the vocabulary allowed")
    console.print(legend)
    outcomes = [_run(console, writer, compiler, sample) for sample in SAMPLES]
    console.print(_summary(outcomes))
    return all(outcome.valid for outcome in outcomes)


def _run(console: Console, writer: Writer, compiler: GrammarCompiler, sample: Sample) -> Outcome:
    console.print()
    console.print(Rule(f"[bold]{sample.title}[/]  under {escape(sample.source)}", align="left"))
    console.print(f"prompt      {escape(sample.prompt)}")
    prompt = chat_prompt(writer.info, sample.prompt)
    text = _write_free(console, writer, prompt)
    _verdict(console, sample, text)
    grammar = sample.grammar()
    started = time.thread_time()
    compiled = compiler.compile_grammar(grammar)
    outcome = Outcome(time.thread_time() - started, MatcherLog())
    text = _write_constrained(console, writer, prompt, compiled, outcome)
    outcome.valid = _verdict(console, sample, text)
    return outcome


def _write_free(console: Console, writer: Writer, prompt: list[int]) -> str:
    tokens: list[int] = []
    shown = Text(style="dim")
    with Live(_block("no grammar", shown), console=console, refresh_per_second=10) as live:
        def show(piece: Piece) -> None:
            tokens.extend(piece.token_ids)
            shown.plain = _text(writer.info, tokens)
            live.update(_block("no grammar", shown))

        writer.write(prompt, None, FREE_TOKENS, show)
        if len(tokens) >= FREE_TOKENS:
            live.update(_block("no grammar", Text.assemble(shown, (f" ... (cut at {FREE_TOKENS} tokens)", "dim"))))
    _end_line(console)
    return _text(writer.info, tokens)


def _write_constrained(console: Console, writer: Writer, prompt: list[int], compiled: CompiledGrammar,
                       outcome: Outcome) -> str:
    info, log = writer.info, outcome.log
    tokens: list[int] = []
    shown = Text()
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # a character may span tokens
    with Live(_block("grammar", shown), console=console, refresh_per_second=10) as live:
        def show(piece: Piece) -> None:
            for token_id in piece.token_ids:
                allowed = log.choices[len(tokens)]
                shown.append(decode(info.token_bytes(token_id)), _style(allowed, info.vocab_size))
                tokens.append(token_id)
            live.update(Group(_block("grammar", shown), _status(info, log, len(tokens))))

        wall, cpu = time.perf_counter(), time.process_time()
        writer.write(prompt, TimedMatcher(GrammarMatcher(compiled), log), TOKENS, show)
        outcome.wall_seconds, outcome.cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
        outcome.tokens = len(tokens)
        sampled = [allowed for allowed in log.choices[: len(tokens)] if allowed is not None and allowed > 1]
        outcome.forced = len(tokens) - len(sampled)
        outcome.shares = [allowed / info.vocab_size for allowed in sampled]
        check = GrammarMatcher(compiled)
        taken = check.accept_tokens(tokens)
        assert taken == len(tokens), "the loop writes only what the matcher allows"
        rest = b"" if check.is_completed() else check.shortest_completion()
        shown.append(rest.decode("utf-8", "replace"), "bold magenta")
        live.update(_block("grammar", shown))
    _end_line(console)
    if rest:
        console.print(f"[magenta]            cut at {TOKENS} tokens; the engine closed the text with the shortest "
                      f"completion, {len(rest)} bytes[/]")
    return (b"".join(info.token_bytes(i) for i in tokens) + rest).decode("utf-8", "replace")


def _end_line(console: Console) -> None:
    """In a file or a pipe rich leaves the last line of a live block open."""
    if not console.is_terminal:
        console.line()


def _style(allowed: int | None, vocab_size: int) -> str:
    """The colour of a token by how many ids its mask left."""
    if allowed is None or allowed == 1:
        return FORCED
    share = allowed / vocab_size
    return FEW if share < FEW_SHARE else SOME if share < SOME_SHARE else MANY


def _text(info: TokenizerInfo, tokens: list[int]) -> str:
    return b"".join(info.token_bytes(i) for i in tokens).decode("utf-8", "replace")


def _block(label: str, text: Text) -> Table:
    """A label and a text beside it, wrapped in its own column."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=10, style="bold")
    grid.add_column(ratio=1)
    grid.add_row(label, text)
    return grid


def _status(info: TokenizerInfo, log: MatcherLog, tokens: int) -> Padding:
    """The line under a text that is being written."""
    counts = [allowed for allowed in log.choices[-STATUS_TOKENS:] if allowed is not None]
    if not counts or not log.mask_seconds:
        return Padding("")
    allowed, size = counts[-1], info.vocab_size
    return Padding(Text(f"{tokens} tokens; the last choice was among {allowed:,} of {size:,} ({allowed / size:.2%}); "
                        f"the last mask took {log.mask_seconds[-1] * 1e6:.1f} us", "dim"), (0, 0, 0, 12))


def _verdict(console: Console, sample: Sample, text: str) -> bool:
    try:
        value = sample.judge(text)
    except ValueError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        console.print(f"            [red]not valid[/] [dim]({escape(sample.judged_by)}: {escape(reason[:100])})[/]")
        return False
    shown = repr(value)
    shown = shown if len(shown) <= 100 else shown[:97] + "..."
    console.print(f"            [bold green]valid[/] [dim]({escape(sample.judged_by)} reads {escape(shown)})[/]")
    return True


def _summary(outcomes: list[Outcome]) -> Group:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("grammar")
    for name in ("compile\nms", "tokens\n(forced)", "seconds\nin all", "model\nms/token", "mask us\nmedian",
                 "engine us\n/token, mean", "engine's\nshare", "allowed\nmedian"):
        table.add_column(name, justify="right")
    for sample, outcome in zip(SAMPLES, outcomes, strict=True):
        log, count = outcome.log, max(1, outcome.tokens)
        model = max(0.0, outcome.cpu_seconds - log.seconds)
        table.add_row(
            sample.name, f"{outcome.compile_seconds * 1e3:.1f}", f"{outcome.tokens} ({outcome.forced})",
            f"{outcome.wall_seconds:.1f}", f"{model / count * 1e3:.1f}",
            f"{statistics.median(log.mask_seconds or [0.0]) * 1e6:.1f}", f"{log.seconds / count * 1e6:.1f}",
            f"{log.seconds / max(outcome.cpu_seconds, 1e-9):.2%}", f"{statistics.median(outcome.shares or [1.0]):.2%}")
    note = ("All but the seconds are CPU time. model: with reading the prompt. mask: fill_next_token_bitmask. engine: "
            "masks, accepting and forced tokens; first meetings with a place in the grammar are the costly ones, what "
            "they find is kept. allowed: the share of the vocabulary that a sampled token was chosen from.")
    return Group("", Rule("[bold]Measured just now on this machine[/]", align="left"), table, Text(note, style="dim"))
