# ruff: noqa: E402 - imports follow pytest.importorskip
"""Logits of every family against transformers: whole prompts, one by one, chunked, ragged batches, after rollback."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from functools import partial

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.errors import CacheError, ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.static_step import StaticStep
from constrained.decoder.paged_cache import PagedCache
from tests.decoder.tiny_models import FAMILIES, VOCAB, make, reference_logits

TOLERANCE = 1e-4
MAX_LEN = 48


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    reference = make(request.param, directory)
    return reference, load_model(directory).model


@pytest.fixture(params=[KVCache, partial(PagedCache, block_size=5)], ids=["slots", "pages"])
def cache_kind(request):
    return request.param


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    directory = tmp_path_factory.mktemp("llama")
    reference = make("llama", directory)
    return reference, load_model(directory).model


def cache_of(model, kind=KVCache):
    return kind(model.config, 4, MAX_LEN, torch.float32)


def sequence(seed, length):
    return random.Random(seed).choices(range(VOCAB), k=length)


def step(model, cache, rows, **options):
    """``rows``: (slot, length, new tokens). Right-pads and runs one forward pass."""
    width = max(len(new) for _, _, new in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for row, (_, _, new) in enumerate(rows):
        ids[row, : len(new)] = torch.tensor(new)
    return model(ids, cache=cache, slots=[slot for slot, _, _ in rows], lengths=[length for _, length, _ in rows],
                 n_new=[len(new) for _, _, new in rows], **options)


def assert_close(ours, theirs):
    assert ours.dtype == torch.float32
    assert ours.shape == theirs.shape
    difference = (ours - theirs).abs().max().item()
    assert difference < TOLERANCE, f"logits differ by {difference}"


def test_prefill(pair):
    reference, model = pair
    for length in (1, 2, 16, 17, 40):
        ids = sequence(length, length)
        cache = cache_of(model)
        logits = step(model, cache, [(cache.allocate(), 0, ids)], logits_to_keep="all").logits[0]
        assert_close(logits, reference_logits(reference, ids))


def test_one_by_one(pair):
    reference, model = pair
    ids = sequence(7, 30)
    cache = cache_of(model)
    slot = cache.allocate()
    logits = [step(model, cache, [(slot, place, [token])]).logits[0] for place, token in enumerate(ids)]
    assert_close(torch.cat(logits), reference_logits(reference, ids))
    assert cache.length(slot) == len(ids)


@pytest.mark.parametrize("chunks", [(5, 1, 20, 3, 11), (17, 17, 6), (1, 39)])
def test_chunked(pair, cache_kind, chunks):
    reference, model = pair
    ids = sequence(11, sum(chunks))
    cache = cache_of(model, cache_kind)
    slot, done, parts = cache.allocate(), 0, []
    for size in chunks:
        parts.append(step(model, cache, [(slot, done, ids[done : done + size])], logits_to_keep="all").logits[0])
        done += size
    assert_close(torch.cat(parts), reference_logits(reference, ids))


@pytest.mark.parametrize("batch_invariant", [False, True])
def test_ragged_batches(pair, cache_kind, batch_invariant):
    """Rows of other lengths, prompts beside single tokens, slots in any order, rows that come and go."""
    reference, model = pair
    draw = random.Random(3)
    texts = [sequence(row, length) for row, length in enumerate((40, 29, 33, 12))]
    expected = [reference_logits(reference, text) for text in texts]
    cache = cache_of(model, cache_kind)
    slots = [cache.allocate() for _ in texts]
    done = [0] * len(texts)
    while any(count < len(text) for count, text in zip(done, texts, strict=True)):
        rows = [row for row in range(4) if done[row] < len(texts[row]) and draw.random() < 0.8]
        draw.shuffle(rows)
        if not rows:
            continue
        sizes = [min(len(texts[row]) - done[row], draw.choice([1, 1, 1, 2, 9, 18])) for row in rows]
        parts = [(slots[row], done[row], texts[row][done[row] : done[row] + size])
                 for row, size in zip(rows, sizes, strict=True)]
        logits = step(model, cache, parts, logits_to_keep="all", batch_invariant=batch_invariant).logits
        for place, (row, size) in enumerate(zip(rows, sizes, strict=True)):
            assert_close(logits[place, :size], expected[row][done[row] : done[row] + size])
            done[row] += size


def test_rollback_and_copies(pair, cache_kind):
    reference, model = pair
    ids, other = sequence(21, 30), sequence(22, 12)
    cache = cache_of(model, cache_kind)
    slot = cache.allocate()
    step(model, cache, [(slot, 0, ids)])
    cache.truncate(slot, 13)
    forked = cache.fork(slot, 10)
    logits = step(model, cache, [(slot, 13, other), (forked, 10, other)], logits_to_keep="all").logits
    assert_close(logits[0], reference_logits(reference, ids[:13] + other)[13:])
    assert_close(logits[1], reference_logits(reference, ids[:10] + other)[10:])
    # a row shorter than its slot is rolled back first
    assert_close(step(model, cache, [(slot, 4, other)], logits_to_keep="all").logits[0],
                 reference_logits(reference, ids[:4] + other)[4:])
    assert cache.length(slot) == 4 + len(other)


def test_kept_positions_and_allowed_ids(pair):
    reference, model = pair
    texts = [sequence(31, 9), sequence(32, 2)]
    expected = [reference_logits(reference, text) for text in texts]
    cache = cache_of(model)
    slots = [cache.allocate(), cache.allocate()]
    rows = [(slot, 0, text) for slot, text in zip(slots, texts, strict=True)]
    last = step(model, cache, rows).logits
    assert_close(last, torch.stack([one[-1:] for one in expected]))
    three = step(model, cache, rows, logits_to_keep=3).logits
    assert_close(three[0], expected[0][-3:])
    assert_close(three[1, 1:], expected[1])
    assert not three[1, 0].any()
    for allowed in ([5, 3, 198], list(range(0, VOCAB, 2))):
        few = step(model, cache, rows, allowed_ids=torch.tensor(allowed)).logits
        assert_close(few, torch.stack([one[-1:, allowed] for one in expected]))
    assert step(model, cache, rows, logits_to_keep=0).logits is None


def test_logit_lens(pair):
    """Hidden states are transformers' (before the final norm), and the head of the last one gives the logits."""
    reference, model = pair
    ids = sequence(41, 15)
    with torch.inference_mode():
        hidden = reference(torch.tensor([ids]), output_hidden_states=True).hidden_states
    cache = cache_of(model)
    slot = cache.allocate()
    layers = model.config.n_layers
    out = step(model, cache, [(slot, 0, ids)], logits_to_keep="all", return_hidden=True)
    assert list(out.hidden) == list(range(layers + 1))
    for layer in range(layers):
        assert_close(out.hidden[layer], hidden[layer])
    assert_close(model.head(out.hidden[layers]), out.logits)
    some = step(model, cache, [(slot, 0, ids)], return_hidden=[2])
    assert_close(some.hidden[2], hidden[2][:, -1:])
    assert_close(model.head(out.hidden[1][:, -1], torch.tensor([4, 9])), model.head(out.hidden[1])[:, -1, [4, 9]])


def test_greedy_generation_matches(pair):
    """Tokens equal transformers' ``generate`` as long as its top margin is over 1e-3."""
    reference, model = pair
    ids = sequence(51, 6)
    theirs = reference.generate(torch.tensor([ids]), max_new_tokens=20, do_sample=False, eos_token_id=-1,
                                pad_token_id=0, output_logits=True, return_dict_in_generate=True)
    margins = [row[0].topk(2).values for row in theirs.logits]
    cache = cache_of(model)
    slot, tokens, new = cache.allocate(), [], ids
    for _ in range(20):
        new = [int(step(model, cache, [(slot, cache.length(slot), new)]).logits.argmax())]
        tokens += new
    for ours, their, top in zip(tokens, theirs.sequences[0, 6:].tolist(), margins, strict=True):
        if top[0] - top[1] < 1e-3:
            break
        assert ours == their


def test_batch_invariant_is_exact(llama):
    _, model = llama
    texts = [sequence(61, 20), sequence(62, 5), sequence(63, 11)]
    alone = []
    for text in texts:
        cache = cache_of(model)
        alone.append(step(model, cache, [(cache.allocate(), 0, text)]).logits[0])
    cache = cache_of(model)
    rows = [(cache.allocate(), 0, text) for text in texts]
    together = step(model, cache, rows, batch_invariant=True).logits
    assert torch.equal(together, torch.stack(alone))


def test_dynamic_rope_beyond_the_trained_length(tmp_path):
    """One prompt longer than ``max_position``, then single tokens: the frequencies follow the sequence's length."""
    import transformers

    from tests.decoder import tiny_models

    sizes = {**tiny_models.SIZES, "max_position_embeddings": 16}
    torch.manual_seed(0)
    reference = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        **sizes, rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0})).eval()
    reference.save_pretrained(tmp_path)
    model = load_model(tmp_path).model
    ids = sequence(71, 33)
    cache = cache_of(model)
    slot = cache.allocate()
    ours = [step(model, cache, [(slot, 0, ids[:28])]).logits[0]]
    with torch.inference_mode():
        out = reference(torch.tensor([ids[:28]]), use_cache=True)
        theirs = [out.logits[0, -1:]]
        for place in range(28, 33):
            out = reference(torch.tensor([ids[place : place + 1]]), past_key_values=out.past_key_values, use_cache=True)
            theirs.append(out.logits[0])
            ours.append(step(model, cache, [(slot, place, ids[place : place + 1])]).logits[0])
    assert_close(torch.cat(ours), torch.cat(theirs))


def test_a_bad_row_changes_nothing(llama):
    _, model = llama
    cache = cache_of(model)
    slot, other = cache.allocate(), cache.allocate()
    good = sequence(81, 10)
    step(model, cache, [(slot, 0, good)])
    before = cache.keys.clone()
    bad = [
        (CacheError, [(slot, 10, [1]), (other, 0, [1] * (MAX_LEN + 1))]),
        (ModelError, [(slot, 10, [1]), (other, 3, [1])]),
        (ModelError, [(slot, 10, [1]), (slot, 10, [1])]),
        (ModelError, [(slot, 10, [1]), (3, 0, [1])]),
        (ModelError, [(slot, 10, [VOCAB])]),
        (ModelError, [(slot, 10, [-1])]),
    ]
    for error, rows in bad:
        with pytest.raises(error):
            step(model, cache, rows)
    for ids, options in ((torch.zeros(1, 1), {}), (torch.zeros(1, dtype=torch.long), {}),
                         (torch.zeros(1, 1, dtype=torch.long), {"logits_to_keep": -1}),
                         (torch.zeros(1, 1, dtype=torch.long), {"logits_to_keep": "last"}),
                         (torch.zeros(1, 1, dtype=torch.long), {"return_hidden": [9]}),
                         (torch.zeros(2, 1, dtype=torch.long), {})):
        with pytest.raises(ModelError):
            model(ids, cache=cache, slots=[slot], lengths=[10], n_new=[1], **options)
    with pytest.raises(ModelError):
        model(torch.zeros(1, 1, dtype=torch.long), cache=cache, slots=[slot], lengths=[10], n_new=[2])
    for wrong in (KVCache(model.config, 1, 8, torch.bfloat16), KVCache(replace(model.config, n_kv_heads=6), 1, 8)):
        with pytest.raises(ModelError, match="cache"):
            step(model, wrong, [(wrong.allocate(), 0, [1])])
    for ids in ([VOCAB], [-1]):
        with pytest.raises(ModelError, match="allowed ids"):
            model.head(torch.zeros(1, model.config.hidden_size), torch.tensor(ids))
    assert torch.equal(before, cache.keys)
    assert cache.length(slot) == 10
    assert cache.length(other) == 0
    with pytest.raises(ModelError):
        model.to(torch.float16)


def test_static_step(pair):
    """The fixed-shape step gives the eager pass's logits for any choice of rows and leaves idle slots alone."""
    reference, model = pair
    texts = [sequence(91, 12), sequence(92, 25), sequence(93, 5)]
    cache = cache_of(model)
    slots = [cache.allocate() for _ in range(4)]
    for slot, text in zip(slots, texts, strict=False):
        step(model, cache, [(slot, 0, text)])
    model.use_static_step(StaticStep(model, cache))
    try:
        for rows in ([0, 1, 2], [2, 0], [1], [1, 2], [0, 1, 2]):
            before = cache.keys.clone()
            new = [sequence(95 + row + len(texts[row]), 1) for row in rows]
            parts = [(slots[row], len(texts[row]), token) for row, token in zip(rows, new, strict=True)]
            out = step(model, cache, parts, return_hidden=[model.config.n_layers])
            for place, row in enumerate(rows):
                texts[row] = texts[row] + new[place]
                assert_close(out.logits[place], reference_logits(reference, texts[row])[-1:])
                assert cache.length(slots[row]) == len(texts[row])
            assert_close(model.head(out.hidden[model.config.n_layers]), out.logits)
            for row in {0, 1, 2, 3} - set(rows):
                assert torch.equal(before[:, slots[row]], cache.keys[:, slots[row]])
    finally:
        model.use_static_step(None)


@pytest.mark.skipif(not os.environ.get("CONSTRAINED_NIGHTLY"), reason="compiling takes a minute")
def test_compiled_static_step(llama):
    reference, model = llama
    cache = cache_of(model)
    slots, texts = [cache.allocate(), cache.allocate()], [sequence(1, 9), sequence(2, 4)]
    step(model, cache, [(slot, 0, text) for slot, text in zip(slots, texts, strict=True)])
    model.use_static_step(StaticStep(model, cache, compile_mode="default"))
    try:
        for token in range(3):
            out = step(model, cache, [(slot, len(text), [token]) for slot, text in zip(slots, texts, strict=True)])
            texts = [[*text, token] for text in texts]
            for row in range(2):
                assert_close(out.logits[row], reference_logits(reference, texts[row])[-1:])
    finally:
        model.use_static_step(None)


def test_static_steps_are_refused_where_they_cannot_run(llama):
    _, model = llama
    with pytest.raises(ModelError, match="contiguous"):
        StaticStep(model, cache_of(model, PagedCache))
    with pytest.raises(ModelError, match="CUDA"):
        StaticStep(model, cache_of(model), cuda_graph=True)
