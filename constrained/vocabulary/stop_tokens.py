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

__all__ = ["END_TOKENS", "stop_tokens_by_name"]

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


def stop_tokens_by_name(ids_by_text: Mapping[str, tuple[int, ...]], control_ids: Iterable[int]) -> tuple[int, ...]:
    """Ids of the control tokens whose name is a known end, ascending.

    Args:
        ids_by_text: written form of tokens to their ids.
        control_ids: ids of control tokens; others do not count.
    """
    control = frozenset(control_ids)
    names = set(END_TOKENS)
    if _HARMONY_MARK not in ids_by_text:
        names.add(_TURN_END_UNLESS_HARMONY)
    return tuple(sorted(i for name in names for i in ids_by_text.get(name, ()) if i in control))
