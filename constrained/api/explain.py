"""Why a token may not come, and where the grammar stands: an answer in the grammar's own names.

    print(cd.explain(matcher))              # the place: text so far, rules, what may come
    print(cd.explain(matcher, " maybe"))    # a token's text, or its id

A refused token is read byte by byte as the automaton would: the answer names the byte at which it stops, the rules that
stand there and the bytes they would have read.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError

__all__ = ["Explanation", "TokenVerdict", "explain"]

TAIL = 60
"""Characters of the text so far that are shown."""

MOST_RULES = 12
MOST_TOKENS = 12


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """What was asked about: a token (``token_id`` None: a text that is cut into tokens in some way)."""

    token_id: int | None
    data: bytes
    allowed: bool
    reason: str
    taken: int
    """Bytes that the grammar reads before it stops."""
    rules: tuple[str, ...] = ()
    """The rules that stand where it stops."""
    expected: str = ""
    """The bytes they read there, as a character class."""

    def __str__(self) -> str:
        shown = repr(self.data.decode("utf-8", "replace"))
        name = shown if self.token_id is None else f"token {self.token_id} {shown}"
        if self.allowed:
            return f"{name} may come: {self.reason}"
        lines = [f"{name} may not come: {self.reason}"]
        if self.rules:
            lines.append(f"  there stand: {_few(self.rules)}")
        if self.expected:
            lines.append(f"  they read:   {self.expected}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a matcher stands."""

    text: str
    """The end of the text so far."""
    terminated: bool
    complete: bool
    """The text may end here."""
    distance: int
    """Fewest bytes to an end (where conditions on what follows are at play: at least so many)."""
    rules: tuple[str, ...]
    """The rules in which something can be read now."""
    allowed: int
    vocab_size: int
    sample: tuple[str, ...]
    """Some of the allowed tokens, short ones first."""
    forced: str
    """The text that must follow."""
    verdict: TokenVerdict | None = None

    def __str__(self) -> str:
        if self.terminated:
            place = "the text has ended"
        elif self.complete:
            place = "the text may end here"
        else:
            place = f"at least {self.distance} byte{'s' if self.distance != 1 else ''} to an end"
        lines = [f"after   {self.text!r}" if self.text else "at the beginning", f"end     {place}"]
        if self.rules:
            lines.append(f"rules   {_few(self.rules)}")
        lines.append(f"allowed {self.allowed:,} of {self.vocab_size:,} tokens: {' '.join(map(repr, self.sample))}"
                     + (" ..." if self.allowed > len(self.sample) else ""))
        if self.forced:
            lines.append(f"forced  {self.forced!r}")
        if self.verdict is not None:
            lines.append(str(self.verdict))
        return "\n".join(lines)


def explain(matcher: GrammarMatcher, token: int | str | bytes | None = None) -> Explanation:
    """Where ``matcher`` stands; with ``token`` (an id, or a text) also whether and why it may or may not come.

    The matcher stays as it is. Raises ``ConstrainedError`` for an id outside the vocabulary.
    """
    compiled = matcher.compiled
    info = compiled.tokenizer_info
    allowed = matcher.allowed_token_ids()
    sample = sorted((info.token_bytes(i) for i in allowed[:4000] if info.token_bytes(i)), key=lambda d: (len(d), d))
    ended = matcher.is_terminated()
    return Explanation(
        text=_written(matcher)[-TAIL:], terminated=ended, complete=matcher.is_completed(),
        distance=matcher.distance_to_end(), rules=() if ended else tuple(compiled.rules_at(matcher.state)),
        allowed=len(allowed), vocab_size=info.vocab_size,
        sample=tuple(data.decode("utf-8", "replace") for data in sample[:MOST_TOKENS]),
        forced="" if ended else matcher.find_jump_forward_string(),
        verdict=None if token is None else _verdict(matcher, token, allowed))


def _verdict(matcher: GrammarMatcher, token: int | str | bytes, allowed: list[int]) -> TokenVerdict:
    compiled = matcher.compiled
    info = compiled.tokenizer_info
    if isinstance(token, int):
        if not 0 <= token < info.vocab_size:
            raise ConstrainedError(f"token {token} is not in the vocabulary of {info.vocab_size}")
        data = info.token_bytes(token)
        if token in allowed:
            why = "it ends the text, which is complete" if token in matcher.stop_token_ids else "the grammar reads it"
            return TokenVerdict(token, data, True, why, len(data))
        if matcher.is_terminated():
            return TokenVerdict(token, data, False, "the text has ended", 0)
        if token in matcher.stop_token_ids:
            return TokenVerdict(token, data, False, f"the text is not complete: the shortest end is "
                                f"{_shown(matcher.shortest_completion())}", 0, *_place(compiled, matcher.state))
        if not data:
            return TokenVerdict(token, data, False, "it is no text, and the grammar does not name it here", 0,
                                *_place(compiled, matcher.state))
        identifier: int | None = token
    else:
        data = token.encode() if isinstance(token, str) else token
        identifier = None
        if matcher.is_terminated():
            return TokenVerdict(None, data, not data, "the text has ended", 0)
    state, taken = matcher.state, 0
    for i in range(len(data)):
        after = compiled.advance(state, data[i : i + 1])
        if after == 0:
            break
        state, taken = after, i + 1
    if taken == len(data):
        if identifier is None:
            return TokenVerdict(None, data, True, "the grammar reads it", taken)
        why = "no tokens of this vocabulary lead from behind it to an end, or the grammar reads it by its id only"
        return TokenVerdict(identifier, data, False, why, taken)
    where = f"after {_shown(data[:taken])}" if taken else "at its beginning"
    ending = " (only the end of the text may come)" if not compiled.threads(state) else ""
    reason = f"{where} nothing reads {_shown(data[taken : taken + 1])}{ending}"
    return TokenVerdict(identifier, data, False, reason, taken, *_place(compiled, state))


def _place(compiled: CompiledGrammar, state: int) -> tuple[tuple[str, ...], str]:
    """The rules at a state and the bytes that can be read there."""
    readable = [byte for byte in range(256) if compiled.advance(state, bytes((byte,)))]
    return tuple(compiled.rules_at(state)), _as_class(readable)


def _as_class(values: list[int]) -> str:
    """Bytes as a character class; bytes outside ASCII as hexadecimal."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    if not runs:
        return ""
    parts = []
    for first, last in runs:
        parts.append(_char(first) if first == last else f"{_char(first)}{'-' if last > first + 1 else ''}{_char(last)}")
    return f"[{''.join(parts)}]"


def _char(byte: int) -> str:
    if chr(byte) in "\\]^-":
        return "\\" + chr(byte)
    if 0x20 <= byte < 0x7F:
        return chr(byte)
    return {0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r"}.get(byte, f"\\x{byte:02x}")


def _shown(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace")[:TAIL])


def _few(rules: tuple[str, ...]) -> str:
    more = f" and {len(rules) - MOST_RULES} more" if len(rules) > MOST_RULES else ""
    return ", ".join(rules[:MOST_RULES]) + more


def _written(matcher: GrammarMatcher) -> str:
    return matcher.text_bytes()[-4 * TAIL :].decode("utf-8", "replace")
