# ruff: noqa: E402 - imports follow pytest.importorskip
"""Encoder-decoders against transformers: prefill, one by one, ragged batches, forks; one encoder run a request."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors_torch = pytest.importorskip("safetensors.torch")

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.t5 import T5Cache
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.vocabulary import TokenizerInfo

SIZES = {"vocab_size": 97, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 3,
         "num_heads": 4, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20,
         "decoder_start_token_id": 0}
KINDS = {"relu": {}, "gated-gelu": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
         "gated-silu": {"feed_forward_proj": "gated-silu"}}
SOURCES = ([5, 9, 3, 77, 1], [8, 60, 41, 13, 22, 90, 4, 4, 4, 19, 20, 33, 71, 12, *range(50, 59), 1], [7])
TARGETS = ([0, 4, 19, 3], [0, 96, 5, 5, 8, *range(30, 50)], [0])


def make(kind, directory):
    torch.manual_seed(len(kind))
    model = transformers.T5ForConditionalGeneration(transformers.T5Config(**SIZES, **KINDS[kind])).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if "layer_norm" in name else 0.1))
    model.save_pretrained(directory)
    return model


@pytest.fixture(scope="module", params=KINDS)
def pair(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("t5")
    reference = make(request.param, directory)
    return reference, load_model(directory).model


def expected(reference, source, target):
    with torch.inference_mode():
        return reference(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target])).logits[0]


def prepared(model, sources=SOURCES):
    cache = model.new_cache(4, 32)
    assert isinstance(cache, T5Cache)
    slots = []
    for source in sources:
        slots.append(cache.allocate())
        model.begin(cache, slots[-1], source)
    return cache, slots


def step(model, cache, rows, **options):
    width = max(len(new) for _, _, new in rows)
    ids = torch.tensor([[*new, *[0] * (width - len(new))] for _, _, new in rows])
    return model(ids, cache=cache, slots=[slot for slot, _, _ in rows], lengths=[length for _, length, _ in rows],
                 n_new=[len(new) for _, _, new in rows], **options)


def test_whole_targets_in_one_batch(pair):
    reference, model = pair
    cache, slots = prepared(model)
    out = step(model, cache, [(slot, 0, target) for slot, target in zip(slots, TARGETS, strict=True)],
               logits_to_keep="all").logits
    for ours, source, target in zip(out, SOURCES, TARGETS, strict=True):
        assert (ours[: len(target)] - expected(reference, source, target)).abs().max() < 1e-4


@pytest.mark.parametrize("batch_invariant", [False, True])
def test_one_by_one_with_forks(pair, batch_invariant):
    reference, model = pair
    cache, slots = prepared(model, SOURCES[:2])
    targets = [target[:4] for target in (TARGETS[0], TARGETS[1])]
    wanted = [expected(reference, source, target) for source, target in zip(SOURCES, targets, strict=False)]
    for place in range(4):
        out = step(model, cache, [(slot, place, [target[place]]) for slot, target in zip(slots, targets, strict=True)],
                   batch_invariant=batch_invariant).logits
        for row in range(2):
            assert (out[row, 0] - wanted[row][place]).abs().max() < 1e-4
    forked = cache.fork(slots[1], 2)
    out = step(model, cache, [(forked, 2, [11, 12])], logits_to_keep="all", return_hidden=True)
    assert (out.logits[0] - expected(reference, SOURCES[1], [*targets[1][:2], 11, 12])[2:]).abs().max() < 1e-4
    assert (model.head(out.hidden[model.config.n_layers]) - out.logits).abs().max() < 1e-5


def test_greedy_text(pair):
    reference, model = pair
    # without its cache: transformers makes one layer of it for each encoder layer, and the decoder here has more
    theirs = reference.generate(torch.tensor([SOURCES[1]]), max_new_tokens=15, do_sample=False, eos_token_id=96,
                                output_logits=True, return_dict_in_generate=True, use_cache=False)
    cache, (slot,) = prepared(model, [SOURCES[1]])
    new, tokens = [model.config.decoder_start_token_id], []
    for step_logits in theirs.logits:
        new = [int(step(model, cache, [(slot, cache.length(slot), new)]).logits.argmax())]
        tokens += new
        if float(step_logits[0].topk(2).values.diff().abs()) < 1e-3:
            break
    assert tokens == theirs.sequences[0, 1 : len(tokens) + 1].tolist()


def test_equal_sources_are_encoded_once(pair):
    _, model = pair
    cache, slots = prepared(model, [SOURCES[0], SOURCES[0], SOURCES[1]])
    assert cache.source(slots[0]) is cache.source(slots[1])
    assert cache.source(slots[0]) is not cache.source(slots[2])
    for slot in slots:
        cache.free(slot)
    slots = [cache.allocate() for _ in slots]
    assert not model._sources


def test_the_loop_runs_it(pair):
    """Requests with source texts through the scheduler: greedy tokens as transformers gives them, samples share."""
    reference, model = pair
    info = TokenizerInfo.from_bytes([bytes([32 + token]) for token in range(95)], vocab_size=97, stop_token_ids=[1],
                                    special_token_ids=[0, 1])
    scheduler = Scheduler(model, info, max_batch=3, max_len=24)
    requests = [Request(prompt_ids=[0], source_ids=source,
                        params=SamplingParams(temperature=0, max_tokens=10, ignore_eos=True)) for source in SOURCES]
    ids = [scheduler.submit(request) for request in requests]
    sampled = scheduler.submit(Request(prompt_ids=[0], source_ids=SOURCES[0],
                                       params=SamplingParams(n=2, seed=3, max_tokens=5)))
    for _ in scheduler.run():
        pass
    for source, request_id in zip(SOURCES, ids, strict=True):
        ours = scheduler.completions(request_id)[0].token_ids
        logits = expected(reference, source, [0, *ours[:-1]]).clone()
        logits[:, [0, 1, 95, 96]] = float("-inf")  # padding, the end and unused ids are never written
        best = logits.topk(2)
        margin = best.values[:, 0] - best.values[:, 1] > 1e-3
        assert (best.indices[:, 0] == torch.tensor(ours))[margin].all()
    assert len(scheduler.completions(sampled)) == 2
    for source in (None, [], [97]):
        with pytest.raises(ModelError, match="source text"):
            scheduler.submit(Request(prompt_ids=[0], source_ids=source))


def test_a_head_of_its_own(tmp_path):
    reference = make("gated-gelu", tmp_path)
    tensors = safetensors_torch.load_file(tmp_path / "model.safetensors")
    torch.manual_seed(9)
    tensors["lm_head.weight"] = torch.randn_like(tensors["shared.weight"])
    tensors["encoder.embed_tokens.weight"] = tensors["shared.weight"].clone()
    safetensors_torch.save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    model = load_model(tmp_path).model
    cache, (slot,) = prepared(model, [SOURCES[0]])
    out = step(model, cache, [(slot, 0, TARGETS[0])], logits_to_keep="all", return_hidden=[model.config.n_layers])
    with torch.inference_mode():
        normed = reference.decoder.final_layer_norm(out.hidden[model.config.n_layers])
    assert (out.logits - normed @ tensors["lm_head.weight"].t()).abs().max() < 1e-4


def test_refused(pair, tmp_path):
    _, model = pair
    cache = T5Cache(model.config, 1, 8)
    slot = cache.allocate()
    with pytest.raises(ModelError, match="no source text"):
        step(model, cache, [(slot, 0, [0])])
    for source in ([], [97], [-1]):
        with pytest.raises(ModelError, match="source text needs"):
            model.begin(cache, slot, source)
    model.begin(cache, slot, [3, 1])
    step(model, cache, [(slot, 0, [0])])
    with pytest.raises(ModelError, match="already holds tokens"):
        model.begin(cache, slot, [3, 1])
    cache.remember(slot, [0])
    assert cache.longest_prefix([0]) == (-1, 0)
    cache.free(slot)
    assert cache.allocate() == slot
    with pytest.raises(ModelError, match="no source text"):
        step(model, cache, [(slot, 0, [0])])
    plain = KVCache(model.config, 1, 8)
    with pytest.raises(ModelError, match="T5Cache"):
        step(model, plain, [(plain.allocate(), 0, [0])])


def test_refused_checkpoints(tmp_path):
    make("relu", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for changes in ({"feed_forward_proj": "gated-relu6"}, {"feed_forward_proj": "deep-relu"}, {"num_layers": None},
                    {"num_layers": 3}, {"d_ff": 47}, {"num_heads": 0}):
        (tmp_path / "config.json").write_text(json.dumps({**config, **changes}))
        with pytest.raises(CheckpointError):
            load_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="float16"):
        load_model(tmp_path, dtype=torch.float16)
