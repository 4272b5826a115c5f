"""What goes into the loop and what comes out: requests, events, completions, usage.

A ``Request`` is one prompt with its own constraint, parameters and stop rules; it yields ``params.n``
completions. All of these are plain values: the loop's own state of an output is in
:mod:`constrained.decoder.sequence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from constrained.decoder.guide import Matcher
from constrained.decoder.logprobs import TokenLogprob
from constrained.decoder.sampling_params import SamplingParams

__all__ = ["Budget", "Completion", "FinishReason", "Request", "TokenEvent", "Usage"]

FinishReason = Literal["stop", "length", "time", "cancelled", "callback", "error"]
"""``stop``: an end token, a stop token or string, or the grammar's end. ``length``: ``max_tokens`` or a full cache.
``callback``: the request's callback said so. ``error``: see ``Completion.error``."""


Budget = Literal["cut", "close"]
"""What happens at the token limit inside a constraint: the text is ``cut``, or steered so that it ends before
(:mod:`constrained.decoder.budget`)."""


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """One step forward of one output. ``text`` is what became certain; the last event has a ``finish_reason``."""

    request_id: int
    index: int
    """Which of the ``n`` samples."""
    token_ids: tuple[int, ...]
    text: str
    forced: int = 0
    """How many of ``token_ids`` the grammar forced."""
    logprobs: tuple[TokenLogprob, ...] = ()
    finish_reason: FinishReason | None = None
    forced_at: tuple[int, ...] = ()
    """Which of ``token_ids`` those are, by their places."""
    steered_at: tuple[int, ...] = ()
    """Where the token limit asked for another token than the sampler or the grammar's forced text."""
    prompt_logprobs: tuple[TokenLogprob | None, ...] = ()
    """With the first event of an output whose parameters ask for them: one entry a prompt token, None for the first."""


@dataclass(slots=True)
class Usage:
    """What an output cost."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens found in the KV cache."""
    output_tokens: int = 0
    forced_tokens: int = 0
    """Output tokens that cost no sampling step: the grammar left one way on."""
    steered_tokens: int = 0
    """Output tokens that the token limit asked for (``budget="close"``) in place of others."""
    lifted_bans: int = 0
    """Steps in which a ban would have removed every legal token."""
    forward_passes: int = 0
    """Forward passes this output took part in."""
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    """Draft tokens proposed, and those that stood."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One finished output."""

    request_id: int
    index: int
    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    stop_reason: int | str | None
    """The id or the string that ended it, where one did."""
    seed: int
    """The seed used, also where it was drawn: with it the run can be repeated."""
    logprobs: tuple[TokenLogprob, ...] | None
    usage: Usage
    error: Exception | None = None
    prompt_logprobs: tuple[TokenLogprob | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One prompt. ``matcher``: a fresh grammar matcher, or None for free text; it is forked for each sample.

    ``callback`` sees every event; if it returns True the output ends there (``finish_reason="callback"``), if it
    raises, only this output ends. ``source_ids`` is the source text of an encoder-decoder, which others refuse;
    ``prompt_ids`` then begin the decoder's side. ``budget="close"``: near the token limit the grammar steers to an end,
    so that the text is whole; a request with no room for any text is refused.
    """

    prompt_ids: Sequence[int]
    params: SamplingParams = field(default_factory=SamplingParams)
    matcher: Matcher | None = None
    callback: Callable[[TokenEvent], bool | None] | None = None
    source_ids: Sequence[int] | None = None
    budget: Budget = "cut"
