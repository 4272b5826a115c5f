"""Which control tokens end a text: known by configuration, else by their written name.

The rule, in this order, duplicates dropped:

1. ids the caller gives: then exactly these, and nothing else is looked at;
2. the tokenizer's own end token (``eos_token``), so it comes first in ``stop_token_ids``;
3. the end tokens of a generation config that lies beside the tokenizer;
4. every *control* token whose written form is in ``END_TOKENS``: ends of a document and ends of a turn.

Rule 4 exists because chat models end a turn with another token than a document (Llama-3.1 ``<|eot_id|>``,
Gemma ``<end_of_turn>``, ChatML ``<|im_end|>``), and the tokenizer names only one of them. A stop token is only
ever allowed where the text is complete, so one too many costs nothing, while one too few would bar the
token that the model wants to stop with. A token that is *not* a control token never counts by its name:
it is ordinary text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["END_TOKENS", "find_stops", "ids_by_text"]

END_TOKENS: frozenset[str] = frozenset({
    # ends of a document
    "</s>", "<eos>", "<EOS>", "[EOS]", "<|eos|>", "<eod>", "<|eod|>", "<|endoftext|>", "<|end_of_text|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    # ends of a turn or of a message that waits for a tool
    "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|im_end|>", "<end_of_turn>", "<turn|>", "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>", "<end_of_utterance>", "<|endofturn|>", "[|endofturn|]", "<|return|>", "<|call|>",
})

# Phi ends a turn with <|end|>; in the harmony format (which has <|channel|>) it only ends one message of a turn.
_TURN_END_UNLESS_HARMONY = "<|end|>"
_HARMONY_MARK = "<|channel|>"


def ids_by_text(texts: Mapping[int, str]) -> dict[str, tuple[int, ...]]:
    """Written form to ids, ascending. An empty text names nothing."""
    out: dict[str, list[int]] = {}
    for i in sorted(texts):
        if texts[i]:
            out.setdefault(texts[i], []).append(i)
    return {text: tuple(ids) for text, ids in out.items()}


def find_stops(
    configured: Iterable[int | str], texts: Mapping[int, str], control_ids: Iterable[int], width: int
) -> tuple[int, ...]:
    """The stop tokens by rules 2 to 4, in that order.

    Args:
        configured: end tokens that a configuration names, by id or by text; those unknown here are left out.
        texts: written form of named tokens.
        control_ids: ids of control tokens; only they count by their name.
        width: ids from here on cannot be produced and are left out.
    """
    by_text = ids_by_text(texts)
    found: list[int] = []
    for stop in configured:
        found.extend(by_text.get(stop, ()) if isinstance(stop, str) else (stop,))
    control = frozenset(control_ids)
    names = END_TOKENS if _HARMONY_MARK in by_text else END_TOKENS | {_TURN_END_UNLESS_HARMONY}
    found.extend(sorted(i for name in names for i in by_text.get(name, ()) if i in control))
    return tuple(dict.fromkeys(i for i in found if 0 <= i < width))
