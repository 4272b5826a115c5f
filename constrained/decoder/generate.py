"""Generation in one call, over a :class:`Scheduler`: many prompts, one stream, or the score of a given text.

Prompts are token ids, or text where the tokenizer can encode it (no special tokens are added: chat templates and BOS
are the caller's).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from constrained.decoder.bitmask import remove_illegal
from constrained.decoder.detokenizer import Vocabulary
from constrained.decoder.guide import Guide, Matcher, free_bitmask
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.logprobs import TokenLogprob, token_logprob
from constrained.decoder.request import Completion, Request, TokenEvent
from constrained.decoder.sampling_params import RequestError, SamplingParams
from constrained.decoder.vocabulary_check import check_vocabulary

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.decoder.scheduler import Scheduler

__all__ = ["Prompt", "Score", "encode_prompt", "generate", "score", "stream", "unpad_left"]

Prompt = str | Sequence[int]

PLAIN = SamplingParams()

SCORE_CHUNK = 256
"""Positions scored at once: bounds the memory of their logits."""


def generate(scheduler: Scheduler, prompts: Sequence[Prompt] | Tensor,
             params: SamplingParams | Sequence[SamplingParams] = PLAIN,
             matchers: Sequence[Matcher | None] | None = None, *,
             attention_mask: Tensor | None = None) -> list[list[Completion]]:
    """Complete every prompt; ``params.n`` completions each, in the order of the prompts.

    One ``params`` for all (a tuple of seeds gives one a prompt) or one a prompt; one matcher, or None, a prompt.
    ``prompts`` may be a left-padded batch of ids ``[B, T]`` with its ``attention_mask``; see :func:`unpad_left`.

    Raises:
        RequestError, SamplingError: a request cannot be served; none of them is then run.
    """
    if isinstance(prompts, Tensor):
        prompts = unpad_left(prompts, attention_mask)
    elif attention_mask is not None:
        raise RequestError("an attention_mask belongs to a tensor of ids", hint="prompts in a list have no padding")
    if not isinstance(params, SamplingParams):
        each = list(params)
    else:
        each = [params.for_prompt(i) for i in range(len(prompts))] if len(prompts) > 1 else [params] * len(prompts)
    if len(each) != len(prompts):
        raise RequestError(f"{len(each)} sampling parameters for {len(prompts)} prompts")
    guides = [None] * len(prompts) if matchers is None else matchers
    if len(guides) != len(prompts):
        raise RequestError(f"{len(guides)} matchers for {len(prompts)} prompts", hint="None stands for free text")
    requests = [Request(prompt_ids=encode_prompt(scheduler.vocabulary, prompt), params=one, matcher=matcher)
                for prompt, one, matcher in zip(prompts, each, guides, strict=True)]
    ids: list[int] = []
    try:
        ids.extend(scheduler.submit(request) for request in requests)
        while any(not scheduler.done(i) for i in ids):
            scheduler.step()
    except BaseException:
        for i in ids:
            scheduler.discard(i)
        raise
    return [scheduler.completions(i) for i in ids]


def stream(scheduler: Scheduler, prompt: Prompt, params: SamplingParams = PLAIN,
           matcher: Matcher | None = None, callback: Callable[[TokenEvent], bool | None] | None = None
           ) -> Iterator[TokenEvent]:
    """Events of one request as they come. Closing the iterator cancels the request; other requests go on."""
    request_id = scheduler.submit(Request(prompt_ids=encode_prompt(scheduler.vocabulary, prompt), params=params,
                                          matcher=matcher, callback=callback))
    try:
        while not scheduler.done(request_id):
            for event in scheduler.step():
                if event.request_id == request_id:
                    yield event
    finally:
        scheduler.discard(request_id)


@dataclass(frozen=True, slots=True)
class Score:
    """Log-probabilities of a given text, token by token; ``logprob`` is their sum.

    With a matcher the entries hold the masked ones (``TokenLogprob.logprob``) beside the raw (``raw``).
    """

    token_ids: tuple[int, ...]
    entries: tuple[TokenLogprob, ...]
    logprob: float
    raw_logprob: float


@torch.inference_mode()
def score(model: BaseDecoder, vocabulary: Vocabulary, prompt: Prompt, text: Prompt, *,
          matcher: Matcher | None = None, top: int = 0) -> Score:
    """How likely ``text`` is after ``prompt``, from one pass over both.

    Raises:
        RequestError: the prompt is empty, the two are longer than the model reads, or ids are out of range.
        SamplingError: the matcher refuses a token of ``text``.
    """
    check_vocabulary(model, vocabulary)
    before, after = encode_prompt(vocabulary, prompt), encode_prompt(vocabulary, text)
    tokens = [*before, *after]
    if not before:
        raise RequestError("the prompt is empty", hint="begin with the BOS token where there is no text")
    if len(tokens) > model.config.max_position:
        raise RequestError(f"{len(tokens)} tokens, the model reads {model.config.max_position}")
    wrong = next((t for t in tokens if not 0 <= t < model.config.vocab_size), None)
    if wrong is not None:
        raise RequestError(f"token id {wrong} is out of range: the model has {model.config.vocab_size}")
    guide = Guide(None if matcher is None else matcher.fork(), vocabulary.vocab_size,
                  free_bitmask(vocabulary, model.config.vocab_size, ()))
    cache = KVCache(model.config, 1, len(tokens), model.dtype, model.device)
    slot = cache.allocate()
    last_layer = model.config.n_layers
    entries: list[TokenLogprob] = []
    for start in range(0, len(tokens) - 1, SCORE_CHUNK):
        chunk = tokens[start : min(start + SCORE_CHUNK, len(tokens) - 1)]
        wanted = max(0, start + len(chunk) - max(start, len(before) - 1))
        out = model(torch.tensor([chunk], device=model.device), cache=cache, slots=[slot], lengths=[start],
                    n_new=[len(chunk)], logits_to_keep=wanted, return_hidden=[last_layer] if wanted else False,
                    with_logits=False)
        if not wanted:
            continue
        logits = model.head(out.hidden[last_layer][0])
        for row in range(wanted):
            token = tokens[start + len(chunk) - wanted + row + 1]
            entries.append(_scored(logits[row], token, guide, top))
    return Score(tuple(after), tuple(entries), sum(e.logprob for e in entries), sum(e.raw or 0.0 for e in entries))


def _scored(logits: Tensor, token: int, guide: Guide, top: int) -> TokenLogprob:
    masked = logits
    if guide.constrained:
        words = guide.legal().bitmask((logits.shape[0] + 31) // 32)
        masked = remove_illegal(logits.unsqueeze(0), words[None])[0]
        guide.accept(token)
    return token_logprob(token, masked, top, raw=logits)


def encode_prompt(vocabulary: Vocabulary, prompt: Prompt) -> list[int]:
    """Token ids of a prompt. Raises :class:`RequestError` where text cannot be encoded."""
    if not isinstance(prompt, str):
        return list(prompt)
    ids = vocabulary.encode(prompt)
    if ids is None:
        raise RequestError("this text cannot be encoded exactly", hint="the tokenizer has no encoder, or lacks a "
                           "byte of the text; pass token ids")
    return ids


def unpad_left(input_ids: Tensor, attention_mask: Tensor | None = None, *,
               pad_id: int | None = None) -> list[list[int]]:
    """Rows of a left-padded batch ``[B, T]`` as plain lists.

    Padding is where ``attention_mask`` is 0. It is never guessed from the ids: PAD is often EOS as well. ``pad_id``
    may be given instead, and then only its leading run is cut.

    Raises:
        RequestError: wrong shapes, a mask with holes or right padding, an empty row.
    """
    if input_ids.ndim != 2 or (attention_mask is not None and attention_mask.shape != input_ids.shape):
        raise RequestError("input_ids and attention_mask must both be [B, T]")
    rows: list[list[int]] = []
    for i, row in enumerate(input_ids.tolist()):
        if attention_mask is None:
            start = 0
            while pad_id is not None and start < len(row) and row[start] == pad_id:
                start += 1
        else:
            kept = attention_mask[i].tolist()
            start = kept.index(1) if 1 in kept else len(row)
            if any(not one for one in kept[start:]):
                raise RequestError(f"row {i} is not left-padded: its attention mask has a 0 after a 1")
        if start == len(row):
            raise RequestError(f"row {i} holds nothing but padding")
        rows.append(row[start:])
    return rows
