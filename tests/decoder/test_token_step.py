# ruff: noqa: E402 - imports follow pytest.importorskip
"""The compiled step of 4-bit models, and 8-bit heads, against the general pass and dequantised weights."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models import int8_weight
from constrained.decoder.models.int8_weight import Int8Weight
from constrained.decoder.models.token_step import TokenStep
from constrained.decoder.paged_cache import PagedCache
from constrained.kernel import token_step as kernel
from tests.decoder import tiny_gguf
from tests.decoder.test_gguf import wide_llama

compiled = pytest.mark.skipif(not kernel.is_compiled(), reason="the step has no uncompiled form")
TOKENS = [5, 9, 17, 30, 44, 2, 77, 101, 3, 60, 61, 62]


@pytest.fixture(scope="module", params=["plain", "biases, own head"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("q4") / "model.gguf"
    reference = wide_llama(attention_bias=True, tie_word_embeddings=False) if request.param != "plain" else wide_llama()
    types = gguf.GGMLQuantizationType
    head = "token_embd.weight" if reference.config.tie_word_embeddings else "output.weight"
    tiny_gguf.write(reference, path, "llama", types.Q4_1, kinds={head: types.Q8_0})
    return path


def stepwise(model, cache, slots, tokens=TOKENS) -> torch.Tensor:
    """Logits ``[slots, len(tokens), V]``: prompts of 3 to 5 tokens, then one token a step, the rows ragged."""
    rows = []
    lengths = []
    for i, slot in enumerate(slots):
        prompt = [7 + i, 8, 9, 10, 11][: 3 + i % 3]
        model(torch.tensor([prompt]), cache=cache, slots=[slot], lengths=[0], n_new=[len(prompt)])
        lengths.append(len(prompt))
    for token in tokens:
        out = model(torch.tensor([[token]] * len(slots)), cache=cache, slots=slots, lengths=lengths,
                    n_new=[1] * len(slots))
        rows.append(out.logits[:, 0])
        lengths = [length + 1 for length in lengths]
    return torch.stack(rows, 1)


def new_cache(model, slots=4):
    cache = KVCache(model.config, slots, 32, model.dtype)
    return cache, [cache.allocate() for _ in range(slots)]


@compiled
@pytest.mark.parametrize("window", [None, 6])
def test_the_step_is_as_near_to_the_exact_weights_as_the_general_pass(path, window):
    packed, dense = load_model(path, quantized=True, tokenizer=False).model, load_model(path, tokenizer=False).model
    for model in (packed, dense):
        model.config = replace(model.config, layer_windows=(window,) * model.config.n_layers)
    assert packed._token_step is not None and dense._token_step is None
    cache, slots = new_cache(packed)
    stepped = stepwise(packed, cache, slots)
    keys = cache.keys.clone()
    alone_cache, alone_slots = new_cache(packed, 1)
    alone = stepwise(packed, alone_cache, alone_slots)
    exact_cache, exact_slots = new_cache(dense)
    exact = stepwise(dense, exact_cache, exact_slots)
    packed._token_step = None
    general_cache, general_slots = new_cache(packed)
    general = stepwise(packed, general_cache, general_slots)
    error, before = (stepped - exact).norm() / exact.norm(), (general - exact).norm() / exact.norm()
    assert error < 0.05 and error < 1.1 * before  # float32 between the products loses no more than bfloat16
    assert (stepped[:1] - alone).norm() < 0.03 * alone.norm()
    assert (keys.float() - general_cache.keys.float()).norm() < 0.03 * keys.float().norm()
    assert [cache.length(slot) for slot in slots] == [general_cache.length(slot) for slot in general_slots]


@compiled
def test_chunks_are_as_good_as_single_tokens(path):
    """Rows of 1, 4 and 2 tokens in one pass, after a rollback, against the same tokens one by one."""
    model = load_model(path, quantized=True, tokenizer=False).model
    cache, slots = new_cache(model, 3)
    stepwise(model, cache, slots)
    lengths, n_new = [5, 6, 7], [1, 4, 2]
    one_by_one, singles = [], new_cache(model, 3)
    stepwise(model, *singles)
    for slot, length, new in zip(singles[1], lengths, n_new, strict=True):
        one_by_one.append(torch.cat([
            model(torch.tensor([[token]]), cache=singles[0], slots=[slot], lengths=[length + i], n_new=[1]).logits[0]
            for i, token in enumerate(TOKENS[:new])]))
    out = model(torch.tensor([TOKENS[:4]] * 3), cache=cache, slots=slots, lengths=lengths, n_new=n_new,
                logits_to_keep="all").logits
    for row, new, wanted in zip(out, n_new, one_by_one, strict=True):
        assert (row[:new] - wanted).norm() < 0.03 * wanted.norm() and not row[new:].any()
    assert [cache.length(slot) for slot in slots] == [6, 10, 9]


@compiled
def test_the_step_serves_few_tokens_in_slots_only(path):
    model = load_model(path, quantized=True, tokenizer=False).model
    step, last = model._token_step, model.config.n_layers
    cache = KVCache(model.config, 2, 16, model.dtype)
    assert step.serves(cache, [1, 2], frozenset({last})) and step.serves(cache, [1], frozenset())
    assert not step.serves(cache, [1], frozenset({0})) and not step.serves(cache, [8, 8], frozenset())
    assert not step.serves(PagedCache(model.config, 2, 16, model.dtype), [1], frozenset())
    gelu = load_model(path, quantized=True, tokenizer=False).model
    gelu.config = replace(gelu.config, activation="gelu_tanh")
    assert not TokenStep.fits(gelu)


def test_heads_of_eight_bits_are_exact_by_every_way(path, monkeypatch):
    packed, dense = load_model(path, quantized=True, tokenizer=False).model, load_model(path, tokenizer=False).model
    head, weight = packed._head, dense._head.weight
    assert isinstance(head.weight, Int8Weight) and head.weight.shape == tuple(weight.shape)
    ids = torch.tensor([0, 3, 50, 198])
    for kernel_rows in (0, 99):
        monkeypatch.setattr(int8_weight, "KERNEL_ROWS", kernel_rows)
        for rows in (1, 2, 5):
            hidden = torch.randn(rows, weight.shape[1], generator=torch.Generator().manual_seed(rows))
            exact = hidden.double() @ weight.double().t()
            room = 1e-6 * (hidden.double().abs() @ weight.double().abs().t()).max()
            assert (head(hidden) - exact).abs().max() < room
            assert (head(hidden, ids) - exact[:, ids]).abs().max() < room
