# ruff: noqa: E402 - imports follow pytest.importorskip
"""GGUF: block formats bit for bit, files of every architecture against transformers, files that must be refused."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
gguf = pytest.importorskip("gguf")
transformers = pytest.importorskip("transformers")

from constrained.decoder.errors import CheckpointError, ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders import gguf_file
from constrained.decoder.loaders.gguf import GGUFSource, config_from_gguf
from constrained.decoder.loaders.gguf_quants import BLOCKS, dequantize
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.linear import DENSE_ROWS, DenseLinear, Int4Linear
from tests.decoder import tiny_gguf, tiny_models

IDS = [5, 9, 3, 77, 150, 2, 8, 8, 41, 13, 60, 99, 4, 19, 20, 33, 71, 12]
ARCHITECTURES = {"llama": "llama", "llama-mha-bias": "llama", "llama-tied": "llama", "llama-head-dim": "llama",
                 "llama-linear-rope": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3",
                 "gemma3": "gemma3"}


def logits(model, ids=IDS, dtype=torch.float32):
    cache = KVCache(model.config, 1, 32, dtype)
    return model(torch.tensor([ids]), cache=cache, slots=[cache.allocate()], lengths=[0], n_new=[len(ids)],
                 logits_to_keep="all").logits[0]


@pytest.mark.parametrize("number", BLOCKS, ids=lambda number: BLOCKS[number].name)
def test_blocks_are_decoded_bit_for_bit(number):
    block = BLOCKS[number]
    raw = np.random.default_rng(number).integers(0, 256, (64, 4 * block.n_bytes), dtype=np.uint8)
    if block.items > 1:  # scales that are no NaN, so that all weights can be compared
        halves = raw.reshape(-1, block.n_bytes)
        places = {"Q6_K": [208]}.get(block.name, [0, 2] if "K" in block.name or block.name.endswith("_1") else [0])
        for place in places:
            half = np.random.default_rng(1).normal(size=len(halves)).astype("<f2")
            halves[:, place : place + 2] = half.view(np.uint8).reshape(-1, 2)
    ours = dequantize(raw, block.name)
    theirs = gguf.quants.dequantize(raw, gguf.GGMLQuantizationType(number))
    assert ours.dtype == np.float32
    assert ours.shape == (64, 4 * block.items)
    assert np.array_equal(ours.view(np.uint32), np.asarray(theirs, np.float32).view(np.uint32))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_architecture(name, tmp_path):
    reference = tiny_models.make(name)
    path = tmp_path / "model.gguf"
    tiny_gguf.write(reference, path, ARCHITECTURES[name])
    loaded = load_model(path, tokenizer=False)
    assert loaded.stop_token_ids == (2,)
    difference = (logits(loaded.model) - tiny_models.reference_logits(reference, IDS)).abs().max()
    assert difference < 1e-4


def test_llama3_frequency_factors(tmp_path):
    """``rope_freqs.weight`` divides the frequencies, as the converter writes Llama 3.1's scaling."""
    from constrained.decoder.models.config import RopeConfig
    from constrained.decoder.models.rope import inverse_frequencies

    reference = tiny_models.make("llama-llama3-rope")
    numbers = {key: value for key, value in tiny_models.LLAMA3.items() if isinstance(value, float | int)}
    scaled, _ = inverse_frequencies(RopeConfig(1e4, "llama3", numbers), 8, 0, 64)
    plain, _ = inverse_frequencies(RopeConfig(1e4), 8, 0, 64)
    path = tmp_path / "model.gguf"
    tiny_gguf.write(reference, path, "llama")
    config = config_from_gguf(gguf_file.read_gguf(path))
    file = gguf_file.read_gguf(path)
    factors = (plain / scaled).numpy().astype(np.float32)
    tensors = {**file.tensors, "rope_freqs.weight": gguf_file.GGUFTensor(
        "rope_freqs.weight", (4,), "F32", factors.view(np.uint8).reshape(1, -1))}
    config = config_from_gguf(gguf_file.GGUFFile(file.metadata, tensors))
    from constrained.decoder.loaders.assemble import assemble

    model = assemble(config, GGUFSource(gguf_file.GGUFFile(file.metadata, tensors), config), dtype=torch.float32,
                     device=torch.device("cpu"))
    assert (logits(model) - tiny_models.reference_logits(reference, IDS)).abs().max() < 1e-4


def wide_llama(**changes):
    """A llama whose rows are whole blocks of 32 (and of 256 where asked)."""
    torch.manual_seed(4)
    sizes = {**tiny_models.SIZES, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, **changes}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.12)
    return model


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_quantised_files_equal_their_dequantised_weights(kind, tmp_path):
    reference = wide_llama()
    path = tmp_path / "model.gguf"
    tiny_gguf.write(reference, path, "llama", getattr(gguf.GGMLQuantizationType, kind))
    file = gguf_file.read_gguf(path)
    source = GGUFSource(file, config_from_gguf(file))
    with torch.no_grad():
        for name, parameter in reference.named_parameters():
            values = parameter.numpy()
            if parameter.dim() > 1:
                number = getattr(gguf.GGMLQuantizationType, kind)
                values = gguf.quants.dequantize(gguf.quants.quantize(values, number), number)
                assert np.array_equal(values, source.tensor(name, torch.float32).numpy()), name
            parameter.copy_(torch.from_numpy(np.asarray(values)))
    ours = logits(load_model(path, tokenizer=False).model)
    assert (ours - tiny_models.reference_logits(reference, IDS)).abs().max() < 1e-4


@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1"])
def test_four_bit_maps_keep_the_integers(kind, tmp_path):
    """The packed map equals the dequantised product up to bfloat16's rounding, on both sides of the crossover."""
    path = tmp_path / "model.gguf"
    tiny_gguf.write(wide_llama(attention_bias=True), path, "llama", getattr(gguf.GGMLQuantizationType, kind))
    packed = load_model(path, quantized=True, tokenizer=False).model
    dense = load_model(path, tokenizer=False).model
    generator = torch.Generator().manual_seed(0)
    for layer, reference in zip(packed._layers, dense._layers, strict=True):
        for part in ("qkv", "output", "gate_up", "down"):
            ours, theirs = getattr(layer, part), getattr(reference, part)
            assert isinstance(ours, Int4Linear)
            assert isinstance(theirs, DenseLinear)
            for rows in (1, 3, DENSE_ROWS - 1, DENSE_ROWS, 40):
                x = torch.randn(rows, theirs.weight.shape[1], generator=generator).to(torch.bfloat16)
                expected = theirs(x.float())
                # scales, minima, weights and the result are each rounded to 8 bits
                room = 4 * 2.0**-8 * (x.float().abs() @ theirs.weight.abs().t()).max()
                assert (ours(x).float() - expected).abs().max() < room
                assert (ours(x).float() - expected).norm() < 0.01 * expected.norm()
                total = ours.add_to(x.new_ones(rows, len(expected[0])), x).float()
                assert (total - expected - 1).norm() < 0.02 * expected.norm()
    ours, theirs = logits(packed, dtype=torch.bfloat16), logits(dense)
    assert (ours - theirs).norm() < 0.05 * theirs.norm()


def test_quantized_needs_four_bit_blocks(tmp_path):
    path = tmp_path / "model.gguf"
    tiny_gguf.write(wide_llama(), path, "llama")
    with pytest.raises(ModelError, match="4-bit"):
        load_model(path, quantized=True, tokenizer=False)
    with pytest.raises(ModelError, match="bfloat16"):
        load_model(path, quantized=True, dtype=torch.float32, tokenizer=False)


def test_mixed_files_load(tmp_path):
    """A file whose tensors have several types keeps four bits where it has them."""
    path = tmp_path / "model.gguf"
    tiny_gguf.write(wide_llama(), path, "llama", gguf.GGMLQuantizationType.Q4_1,
                    keep_f32=("blk.1.attn_k.weight", "token_embd.weight"))
    layers = load_model(path, quantized=True, tokenizer=False).model._layers
    assert isinstance(layers[0].qkv, Int4Linear)
    assert isinstance(layers[1].qkv, DenseLinear)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    tiny_gguf.write(tiny_models.make("llama"), path, "llama")
    return path


class TestRefused:
    """Files that must end in a CheckpointError, and quickly."""

    def test_every_cut(self, path, tmp_path):
        whole = path.read_bytes()
        cut = tmp_path / "cut.gguf"
        for size in [*range(0, 900, 7), len(whole) // 2, len(whole) - 1]:
            cut.write_bytes(whole[:size])
            with pytest.raises(CheckpointError):
                load_model(cut, tokenizer=False)

    def test_flipped_bytes_never_crash(self, path, tmp_path):
        whole = bytearray(path.read_bytes())
        flipped = tmp_path / "flipped.gguf"
        draw = np.random.default_rng(5)
        for place in draw.integers(0, 3000, 150):
            damaged = bytearray(whole)
            damaged[place] ^= int(draw.integers(1, 256))
            flipped.write_bytes(damaged)
            try:
                load_model(flipped, tokenizer=False)
            except ModelError:
                pass

    def test_missing_and_extra_tensors(self, tmp_path):
        path = tmp_path / "model.gguf"
        tiny_gguf.write(tiny_models.make("llama"), path, "llama", leave_out="blk.1.ffn_down.weight")
        with pytest.raises(CheckpointError, match=r"missing: 'model\.layers\.1\.mlp\.down_proj\.weight'"):
            load_model(path, tokenizer=False)
        tiny_gguf.write(tiny_models.make("qwen3"), path, "qwen2")
        with pytest.raises(CheckpointError, match="missing"):
            load_model(path, tokenizer=False)
        tiny_gguf.write(tiny_models.make("qwen3"), path, "llama")
        with pytest.raises(CheckpointError, match="belong to no part"):
            load_model(path, tokenizer=False)

    def test_unknown_architecture(self, tmp_path):
        path = tmp_path / "model.gguf"
        tiny_gguf.write(tiny_models.make("llama"), path, "mamba")
        with pytest.raises(CheckpointError, match="unknown GGUF architecture 'mamba'"):
            load_model(path, tokenizer=False)

    def test_experts_and_wrong_sizes(self, tmp_path):
        path = tmp_path / "model.gguf"
        for more, match in (({"llama.expert_count": 8}, "mixture"), ({"llama.rope.dimension_count": 4}, "rotary")):
            tiny_gguf.write(tiny_models.make("llama"), path, "llama", more=more)
            with pytest.raises(CheckpointError, match=match):
                load_model(path, tokenizer=False)

    def test_unsupported_type(self, path, tmp_path):
        file = bytearray(path.read_bytes())
        name = b"token_embd.weight"
        place = file.index(name) + len(name) + 4 + 16  # after the name: dimensions, their sizes, then the type
        file[place : place + 4] = (16).to_bytes(4, "little")  # IQ2_XXS
        other = tmp_path / "other.gguf"
        other.write_bytes(file)
        with pytest.raises(CheckpointError, match="type 16, which is not supported"):
            load_model(other, tokenizer=False)
