"""Vocabularies of Hugging Face tokenizers: a loaded object, or a ``tokenizer.json``.

Token bytes come from the tokenizer's definition (its vocabulary, added tokens and decoder, see ``decoding``),
never from decoding ids one by one, which loses what is not whole UTF-8.

No package is needed to read a file; ``tokenizers`` is imported when text must be tokenised.

Cost from a loaded object: see ``docs/vocabulary.md``; most of it is fetching the strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, SupportsIndex

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import Ids, check_size, checked_width
from constrained.vocabulary.decoding import scheme_of
from constrained.vocabulary.disk_cache import VocabularyCache, source_key
from constrained.vocabulary.encoder import HuggingFaceEncoder
from constrained.vocabulary.stop_tokens import find_stops
from constrained.vocabulary.tokenizer_info import TokenizerInfo, with_encoder
from constrained.vocabulary.tokenizer_json import (
    Configured,
    Definition,
    configured_beside,
    definition_of_content,
    definition_of_json,
)

__all__ = ["read_huggingface"]

_BACKEND_METHODS = ("get_vocab", "id_to_token", "get_added_tokens_decoder", "to_str")


def read_huggingface(
    tokenizer: Any,
    *,
    vocab_size: SupportsIndex | None = None,
    stop_token_ids: Ids | None = None,
    cache_dir: str | Path | None = None,
) -> TokenizerInfo:
    """See ``TokenizerInfo.from_huggingface``."""
    cache = None if cache_dir is None else VocabularyCache(cache_dir)
    configured = Configured()
    key = ""
    if isinstance(tokenizer, Mapping):
        encoder = HuggingFaceEncoder(document=dict(tokenizer))
        definition = definition_of_json(tokenizer)
    elif isinstance(tokenizer, (str, bytes, Path)):
        content, path = _content_of(tokenizer)
        if path is None:
            encoder = HuggingFaceEncoder(content=content)
        else:
            encoder = HuggingFaceEncoder(path=path)
            configured = configured_beside(path.parent)
        if cache:
            key = source_key("huggingface", content, vocab_size, stop_token_ids, configured)
            if (found := cache.load_source(key)) is not None:
                return with_encoder(found, encoder)
        definition = definition_of_content(content)
    else:
        backend = _backend_of(tokenizer)
        encoder = HuggingFaceEncoder(backend=backend)
        definition = _definition_of_object(backend)
        if tokenizer is not backend:
            configured = _configured_by_wrapper(tokenizer)
    info = _finish(definition, configured, encoder, vocab_size, stop_token_ids)
    if cache:
        cache.store(info, key)
    return info


def _content_of(source: str | bytes | Path) -> tuple[bytes, Path | None]:
    """The content of a ``tokenizer.json`` and, where it is a file, its absolute path."""
    if isinstance(source, bytes):
        return source, None
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return source.encode("utf-8", "surrogatepass"), None
    try:
        path = Path(source).absolute()
        if path.is_dir():
            path = path / "tokenizer.json"
        return path.read_bytes(), path
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise TokenizerError(f"no tokenizer.json can be read from {echo(str(source))}: {reason}",
                             hint="pass the path of a tokenizer.json or of the folder that holds it") from None


# -- a loaded object ---------------------------------------------------------------------------------------


def _backend_of(tokenizer: Any) -> Any:
    """The ``tokenizers.Tokenizer`` in ``tokenizer``, which may be one itself."""
    for candidate in (tokenizer, getattr(tokenizer, "backend_tokenizer", None)):
        if all(hasattr(candidate, name) for name in _BACKEND_METHODS):
            return candidate
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        raise TokenizerError(
            f"{type(tokenizer).__name__} is not a fast tokenizer, so its tokens' bytes cannot be read from it",
            hint="load it with AutoTokenizer.from_pretrained(..., use_fast=True), or pass its tokenizer.json",
        )
    raise TokenizerError(
        f"{type(tokenizer).__name__} is not a tokenizer",
        hint="pass a fast transformers tokenizer, a tokenizers.Tokenizer, or the path or content of a tokenizer.json",
    )


def _definition_of_object(backend: Any) -> Definition:
    added_tokens = backend.get_added_tokens_decoder()
    added = {int(i): (str(token.content), bool(token.special)) for i, token in added_tokens.items()}
    vocab: dict[str, int] = backend.get_vocab(False)
    size = max(vocab.values(), default=-1) + 1
    check_size(size)
    pieces: list[str | None] = [None] * size
    for piece, i in vocab.items():
        pieces[i] = piece
    if len(vocab) < size:
        # Holes, or ids whose piece another id has too: the dict keeps only one of those.
        for i, known in enumerate(pieces):
            if known is None and i not in added:
                pieces[i] = backend.id_to_token(i)
    model = backend.model
    described: dict[str, Any] = {"type": type(model).__name__}
    for name in ("byte_fallback", "continuing_subword_prefix", "end_of_word_suffix", "unk_token"):
        described[name] = getattr(model, name, None)
    unknown = described["unk_token"]
    if described["type"] == "Unigram":  # it shows nothing of itself but its written form
        written = json.loads(model.__getstate__())
        described["byte_fallback"] = written.get("byte_fallback")
        unknown = None if written.get("unk_id") is None else written["vocab"][written["unk_id"]][0]
    scheme = scheme_of(described, _part(backend.decoder), _part(backend.pre_tokenizer), _part(backend.normalizer))
    return Definition(pieces, added, scheme, unknown)


def _part(part: Any) -> dict[str, Any] | None:
    """A normalizer, pre-tokenizer or decoder object as the dict it is written as."""
    if part is None:
        return None
    try:
        read: dict[str, Any] = json.loads(part.__getstate__())
    except Exception as error:  # custom parts written in Python cannot be serialised
        raise TokenizerError(
            f"a part of the tokenizer ({type(part).__name__}) has no written form, so its effect is unknown",
            hint="use the tokenizer's own parts, or give the bytes with from_bytes",
        ) from error
    return read


def _configured_by_wrapper(tokenizer: Any) -> Configured:
    """Roles that only the wrapper of ``transformers`` knows, and the files of the folder it was loaded from."""
    configured = Configured()
    folder = getattr(tokenizer, "name_or_path", None)
    if isinstance(folder, str) and folder and Path(folder).is_dir():
        configured = configured_beside(Path(folder))
    end = getattr(tokenizer, "eos_token_id", None)
    configured.stops[:0] = [i for i in (end if isinstance(end, list) else [end]) if isinstance(i, int)]
    configured.controls.extend(getattr(tokenizer, "all_special_ids", None) or ())
    return configured


# -- both --------------------------------------------------------------------------------------------------


def _finish(
    definition: Definition,
    configured: Configured,
    encoder: HuggingFaceEncoder,
    vocab_size: SupportsIndex | None,
    stop_token_ids: Ids | None,
) -> TokenizerInfo:
    pieces, added, scheme, size = definition.pieces, definition.added, definition.scheme, definition.size
    if None in pieces:
        pieces = [piece or "" for piece in pieces]
    tokens: list[bytes | None] = list(scheme.bytes_of(pieces))  # type: ignore[arg-type]
    tokens.extend([None] * (size - len(pieces)))
    only_added = [i for i, (content, _) in added.items() if i >= len(pieces) or pieces[i] != content]
    for i, token in zip(only_added, scheme.bytes_of_added([added[i][0] for i in only_added]), strict=True):
        tokens[i] = token
    texts = {i: content for i, (content, _) in added.items()}
    special = {i for i, (_, control) in added.items() if control}
    special.update(i for i in configured.controls if isinstance(i, int) and 0 <= i < size)
    control_texts = {text for text in (*configured.controls, definition.unknown) if isinstance(text, str)}
    special.update(i for i, content in texts.items() if content in control_texts)
    if control_texts.difference(texts.values()):
        special.update(i for i, piece in enumerate(pieces) if piece in control_texts)
    texts.update({i: pieces[i] or "" for i in special if i not in texts})
    if stop_token_ids is None:
        stop_token_ids = find_stops(configured.stops, texts, special, min(size, checked_width(vocab_size, size)))
    return TokenizerInfo(
        tokens,
        scheme.vocab_type,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids,
        special_token_ids=special,
        added_token_ids=[i for i in added if i not in special],
        token_texts=texts,
        add_prefix_space=scheme.add_prefix_space,
        encoder=encoder,
    )
