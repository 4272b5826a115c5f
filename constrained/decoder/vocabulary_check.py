"""Tokenizer and checkpoint against each other: a wrong pair writes nonsense without any error.

What can be seen without text: the sizes, and that both agree on the special ids. Where the checkpoint came with a
tokenizer of its own, also that every id spells the same in both, so that a reordered vocabulary is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constrained.decoder.detokenizer import Vocabulary
from constrained.decoder.guide import Matcher
from constrained.decoder.sampling_params import RequestError

if TYPE_CHECKING:
    from constrained.decoder.models.base import BaseDecoder
    from constrained.decoder.models.config import CoreConfig
    from constrained.vocabulary import TokenizerInfo

__all__ = ["check_matcher", "check_vocabulary", "never_written"]


def check_vocabulary(model: BaseDecoder, vocabulary: Vocabulary) -> None:
    """Raises :class:`RequestError` where the tokenizer cannot be that of the checkpoint."""
    config = model.config
    if vocabulary.vocab_size > config.vocab_size:
        raise RequestError(f"the tokenizer has {vocabulary.vocab_size} ids, the model's logits only "
                           f"{config.vocab_size}", hint="make it with vocab_size=model.config.vocab_size, "
                           "or load the tokenizer of this checkpoint")
    ends = set(config.eos_token_ids)
    missing = sorted(end for end in ends if end >= vocabulary.vocab_size)
    if missing:
        raise RequestError(f"the model ends with token {missing[0]}, the tokenizer has {vocabulary.vocab_size} ids")
    if ends and not ends & set(vocabulary.stop_token_ids):
        raise RequestError(f"the model ends with {sorted(ends)}, the tokenizer with {list(vocabulary.stop_token_ids)}",
                           hint="they belong to different checkpoints, or pass stop_token_ids to the tokenizer")
    for name, token_id in (("BOS", config.bos_token_id), ("PAD", config.pad_token_id)):
        if (token_id is not None and 0 <= token_id < vocabulary.vocab_size
                and vocabulary.token_bytes(token_id) and token_id not in vocabulary.special_token_ids):
            raise RequestError(f"the model's {name} token {token_id} is ordinary text in the tokenizer",
                               hint="they belong to different checkpoints")
    if model.tokenizer_info is not None and model.tokenizer_info is not vocabulary:
        _check_spelling(model.tokenizer_info, vocabulary)


def _check_spelling(own: TokenizerInfo, given: Vocabulary) -> None:
    """The ids that both know must be the same bytes. Compares arrays, and only where the fingerprints differ."""
    data, offsets = getattr(given, "token_data", None), getattr(given, "token_offsets", None)
    if data is None or offsets is None or getattr(given, "fingerprint", None) == own.fingerprint:
        return
    count = min(own.vocab_size, given.vocab_size)
    ours, theirs = own.token_offsets[: count + 1], np.asarray(offsets)[: count + 1]
    if np.array_equal(ours, theirs) and own.token_data[: ours[-1]] == data[: theirs[-1]]:
        return
    for token_id in range(count):
        mine, other = own.token_bytes(token_id), given.token_bytes(token_id)
        if mine != other:
            raise RequestError(f"token {token_id} is {mine!r:.40} in the checkpoint's tokenizer and {other!r:.40} in "
                               "the one given", hint="use the checkpoint's own: load_model(...).tokenizer_info")


def check_matcher(matcher: Matcher, vocabulary: Vocabulary) -> None:
    """Raises :class:`RequestError` where the grammar was compiled for another vocabulary (if the matcher can tell)."""
    compiled = getattr(getattr(matcher, "compiled", None), "tokenizer_info", None)
    theirs, ours = getattr(compiled, "fingerprint", None), getattr(vocabulary, "fingerprint", None)
    if isinstance(theirs, str) and isinstance(ours, str) and theirs != ours:
        raise RequestError("the grammar was compiled for another vocabulary than the model's",
                           hint="compile it with the TokenizerInfo of this model")


def never_written(config: CoreConfig) -> tuple[int, ...]:
    """BOS and PAD, which free text never holds (unless they are its end tokens)."""
    ends = config.eos_token_ids
    return tuple(i for i in (config.bos_token_id, config.pad_token_id) if i is not None and i not in ends)
