# ruff: noqa: E402 - imports follow pytest.importorskip
"""A real checkpoint: SmolLM2's GGUF against transformers with the same weights, in all precisions."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from tests.decoder.smollm2 import require_smollm2, transformers_model

PROMPTS = {
    'Write a JSON object with the name "Alice" and the age 30. Answer with JSON only.':
        '```json\n{\n  "name": "Alice",\n  "age": 30\n}\n```',
    "List the first five prime numbers.": "The first five prime numbers are 2, 3, 5, 7, and 11.",
}
"""Prompts whose greedy tokens all lead by more than 0.2 logits, and what transformers answers in float32."""


@pytest.fixture(scope="module")
def path():
    return require_smollm2()


@pytest.fixture(scope="module")
def loaded(path):
    return load_model(path)


def prompt_ids(info, text):
    start, end = (info.token_ids_by_text[one][0] for one in ("<|im_start|>", "<|im_end|>"))
    system = "system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    return [start, *info.encode(system), end, *info.encode("\n"), start, *info.encode("user\n" + text), end,
            *info.encode("\n"), start, *info.encode("assistant\n")]


def greedy(model, ids, stops, limit=40):
    cache = KVCache(model.config, 1, len(ids) + limit, model.dtype)
    slot, new, tokens = cache.allocate(), ids, []
    while len(tokens) < limit:
        logits = model(torch.tensor([new]), cache=cache, slots=[slot], lengths=[cache.length(slot)],
                       n_new=[len(new)]).logits
        new = [int(logits.argmax())]
        if new[0] in stops:
            break
        tokens += new
    return tokens


def test_what_the_file_holds(loaded):
    assert loaded.stop_token_ids == (2,)
    assert loaded.chat_template.startswith("{% for message in messages %}")
    assert loaded.model.config.tied
    assert loaded.add_bos_token is False
    assert loaded.tokenizer_info.vocab_size == loaded.model.config.vocab_size == 49152
    assert loaded.tokenizer_info.encode("  12") == [256, 33, 34]


def test_greedy_text_and_logits_equal_transformers(path, loaded):
    reference = transformers_model(path)
    for prompt, answer in PROMPTS.items():
        ids = prompt_ids(loaded.tokenizer_info, prompt)
        out = reference.generate(torch.tensor([ids]), max_new_tokens=40, do_sample=False, output_logits=True,
                                 return_dict_in_generate=True)
        tokens = out.sequences[0, len(ids) :].tolist()
        margins = [float(step[0].topk(2).values.diff().abs()) for step in out.logits]
        assert min(margins) > 0.2
        assert greedy(loaded.model, ids, (), len(tokens)) == tokens
        assert b"".join(map(loaded.tokenizer_info.token_bytes, tokens[:-1])).decode() == answer
        cache = KVCache(loaded.model.config, 1, len(ids))
        ours = loaded.model(torch.tensor([ids]), cache=cache, slots=[cache.allocate()], lengths=[0], n_new=[len(ids)],
                            logits_to_keep="all").logits
        with torch.inference_mode():
            assert (ours - reference(torch.tensor([ids])).logits).abs().max() < 1e-3


@pytest.mark.parametrize("quantized", [False, True], ids=["bfloat16", "four-bit"])
def test_text_in_low_precision(path, loaded, quantized):
    model = load_model(path, dtype=torch.bfloat16, quantized=quantized, tokenizer=False).model
    info = loaded.tokenizer_info
    for prompt, answer in PROMPTS.items():
        tokens = greedy(model, prompt_ids(info, prompt), loaded.stop_token_ids)
        assert b"".join(map(info.token_bytes, tokens)).decode() == answer


TEXT = """A grammar describes which texts are allowed, and a language model proposes which text comes next. Putting the
two together is simple to say: at every step, remove the tokens that the grammar forbids and choose among the rest. It
is harder to do well, because a token is a piece of text that rarely ends where a word or a symbol ends, and because the
model should not be slowed down by the bookkeeping. The engine keeps a small integer for each state it has seen."""


def test_four_bit_weights_lose_little_more_than_bfloat16(path, loaded):
    """Mean KL divergence from float32 over a paragraph, eight tokens a step (so that the 4-bit kernel runs)."""
    ids = loaded.tokenizer_info.encode(TEXT)

    def logprobs(model):
        cache = KVCache(model.config, 1, len(ids), model.dtype)
        slot = cache.allocate()
        rows = [model(torch.tensor([ids[place : place + 8]]), cache=cache, slots=[slot], lengths=[place],
                      n_new=[len(ids[place : place + 8])], logits_to_keep="all").logits[0]
                for place in range(0, len(ids), 8)]
        return torch.cat(rows).log_softmax(-1)

    exact = logprobs(loaded.model)
    plain, packed = (float((exact.exp() * (exact - logprobs(load_model(
        path, dtype=torch.bfloat16, quantized=quantized, tokenizer=False).model))).sum(-1).mean())
        for quantized in (False, True))
    assert plain < 0.003
    assert packed < 2 * plain
