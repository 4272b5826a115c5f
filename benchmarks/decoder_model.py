"""Prefill and decode of the decoder's models against transformers: ratios, one thread, interleaved in one process.

    python benchmarks/decoder_model.py SMOLLM2.gguf [--dtypes float32,bfloat16] [--quantized] [--repeats 5]

Each case runs ours and theirs in turn ``--repeats`` times; a line shows the median tokens a second of both and the
median of the ratios of neighbouring runs. The file is SmolLM2-135M-Instruct in Q4_1, or ``$CONSTRAINED_SMOLLM2``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch

from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.gguf import GGUFSource, config_from_gguf
from constrained.decoder.loaders.gguf_file import read_gguf
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.transformer import DecoderModel

DECODE_STEPS = 24
PROMPT = 64


def transformers_model(path: Path, dtype: torch.dtype) -> torch.nn.Module:
    """``LlamaForCausalLM`` with the file's dequantised weights (its own GGUF loader needs accelerate and 14 s)."""
    from transformers import LlamaConfig, LlamaForCausalLM

    file = read_gguf(path)
    config = config_from_gguf(file)
    source = GGUFSource(file, config)
    theirs = LlamaForCausalLM(LlamaConfig(
        vocab_size=config.vocab_size, hidden_size=config.hidden_size, intermediate_size=config.intermediate_size,
        num_hidden_layers=config.n_layers, num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads, max_position_embeddings=config.max_position,
        rms_norm_eps=config.rms_norm_eps, tie_word_embeddings=config.tied,
        rope_parameters={"rope_type": "default", "rope_theta": config.ropes[0].theta}, eos_token_id=None,
        bos_token_id=1, pad_token_id=0)).to(dtype).eval()
    state = {name: source.tensor(name, dtype) for name in source.names()}
    missing = theirs.load_state_dict(state, strict=False).missing_keys
    assert missing == (["lm_head.weight"] if config.tied else []), missing
    theirs.tie_weights()
    return theirs


def ours_decode(model: DecoderModel, batch: int, prompt: torch.Tensor) -> Callable[[], float]:
    """Seconds a decode step of a greedy loop at ``batch``."""
    cache = KVCache(model.config, batch, 256, model.dtype)
    slots = [cache.allocate() for _ in range(batch)]
    ids = prompt.repeat(batch, 1)

    def run() -> float:
        for slot in slots:
            cache.truncate(slot, 0)
        out = model(ids, cache=cache, slots=slots, lengths=[0] * batch, n_new=[PROMPT] * batch)
        tokens = out.logits[:, -1].argmax(-1, keepdim=True)
        start = time.process_time()
        for step in range(DECODE_STEPS):
            lengths = [PROMPT + step] * batch
            out = model(tokens, cache=cache, slots=slots, lengths=lengths, n_new=[1] * batch)
            tokens = out.logits[:, -1].argmax(-1, keepdim=True)
            tokens.tolist()
        return (time.process_time() - start) / DECODE_STEPS

    return run


def theirs_decode(model: torch.nn.Module, batch: int, prompt: torch.Tensor) -> Callable[[], float]:
    """Seconds a step of ``generate``: the difference of a long and a one-token run."""
    ids = prompt.repeat(batch, 1)
    mask = torch.ones_like(ids)

    def timed(steps: int) -> float:
        start = time.process_time()
        model.generate(ids, attention_mask=mask, max_new_tokens=steps, min_new_tokens=steps, do_sample=False)
        return time.process_time() - start

    def run() -> float:
        return (timed(DECODE_STEPS + 1) - timed(1)) / DECODE_STEPS

    return run


def ours_prefill(model: DecoderModel, prompt: torch.Tensor) -> Callable[[], float]:
    cache = KVCache(model.config, 1, prompt.shape[1] + 1, model.dtype)
    slot = cache.allocate()

    def run() -> float:
        start = time.process_time()
        model(prompt, cache=cache, slots=[slot], lengths=[0], n_new=[prompt.shape[1]])
        return time.process_time() - start

    return run


def theirs_prefill(model: torch.nn.Module, prompt: torch.Tensor) -> Callable[[], float]:
    def run() -> float:
        start = time.process_time()
        with torch.inference_mode():
            model(prompt, logits_to_keep=1, use_cache=True)
        return time.process_time() - start

    return run


def compare(name: str, ours: Callable[[], float], theirs: Callable[[], float], tokens: int, repeats: int) -> None:
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    result = {
        "case": name,
        "ours": round(tokens / statistics.median(one for one, _ in pairs), 1),
        "transformers": round(tokens / statistics.median(two for _, two in pairs), 1),
        "ratio": round(statistics.median(two / one for one, two in pairs), 2),
    }
    print(json.dumps(result), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf", nargs="?", default=os.environ.get("CONSTRAINED_SMOLLM2"))
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--quantized", action="store_true", help="Q4_1 weights against transformers in bfloat16")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cases", default="decode1,decode8,prefill512")
    options = parser.parse_args()
    if options.gguf is None:
        raise SystemExit("name the GGUF file, or set CONSTRAINED_SMOLLM2")
    warnings.filterwarnings("ignore")
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    path = Path(options.gguf)
    long = torch.randint(100, 40000, (1, 512))
    for dtype_name in ["bfloat16"] if options.quantized else options.dtypes.split(","):
        dtype = getattr(torch, dtype_name)
        theirs = transformers_model(path, dtype)
        ours = load_model(path, dtype=dtype, quantized=options.quantized, tokenizer=False).model
        label = dtype_name + (" Q4_1" if options.quantized else "")
        for case in options.cases.split(","):
            size = int(case.lstrip("abcdefghijklmnopqrstuvwxyz"))
            if case.startswith("decode"):
                compare(f"{label} decode B={size}", ours_decode(ours, size, long[:, :PROMPT]),
                        theirs_decode(theirs, size, long[:, :PROMPT]), size, options.repeats)
            else:
                compare(f"{label} prefill {size}", ours_prefill(ours, long[:, :size]),
                        theirs_prefill(theirs, long[:, :size]), size, options.repeats)


if __name__ == "__main__":
    main()
