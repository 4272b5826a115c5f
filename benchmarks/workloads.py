"""What is measured: grammars, each in the form that every engine reads, and texts.

- JSON: the grammar of RFC 8259 over the first valid instances of MaskBench, written as ``json.dumps`` does.
- SQL: the shipped ``sql-select`` over derivations of itself with fixed seeds.
- bounded: regular expressions with counted repetitions, over texts made from them.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llguidance
import xgrammar
from derive import derive

import constrained as cd
from constrained.grammars import builtin_text

__all__ = ["BOUNDED", "Workload", "bounded", "json_texts", "json_workload", "maskbench", "sql_texts", "sql_workload"]


@dataclass(frozen=True)
class Workload:
    """Grammars by label for each engine."""

    ours: Callable[[], cd.Grammar]
    llguidance: dict[str, str]
    xgrammar: dict[str, Callable[[xgrammar.GrammarCompiler], Any]]


# ---- JSON ----------------------------------------------------------------------------------------------

JSON_LARK = r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" (member ("," member)*)? "}"
member: STRING ":" value
array: "[" (value ("," value)*)? "]"
STRING: /"([^"\\\x00-\x1F]|\\(["\\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
%ignore /[ \t\n\r]+/
"""


def json_workload() -> Workload:
    """RFC 8259. The peers' own equivalents, and the same EBNF for XGrammar."""
    grammar_from_lark = llguidance.LLMatcher.grammar_from_lark
    from_schema = llguidance.LLMatcher.grammar_from_json_schema
    types = ["object", "array", "string", "number", "boolean", "null"]
    text = builtin_text("json")
    return Workload(
        lambda: cd.Grammar.builtin("json"),
        {"Lark": grammar_from_lark(JSON_LARK), "%json {}": from_schema({}),
         "%json types": from_schema({"type": types})},
        {"built-in JSON": lambda c: c.compile_builtin_json_grammar(),
         "same EBNF": lambda c: c.compile_grammar(xgrammar.Grammar.from_ebnf(text))},
    )


def maskbench(shared: Path, count: int) -> list[Any]:
    """The first ``count`` valid instances."""
    found: list[Any] = []
    with gzip.open(shared / "data/maskbench/dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            found.extend(test["data"] for test in json.loads(line)["tests"] if test["valid"])
            if len(found) >= count:
                break
    return found[:count]


def json_texts(shared: Path, count: int = 300) -> list[str]:
    """The instances as text."""
    return [json.dumps(data, ensure_ascii=False) for data in maskbench(shared, count)]


# ---- SQL -----------------------------------------------------------------------------------------------

_SQL_RULES = r"""
start: query (ws ";")?
query: (with_clause sp)? select (sp set_word sp select)* (sp order)? (sp limit)?
with_clause: WITH sp (RECURSIVE sp)? cte (comma cte)*
cte: NAME (ws "(" ws names ws ")")? sp AS ws "(" ws query ws ")"
set_word: UNION (sp ALL)? | INTERSECT | EXCEPT
select: SELECT sp ((DISTINCT | ALL) sp)? items (sp from_clause)? (sp where)? (sp group (sp having)?)?
items: item (comma item)*
item: "*" | NAME ".*" | expression alias?
alias: sp AS sp NAME
from_clause: FROM sp source (comma source | sp join)*
source: (path | "(" ws query ws ")") alias?
join: (INNER | (LEFT | RIGHT | FULL) (sp OUTER)?) sp JOIN sp source sp condition
    | JOIN sp source sp condition
    | (CROSS | NATURAL) sp JOIN sp source
condition: ON sp expression | USING ws "(" ws names ws ")"
where: WHERE sp expression
group: GROUP sp BY sp expression (comma expression)*
having: HAVING sp expression
order: ORDER sp BY sp order_item (comma order_item)*
order_item: expression (sp (ASC | DESC))? (sp NULLS sp (FIRST | LAST))?
limit: LIMIT sp DIGITS (sp OFFSET sp DIGITS)?
expression: conjunct (sp OR sp conjunct)*
conjunct: negation (sp AND sp negation)*
negation: (NOT sp)* predicate
predicate: sum (ws COMPARE ws sum
               | sp IS (sp NOT)? sp (NULL | TRUE | FALSE)
               | sp (NOT sp)? (BETWEEN sp sum sp AND sp sum | LIKE sp sum | IN ws "(" ws (query | list) ws ")"))?
sum: product (ws ("+" | "||") ws product | sp "-" sp product)*
product: unary (ws TIMES ws unary)*
unary: "-"? primary
primary: NUMBER | STRING | NULL | TRUE | FALSE | path | call | case
       | CAST ws "(" ws expression sp AS sp type ws ")"
       | EXISTS ws "(" ws query ws ")"
       | "(" ws (query | expression) ws ")"
call: NAME "(" ws (("*" | (DISTINCT sp)? list) ws)? ")" (sp OVER ws "(" ws (window ws)? ")")?
window: PARTITION sp BY sp list (sp order)? | order
case: CASE (sp expression)? (sp WHEN sp expression sp THEN sp expression)+ (sp ELSE sp expression)? sp END
list: expression (comma expression)*
type: NAME ("(" DIGITS (comma DIGITS)? ")")?
path: NAME ("." NAME){0,2}
names: NAME (comma NAME)*
comma: ws "," ws
DIGITS: /[0-9]+/
NUMBER: /[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/
STRING: /'([^'\x00]|'')*'/
NAME: /[A-Za-z_][A-Za-z0-9_]*|"([^"\x00]|"")+"/
COMPARE: "=" | "<>" | "!=" | "<=" | ">=" | "<" | ">"
TIMES: /[*\/%]/
"""

_EXPLICIT = "ws: SPACE?\nsp: SPACE\nSPACE: /[ \\t\\r\\n]+/\n"


def _key_words() -> list[str]:
    return [line.split()[0] for line in builtin_text("sql-select").splitlines()
            if line[:1].isupper() and "::=" in line]


def sql_lark(ignore: bool) -> str:
    """The grammar with terminals. ``ignore`` leaves white space to the lexer (then more texts fit: ``SELECT1``)."""
    words = "".join(f'{word}: "{word}"i\n' for word in _key_words())
    if not ignore:
        return _SQL_RULES + _EXPLICIT + words
    out = []
    for line in _SQL_RULES.splitlines():
        for gone in ("(ws ", "(sp "):
            line = line.replace(gone, "(")
        for gone in (" ws", " sp"):
            while f"{gone} " in line or f"{gone})" in line or line.endswith(gone):
                line = line.replace(f"{gone} ", " ").replace(f"{gone})", ")")
                line = line[: -len(gone)] if line.endswith(gone) else line
        out.append(line.replace(": ws ", ": "))
    return "\n".join(out) + "\n%ignore /[ \\t\\r\\n]+/\n" + words


def sql_workload() -> Workload:
    """The shipped subset of SELECT; for the peers with terminals (Lark), for XGrammar the EBNF as it is too."""
    grammar_from_lark = llguidance.LLMatcher.grammar_from_lark
    text = builtin_text("sql-select")
    lark = sql_lark(False)
    return Workload(
        lambda: cd.Grammar.builtin("sql-select"),
        {"Lark": grammar_from_lark(lark), "Lark, %ignore": grammar_from_lark(sql_lark(True))},
        {"same EBNF": lambda c: c.compile_grammar(xgrammar.Grammar.from_ebnf(text)),
         "Lark": lambda c: c.compile_lark(lark)},
    )


def sql_texts(count: int = 100) -> list[str]:
    """Derivations with the seeds 0 to ``count - 1``."""
    rules = cd.Grammar.builtin("sql-select").rules
    return [derive(rules, seed) for seed in range(count)]


# ---- regular expressions -------------------------------------------------------------------------------

BOUNDED = {
    "long string": r'[^"\\]{0,100000}',
    "letters or digits": r"(\p{L}|\d){3,64}",
    "identifier": r"[A-Za-z_][A-Za-z0-9_]*",
    "date": r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])",
    "e-mail": r"[A-Za-z0-9._%+-]+@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,}",
}


def bounded(name: str, shared: Path) -> tuple[Workload, list[str]]:
    """One of ``BOUNDED`` with texts that it matches."""
    pattern = BOUNDED[name]
    rules = cd.Grammar.from_regex(pattern).rules
    if name == "long string":
        prose = " ".join(json_texts(shared)).replace('"', "'").replace("\\", "/")
        texts = [prose[i:i + 4000] for i in range(0, 40000, 4000)]
    else:
        texts = [derive(rules, seed) for seed in range(100)]
        if name == "e-mail":
            rng = random.Random(0)
            people = ["anna.smith", "j.r.r.tolkien", "info", "no-reply", "bob_jones99", "x", "first.last+tag"]
            hosts = ["example.com", "mail.example.co.uk", "university.edu", "gmail.com", "a-b.c-d.org"]
            texts += [f"{rng.choice(people)}{rng.randrange(100)}@{rng.choice(hosts)}" for _ in range(50)]
    work = Workload(
        lambda: cd.Grammar.from_regex(pattern),
        {"regex": llguidance.LLMatcher.grammar_from_regex(pattern)},
        {"regex": lambda c: c.compile_regex(pattern)},
    )
    return work, texts
