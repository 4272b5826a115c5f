"""Grammars for the tests, lark itself as the oracle, and texts near what it accepts."""

from __future__ import annotations

import random
from typing import Any

import pytest

lark = pytest.importorskip("lark")

CALC = r"""
?start: sum | NAME "=" sum -> assign_var
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
%import common.CNAME -> NAME
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""

JSON = r"""
?start: value
?value: object | array | string | SIGNED_NUMBER -> number | "true" -> true | "false" -> false | "null" -> null
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: string ":" value
string: ESCAPED_STRING
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
%ignore WS
"""

SQL = r"""
start: statement (";" statement)* [";"]
?statement: select | insert | update | delete | create
select: "SELECT"i ["DISTINCT"i] columns "FROM"i source [where] [group] [order] [limit]
columns: "*" | column ("," column)*
column: expr ["AS"i NAME]
source: table (join)*
table: NAME ["AS"i? NAME] | "(" select ")" ["AS"i? NAME]
join: ["LEFT"i | "INNER"i] "JOIN"i table "ON"i expr
where: "WHERE"i expr
group: "GROUP"i "BY"i expr ("," expr)* ["HAVING"i expr]
order: "ORDER"i "BY"i ordering ("," ordering)*
ordering: expr ["ASC"i | "DESC"i]
limit: "LIMIT"i INT ["OFFSET"i INT]
insert: "INSERT"i "INTO"i NAME ["(" NAME ("," NAME)* ")"] "VALUES"i row ("," row)*
row: "(" expr ("," expr)* ")"
update: "UPDATE"i NAME "SET"i NAME "=" expr ("," NAME "=" expr)* [where]
delete: "DELETE"i "FROM"i NAME [where]
create: "CREATE"i "TABLE"i NAME "(" definition ("," definition)* ")"
definition: NAME ("INTEGER"i | "TEXT"i | "VARCHAR"i "(" INT ")") ["NOT"i "NULL"i] ["PRIMARY"i "KEY"i]
?expr: conjunction ("OR"i conjunction)*
?conjunction: negation ("AND"i negation)*
?negation: "NOT"i negation | comparison
?comparison: sum [COMPARE sum | "IS"i ["NOT"i] "NULL"i | "LIKE"i STRING | "IN"i "(" expr ("," expr)* ")"]
?sum: product (("+" | "-" | "||") product)*
?product: atom (("*" | "/" | "%") atom)*
?atom: NUMBER | STRING | "NULL"i | name | call | "(" expr ")" | "-" atom
name: NAME ("." NAME)*
call: NAME "(" ["DISTINCT"i? expr ("," expr)* | "*"] ")"
COMPARE: "=" | "<>" | "!=" | "<=" | ">=" | "<" | ">"
NAME: /[A-Za-z_][A-Za-z0-9_]*/ | /"([^"]|"")+"/
STRING: /'([^']|'')*'/
INT.2: /[0-9]+/
NUMBER: /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/
COMMENT: /--[^\n]*/ | "/*" /(.|\n)*?/ "*/"
%ignore /[ \t\r\n]+/
%ignore COMMENT
"""

LUA = r"""
start: block
block: statement* [last]
?statement: ";" | assignment | call | "do" block "end" -> scope | "while" expr "do" block "end" -> while_
    | "repeat" block "until" expr -> repeat | condition
    | "for" NAME "=" expr "," expr ["," expr] "do" block "end" -> count
    | "for" names "in" exprs "do" block "end" -> each
    | "function" path body -> function | "local" "function" NAME body -> local_function
    | "local" names ["=" exprs] -> local
condition: "if" expr "then" block ("elseif" expr "then" block)* ["else" block] "end"
last: "return" [exprs] [";"] | "break" [";"]
path: NAME ("." NAME)* [":" NAME]
assignment: targets "=" exprs
targets: target ("," target)*
?target: NAME | prefix "[" expr "]" -> index | prefix "." NAME -> member
names: NAME ("," NAME)*
exprs: expr ("," expr)*
?prefix.1: target | call | "(" expr ")"
call: prefix arguments | prefix ":" NAME arguments
arguments: "(" [exprs] ")" | table | STRING
body: "(" [names ["," "..."] | "..."] ")" block "end"
table: "{" [field (("," | ";") field)* ["," | ";"]] "}"
field: "[" expr "]" "=" expr | NAME "=" expr | expr
?expr: conjunction ("or" conjunction)*
?conjunction: comparison ("and" comparison)*
?comparison: concat (("<" | ">" | "<=" | ">=" | "~=" | "==") concat)*
?concat: sum [".." concat]
?sum: product (("+" | "-") product)*
?product: unary (("*" | "/" | "%") unary)*
?unary: ("not" | "-" | "#") unary | power
?power: atom ["^" unary]
?atom: "nil" | "true" | "false" | NUMBER | STRING | "..." | "function" body | prefix | table
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /0[xX][0-9a-fA-F]+|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/
STRING: /"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'/ | LONG
LONG: /\[\[(.|\n)*?\]\]/
COMMENT: "--" /\[\[(.|\n)*?\]\]/ | /--(?!\[\[)[^\n]*/
%ignore COMMENT
%ignore /[ \t\f\r\n]+/
"""


def parser(grammar: str, mode: str, **options: Any) -> Any:
    """lark in the mode that the front end's mode stands for."""
    if mode == "lexer":
        return lark.Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=False, **options)
    return lark.Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest", **options)


def parses(made: Any, text: str) -> bool:
    try:
        made.parse(text)
    except (lark.exceptions.LarkError, IndexError):  # IndexError: lark's indenter on a comment at the very end
        return False
    return True


def mutated(rng: random.Random, text: str, letters: str) -> str:
    """``text`` after up to three small changes."""
    chars = list(text)
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(chars))
        what = rng.random()
        if what < 0.4:
            chars.insert(at, rng.choice(letters))
        elif what < 0.8 and chars:
            chars.pop(min(at, len(chars) - 1))
        elif chars:
            other = rng.randrange(len(chars))
            at = min(at, len(chars) - 1)
            chars[at], chars[other] = chars[other], chars[at]
    return "".join(chars)


_PATTERNS = ("/a+/", "/[ab]+/", "/a|ab/", "/ab|a/", "/b+?/", "/a+?b/", "/[a-c]/", "/a(?!b)/", "/(?:ab)+/", "/b{1,2}/",
             "/c[ab]*?c/", "/A/i", "/a$/", "/b(?=a)/", "/ab\\b/", "/[^a]b?/", "/(?:a|ba)*?c/")
_STRINGS = ('"a"', '"b"', '"ab"', '"ba"', '"c"', '"aa"', '"A"i', '"ab"i', '"cc"')


def random_grammar(rng: random.Random) -> str:
    """A small grammar whose terminals overlap: keywords, priorities, what is ignored, several contexts."""
    lines = []
    terminals = [f"T{i}" for i in range(rng.randint(1, 4))]
    for name in terminals:
        body = " ".join(rng.choice(_PATTERNS + _STRINGS) for _ in range(1 if rng.random() < 0.8 else 2))
        if rng.random() < 0.15:
            body += " | " + rng.choice(_STRINGS)
        lines.append(f"{name}{rng.choice(('', '', '', '.1', '.2'))}: {body}")
    rules = ["start", *(f"r{i}" for i in range(rng.randint(0, 3)))]

    def item() -> str:
        symbol = rng.choice([*terminals, *terminals, rng.choice(_STRINGS), *rules[1:]])
        return symbol + rng.choice(("", "", "", "", "?", "*", "+"))

    for rule in rules:
        options = [" ".join(item() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.1:
            options.append("")
        lines.append(f"{rule}{rng.choice(('', '', '.2'))}: " + " | ".join(options))
    if rng.random() < 0.5:
        lines.append("%ignore " + rng.choice(('" "', "/ +/", "/c+/", '"c"', "/ |c b/")))
    return "\n".join(lines) + "\n"


def may_hang(made: Any) -> bool:
    """Whether lark's LALR parser may reduce for ever: a rule that is itself among symbols that may all be empty."""
    rules = [(rule.origin.name, [symbol.name for symbol in rule.expansion]) for rule in made.rules]
    empty: set[str] = set()
    while True:
        more = {origin for origin, symbols in rules if all(symbol in empty for symbol in symbols)} - empty
        if not more:
            break
        empty |= more
    steps: dict[str, set[str]] = {}
    for origin, symbols in rules:
        for i, symbol in enumerate(symbols):
            if all(other in empty for other in symbols[:i] + symbols[i + 1 :]):
                steps.setdefault(origin, set()).add(symbol)
    for first in steps:
        seen: set[str] = set()
        stack = [first]
        while stack:
            for after in steps.get(stack.pop(), ()):
                if after == first:
                    return True
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    return False
