"""Vocabularies in GGUF files (llama.cpp): ``tokenizer.ggml.*`` in the file's metadata.

- ``tokenizer.ggml.model`` tells how pieces are written: ``gpt2`` in the byte-level alphabet, ``llama`` and ``t5`` with
  U+2581 for a space (``llama`` with ``<0x41>`` pieces too).
- ``tokenizer.ggml.token_type``: 2 unknown and 3 control are never text, 5 unused is not text either;
  4 user-defined is text as it is written, and a grammar may name it; 1 normal and 6 byte are the vocabulary.
- ``tokenizer.ggml.pre`` names the splitting before BPE. It does not touch the bytes of tokens, but the
  canonical ids of a text depend on it: SmolLM2 splits every digit off, and a loader that ignores it (as
  transformers does) gives other ids. A name unknown here makes ``encode`` answer None.

Source: llama.cpp, ``gguf-py`` constants (token types) and the names in its converter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import Ids, checked_width
from constrained.vocabulary.disk_cache import VocabularyCache
from constrained.vocabulary.encoder import LazyEncoder
from constrained.vocabulary.gguf_metadata import read_metadata
from constrained.vocabulary.pieces import byte_level_pieces, replaced_pieces
from constrained.vocabulary.stop_tokens import find_stops
from constrained.vocabulary.tokenizer_info import TextEncoder, TokenizerInfo, VocabType

__all__ = ["read_gguf"]

_UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = 2, 3, 4, 5
_BYTE_LEVEL_MODELS = frozenset({"gpt2"})
_SPACE_MARK_MODELS = frozenset({"llama", "t5"})


def read_gguf(
    path: str | Path,
    *,
    vocab_size: SupportsIndex | None = None,
    stop_token_ids: Ids | None = None,
    cache_dir: str | Path | None = None,
) -> TokenizerInfo:
    """See ``TokenizerInfo.from_gguf``."""
    fields = read_metadata(path, "tokenizer.ggml.")
    model = fields.get("tokenizer.ggml.model")
    written = fields.get("tokenizer.ggml.tokens")
    if not isinstance(written, list) or not written or not isinstance(model, str):
        raise TokenizerError("the GGUF file holds no vocabulary (tokenizer.ggml.tokens)",
                             hint="use the model's own file, not an adapter or a projector")
    if model not in _BYTE_LEVEL_MODELS | _SPACE_MARK_MODELS:
        raise TokenizerError(f"the vocabulary kind {echo(model)} (tokenizer.ggml.model) cannot be used",
                             hint="byte-level BPE (gpt2) and SentencePiece (llama, t5) can")
    byte_level = model in _BYTE_LEVEL_MODELS
    try:
        pieces = [token.decode() for token in written]
    except UnicodeDecodeError as error:
        raise TokenizerError(f"the GGUF file's vocabulary is not UTF-8: {echo(error.object)}") from None
    types = _types(fields, len(pieces))
    tokens = byte_level_pieces(pieces) if byte_level else replaced_pieces(pieces, byte_fallback=model == "llama")
    user = [i for i, kind in enumerate(types) if kind == _USER_DEFINED]
    if byte_level:
        for i in user:
            tokens[i] = written[i]
    for i, kind in enumerate(types):
        if kind == _UNUSED:
            tokens[i] = b""
    special = [i for i, kind in enumerate(types) if kind in (_UNKNOWN, _CONTROL)]
    texts = {i: pieces[i] for i in (*special, *user)}
    if stop_token_ids is None:
        named = [fields.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom")]
        stop_token_ids = find_stops([i for i in named if isinstance(i, int)], texts, special,
                                    min(len(pieces), checked_width(vocab_size, len(pieces))))
    info = TokenizerInfo(
        tokens,
        VocabType.BYTE_LEVEL if byte_level else VocabType.BYTE_FALLBACK,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids,
        special_token_ids=special,
        added_token_ids=user,
        token_texts=texts,
        add_prefix_space=bool(fields.get("tokenizer.ggml.add_space_prefix", model == "llama")),
        encoder=_encoder(model, fields, pieces, types),
    )
    if cache_dir is not None:
        VocabularyCache(cache_dir).store(info)
    return info


def _types(fields: dict[str, Any], size: int) -> list[int]:
    types = fields.get("tokenizer.ggml.token_type")
    if types is None:
        return [1] * size
    if not isinstance(types, np.ndarray) or len(types) != size:
        raise TokenizerError(f"the GGUF file has {size} tokens, and tokenizer.ggml.token_type is no list of as many")
    return [int(kind) for kind in types.tolist()]


def _encoder(model: str, fields: dict[str, Any], pieces: list[str], types: list[int]) -> TextEncoder | None:
    if model == "gpt2":
        merges = fields.get("tokenizer.ggml.merges")
        pre = fields.get("tokenizer.ggml.pre")
        if not isinstance(merges, list) or pre not in _SPLITS:
            return None
        return GgufEncoder(pieces, types, pre=pre, merges=[merge.decode("utf-8", "replace") for merge in merges])
    scores = fields.get("tokenizer.ggml.scores")
    if model == "llama" and isinstance(scores, np.ndarray) and len(scores) == len(pieces):
        return GgufEncoder(pieces, types, scores=scores.tolist())
    return None


# Splitting before BPE by its name in ``tokenizer.ggml.pre``: steps for the ``tokenizers`` package. The patterns are
# those of the models' own tokenizer.json files. "gpt2" is the pattern built into ByteLevel, "digits" takes
# each digit alone.
_LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
          r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
_SPLITS: dict[str, tuple[str, ...]] = {
    "gpt-2": ("gpt2",),
    "smollm": ("digits", "gpt2"),
    "starcoder": ("digits", "gpt2"),
    "llama-bpe": (_LLAMA3,),
    "llama3": (_LLAMA3,),
    "qwen2": (_QWEN2,),
    "gpt-4o": (_GPT4O,),
}
_IGNORE_MERGES = frozenset({"llama-bpe", "llama3", "gpt-4o"})
"""Models that take a whole word from the vocabulary before any merge."""


class GgufEncoder(LazyEncoder):
    """``encode(text)`` by the ``tokenizers`` package, built from the file's tables at the first use.

    With ``merges``: byte-level BPE after the splitting ``pre``. With ``scores``: SentencePiece BPE, which joins the
    two neighbours whose join has the best score; the merges are then all cuts of all pieces, best first.
    """

    def __init__(
        self,
        pieces: list[str],
        types: list[int],
        *,
        pre: str = "",
        merges: list[str] | None = None,
        scores: list[float] | None = None,
    ) -> None:
        super().__init__()
        self._tables = (pieces, types, pre, merges, scores)

    def _build(self) -> Any:
        from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

        pieces, types, pre, merges, scores = self._tables
        vocab = {piece: i for i, piece in enumerate(pieces)}
        if scores is not None:
            unknown = next((pieces[i] for i, kind in enumerate(types) if kind == _UNKNOWN), None)
            tokenizer = Tokenizer(models.BPE(vocab, _merges_by_score(vocab, scores, types), unk_token=unknown,
                                             fuse_unk=True, byte_fallback=True))
            tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
        else:
            # A space inside a piece is written as another character, so the first one parts the pair.
            pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges or ())]
            tokenizer = Tokenizer(models.BPE(vocab, pairs, ignore_merges=pre in _IGNORE_MERGES))
            splits = _SPLITS[pre]
            steps: list[Any] = []
            for split in splits:
                if split == "digits":
                    steps.append(pre_tokenizers.Digits(individual_digits=True))
                elif split != "gpt2":
                    steps.append(pre_tokenizers.Split(Regex(split), behavior="isolated"))
            steps.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex="gpt2" in splits))
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.add_tokens([AddedToken(pieces[i], normalized=False)
                              for i, kind in enumerate(types) if kind == _USER_DEFINED and pieces[i]])
        return tokenizer

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, self._tables)


def _rebuild(
    pieces: list[str], types: list[int], pre: str, merges: list[str] | None, scores: list[float] | None
) -> GgufEncoder:
    return GgufEncoder(pieces, types, pre=pre, merges=merges, scores=scores)


def _merges_by_score(vocab: dict[str, int], scores: list[float], types: list[int]) -> list[tuple[str, str]]:
    found: list[tuple[float, int, int, str, str]] = []
    for piece, i in vocab.items():
        if types[i] != 1:
            continue
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in vocab and right in vocab:
                found.append((-scores[i], vocab[left], vocab[right], left, right))
    found.sort()
    return [(left, right) for *_, left, right in found]
