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

import itertools
import operator
import pickle
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

import numpy as np
import numpy.typing as npt

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.checks import MAX_TOKEN_BYTES, Ids, checked_ids, checked_stops, checked_width
from constrained.vocabulary.pieces import VocabType, decoded_vocabulary
from constrained.vocabulary.stop_tokens import find_stops, ids_by_text
from constrained.vocabulary.tables import VocabularyTables

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["TextEncoder", "TokenizerInfo", "VocabType", "info_of_tables", "tables_of", "with_encoder"]


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
        "_encoder",
        "add_prefix_space",
        "added_token_ids",
        "closed",
        "fingerprint",
        "special_token_ids",
        "stop_token_ids",
        "token_data",
        "token_ids_by_text",
        "token_offsets",
        "unspellable_bytes",
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
    unspellable_bytes: frozenset[int]
    """Bytes that occur in no token: no output can hold them."""
    closed: bool
    """Every byte that occurs in any token is also a token by itself.

    Then each text of spellable bytes can be written, and no prefix of one is a dead end.
    """
    fingerprint: str
    """64 hex digits over all bytes and roles."""
    add_prefix_space: bool
    """Whether the tokenizer puts a space before the first word of a text."""
    _encoder: TextEncoder | None

    def __init__(
        self,
        encoded_vocab: Sequence[bytes | str | None],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: SupportsIndex | None = None,
        stop_token_ids: Ids | None = None,
        special_token_ids: Iterable[SupportsIndex] = (),
        added_token_ids: Iterable[SupportsIndex] = (),
        token_texts: Mapping[int, str] | None = None,
        add_prefix_space: bool = False,
        encoder: TextEncoder | None = None,
    ) -> None:
        vocab_type = VocabType(vocab_type)
        tokens = decoded_vocabulary(encoded_vocab, vocab_type)
        entries = len(tokens)
        width = checked_width(vocab_size, entries)
        special = checked_ids(special_token_ids, entries, "special_token_ids")
        added = checked_ids(added_token_ids, entries, "added_token_ids")
        known = token_texts or {}

        def written(ids: Iterable[int]) -> dict[int, str]:
            return {i: known[i] if i in known else tokens[i].decode("utf-8", "backslashreplace") for i in ids}

        texts = written({*special, *added})
        if stop_token_ids is not None:
            stop = checked_stops(stop_token_ids, width)
        elif special:
            stop = find_stops((), texts, special, width)
        else:
            stop = find_stops((), written(range(entries)), range(entries), width)
        if not stop:
            raise TokenizerError(
                "the vocabulary has no stop token: nothing could end a text",
                hint="pass stop_token_ids=, the ids that the model ends its output with",
            )
        texts.update(written(i for i in stop if i < entries))
        control = frozenset(special) | frozenset(stop)
        for i in control:
            if i < entries:
                tokens[i] = b""
        del tokens[width:]
        lengths = np.zeros(width, dtype=np.int64)
        lengths[: len(tokens)] = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
        if (longest := int(lengths.max(initial=0))) > MAX_TOKEN_BYTES:
            raise TokenizerError(f"token {int(lengths.argmax())} has {longest} bytes; "
                                 f"at most {MAX_TOKEN_BYTES} are possible")
        tables = VocabularyTables(
            data=b"".join(tokens),
            lengths=lengths,
            stop=stop,
            special=frozenset(i for i in control if i < width),
            added=frozenset(i for i in added if i < width) - control,
            texts=ids_by_text({i: text for i, text in texts.items() if i < width}),
            vocab_type=vocab_type,
            add_prefix_space=bool(add_prefix_space),
        )
        _set_tables(self, tables, encoder)

    # -- other sources -------------------------------------------------------------------------------------

    @classmethod
    def from_bytes(
        cls,
        token_bytes: Sequence[bytes | None],
        *,
        stop_token_ids: Ids | None = None,
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
        stop_token_ids: Ids | None = None,
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
        stop_token_ids: Ids | None = None,
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
        stop_token_ids: Ids | None = None,
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
        return [self.token_data[a:b] for a, b in itertools.pairwise(ends)]

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

    def __copy__(self) -> TokenizerInfo:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TokenizerInfo:
        return self

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


# -- building blocks shared with readers and the disk cache -------------------------------------------------


def tables_of(info: TokenizerInfo) -> VocabularyTables:
    """Everything but the encoder."""
    return VocabularyTables(
        data=info.token_data,
        lengths=np.diff(info.token_offsets).astype(np.uint16),
        stop=info.stop_token_ids,
        special=info.special_token_ids,
        added=info.added_token_ids,
        texts=dict(info.token_ids_by_text),
        vocab_type=info.vocab_type,
        add_prefix_space=info.add_prefix_space,
    )


def info_of_tables(tables: VocabularyTables, encoder: TextEncoder | None) -> TokenizerInfo:
    """The opposite of ``tables_of``. The tables are trusted; the fingerprint is computed anew."""
    info = TokenizerInfo.__new__(TokenizerInfo)
    _set_tables(info, tables, encoder)
    return info


def with_encoder(info: TokenizerInfo, encoder: TextEncoder | None) -> TokenizerInfo:
    """The same vocabulary with another encoder."""
    return info_of_tables(tables_of(info), encoder)


def _unpickle(tables: VocabularyTables, encoder: bytes | None) -> TokenizerInfo:
    made: TextEncoder | None = None
    if encoder is not None:
        try:
            made = pickle.loads(encoder)
        except Exception:  # the package behind it may be missing here
            made = None
    return info_of_tables(tables, made)


def _set_tables(info: TokenizerInfo, tables: VocabularyTables, encoder: TextEncoder | None) -> None:
    offsets = tables.offsets()
    raw = np.frombuffer(tables.data, dtype=np.uint8)
    occurs = np.bincount(raw, minlength=256) > 0
    alone = np.zeros(256, dtype=np.bool_)
    alone[raw[offsets[:-1][tables.lengths == 1]]] = True
    values: dict[str, object] = {
        "vocab_size": len(tables.lengths),
        "vocab_type": tables.vocab_type,
        "token_data": tables.data,
        "token_offsets": offsets,
        "stop_token_ids": tables.stop,
        "special_token_ids": tables.special,
        "added_token_ids": tables.added,
        "token_ids_by_text": MappingProxyType(dict(tables.texts)),
        "fingerprint": tables.fingerprint(),
        "add_prefix_space": tables.add_prefix_space,
        "unspellable_bytes": frozenset(np.flatnonzero(~occurs).tolist()),
        "closed": bool(np.array_equal(occurs, alone)),
        "_encoder": encoder,
    }
    for name, value in values.items():
        object.__setattr__(info, name, value)
