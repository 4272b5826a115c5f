"""Token ids to text as they come: never half a character, never text that a stop string would take back.

Idea: a token is bytes, and characters may span tokens, so bytes go through the incremental UTF-8 decoder of
the standard library (invalid bytes become U+FFFD, exactly as ``bytes.decode("utf-8", "replace")`` of the
whole would). The characters then walk an Aho-Corasick automaton over the stop strings; its depth is the
length of the longest suffix that could still grow into a stop string, and that much text is held back.

Invariants: the pieces handed out, joined, are always a prefix of the final text; a piece ends at a character
border; ``push`` never hands out any part of a stop string (unless it is to be kept and is complete).
Cost: amortised constant per character; memory linear in the stop strings.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = ["Detokenizer", "StopMatcher", "TokenText", "Vocabulary"]


class Vocabulary(Protocol):
    """What the decoder needs of :class:`constrained.vocabulary.TokenizerInfo`."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def stop_token_ids(self) -> tuple[int, ...]: ...
    @property
    def special_token_ids(self) -> frozenset[int]: ...
    def token_bytes(self, token_id: int, /) -> bytes: ...
    def encode(self, text: str) -> list[int] | None: ...


class TokenText:
    """The bytes of each id as text is shown, shared by all requests of a vocabulary.

    Control tokens have no bytes in a ``TokenizerInfo``; their written form is used where they are not skipped.
    """

    __slots__ = ("_texts", "_vocabulary")

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._texts: dict[int, bytes] = {}
        by_text = getattr(vocabulary, "token_ids_by_text", {})
        for text, ids in by_text.items():
            for token_id in ids:
                self._texts.setdefault(token_id, text.encode("utf-8", "surrogatepass"))

    def __call__(self, token_id: int, skip_special_tokens: bool = True) -> bytes:
        """Bytes of ``token_id``; empty for skipped control tokens and for ids that are never text."""
        if token_id >= self._vocabulary.vocab_size:
            return b""
        if token_id in self._vocabulary.special_token_ids:
            return b"" if skip_special_tokens else self._texts.get(token_id, b"")
        return self._vocabulary.token_bytes(token_id)

    def decode(self, tokens: Iterable[int], skip_special_tokens: bool = True) -> str:
        """The text of ``tokens``, invalid UTF-8 replaced."""
        return b"".join(self(t, skip_special_tokens) for t in tokens).decode("utf-8", "replace")


class StopMatcher:
    """Stop strings as an Aho-Corasick automaton (Aho and Corasick 1975) over characters. Immutable, shared."""

    __slots__ = ("_depth", "_fail", "_goto", "_match")

    def __init__(self, stops: Sequence[str]) -> None:
        self._goto: list[dict[str, int]] = [{}]
        self._depth = [0]
        self._match: list[int] = [-1]  # index of the longest stop string that ends in this state
        for index, stop in enumerate(stops):
            state = 0
            for char in stop:
                following = self._goto[state].get(char)
                if following is None:
                    following = len(self._goto)
                    self._goto[state][char] = following
                    self._goto.append({})
                    self._depth.append(self._depth[state] + 1)
                    self._match.append(-1)
                state = following
            if self._match[state] < 0:
                self._match[state] = index
        self._fail = [0] * len(self._goto)
        queue = list(self._goto[0].values())
        for state in queue:  # breadth first: a state's failure is shallower and therefore done
            for char, child in self._goto[state].items():
                self._fail[child] = self.step(self._fail[state], char)
                if self._match[child] < 0:
                    self._match[child] = self._match[self._fail[child]]
                queue.append(child)

    def step(self, state: int, char: str) -> int:
        """The state after ``char``."""
        while True:
            following = self._goto[state].get(char)
            if following is not None:
                return following
            if state == 0:
                return 0
            state = self._fail[state]

    def held(self, state: int) -> int:
        """Characters that may still become a stop string."""
        return self._depth[state]

    def match(self, state: int) -> int:
        """Index of a stop string that ends here (the longest), or -1."""
        return self._match[state]


class Detokenizer:
    """The text of one output, token by token.

    ``push`` returns the text that became certain. After a stop string is found ``stopped`` is its index, and
    further pushes return nothing.
    """

    __slots__ = ("_decoder", "_held", "_include_stop", "_matcher", "_parts", "_skip", "_state", "_stops", "_text_of",
                 "stopped")

    def __init__(self, text_of: TokenText, *, skip_special_tokens: bool = True, stops: Sequence[str] = (),
                 include_stop: bool = False) -> None:
        self._text_of = text_of
        self._skip = skip_special_tokens
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stops = tuple(stops)
        self._matcher = StopMatcher(self._stops) if self._stops else None
        self._include_stop = include_stop
        self._state = 0
        self._held = ""
        self._parts: list[str] = []
        self.stopped: int | None = None

    @property
    def text(self) -> str:
        """What was handed out so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def push(self, token_id: int) -> str:
        """Add one token; the text that became certain, often empty."""
        return self._feed(self._text_of(token_id, self._skip), final=False)

    def finish(self) -> str:
        """End of the output: what was held back. An incomplete character becomes U+FFFD."""
        piece = self._feed(b"", final=True)
        if self.stopped is None and self._held:
            self._parts.append(self._held)
            piece, self._held = piece + self._held, ""
        return piece

    def _feed(self, data: bytes, *, final: bool) -> str:
        if self.stopped is not None:
            return ""
        chars = self._decoder.decode(data, final)
        piece = chars if self._matcher is None else self._scan(chars, self._matcher)
        if piece:
            self._parts.append(piece)
        return piece

    def _scan(self, chars: str, matcher: StopMatcher) -> str:
        """The certain part of what was held and ``chars``; sets ``stopped`` at the first stop string to end."""
        pending = self._held + chars
        state = self._state
        for offset, char in enumerate(chars, start=len(self._held) + 1):
            state = matcher.step(state, char)
            index = matcher.match(state)
            if index >= 0:
                self.stopped, self._held = index, ""
                return pending[: offset if self._include_stop else offset - len(self._stops[index])]
        self._state = state
        cut = len(pending) - matcher.held(state)
        self._held = pending[cut:]
        return pending[:cut]
