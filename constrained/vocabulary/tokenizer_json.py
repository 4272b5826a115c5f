"""A ``tokenizer.json`` and the files beside it, read without any package.

``Definition`` is what every Hugging Face source is brought to: pieces by id, added tokens, how pieces are
written, and the roles that configuration names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import check_size
from constrained.vocabulary.decoding import PieceScheme, scheme_of

__all__ = ["Configured", "Definition", "configured_beside", "definition_of_content", "definition_of_json"]

_NAMED_SPECIALS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token")


@dataclass(slots=True)
class Configured:
    """Roles that a configuration names, beside the tokenizer's own definition."""

    stops: list[int | str] = field(default_factory=list)
    """End tokens by id or by text, the tokenizer's own first."""
    controls: list[int | str] = field(default_factory=list)
    """Control tokens by id or by text."""


@dataclass(slots=True)
class Definition:
    """A tokenizer's vocabulary, not yet turned into bytes."""

    pieces: list[str | None]
    """Piece of each id of the model's vocabulary, None for ids it does not use."""
    added: dict[int, tuple[str, bool]]
    """Added tokens: id to (content, is it a control token)."""
    scheme: PieceScheme
    unknown: str | None = None
    """The piece that stands for text the model cannot write: it spells nothing, so it is a control token."""

    @property
    def size(self) -> int:
        """Largest id + 1."""
        return max(len(self.pieces), max(self.added, default=-1) + 1)


def definition_of_content(content: bytes) -> Definition:
    """Read the content of a ``tokenizer.json``. Raises ``TokenizerError`` for anything else."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"this is no tokenizer.json: {echo(str(error))}",
                             hint="it must be one JSON object in UTF-8") from None
    if not isinstance(document, dict):
        raise TokenizerError("this is no tokenizer.json: it must be one JSON object")
    return definition_of_json(document)


def definition_of_json(document: Mapping[str, Any]) -> Definition:
    """Read a parsed ``tokenizer.json``.

    Raises:
        TokenizerError: a part is missing or malformed, two pieces claim one id, or the tokens have no bytes
            of their own.
    """
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
    kind = model.get("type") or _kind_of_model(model)
    parts = [document.get(name) for name in ("decoder", "pre_tokenizer", "normalizer")]
    if not all(part is None or isinstance(part, Mapping) for part in parts):
        raise TokenizerError('"decoder", "pre_tokenizer" and "normalizer" must be objects or null')
    scheme = scheme_of({**model, "type": kind, "vocab": None, "merges": None}, *parts)
    added = _added_tokens(document.get("added_tokens") or ())
    return Definition(pieces, added, scheme, unknown if isinstance(unknown, str) else None)


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
    check_size(size)
    pieces: list[str | None] = [None] * size
    for piece, i in vocab.items():
        if pieces[i] is not None:
            raise TokenizerError(f"two pieces claim the id {i}: {echo(str(pieces[i]), 40)} and {echo(str(piece), 40)}")
        pieces[i] = piece
    return pieces


def _added_tokens(entries: Any) -> dict[int, tuple[str, bool]]:
    added: dict[int, tuple[str, bool]] = {}
    for token in entries if isinstance(entries, (list, tuple)) else (entries,):
        content, i = (token.get("content"), token.get("id")) if isinstance(token, Mapping) else (None, None)
        if not isinstance(content, str) or not isinstance(i, int) or isinstance(i, bool) or i < 0:
            raise TokenizerError('every entry of "added_tokens" needs a "content" text and an "id" of at least 0')
        if i in added and added[i][0] != content:
            raise TokenizerError(f"two added tokens claim the id {i}: {echo(added[i][0], 40)} and {echo(content, 40)}")
        added[i] = (content, bool(token.get("special")))
    check_size(max(added, default=0) + 1)
    return added


def configured_beside(folder: Path) -> Configured:
    """Roles named by the files beside a tokenizer. Files that are absent or broken name none."""
    config = _json_file(folder / "tokenizer_config.json")
    configured = Configured()
    end = _content(config.get("eos_token"))
    if end:
        configured.stops.append(end)
    named = [config.get(name) for name in _NAMED_SPECIALS]
    for more in (config.get("additional_special_tokens"), config.get("extra_special_tokens")):
        named.extend(more.values() if isinstance(more, Mapping) else more if isinstance(more, list) else ())
    configured.controls.extend(text for text in map(_content, named) if text)
    generation = _json_file(folder / "generation_config.json") or _json_file(folder / "config.json")
    ids = generation.get("eos_token_id")
    configured.stops.extend(i for i in (ids if isinstance(ids, list) else [ids]) if type(i) is int)
    return configured


def _content(token: Any) -> str | None:
    """The text of a token as configurations write it: the text, or an object with it."""
    if isinstance(token, Mapping):
        token = token.get("content")
    return token if isinstance(token, str) else None


def _json_file(path: Path) -> dict[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
