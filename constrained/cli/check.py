"""``constrained check``: read a grammar or a pattern and tell what it is, what is odd about it, and what is wrong.

Notes and warnings do not change the exit code unless ``strict``; an error is printed with its place and a caret.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from constrained.cli.inputs import PATTERN_SUFFIXES, pattern_in, read_text
from constrained.errors import GrammarError, GrammarLimitError, GrammarSyntaxError, RegexError
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.regex import from_regex
from constrained.grammar.analysis import GrammarReport, analyse
from constrained.grammar.ir import RuleSet
from constrained.grammar.show import rule_names, show

__all__ = ["check"]

MAX_RULES = 200
MAX_BODY = 400
"""Most rules, and most characters of one, that are printed unless all are asked for."""


def check(console: Console, path: str, *, regex: bool, dialect: str, root: str, strict: bool, as_json: bool,
          every: bool) -> int:
    """Check one file; returns the exit code. Raises ``UsageProblem`` for a file that cannot be read."""
    text = read_text(path)
    notes: list[str] = []
    kind = "regex" if regex or path.endswith(PATTERN_SUFFIXES) else "ebnf"
    try:
        rules = (from_regex(pattern_in(text), dialect=dialect) if kind == "regex"
                 else from_ebnf(text, root=root, notes=notes))
    except (GrammarError, GrammarLimitError) as error:
        if as_json:
            _print_json({"file": path, "kind": kind, "ok": False, "error": _described(error)})
        else:
            console.print(Text.assemble((path, "bold"), ": ", (str(error), "")), soft_wrap=True)
            console.print("[bold red]error[/]: this is not a usable " + ("pattern" if kind == "regex" else "grammar"))
        return 1
    report = analyse(rules)
    ok = not (strict and report.warnings())
    if as_json:
        _print_json({
            "file": path, "kind": kind, "ok": ok, "root": rules.root, "rules": list(rules.rules),
            "nullable": list(report.nullable), "unproductive": list(report.unproductive),
            "unreachable": list(report.unreachable), "warnings": list(report.warnings()), "notes": notes,
        })
        return 0 if ok else 1
    _print_rules(console, rules, report, every)
    for note in notes:
        console.print(Text.assemble(("note: ", "bold cyan"), note), soft_wrap=True)
    for warning in report.warnings():
        console.print(Text.assemble(("warning: ", "bold yellow"), warning), soft_wrap=True)
    count, warned = len(rules.rules), len(report.warnings())
    found = f"{count} rule{'s' * (count != 1)}, {warned or 'no'} warning{'s' * (warned != 1)}"
    verdict = ("ok", "bold green") if ok else ("refused (--strict)", "bold red")
    console.print(Text.assemble((path, "bold"), ": ", verdict, f", {found}"), soft_wrap=True)
    return 0 if ok else 1


def _described(error: GrammarError | GrammarLimitError) -> dict[str, Any]:
    found: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, GrammarSyntaxError) and error.line:
        found |= {"line": error.line, "column": error.column}
    if isinstance(error, RegexError):
        found["position"] = error.position
    if isinstance(error, GrammarLimitError):
        found |= {"limit": error.limit, "value": error.value}
    return found


def _print_json(value: dict[str, Any]) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=not _writes_unicode())
    sys.stdout.write("\n")


def _writes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _print_rules(console: Console, rules: RuleSet, report: GrammarReport, every: bool) -> None:
    names = rule_names(rules)
    marks = {names[rules.root]: "root"}
    for name in report.nullable:
        marks[names[name]] = ", ".join(filter(None, (marks.get(names[name]), "can be empty")))
    for name in report.unreachable:
        marks[names[name]] = ", ".join(filter(None, (marks.get(names[name]), "never used")))
    for name in report.unproductive:
        marks[names[name]] = ", ".join(filter(None, (marks.get(names[name]), "can never end")))
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    table.add_column(style="dim")
    shown = _bodies(show(rules))
    for name, body in shown if every else shown[:MAX_RULES]:
        cut = body if every or len(body) <= MAX_BODY else f"{body[:MAX_BODY]} ... ({len(body)} characters)"
        table.add_row(Text(name), Text(cut), Text(marks.get(name, "")))
    console.print(table)
    if not every and len(shown) > MAX_RULES:
        console.print(f"... and {len(shown) - MAX_RULES} more rules (--all shows them)", style="dim")


def _bodies(text: str) -> list[tuple[str, str]]:
    """The rules of a printed grammar: ``show`` begins each at the start of a line."""
    rules: list[tuple[str, str]] = []
    for line in text.split("\n"):
        name, arrow, body = line.partition(" ::= ")
        if arrow and not line.startswith((" ", "\t")):
            rules.append((name.strip(), body.strip()))
        elif line.strip() and rules:
            rules[-1] = (rules[-1][0], rules[-1][1] + "\n" + line.strip())
    return rules
