"""Which tokens end a text."""

from __future__ import annotations

import pytest

from constrained.vocabulary.stop_tokens import END_TOKENS, find_stops, ids_by_text
from tests.vocabulary.sources import info_of, smollm2


def test_order_is_configuration_then_names() -> None:
    texts = {3: "<|im_end|>", 5: "</s>", 7: "<x>", 9: "</s>"}
    assert find_stops([7, "</s>"], texts, [3, 5, 7, 9], 20) == (7, 5, 9, 3)


def test_only_control_tokens_count_by_name() -> None:
    assert find_stops([], {3: "<|im_end|>", 5: "</s>"}, [5], 20) == (5,)
    assert find_stops(["<|im_end|>"], {3: "<|im_end|>", 5: "</s>"}, [5], 20) == (3, 5)


def test_ids_past_the_width_and_unknown_texts_are_left_out() -> None:
    assert find_stops([30, "<nothing>", -1], {3: "<eos>", 25: "</s>"}, [3, 25], 20) == (3,)


def test_end_of_a_harmony_message_is_no_end_of_a_turn() -> None:
    texts = {1: "<|end|>", 2: "<|return|>"}
    assert find_stops([], texts, texts, 9) == (1, 2)
    assert find_stops([], {**texts, 3: "<|channel|>"}, [1, 2, 3], 9) == (2,)


def test_ids_by_text() -> None:
    assert ids_by_text({4: "b", 2: "a", 1: "b", 0: ""}) == {"b": (1, 4), "a": (2,)}


def test_names_are_written_as_tokens_are() -> None:
    assert all(name[0] in "<[" and name[-1] in ">]" for name in END_TOKENS)


@pytest.mark.parametrize(("name", "stops"), [
    ("deepseek_v3", {"<｜end▁of▁sentence｜>"}),
    ("gemma3", {"<eos>", "<end_of_turn>"}),
    ("gptoss", {"<|return|>", "<|call|>", "<|endoftext|>"}),
    ("llama2", {"</s>"}),
    ("llama3_1", {"<|end_of_text|>", "<|eot_id|>"}),
    ("qwen3", {"<|im_end|>", "<|endoftext|>"}),
    ("smollm2", {"<|im_end|>", "<|endoftext|>"}),
])
def test_real_tokenizers(name: str, stops: set[str]) -> None:
    info = smollm2() if name == "smollm2" else info_of(name)
    assert info.stop_token_ids == tuple(dict.fromkeys(info.stop_token_ids))
    assert {i for text in stops for i in info.token_ids_by_text[text]} == set(info.stop_token_ids)
    assert set(info.stop_token_ids) <= info.special_token_ids
