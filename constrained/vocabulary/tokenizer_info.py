"""``TokenizerInfo``: what every token of a model stands for, as bytes and roles.

Data shape, for a model whose logits have V entries:

- ``token_data`` and ``token_offsets`` (int64, V + 1): the bytes of token i are
  ``token_data[token_offsets[i]:token_offsets[i + 1]]``;
- a token without bytes is *never text*: control tokens, stop tokens, pieces that are empty, ids that the
  tokenizer does not use, and padding up to V;
- ``special_token_ids``: the control tokens (stop tokens among them);
  ``added_token_ids``: added to the vocabulary but not control: ordinary text with bytes;
- ``token_ids_by_text``: written form of both kinds to their ids, for grammars that name a token.

Invariants: immutable after construction, so threads share it freely; equal tables have equal fingerprints,
and the fingerprint covers everything a mask depends on; several tokens may have equal bytes.

Cost: construction from lists about 0.1 s for 128,000 entries; memory is the bytes plus 8 V.
"""

from __future__ import annotations

import hashlib
import json
import operator
import pickle
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

import numpy as np
import numpy.typing as npt

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.pieces import byte_level_pieces, raw_pieces, replaced_pieces
from constrained.vocabulary.stop_tokens import stop_tokens_by_name

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["MAX_TOKEN_BYTES", "MAX_VOCAB_SIZE", "TextEncoder", "TokenizerInfo", "VocabType"]

MAX_VOCAB_SIZE = 1 << 24
"""Largest logits width. Real vocabularies stay below 2**19; a wrong number must not allocate gigabytes."""

MAX_TOKEN_BYTES = (1 << 16) - 1
"""Longest token, in bytes. The token trie keeps a node's depth in 16 bits."""


class VocabType(Enum):
    """How the ``str`` entries of an encoded vocabulary are written."""

    RAW = "raw"
    """A piece is its own text."""
    BYTE_FALLBACK = "byte_fallback"
    """U+2581 is a space, ``<0x41>`` one byte (SentencePiece)."""
    BYTE_LEVEL = "byte_level"
    """Each byte is one printable character (GPT-2)."""


class TextEncoder(Protocol):
    """What can tokenise text: the source's own tokenizer. It may answer anything: its answer is checked."""

    def encode(self, text: str) -> Sequence[int] | None:
        """Ids of ``text`` without any control tokens around it, None where it cannot tell."""


class TokenizerInfo:
    """The vocabulary of a model: bytes, roles and end tokens of every id below ``vocab_size``.

    Make one with ``from_huggingface``, ``from_gguf``, ``from_tiktoken`` or ``from_bytes``, or from an encoded
    vocabulary directly.

    Args:
        encoded_vocab: entry i is the piece of token i: ``bytes`` as they are, ``str`` written as ``vocab_type``
            says, None for an id that is not used.
        vocab_type: how ``str`` entries are written.
        vocab_size: width of the model's logits, V. Default: the number of entries. Wider: the ids past the
            entries are padding and never text. Narrower: the model cannot produce the ids past V, so they
            are left out.
        stop_token_ids: ids that end a text, or one id. Default: control tokens with a known name; where no
            control tokens are given, any token with a known name (see ``stop_tokens``).
        special_token_ids: control tokens, never text. Stop tokens always count as such.
        added_token_ids: tokens that a grammar may also name by their text, though they are ordinary text.
        token_texts: written form of control and added tokens where it is not simply their bytes.
        add_prefix_space: whether the tokenizer puts a space before the first word of a text (kept, not used).
        encoder: what tokenises text for ``encode``.

    Raises:
        TokenizerError: the vocabulary is empty, has no stop token, holds something that is neither bytes nor
            text, or an id is out of range.
    """

    __slots__ = (
        "_byte_counts",
        "_encoder",
        "_single_bytes",
        "add_prefix_space",
        "added_token_ids",
        "fingerprint",
        "special_token_ids",
        "stop_token_ids",
        "token_data",
        "token_ids_by_text",
        "token_offsets",
        "vocab_size",
        "vocab_type",
    )

    vocab_size: int
    """V, the width of the logits."""
    vocab_type: VocabType
    """How the source writes its pieces."""
    token_data: bytes
    """Bytes of all tokens, joined."""
    token_offsets: npt.NDArray[np.int64]
    """int64 [V + 1], not writable: where each token begins in ``token_data``."""
    stop_token_ids: tuple[int, ...]
    """Tokens that end a text; the tokenizer's own end token first."""
    special_token_ids: frozenset[int]
    """Control tokens: never text."""
    added_token_ids: frozenset[int]
    """Added to the vocabulary, not control: text."""
    token_ids_by_text: Mapping[str, tuple[int, ...]]
    """Written form of control and added tokens to their ids, ascending."""
    fingerprint: str
    """64 hex digits over all bytes and roles."""
    add_prefix_space: bool
    """Whether the tokenizer puts a space before the first word of a text."""

    def __init__(
        self,
        encoded_vocab: Sequence[bytes | str | None],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: SupportsIndex | None = None,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        special_token_ids: Iterable[SupportsIndex] = (),
        added_token_ids: Iterable[SupportsIndex] = (),
        token_texts: Mapping[int, str] | None = None,
        add_prefix_space: bool = False,
        encoder: TextEncoder | None = None,
    ) -> None:
        tokens = _token_bytes(encoded_vocab, VocabType(vocab_type))
        entries = len(tokens)
        width = entries if vocab_size is None else _checked_width(vocab_size)
        special = _checked_ids(special_token_ids, entries, "special_token_ids")
        added = _checked_ids(added_token_ids, entries, "added_token_ids")
        named = dict(token_texts or {})
        texts = {i: named[i] if i in named else tokens[i].decode("utf-8", "backslashreplace") for i in {*special, *added}}
        if stop_token_ids is not None:
            stop = _checked_stops(stop_token_ids, width)
            texts.update({i: named[i] if i in named else tokens[i].decode("utf-8", "backslashreplace")
                          for i in stop if i < entries})
        else:
            candidates = texts if special else dict(enumerate(t.decode("utf-8", "backslashreplace") for t in tokens))
            stop = tuple(i for i in stop_tokens_by_name(_by_text(candidates), special or range(entries)) if i < width)
            texts.update({i: candidates[i] for i in stop})
        if not stop:
            raise TokenizerError(
                "the vocabulary has no stop token: nothing could end a text",
                hint="pass stop_token_ids=, the ids that the model ends its output with",
            )
        control = frozenset(special) | frozenset(stop)
        for i in control:
            if i < entries:
                tokens[i] = b""
        del tokens[width:]
        lengths = np.zeros(width, dtype=np.int64)
        lengths[: len(tokens)] = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        _set_tables(
            self,
            data=b"".join(tokens),
            lengths=lengths,
            stop=stop,
            special=frozenset(i for i in control if i < width),
            added=frozenset(i for i in added if i < width) - control,
            texts=_by_text({i: text for i, text in texts.items() if i < width}),
            vocab_type=VocabType(vocab_type),
            add_prefix_space=bool(add_prefix_space),
            encoder=encoder,
        )

    # -- other sources -------------------------------------------------------------------------------------

    @classmethod
    def from_bytes(
        cls,
        token_bytes: Sequence[bytes | None],
        *,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        special_token_ids: Iterable[SupportsIndex] = (),
        added_token_ids: Iterable[SupportsIndex] = (),
        vocab_size: SupportsIndex | None = None,
    ) -> TokenizerInfo:
        """From a plain list: entry i is the bytes of token i (of its written form for a control token).

        Raises:
            TokenizerError: as the constructor, and for an entry that is not bytes.
        """
        if isinstance(token_bytes, (str, bytes, Mapping)) or any(isinstance(t, str) for t in token_bytes):
            raise TokenizerError("from_bytes takes a list of bytes objects, one a token",
                                 hint="encode texts with .encode(), or use TokenizerInfo(list_of_str)")
        return cls(token_bytes, VocabType.RAW, vocab_size=vocab_size, stop_token_ids=stop_token_ids,
                   special_token_ids=special_token_ids, added_token_ids=added_token_ids)

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        vocab_size: SupportsIndex | None = None,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        cache_dir: str | Path | None = None,
    ) -> TokenizerInfo:
        """From a fast tokenizer of ``transformers``, a ``tokenizers.Tokenizer``, or a ``tokenizer.json``.

        Args:
            tokenizer: the object; or the path of a ``tokenizer.json`` or of the folder that holds one; or the
                file's content as text, bytes or a parsed dict (a text that begins with ``{`` is content).
            vocab_size: the model's logits width (``model.config.vocab_size``); default: largest id + 1.
            stop_token_ids: see ``stop_tokens`` for the default.
            cache_dir: a folder to keep the finished tables in, see ``disk_cache``.

        Raises:
            TokenizerError: not a fast tokenizer, not a ``tokenizer.json``, or a kind whose tokens have no
                bytes of their own (WordPiece, end-of-word suffixes).
        """
        from constrained.vocabulary.huggingface import read_huggingface

        return read_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stop_token_ids, cache_dir=cache_dir)

    @classmethod
    def from_gguf(
        cls,
        path: str | Path,
        *,
        vocab_size: SupportsIndex | None = None,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
        cache_dir: str | Path | None = None,
    ) -> TokenizerInfo:
        """From the vocabulary in a GGUF file's metadata (``tokenizer.ggml.*``).

        Raises:
            TokenizerError: no GGUF file, no vocabulary in it, or a kind that is not byte-level BPE or
                SentencePiece.
        """
        from constrained.vocabulary.gguf import read_gguf

        return read_gguf(path, vocab_size=vocab_size, stop_token_ids=stop_token_ids, cache_dir=cache_dir)

    @classmethod
    def from_tiktoken(
        cls,
        ranks_or_encoding: Any,
        *,
        special_tokens: Mapping[str, int] | None = None,
        pattern: str | None = None,
        vocab_size: SupportsIndex | None = None,
        stop_token_ids: SupportsIndex | Iterable[SupportsIndex] | None = None,
    ) -> TokenizerInfo:
        """From a ``tiktoken.Encoding``, a mapping of token bytes to ranks, or the path of a ranks file.

        Args:
            ranks_or_encoding: the source; a ranks file has one base64 token and its rank a line.
            special_tokens: control tokens to their ids, beside those of the encoding.
            pattern: the splitting pattern that belongs to bare ranks; without it ``encode`` gives None.
            vocab_size: the model's logits width; default: largest id + 1.
            stop_token_ids: see ``stop_tokens`` for the default.

        Raises:
            TokenizerError: the source is none of these, or two tokens claim one id.
        """
        from constrained.vocabulary.tiktoken import read_tiktoken

        return read_tiktoken(ranks_or_encoding, special_tokens=special_tokens, pattern=pattern,
                             vocab_size=vocab_size, stop_token_ids=stop_token_ids)

    # -- questions -----------------------------------------------------------------------------------------

    def token_bytes(self, token_id: SupportsIndex) -> bytes:
        """Bytes of a token, empty where it is never text. Raises ``TokenizerError`` for an id out of range."""
        i = operator.index(token_id)
        if not 0 <= i < self.vocab_size:
            raise TokenizerError(f"token id {echo(str(i))} is out of range: the vocabulary has {self.vocab_size} ids")
        return self.token_data[self.token_offsets[i] : self.token_offsets[i + 1]]

    @property
    def decoded_vocab(self) -> list[bytes]:
        """Bytes of every token, a new list of V entries on each use."""
        ends = self.token_offsets.tolist()
        return [self.token_data[a:b] for a, b in zip(ends, ends[1:], strict=False)]

    @property
    def unspellable_bytes(self) -> frozenset[int]:
        """Bytes that occur in no token: no output can hold them."""
        return frozenset(np.flatnonzero(np.frombuffer(self._byte_counts, dtype=np.bool_) == 0).tolist())

    @property
    def closed(self) -> bool:
        """Whether every byte that occurs in any token is also a token by itself.

        Then each text of spellable bytes can be written, and no prefix of one is a dead end.
        """
        occurs = np.frombuffer(self._byte_counts, dtype=np.bool_)
        alone = np.frombuffer(self._single_bytes, dtype=np.bool_)
        return bool(np.array_equal(occurs, alone))

    def encode(self, text: str) -> list[int] | None:
        """The source's own (canonical) tokenisation of ``text``, with no control tokens.

        None where the source cannot tokenise, or where the tokens it gives do not spell exactly ``text`` (its
        normalisation changes the text, or a byte has no token). So if there is an answer, its bytes joined
        are the UTF-8 of ``text``. The first call may build the tokenizer (up to seconds).
        """
        if self._encoder is None:
            return None
        try:
            wanted = text.encode()
        except UnicodeEncodeError:
            return None
        answer = self._encoder.encode(text)
        if answer is None:
            return None
        ids = list(answer)
        if any(not 0 <= i < self.vocab_size for i in ids):
            return None
        parts = [self.token_data[self.token_offsets[i] : self.token_offsets[i + 1]] for i in ids]
        return ids if all(parts) and b"".join(parts) == wanted else None

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, TokenizerInfo) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return (f"<TokenizerInfo vocab_size={self.vocab_size} stop_token_ids={self.stop_token_ids} "
                f"special={len(self.special_token_ids)} fingerprint={self.fingerprint[:12]}>")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"TokenizerInfo is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"TokenizerInfo is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        """Tables as they are; the encoder rides along as its own pickle, or stays behind if it has none."""
        encoder: bytes | None
        try:
            encoder = None if self._encoder is None else pickle.dumps(self._encoder)
        except Exception:  # a foreign object may fail in any way; tokenising is an extra, the tables are not
            encoder = None
        return (_unpickle, (tables_of(self), encoder))


# -- building blocks shared with the disk cache ------------------------------------------------------------


def tables_of(info: TokenizerInfo) -> dict[str, Any]:
    """Everything but the encoder, as plain values: the keyword arguments of ``info_of_tables``."""
    return {
        "data": info.token_data,
        "lengths": np.diff(info.token_offsets),
        "stop": info.stop_token_ids,
        "special": info.special_token_ids,
        "added": info.added_token_ids,
        "texts": dict(info.token_ids_by_text),
        "vocab_type": info.vocab_type,
        "add_prefix_space": info.add_prefix_space,
    }


def info_of_tables(tables: Mapping[str, Any], encoder: TextEncoder | None) -> TokenizerInfo:
    """The opposite of ``tables_of``. The tables are trusted; the fingerprint is computed anew."""
    info = TokenizerInfo.__new__(TokenizerInfo)
    _set_tables(info, encoder=encoder, **tables)
    return info


def with_encoder(info: TokenizerInfo, encoder: TextEncoder | None) -> TokenizerInfo:
    """The same vocabulary with another encoder."""
    return info_of_tables(tables_of(info), encoder)


def _unpickle(tables: dict[str, Any], encoder: bytes | None) -> TokenizerInfo:
    made: TextEncoder | None = None
    if encoder is not None:
        try:
            made = pickle.loads(encoder)
        except Exception:  # the package behind it may be missing here
            made = None
    return info_of_tables(tables, made)


def _set_tables(
    info: TokenizerInfo,
    *,
    data: bytes,
    lengths: npt.NDArray[np.int64],
    stop: tuple[int, ...],
    special: frozenset[int],
    added: frozenset[int],
    texts: Mapping[str, tuple[int, ...]],
    vocab_type: VocabType,
    add_prefix_space: bool,
    encoder: TextEncoder | None,
) -> None:
    longest = int(lengths.max(initial=0))
    if longest > MAX_TOKEN_BYTES:
        raise TokenizerError(f"token {int(lengths.argmax())} has {longest} bytes; at most {MAX_TOKEN_BYTES} are possible")
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    offsets.setflags(write=False)
    raw = np.frombuffer(data, dtype=np.uint8)
    occurs = np.bincount(raw, minlength=256) > 0
    alone = np.zeros(256, dtype=np.bool_)
    alone[raw[offsets[:-1][lengths == 1]]] = True
    values: dict[str, object] = {
        "vocab_size": len(lengths),
        "vocab_type": vocab_type,
        "token_data": data,
        "token_offsets": offsets,
        "stop_token_ids": stop,
        "special_token_ids": special,
        "added_token_ids": added,
        "token_ids_by_text": MappingProxyType(dict(texts)),
        "fingerprint": _fingerprint(data, lengths, stop, special, added, texts),
        "add_prefix_space": add_prefix_space,
        "_encoder": encoder,
        "_byte_counts": occurs.tobytes(),
        "_single_bytes": alone.tobytes(),
    }
    for name, value in values.items():
        object.__setattr__(info, name, value)


def _fingerprint(
    data: bytes,
    lengths: npt.NDArray[np.int64],
    stop: tuple[int, ...],
    special: frozenset[int],
    added: frozenset[int],
    texts: Mapping[str, tuple[int, ...]],
) -> str:
    """BLAKE2b over bytes and roles. The order of stop tokens counts: the first one is preferred."""
    roles = json.dumps([len(lengths), stop, sorted(special), sorted(added), sorted(texts.items())])
    digest = hashlib.blake2b(roles.encode(), digest_size=32)
    digest.update(lengths.astype("<i8").tobytes())
    digest.update(data)
    return digest.hexdigest()


def _token_bytes(vocab: Sequence[bytes | str | None], vocab_type: VocabType) -> list[bytes]:
    if isinstance(vocab, (str, bytes, bytearray, Mapping)) or not isinstance(vocab, Sequence):
        raise TokenizerError(f"a vocabulary is a list with one entry a token, not {type(vocab).__name__}")
    if not vocab:
        raise TokenizerError("the vocabulary is empty", hint="give one entry for each token id")
    if len(vocab) > MAX_VOCAB_SIZE:
        raise TokenizerError(f"the vocabulary has {len(vocab)} entries; at most {MAX_VOCAB_SIZE} are possible")
    tokens: list[bytes] = [b""] * len(vocab)
    written: list[int] = []
    for i, piece in enumerate(vocab):
        if type(piece) is bytes:
            tokens[i] = piece
        elif isinstance(piece, str):
            written.append(i)
        elif isinstance(piece, (bytes, bytearray, memoryview)):
            tokens[i] = bytes(piece)
        elif piece is not None:
            raise TokenizerError(f"entry {i} of the vocabulary is {type(piece).__name__}, not bytes, str or None")
    if written:
        pieces: list[str] = [vocab[i] for i in written]  # type: ignore[misc]
        decoded = {VocabType.RAW: raw_pieces, VocabType.BYTE_LEVEL: byte_level_pieces,
                   VocabType.BYTE_FALLBACK: replaced_pieces}[vocab_type](pieces)
        for i, token in zip(written, decoded, strict=True):
            tokens[i] = token
    return tokens


def _checked_width(vocab_size: SupportsIndex) -> int:
    try:
        width = operator.index(vocab_size)
    except TypeError:
        width = 0
    if isinstance(vocab_size, bool) or not 0 < width <= MAX_VOCAB_SIZE:
        raise TokenizerError(f"vocab_size must be an int from 1 to {MAX_VOCAB_SIZE}, not {echo(repr(vocab_size))}",
                             hint="it is the width of the model's logits, model.config.vocab_size")
    return width


def _checked_ids(ids: Iterable[SupportsIndex], bound: int, name: str) -> tuple[int, ...]:
    """Ids as ints in the given order, duplicates dropped, each below ``bound``."""
    out: dict[int, None] = {}
    try:
        for given in ids:
            i = operator.index(given)
            if isinstance(given, bool) or not 0 <= i < bound:
                raise TokenizerError(f"{name} holds {echo(str(given))}, which is out of range: there are {bound} ids")
            out[i] = None
    except TypeError:
        raise TokenizerError(f"{name} must be token ids (ints)") from None
    return tuple(out)


def _checked_stops(ids: SupportsIndex | Iterable[SupportsIndex], width: int) -> tuple[int, ...]:
    one_id = hasattr(ids, "__index__") and not hasattr(ids, "__iter__")
    many: Iterable[SupportsIndex] = (ids,) if one_id else ids  # type: ignore[assignment]
    return _checked_ids(many, width, "stop_token_ids")


def _by_text(texts: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """Text to ids, ascending. Empty texts name nothing."""
    out: dict[str, list[int]] = {}
    for i in sorted(texts):
        if texts[i]:
            out.setdefault(texts[i], []).append(i)
    return {text: tuple(ids) for text, ids in out.items()}
