"""``constrained mask``: which tokens may come after a prefix, and why.

The prefix is read as text, so any way to cut it into tokens leads to the same place. Where more than half of the
vocabulary is allowed the refused tokens are listed instead: they are the news.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.vocabulary import TokenizerInfo

__all__ = ["mask", "written"]

SPACE_MARK = "\u00b7"
RUN = re.compile(r"(\\?.)\1{4,}")
"""Five or more of one shown character (an escape is one), as in indentation tokens."""
MAX_RULES = 12
MAX_SHOWN = 400
"""Characters of a prefix or forced text that are shown."""


def mask(console: Console, grammar: Grammar, info: TokenizerInfo, prefix: str, *, limit: int, as_json: bool) -> int:
    """Show the mask after ``prefix``; 1 if the prefix leaves the grammar. ``limit``: most tokens listed."""
    compiled = GrammarCompiler(info).compile_grammar(grammar)
    matcher = GrammarMatcher(compiled)
    data = prefix.encode("utf-8", "surrogateescape")
    fits = matcher.accept_string(data)
    taken = len(data)
    if not fits:
        taken = _longest_prefix(compiled, data)
        matcher.accept_string(data[:taken])
    if as_json:
        _print_json(matcher, info, data, taken, limit)
    else:
        _print(console, matcher, info, data, taken, limit)
    return 0 if fits else 1


def _longest_prefix(compiled: CompiledGrammar, data: bytes) -> int:
    """How many bytes of ``data`` the grammar takes."""
    state = compiled.start_state
    for i in range(len(data)):
        state = compiled.advance(state, data[i : i + 1])
        if state == 0:
            return i
    return len(data)


def written(info: TokenizerInfo, names: dict[int, str], token_id: int) -> tuple[str, str]:
    """A token as it is shown, and what kind it is: ``text``, ``bytes``, ``added``, ``control`` or ``stop``.

    Spaces are shown as a middle dot, control characters escaped, bytes that are no whole characters as ``<E2>``.
    """
    if token_id in info.stop_token_ids:
        return names.get(token_id, f"<[{token_id}]>"), "stop"
    if token_id in info.special_token_ids:
        return names.get(token_id, f"<[{token_id}]>"), "control"
    data = info.token_bytes(token_id)
    if not data:
        return names.get(token_id, f"<[{token_id}]>"), "control"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(SPACE_MARK if b == 0x20 else chr(b) if 0x21 <= b < 0x7F else f"<{b:02X}>" for b in data), "bytes"
    return _visible(text), "added" if token_id in info.added_token_ids else "text"


def _visible(text: str) -> str:
    return "".join(SPACE_MARK if char == " " else char if char.isprintable() else char.encode(
        "unicode_escape").decode("ascii") for char in text)


def _shortened(shown: str) -> str:
    """Long runs counted: ``\\n`` and eleven spaces read as a dot, a multiplication sign and 11."""
    return RUN.sub(lambda run: f"{run[1]}\u00d7{len(run[0]) // len(run[1])}", shown)


def _clip(text: str, most: int = MAX_SHOWN) -> str:
    return text if len(text) <= most else text[: most // 2] + " ... " + text[-most // 2 :]


STYLES = {"text": "green", "bytes": "yellow", "added": "magenta", "control": "magenta", "stop": "bold red"}


def _print(console: Console, matcher: GrammarMatcher, info: TokenizerInfo, data: bytes, taken: int,
           limit: int) -> None:
    def line(label: str, value: Text | str) -> None:
        console.print(Text.assemble((f"{label:<9}", "bold"), value), soft_wrap=True)

    whole = data[:taken].decode("utf-8", "replace")
    line("prefix", Text(_clip(_visible(whole)), "cyan") if whole else Text("(empty)", "dim"))
    if taken < len(data):
        rest = _visible(data[taken:].decode("utf-8", "replace"))
        line("", Text.assemble(("does not fit from byte ", "red"), f"{taken}", (" on: ", "red"), (_clip(rest), "red"),
                               ("; this is the mask before it", "red")))
    line("allowed", _count(matcher, info))
    missing = matcher.distance_to_end()
    needed = "1 byte is" if missing == 1 else f"{missing} bytes are"
    line("may end", "yes" if matcher.is_completed() else f"not yet: at least {needed} missing")
    forced = matcher.find_jump_forward_string()
    if forced:
        line("forced", Text(_clip(_visible(forced)), "bold cyan"))
    rules = matcher.compiled.rules_at(matcher.state)
    more = f" and {len(rules) - MAX_RULES} more" if len(rules) > MAX_RULES else ""
    line("rules", ", ".join(_clip(rule, 60) for rule in rules[:MAX_RULES]) + more if rules else Text("(none)", "dim"))
    allowed = matcher.allowed_token_ids()
    refuse = 2 * len(allowed) > info.vocab_size
    listed = sorted(set(range(info.vocab_size)) - set(allowed)) if refuse else allowed
    _print_tokens(console, info, listed, "refused" if refuse else "tokens", limit, refuse)


def _count(matcher: GrammarMatcher, info: TokenizerInfo) -> str:
    count = matcher.allowed_token_count()
    return f"{count:,} of {info.vocab_size:,} tokens ({count / info.vocab_size:.2%})"


def _print_tokens(console: Console, info: TokenizerInfo, ids: list[int], label: str, limit: int,
                  refuse: bool) -> None:
    """The tokens by kind, short ones first, wrapped to the terminal's width.

    Where a stop token is allowed it comes first; among refused ones control and stop tokens are no news and come last.
    """
    names = {i: text for text, several in info.token_ids_by_text.items() for i in several}
    shown = [(*written(info, names, i), i) for i in ids]
    order = list(STYLES) if refuse else ["stop", *(kind for kind in STYLES if kind != "stop")]
    shown.sort(key=lambda entry: (order.index(entry[1]), len(entry[0]), entry[0]))
    text = Text.assemble((f"{label:<9}", "bold"))
    for token, kind, _ in shown[:limit]:
        text.append(_shortened(token), "red" if refuse and kind == "text" else STYLES[kind])
        text.append("  ")
    if len(shown) > limit:
        text.append(f"... and {len(shown) - limit:,} more (--limit {len(shown)} lists them)", "dim")
    console.print(text)
    kinds = sorted({kind for _, kind, _ in shown[:limit]} - {"text"}, key=order.index)
    if kinds:
        console.print(Text.assemble("         ", *((f"{kind}  ", STYLES[kind]) for kind in kinds)))


def _print_json(matcher: GrammarMatcher, info: TokenizerInfo, data: bytes, taken: int, limit: int) -> None:
    names = {i: text for text, several in info.token_ids_by_text.items() for i in several}
    allowed = matcher.allowed_token_ids()
    tokens: list[dict[str, Any]] = []
    for token_id in allowed[:limit]:
        text, kind = written(info, names, token_id)
        tokens.append({"id": token_id, "shown": text, "kind": kind, "hex": info.token_bytes(token_id).hex()})
    json.dump({
        "prefix": data.decode("utf-8", "replace"), "fits": taken == len(data), "bytes_taken": taken,
        "vocab_size": info.vocab_size, "allowed": len(allowed), "may_end": matcher.is_completed(),
        "bytes_to_end": matcher.distance_to_end(), "forced": matcher.find_jump_forward_string(),
        "rules": matcher.compiled.rules_at(matcher.state), "tokens": tokens,
    }, sys.stdout, indent=2)
    sys.stdout.write("\n")
