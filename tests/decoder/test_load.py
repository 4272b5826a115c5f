# ruff: noqa: E402 - imports follow pytest.importorskip
"""Checkpoint directories: shards, dtypes, stop tokens and chat templates, and everything that must be refused."""

from __future__ import annotations

import json
import shutil

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
safetensors_torch = pytest.importorskip("safetensors.torch")

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.config_hf import FAMILIES, config_from_dict
from tests.decoder import tiny_models

IDS = [5, 9, 3, 77, 150, 2, 8]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    directory = tmp_path_factory.mktemp("llama")
    return tiny_models.make("llama", directory), directory


@pytest.fixture
def directory(saved, tmp_path):
    shutil.copytree(saved[1], tmp_path, dirs_exist_ok=True)
    return tmp_path


def logits(model):
    cache = KVCache(model.config, 1, 32, model.dtype)
    return model(torch.tensor([IDS]), cache=cache, slots=[cache.allocate()], lengths=[0], n_new=[len(IDS)],
                 logits_to_keep="all").logits[0]


def edit(directory, **changes):
    config = json.loads((directory / "config.json").read_text())
    for key, value in changes.items():
        if value is KeyError:
            config.pop(key, None)
        else:
            config[key] = value
    (directory / "config.json").write_text(json.dumps(config))


def tensors_of(directory):
    return safetensors_torch.load_file(directory / "model.safetensors")


def test_shards(saved, tmp_path):
    reference, _ = saved
    reference.save_pretrained(tmp_path, max_shard_size="50KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    difference = logits(load_model(tmp_path).model) - tiny_models.reference_logits(reference, IDS)
    assert difference.abs().max() < 1e-4


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(saved, dtype):
    reference, directory = saved
    model = load_model(directory, dtype=dtype).model
    assert model.dtype == dtype
    ours, theirs = logits(model), tiny_models.reference_logits(reference, IDS)
    assert ours.dtype == torch.float32
    assert (ours - theirs).norm() < 0.03 * theirs.norm()


def test_bfloat16_heads_are_float32(saved):
    """The logits are the float32 product of the bfloat16 weights and the bfloat16 hidden state."""
    _, directory = saved
    model = load_model(directory, dtype=torch.bfloat16).model
    weight = tensors_of(directory)["lm_head.weight"].to(torch.bfloat16).float()
    for rows in (1, 3, 20):
        hidden = torch.randn(rows, model.config.hidden_size).to(torch.bfloat16)
        normed = torch.nn.functional.rms_norm(hidden, hidden.shape[-1:], model._final_norm.weight, 1e-6)
        expected = normed.float() @ weight.t()
        assert (model.head(hidden) - expected).abs().max() < 1e-4
        assert (model.head(hidden, torch.tensor([7, 3])) - expected[:, [7, 3]]).abs().max() < 1e-4


def test_old_spelling_of_rope(directory, saved):
    """``rope_theta`` and ``rope_scaling`` beside each other, as before transformers 5."""
    edit(directory, rope_parameters=KeyError, rope_theta=10000.0,
         rope_scaling={"type": "llama3", **{key: value for key, value in tiny_models.LLAMA3.items()
                                            if key not in ("rope_type", "rope_theta")}})
    reference = tiny_models.make("llama-llama3-rope")
    reference.load_state_dict(saved[0].state_dict())
    difference = logits(load_model(directory).model) - tiny_models.reference_logits(reference, IDS)
    assert difference.abs().max() < 1e-4


def test_stop_tokens_and_template(directory):
    edit(directory, eos_token_id=[2, 7])
    (directory / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 9]}))
    templates = [{"name": "tools", "template": "T"}, {"name": "default", "template": "D"}]
    (directory / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": True, "chat_template": templates}))
    loaded = load_model(directory)
    assert loaded.stop_token_ids == (2, 7, 9)
    assert loaded.chat_template == "D"
    assert loaded.tokenizer_info is None
    assert loaded.add_bos_token is True
    (directory / "chat_template.jinja").write_text("J")
    assert load_model(directory).chat_template == "J"


def test_old_buffers_and_doubled_heads_are_ignored(tmp_path):
    reference = tiny_models.make("llama-tied", tmp_path)
    tensors = tensors_of(tmp_path)
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    safetensors_torch.save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    difference = logits(load_model(tmp_path).model) - tiny_models.reference_logits(reference, IDS)
    assert difference.abs().max() < 1e-4


@pytest.mark.parametrize(("change", "match"), [
    (lambda t: t.pop("model.layers.2.mlp.up_proj.weight"), r"1 tensors are missing: 'model\.layers\.2\.mlp\.up_proj"),
    (lambda t: t.update(extra=torch.ones(2)), "1 tensors belong to no part of a llama model: 'extra'"),
    (lambda t: t.update({"model.norm.weight": torch.ones(3)}), r"'model\.norm\.weight' is \(3,\)"),
    (lambda t: t.update({"model.norm.weight": torch.ones(48, dtype=torch.int32)}), "not floating-point"),
])
def test_wrong_tensors(directory, change, match):
    tensors = tensors_of(directory)
    change(tensors)
    safetensors_torch.save_file(tensors, directory / "model.safetensors", {"format": "pt"})
    with pytest.raises(CheckpointError, match=match):
        load_model(directory)


@pytest.mark.parametrize(("changes", "match"), [
    ({"model_type": "mamba"}, "unknown model_type 'mamba'"),
    ({"model_type": KeyError}, "unknown model_type"),
    ({"num_hidden_layers": KeyError}, "num_hidden_layers"),
    ({"num_hidden_layers": 10**12}, "layers"),
    ({"num_hidden_layers": "3"}, "layers"),
    ({"num_key_value_heads": 4}, "no multiple"),
    ({"num_attention_heads": 0}, "not usable"),
    ({"hidden_size": -48}, "positive"),
    ({"vocab_size": None}, "positive"),
    ({"head_dim": 7}, "even"),
    ({"hidden_act": "relu6"}, "unknown activation 'relu6'"),
    ({"rope_parameters": {"rope_type": "longrope", "rope_theta": 1.0}}, "unknown kind of RoPE 'longrope'"),
    ({"rope_parameters": {"rope_type": "linear", "rope_theta": 1.0}}, "needs 'factor'"),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 1.0, "partial_rotary_factor": 0.5}}, "part of a head"),
    ({"attn_logit_softcapping": 50.0}, "soft caps"),
    ({"use_bidirectional_attention": True}, "bidirectional"),
    ({"quantization_config": {"bits": 4}}, "quantised by another library"),
    ({"intermediate_size": 81}, "the configuration says"),
])
def test_wrong_configurations(directory, changes, match):
    edit(directory, **changes)
    with pytest.raises(ModelError, match=match):
        load_model(directory)


def test_wrong_layer_types():
    with pytest.raises(CheckpointError, match="unknown layer type 'chunked_attention'"):
        config_from_dict({**tiny_models.SIZES, "model_type": "qwen3", "layer_types": ["chunked_attention"] * 3})


def test_wrong_files(directory):
    for name, content in (("config.json", "[]"), ("config.json", "{"), ("config.json", "[" * 100000)):
        (directory / name).write_text(content)
        with pytest.raises(CheckpointError, match=name):
            load_model(directory)


@pytest.mark.parametrize("content", [b"", b"\xff" * 64, b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_broken_safetensors(directory, content):
    (directory / "model.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError):
        load_model(directory)


@pytest.mark.parametrize("index", [
    {}, {"weight_map": []}, {"weight_map": {"a": 1}}, {"weight_map": {"a": "../../model.safetensors"}},
    {"weight_map": {"a": "shard.safetensors"}}, {"weight_map": {"a": "missing.safetensors"}},
])
def test_wrong_index(directory, index):
    (directory / "model.safetensors").rename(directory / "shard.safetensors")
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError):
        load_model(directory)


def test_wrong_arguments(directory, tmp_path):
    with pytest.raises(CheckpointError, match=r"no checkpoint 'nowhere\.gguf'"):
        load_model(tmp_path / "nowhere.gguf")
    with pytest.raises(ModelError, match="float64"):
        load_model(directory, dtype=torch.float64)
    with pytest.raises(ModelError, match="needs a GGUF file"):
        load_model(directory, quantized=True)
    (directory / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="neither"):
        load_model(directory)


def test_every_family_is_tested():
    assert {"gemma3_text" if name.startswith("gemma3") else name.split("-")[0] for name in tiny_models.FAMILIES} == \
        set(FAMILIES)
