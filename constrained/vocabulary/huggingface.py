"""Vocabularies of Hugging Face tokenizers: a loaded object, or a ``tokenizer.json``.

Token bytes come from the tokenizer's definition (its vocabulary, added tokens and decoder, see ``decoding``),
never from decoding ids one by one, which loses what is not whole UTF-8.

Neither package is needed to read a file; ``tokenizers`` is imported when text must be tokenised.

Cost from a loaded object: see ``docs/vocabulary.md``; most of it is fetching the strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsIndex

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.decoding import PieceScheme, scheme_of
from constrained.vocabulary.disk_cache import VocabularyCache, source_key
from constrained.vocabulary.encoder import HuggingFaceEncoder
from constrained.vocabulary.stop_tokens import stop_tokens_by_name
from constrained.vocabulary.tokenizer_info import MAX_VOCAB_SIZE, TokenizerInfo, with_encoder

__all__ = ["read_huggingface"]

StopIds = SupportsIndex | Iterable[SupportsIndex] | None


@dataclass(slots=True)
class _Definition:
    """What both kinds of source are brought to."""

    pieces: list[str | None]
    """Piece of each id of the model's vocabulary."""
    added: dict[int, tuple[str, bool]]
    """Added tokens: id to (content, is it a control token)."""
    scheme: PieceScheme
    unknown: str | None = None
    """The piece that stands for text the model cannot write: it spells nothing, so it is a control token."""
    stops: list[int | str] = field(default_factory=list)
    """End tokens known by configuration, as ids or as text, the tokenizer's own first."""


def read_huggingface(
    tokenizer: Any,
    *,
    vocab_size: SupportsIndex | None = None,
    stop_token_ids: StopIds = None,
    cache_dir: str | Path | None = None,
) -> TokenizerInfo:
    """See ``TokenizerInfo.from_huggingface``."""
    cache = None if cache_dir is None else VocabularyCache(cache_dir)
    if isinstance(tokenizer, Mapping):
        return _finish(_from_json(tokenizer), HuggingFaceEncoder(document=dict(tokenizer)), vocab_size,
                       stop_token_ids, cache)
    if isinstance(tokenizer, (str, bytes, Path)):
        return _from_file(tokenizer, vocab_size, stop_token_ids, cache)
    backend = _backend_of(tokenizer)
    definition = _from_object(backend)
    if tokenizer is not backend:
        _add_transformers_roles(definition, tokenizer)
    return _finish(definition, HuggingFaceEncoder(backend=backend), vocab_size, stop_token_ids, cache)


# -- a loaded object ---------------------------------------------------------------------------------------


def _backend_of(tokenizer: Any) -> Any:
    """The ``tokenizers.Tokenizer`` in ``tokenizer``, which may be one itself."""
    for candidate in (tokenizer, getattr(tokenizer, "backend_tokenizer", None), getattr(tokenizer, "_tokenizer", None)):
        if all(hasattr(candidate, name) for name in ("get_vocab", "id_to_token", "get_added_tokens_decoder", "to_str")):
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


def _from_object(backend: Any) -> _Definition:
    added = {int(i): (str(token.content), bool(token.special)) for i, token in backend.get_added_tokens_decoder().items()}
    vocab: dict[str, int] = backend.get_vocab(False)
    size = max(vocab.values(), default=-1) + 1
    _check_size(size)
    pieces: list[str | None] = [None] * size
    for piece, i in vocab.items():
        pieces[i] = piece
    if len(vocab) < size:
        # Holes, or ids whose piece another id has too: the dict keeps only one of those.
        for i, known in enumerate(pieces):
            if known is None and i not in added:
                pieces[i] = backend.id_to_token(i)
    model = backend.model
    described = {
        "type": type(model).__name__,
        "byte_fallback": getattr(model, "byte_fallback", False),
        "continuing_subword_prefix": getattr(model, "continuing_subword_prefix", None),
        "end_of_word_suffix": getattr(model, "end_of_word_suffix", None),
    }
    scheme = scheme_of(described, _part(backend.decoder), _part(backend.pre_tokenizer), _part(backend.normalizer))
    unknown = getattr(model, "unk_token", None)
    unknown_id = getattr(model, "unk_id", None)
    if unknown_id is not None and 0 <= unknown_id < size:
        unknown = pieces[unknown_id]
    return _Definition(pieces, added, scheme, unknown)


def _add_transformers_roles(definition: _Definition, tokenizer: Any) -> None:
    """Control and end tokens that only the wrapper of ``transformers`` knows."""
    for i in getattr(tokenizer, "all_special_ids", None) or ():
        content, _ = definition.added.get(i, (None, False))
        if content is None:
            content = definition.pieces[i] if 0 <= i < len(definition.pieces) else None
        if content is not None:
            definition.added[int(i)] = (content, True)
    end = getattr(tokenizer, "eos_token_id", None)
    definition.stops.extend([end] if isinstance(end, int) else [i for i in end or () if isinstance(i, int)])
    folder = getattr(tokenizer, "name_or_path", None)
    if isinstance(folder, str) and folder and Path(folder).is_dir():
        definition.stops.extend(_configured_stops(Path(folder)))


# -- a tokenizer.json --------------------------------------------------------------------------------------


def _from_file(
    source: str | bytes | Path, vocab_size: SupportsIndex | None, stop_token_ids: StopIds, cache: VocabularyCache | None
) -> TokenizerInfo:
    folder: Path | None = None
    if isinstance(source, bytes) or (isinstance(source, str) and source.lstrip().startswith("{")):
        content = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
        encoder = HuggingFaceEncoder(text=content)
    else:
        path = Path(source)
        try:
            if path.is_dir():
                path = path / "tokenizer.json"
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise TokenizerError(f"no tokenizer.json can be read from {echo(str(source))}: {reason}",
                                 hint="pass the path of a tokenizer.json or of the folder that holds it") from None
        folder = path.parent
        encoder = HuggingFaceEncoder(path=path.absolute())
    configured = [] if folder is None else _configured_stops(folder)
    key = source_key("huggingface", content, vocab_size, stop_token_ids, configured) if cache else ""
    if cache and (found := cache.load_source(key)) is not None:
        return with_encoder(found, encoder)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"this is no tokenizer.json: {echo(str(error))}",
                             hint="it must be one JSON object in UTF-8") from None
    if not isinstance(document, dict):
        raise TokenizerError("this is no tokenizer.json: it must be one JSON object")
    definition = _from_json(document)
    definition.stops.extend(configured)
    return _finish(definition, encoder, vocab_size, stop_token_ids, cache, key)


def _from_json(document: Mapping[str, Any]) -> _Definition:
    model = document.get("model")
    if not isinstance(model, Mapping):
        raise TokenizerError('this is no tokenizer.json: it has no "model" object')
    vocab = model.get("vocab")
    pieces: list[str | None]
    unknown = model.get("unk_token")
    if isinstance(vocab, Mapping):
        pieces = _pieces_by_id(vocab)
    elif isinstance(vocab, list):  # Unigram: [piece, score] by id
        if not all(isinstance(entry, list) and entry and isinstance(entry[0], str) for entry in vocab):
            raise TokenizerError('the "vocab" list of a tokenizer.json must hold [piece, score] pairs')
        pieces = [entry[0] for entry in vocab]
        unknown_id = model.get("unk_id")
        unknown = pieces[unknown_id] if isinstance(unknown_id, int) and 0 <= unknown_id < len(pieces) else None
    else:
        raise TokenizerError('this is no tokenizer.json: its model has no "vocab"')
    added: dict[int, tuple[str, bool]] = {}
    for token in document.get("added_tokens") or ():
        content, i = (token.get("content"), token.get("id")) if isinstance(token, Mapping) else (None, None)
        if not isinstance(content, str) or not isinstance(i, int) or isinstance(i, bool) or i < 0:
            raise TokenizerError('every entry of "added_tokens" needs a "content" text and an "id" of at least 0')
        if i in added and added[i][0] != content:
            raise TokenizerError(f"two added tokens claim the id {i}: {echo(added[i][0], 40)} and {echo(content, 40)}")
        added[i] = (content, bool(token.get("special")))
    kind = model.get("type") or _kind_of_model(model)
    parts = [document.get(name) for name in ("decoder", "pre_tokenizer", "normalizer")]
    if not all(part is None or isinstance(part, Mapping) for part in parts):
        raise TokenizerError('"decoder", "pre_tokenizer" and "normalizer" must be objects or null')
    scheme = scheme_of({**model, "type": kind, "vocab": None, "merges": None}, *parts)
    return _Definition(pieces, added, scheme, unknown if isinstance(unknown, str) else None)


def _kind_of_model(model: Mapping[str, Any]) -> str:
    """Old files leave the model's type out."""
    if "merges" in model:
        return "BPE"
    return "WordPiece" if "max_input_chars_per_word" in model else "WordLevel"


def _pieces_by_id(vocab: Mapping[Any, Any]) -> list[str | None]:
    if not vocab:
        return []
    if not all(type(i) is int for i in vocab.values()) or min(vocab.values()) < 0:
        raise TokenizerError('the "vocab" of a tokenizer.json must give every piece an id of at least 0')
    size = max(vocab.values()) + 1
    _check_size(size)
    pieces: list[str | None] = [None] * size
    for piece, i in vocab.items():
        if pieces[i] is not None:
            raise TokenizerError(f"two pieces claim the id {i}: {echo(str(pieces[i]), 40)} and {echo(str(piece), 40)}")
        pieces[i] = piece
    return pieces


def _check_size(size: int) -> None:
    if size > MAX_VOCAB_SIZE:
        raise TokenizerError(f"the largest token id is {size - 1}; at most {MAX_VOCAB_SIZE - 1} is possible")


def _configured_stops(folder: Path) -> list[int | str]:
    """End tokens that the files beside a tokenizer name. Files that are absent or broken name none."""
    stops: list[int | str] = []
    end = _json_file(folder / "tokenizer_config.json").get("eos_token")
    if isinstance(end, Mapping):
        end = end.get("content")
    if isinstance(end, str):
        stops.append(end)
    generation = _json_file(folder / "generation_config.json") or _json_file(folder / "config.json")
    ids = generation.get("eos_token_id")
    stops.extend(i for i in (ids if isinstance(ids, list) else [ids]) if type(i) is int)
    return stops


def _json_file(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


# -- both --------------------------------------------------------------------------------------------------


def _finish(
    definition: _Definition,
    encoder: HuggingFaceEncoder,
    vocab_size: SupportsIndex | None,
    stop_token_ids: StopIds,
    cache: VocabularyCache | None,
    key: str = "",
) -> TokenizerInfo:
    pieces, added, scheme = definition.pieces, definition.added, definition.scheme
    tokens: list[bytes | None] = list(scheme.bytes_of([piece or "" for piece in pieces]))
    size = max(len(pieces), max(added, default=-1) + 1)
    _check_size(size)
    tokens.extend([None] * (size - len(pieces)))
    only_added = [i for i, (content, _) in added.items() if i >= len(pieces) or pieces[i] != content]
    for i, token in zip(only_added, scheme.bytes_of_added([added[i][0] for i in only_added]), strict=True):
        tokens[i] = token
    special = {i for i, (_, control) in added.items() if control}
    if definition.unknown is not None:
        special.update(i for i, piece in enumerate(pieces) if piece == definition.unknown)
    texts = {i: content for i, (content, _) in added.items()}
    texts.update({i: pieces[i] or "" for i in special if i not in texts})
    info = TokenizerInfo(
        tokens,
        scheme.vocab_type,
        vocab_size=vocab_size,
        stop_token_ids=stop_token_ids if stop_token_ids is not None else _stops(definition, texts, special, vocab_size),
        special_token_ids=special,
        added_token_ids=[i for i in added if i not in special],
        token_texts=texts,
        add_prefix_space=scheme.add_prefix_space,
        encoder=encoder,
    )
    if cache:
        cache.store(info, key)
    return info


def _stops(
    definition: _Definition, texts: Mapping[int, str], special: Iterable[int], vocab_size: SupportsIndex | None
) -> list[int]:
    """End tokens by configuration, then by name; those the model cannot produce left out."""
    ids: dict[str, tuple[int, ...]] = {}
    for i, text in texts.items():
        ids[text] = (*ids.get(text, ()), i)
    size = max(len(definition.pieces), max(definition.added, default=-1) + 1)
    width = size if vocab_size is None else min(size, int(vocab_size))
    found: list[int] = []
    for stop in definition.stops:
        if isinstance(stop, str):
            found.extend(ids.get(stop) or [i for i, piece in enumerate(definition.pieces) if piece == stop])
        else:
            found.append(stop)
    found.extend(stop_tokens_by_name(ids, special))
    return list(dict.fromkeys(i for i in found if 0 <= i < width))
