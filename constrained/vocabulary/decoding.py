"""How a ``tokenizer.json`` turns pieces into text, read from its decoder: the *scheme* of its pieces.

A grammar needs tokens whose bytes do not depend on their neighbours: the text is the tokens' bytes joined. A
decoder made of the steps below keeps that (but for blanks it strips once at the start of a text); any other
step (WordPiece, end-of-word suffixes, CTC, patterns across tokens) does not, and the tokenizer is refused.

Without a decoder the pieces are cuts of the text itself, provided that the model and the pre-tokenizer lose
nothing; then a piece is its own text (byte level where the pre-tokenizer is).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from constrained.errors import TokenizerError, echo
from constrained.vocabulary.pieces import byte_level_pieces, replaced_pieces
from constrained.vocabulary.tokenizer_info import VocabType

__all__ = ["PieceScheme", "scheme_of"]

_LOSING_PRETOKENIZERS = frozenset({"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit"})


@dataclass(frozen=True, slots=True)
class PieceScheme:
    """How pieces are written.

    Attributes:
        byte_level: in the byte-level alphabet; then the other fields do not apply.
        replacements: pairs (written, meant), applied in order.
        byte_fallback: ``<0x41>`` pieces stand for one byte.
        add_prefix_space: the tokenizer puts a blank before the first word.
    """

    byte_level: bool
    replacements: tuple[tuple[str, str], ...] = ()
    byte_fallback: bool = False
    add_prefix_space: bool = False

    @property
    def vocab_type(self) -> VocabType:
        if self.byte_level:
            return VocabType.BYTE_LEVEL
        return VocabType.BYTE_FALLBACK if self.byte_fallback or self.replacements else VocabType.RAW

    def bytes_of(self, pieces: Sequence[str]) -> list[bytes]:
        """Bytes of pieces of the model's own vocabulary."""
        if self.byte_level:
            return byte_level_pieces(pieces)
        return replaced_pieces(pieces, self.replacements, byte_fallback=self.byte_fallback)

    def bytes_of_added(self, pieces: Sequence[str]) -> list[bytes]:
        """Bytes of pieces that are in the added tokens alone.

        The encoder finds them in the text as they are written, so a byte-level tokenizer's added token stands
        for its own UTF-8; where blanks are written as marks, added tokens go through the decoder like all.
        """
        if self.byte_level:
            return replaced_pieces(pieces, (), byte_fallback=False)
        return self.bytes_of(pieces)


def scheme_of(
    model: Mapping[str, Any],
    decoder: Mapping[str, Any] | None,
    pre_tokenizer: Mapping[str, Any] | None,
    normalizer: Mapping[str, Any] | None,
) -> PieceScheme:
    """Read the scheme from the parts of a ``tokenizer.json``.

    Args:
        model: ``type``, and for BPE ``continuing_subword_prefix``, ``end_of_word_suffix``, ``byte_fallback``.
        decoder, pre_tokenizer, normalizer: as in the file, None where absent.

    Raises:
        TokenizerError: a token's bytes would depend on its neighbours, or a part is unknown.
    """
    kind = model.get("type")
    if kind == "WordPiece":
        raise _refused("a WordPiece model writes blanks between words that no token holds")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            raise _refused(f"the model marks places in words ({name} = {echo(str(model[name]))})")
    steps = list(_flat(decoder, "decoders"))
    before = list(_flat(pre_tokenizer, "pretokenizers"))
    prefix = any(_adds_prefix(step) for step in [*_flat(normalizer, "normalizers"), *before])
    if not steps:
        if any(step.get("type") == "ByteLevel" for step in before):
            return PieceScheme(byte_level=True, add_prefix_space=prefix)
        for step in before:
            if step.get("type") in _LOSING_PRETOKENIZERS or step.get("behavior") == "Removed":
                raise _refused(f"there is no decoder, and the pre-tokenizer {step.get('type')} drops characters")
        marks = tuple((str(s.get("replacement", "\u2581")), " ") for s in before if s.get("type") == "Metaspace")
        return PieceScheme(False, marks, bool(model.get("byte_fallback")), prefix)
    if any(step.get("type") == "ByteLevel" for step in steps):
        for step in steps:
            if step.get("type") not in ("ByteLevel", "Fuse") and not _strips_start(step):
                raise _refused(f"the decoder step {echo(str(step.get('type')))} beside ByteLevel is not known")
        return PieceScheme(byte_level=True, add_prefix_space=prefix)
    return _text_scheme(steps, prefix)


def _text_scheme(steps: list[Mapping[str, Any]], prefix: bool) -> PieceScheme:
    replacements: list[tuple[str, str]] = []
    fallback = fused = False
    for step in steps:
        kind = step.get("type")
        if kind == "Fuse":
            fused = True
        elif kind == "ByteFallback" and not fused:
            fallback = True
        elif kind == "Metaspace" and not fused:
            replacements.append((str(step.get("replacement", "\u2581")), " "))
        elif kind == "Replace" and not fused and not fallback:
            pattern = step.get("pattern")
            old = pattern.get("String") if isinstance(pattern, Mapping) else None
            if not isinstance(old, str) or not old:
                raise _refused(f"the decoder replaces by the pattern {echo(str(pattern))}")
            replacements.append((old, str(step.get("content", ""))))
        elif not _strips_start(step):
            raise _refused(f"the decoder step {echo(str(kind))} at this place works across tokens or is not known")
    return PieceScheme(False, tuple(replacements), fallback, prefix)


def _strips_start(step: Mapping[str, Any]) -> bool:
    """Blanks dropped once at the start of a text: the undoing of a prefix blank, no property of a token."""
    return step.get("type") == "Strip" and not step.get("stop")


def _adds_prefix(step: Mapping[str, Any]) -> bool:
    kind = step.get("type")
    if kind == "Metaspace":
        default = "always" if step.get("add_prefix_space", True) else "never"
        return bool(step.get("prepend_scheme", default) != "never")
    return kind == "Prepend" or (kind == "ByteLevel" and bool(step.get("add_prefix_space")))


def _flat(part: Mapping[str, Any] | None, inner: str) -> Iterator[Mapping[str, Any]]:
    """The steps of a part, its ``Sequence`` nests undone, in order."""
    pending: list[Any] = [] if part is None else [part]
    while pending:
        step = pending.pop()
        if not isinstance(step, Mapping) or not isinstance(step.get("type"), str):
            raise TokenizerError(f"the tokenizer's {inner} hold a {type(step).__name__} that is no part with a type")
        if step["type"] == "Sequence":
            steps = step.get(inner)
            if not isinstance(steps, list):
                raise TokenizerError(f"a sequence in the tokenizer's {inner} has no list of steps")
            pending.extend(reversed(steps))
        else:
            yield step


def _refused(why: str) -> TokenizerError:
    return TokenizerError(
        f"this tokenizer's tokens have no bytes of their own: {why}",
        hint="byte-level BPE and SentencePiece-style tokenizers can be used; else give the bytes with from_bytes",
    )
