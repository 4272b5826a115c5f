"""The decoder on one GPU: is it right, does it wait, how fast is it. Ten minutes at most.

    python benchmarks/gpu.py [CHECKPOINT] [--seconds 540] [--parts ...]
    python benchmarks/gpu.py --smoke        # the same code on a CPU with a model of two layers: checks the script

Without a checkpoint directory the model has random weights and the sizes of Llama-3.2-1B; its vocabulary is Llama-3.1's
from ``$CONSTRAINED_SHARED`` or, where that is missing, made up. Each part prints JSON lines; a part that fails says so,
the others go on, and the exit status is 1. A part is left out when less than a tenth of the time is left. Parts:

- ``logits``: slots, pages, static step, compiled step and CUDA graph against a float32 pass on the CPU, and that the
  tokens drawn with one seed are those of the CPU sampler;
- ``bitmask``: the mask kernel against plain torch operations, results and microseconds;
- ``waits``: how often the host waits for the device in a decode step (``set_sync_debug_mode``); once is right;
- ``decode``: tokens a second of the whole loop by batch size, for each of those ways to run;
- ``prefill``: prompt tokens a second;
- ``constrained``: 64 requests with a JSON grammar each against the same requests without; with and without small heads
  and forced tokens; and the share of a step that grammars take;
- ``transformers``: ``generate`` on the same weights, where it is installed.

Numbers of ``--smoke`` mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from decoder_constrained import Timed

import constrained
from constrained.decoder.generate import generate
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.assemble import assemble, expected_shapes
from constrained.decoder.loaders.load import load_model
from constrained.decoder.models.config import ModelConfig, RopeConfig
from constrained.decoder.models.static_step import StaticStep
from constrained.decoder.paged_cache import PagedCache
from constrained.decoder.sample import sample
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.masks.apply_torch import apply_torch
from constrained.vocabulary import TokenizerInfo

SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["name", "age", "tags"],
    "properties": {"name": {"type": "string", "maxLength": 40},
                   "age": {"type": "integer", "minimum": 0, "maximum": 150},
                   "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 4}}}


class RandomWeights:
    """A ``TensorSource`` of noise: what every tensor of ``config`` is called, and a value for it."""

    norm_offset_added = False

    def __init__(self, config: ModelConfig) -> None:
        self._shapes = expected_shapes(config)
        self._generator = torch.Generator().manual_seed(0)

    def names(self) -> list[str]:
        return list(self._shapes)

    def shape(self, name: str) -> tuple[int, ...]:
        return self._shapes[name]

    def tensor(self, name: str, dtype: torch.dtype) -> torch.Tensor:
        if name.endswith("norm.weight"):
            return torch.ones(self._shapes[name], dtype=dtype)
        return torch.empty(self._shapes[name], dtype=dtype).normal_(0, 0.03, generator=self._generator)

    def quantized(self, name: str) -> None:
        return None


def random_config(vocab_size: int, smoke: bool, end: int) -> ModelConfig:
    sizes: dict[str, int] = (
        {"hidden_size": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "head_dim": 16, "intermediate_size": 128}
        if smoke else
        {"hidden_size": 2048, "n_layers": 16, "n_heads": 32, "n_kv_heads": 8, "head_dim": 64,
         "intermediate_size": 8192})
    return ModelConfig(
        family="llama", vocab_size=vocab_size, max_position=8192, eos_token_ids=(end,), rms_norm_eps=1e-5,
        ropes=(RopeConfig(theta=500000.0),), layer_ropes=(0,) * sizes["n_layers"],
        layer_windows=(None,) * sizes["n_layers"], tied=True, **sizes)  # type: ignore[arg-type]


def vocabulary(smoke: bool) -> TokenizerInfo:
    root = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = root / "data" / "tokenizers" / "llama3_1" / "tokenizer.json"
    if path.is_file() and not smoke:
        return TokenizerInfo.from_huggingface(path, stop_token_ids=[128009])
    random = np.random.default_rng(0)
    pieces = {bytes([i]): None for i in range(256)}
    while len(pieces) < (600 if smoke else 128_000):
        pieces[bytes(random.integers(97, 123, random.integers(2, 7)).astype(np.uint8))] = None
    return TokenizerInfo.from_bytes([*pieces, b"<end>"], stop_token_ids=[len(pieces)], special_token_ids=[len(pieces)])


class Lab:
    """The model on the device, the same weights in float32 on the CPU, and the vocabulary."""

    def __init__(self, checkpoint: str | None, smoke: bool, seconds: float) -> None:
        self.smoke, self.deadline, self.seconds = smoke, time.monotonic() + seconds, seconds
        self.device = torch.device("cpu" if smoke else "cuda")
        self.dtype = torch.float32 if smoke else torch.bfloat16
        if checkpoint is not None:
            loaded = load_model(checkpoint, device=self.device, dtype=self.dtype)
            assert loaded.tokenizer_info is not None
            self.model: Any = loaded.model
            self.info = loaded.tokenizer_info
            self.reference: Any = load_model(checkpoint, dtype=torch.float32, tokenizer=False).model
        else:
            self.info = vocabulary(smoke)
            config = random_config(self.info.vocab_size, smoke, self.info.stop_token_ids[0])
            self.model, self.reference = (
                assemble(config, RandomWeights(config), dtype=dtype, device=device)
                for dtype, device in ((self.dtype, self.device), (torch.float32, torch.device("cpu"))))
        random = np.random.default_rng(1)
        self.tokens = random.integers(300, min(50000, self.info.vocab_size - 8), 4096).tolist()
        self.failed = 0

    def run(self, part: str, action: Callable[[], None]) -> None:
        if self.deadline - time.monotonic() < 0.1 * self.seconds:
            self.say(part, skipped="no time left")
            return
        start = time.monotonic()
        try:
            action()
        except Exception as error:
            traceback.print_exc()
            self.failed += 1
            self.say(part, error=f"{type(error).__name__}: {str(error)[:300]}")
        self.model.use_static_step(None)
        self.say(part, seconds=round(time.monotonic() - start, 1))

    @staticmethod
    def say(part: str, **values: Any) -> None:
        print(json.dumps({"part": part, **values}), flush=True)

    def finish(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def time(self, action: Callable[[], Any], repeats: int) -> float:
        """Median seconds, the device's work included; one run before is not counted."""
        taken = []
        for _ in range((1 if self.smoke else repeats) + 1):
            self.finish()
            start = time.perf_counter()
            action()
            self.finish()
            taken.append(time.perf_counter() - start)
        return statistics.median(taken[1:])

    @contextmanager
    def way(self, name: str, slots: int, length: int) -> Iterator[Any]:
        """A cache, and the model set to run its single-token steps in the way named."""
        model = self.model
        cache: Any
        if name == "pages":
            cache = PagedCache(model.config, slots, length, model.dtype, model.device, block_size=256)
        else:
            cache = KVCache(model.config, slots, length, model.dtype, model.device)
        if name in ("static", "compiled", "graph"):
            model.use_static_step(StaticStep(model, cache, cuda_graph=name == "graph",
                                             compile_mode="default" if name == "compiled" else None))
        try:
            yield cache
        finally:
            model.use_static_step(None)

    @property
    def ways(self) -> tuple[str, ...]:
        """Compiling takes a minute and graphs a GPU: not in a smoke run."""
        return ("slots", "pages", "static") if self.smoke else ("slots", "pages", "static", "graph", "compiled")

    # -- parts -------------------------------------------------------------------------------------------------

    def logits(self) -> None:
        length, steps = 48, 8
        prompt, follow = self.tokens[:length], self.tokens[length : length + steps]

        def passes(model: Any, cache: Any) -> torch.Tensor:
            slot = cache.allocate()
            rows = [model(torch.tensor([prompt], device=model.device), cache=cache, slots=[slot], lengths=[0],
                          n_new=[length]).logits[0, -1]]
            for i, token in enumerate(follow):
                rows.append(model(torch.tensor([[token]], device=model.device), cache=cache, slots=[slot],
                                  lengths=[length + i], n_new=[1]).logits[0, -1])
            return torch.stack(rows).cpu()

        wanted = passes(self.reference, KVCache(self.reference.config, 1, 512))
        spread = float(wanted.std())
        for name in self.ways:
            with self.way(name, 2, 512) as cache:
                found = passes(self.model, cache)
            difference = float((found - wanted).abs().max()) / spread
            assert difference < (1e-3 if self.dtype == torch.float32 else 0.2), f"{name}: {difference}"
            self.say("logits", way=name, largest_difference_in_deviations=round(difference, 5),
                     same_argmax=round(float((found.argmax(-1) == wanted.argmax(-1)).float().mean()), 3))
        for options in ({"temperature": 0.0}, {"temperature": 0.8}, {"temperature": 0.8, "top_k": 50},
                        {"temperature": 0.8, "top_p": 0.9}, {"temperature": 1.0, "min_p": 0.05}):
            there = [sample(row[None].to(self.device), seed=i, **options).tolist() for i, row in enumerate(wanted)]
            here = [sample(row[None], seed=i, **options).tolist() for i, row in enumerate(wanted)]
            self.say("logits", sampler=options, same_tokens=sum(a == b for a, b in zip(there, here, strict=True)),
                     of=len(here))

    def bitmask(self) -> None:
        width = self.info.vocab_size
        for rows in (1, 64):
            random = np.random.default_rng(rows)
            words = torch.from_numpy(random.integers(-2**31, 2**31, (rows, -(-width // 32))).astype(np.int32))
            words = words.to(self.device)
            logits = torch.randn(rows, width, device=self.device)
            ours, plain = logits.clone(), logits.clone()
            constrained.apply_token_bitmask_inplace(ours, words)
            apply_torch(plain, words, None, width)
            assert torch.equal(ours, plain)
            one = self.time(lambda a=ours, w=words: constrained.apply_token_bitmask_inplace(a, w), 50)
            two = self.time(lambda a=plain, w=words: apply_torch(a, w, None, width), 50)
            self.say("bitmask", rows=rows, width=width, kernel_us=round(one * 1e6, 1), torch_us=round(two * 1e6, 1))

    def waits(self) -> None:
        if self.device.type != "cuda":
            self.say("waits", skipped="needs CUDA; the loop's waits are tested on the meta device")
            return
        compiled = self.compiled()
        for name, matcher in (("free", False), ("constrained", True)):
            scheduler = self.scheduler(8, 256)
            for i in range(8):
                scheduler.submit(self.request(i, 40, constrained.GrammarMatcher(compiled) if matcher else None))
            for _ in range(6):
                scheduler.step()
            torch.cuda.set_sync_debug_mode("warn")
            try:
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    for _ in range(8):
                        scheduler.step()
            finally:
                torch.cuda.set_sync_debug_mode("default")
            places = sorted({f"{Path(w.filename).name}:{w.lineno}" for w in seen})
            self.say("waits", outputs=name, a_step=len(seen) / 8, at=places)

    def decode(self) -> None:
        steps = 8 if self.smoke else 64
        params = SamplingParams(temperature=0, max_tokens=steps, ignore_eos=True)
        for batch in (1, 4) if self.smoke else (1, 8, 64):
            for name in self.ways:
                with self.way(name, batch, 512) as cache:
                    prompts = [self.tokens[i : i + 64] for i in range(batch)]

                    def run(prompts: list[list[int]] = prompts, cache: Any = cache, most: int = steps) -> None:
                        scheduler = Scheduler(self.model, self.info, cache=cache, prefix_cache=False)
                        generate(scheduler, prompts, params.updated(max_tokens=most))

                    whole, first = self.time(run, 3), self.time(lambda run=run: run(most=1), 3)
                    self.say("decode", way=name, batch=batch, ms_a_step=round((whole - first) / (steps - 1) * 1e3, 3),
                             tokens_a_second=round(batch * (steps - 1) / max(whole - first, 1e-9), 1))

    def prefill(self) -> None:
        for length in (64,) if self.smoke else (512, 2048):
            cache = KVCache(self.model.config, 1, length, self.dtype, self.device)
            slot = cache.allocate()
            ids = torch.tensor([self.tokens[:length]], device=self.device)
            seconds = self.time(lambda c=cache, s=slot, i=ids, n=length: self.model(
                i, cache=c, slots=[s], lengths=[0], n_new=[n]), 5)
            self.say("prefill", tokens=length, tokens_a_second=round(length / seconds))

    def constrained(self) -> None:
        count, most = (4, 12) if self.smoke else (64, 96)
        compiled = self.compiled()
        rates: dict[str, float] = {}
        for name, options in (("free", {}), ("grammar", {}), ("grammar, full heads", {"small_heads": False}),
                              ("grammar, no forced tokens", {"jump_forward": False})):
            tokens, mask_seconds = [0], [0.0]

            def run(name: str = name, options: dict[str, bool] = options, tokens: list[int] = tokens,
                    mask_seconds: list[float] = mask_seconds) -> None:
                scheduler = self.scheduler(count, 512, **options)
                matchers = [Timed(constrained.GrammarMatcher(compiled), clock=time.perf_counter)
                            if name != "free" else None for _ in range(count)]
                ids = [scheduler.submit(self.request(i, most, matcher)) for i, matcher in enumerate(matchers)]
                for _ in scheduler.run():
                    pass
                done = [one for i in ids for one in scheduler.completions(i)]
                assert all(one.error is None for one in done)
                tokens[0] = sum(len(one.token_ids) for one in done)
                mask_seconds[0] = sum(0.0 if m is None else m.seconds for m in matchers)

            seconds = self.time(run, 3)
            rates[name] = tokens[0] / seconds
            self.say("constrained", requests=count, outputs=name, tokens=tokens[0],
                     tokens_a_second=round(rates[name], 1), against_free=round(rates[name] / rates["free"], 2),
                     grammar_share=round(mask_seconds[0] / seconds, 4))

    def transformers(self) -> None:
        try:
            from transformers import LlamaConfig, LlamaForCausalLM
        except ImportError:
            self.say("transformers", skipped="not installed")
            return
        config = self.model.config
        if config.family != "llama":
            self.say("transformers", skipped=f"compares llama models, not {config.family}")
            return
        theirs = LlamaForCausalLM(LlamaConfig(
            vocab_size=config.vocab_size, hidden_size=config.hidden_size, intermediate_size=config.intermediate_size,
            num_hidden_layers=config.n_layers, num_attention_heads=config.n_heads, head_dim=config.head_dim,
            num_key_value_heads=config.n_kv_heads, max_position_embeddings=config.max_position,
            tie_word_embeddings=config.tied)).to(self.device, self.dtype).eval()
        steps = 8 if self.smoke else 64
        for batch in (1,) if self.smoke else (1, 8, 64):
            ids = torch.tensor([self.tokens[i : i + 64] for i in range(batch)], device=self.device)

            def run(most: int = steps, ids: torch.Tensor = ids) -> None:
                theirs.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=most,
                                min_new_tokens=most, pad_token_id=0)

            whole, first = self.time(run, 3), self.time(lambda run=run: run(most=1), 3)
            self.say("transformers", batch=batch, ms_a_step=round((whole - first) / (steps - 1) * 1e3, 3),
                     tokens_a_second=round(batch * (steps - 1) / max(whole - first, 1e-9), 1))

    # -- pieces ------------------------------------------------------------------------------------------------

    def compiled(self) -> Any:
        return constrained.GrammarCompiler(self.info).compile_json_schema(SCHEMA, any_whitespace=False,
                                                                          separators=(",", ":"))

    def scheduler(self, batch: int, length: int, **options: Any) -> Scheduler:
        return Scheduler(self.model, self.info, max_batch=batch, max_len=length, prefix_cache=False, **options)

    def request(self, index: int, most: int, matcher: Any) -> Any:
        params = SamplingParams(temperature=0.7, seed=index, max_tokens=most, ignore_eos=matcher is None)
        return constrained.decoder.Request(prompt_ids=self.tokens[index : index + 64], params=params, matcher=matcher)


PARTS = ("logits", "bitmask", "waits", "decode", "prefill", "constrained", "transformers")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", nargs="?")
    parser.add_argument("--smoke", action="store_true", help="a tiny model on the CPU, to check the script")
    parser.add_argument("--seconds", type=float, default=540, help="time for everything")
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args(arguments)
    if not options.smoke and not torch.cuda.is_available():
        parser.error("no CUDA device here; --smoke checks the script without one")
    torch.manual_seed(0)
    lab = Lab(options.checkpoint, options.smoke, options.seconds)
    name = "CPU, smoke run: the numbers mean nothing" if options.smoke else torch.cuda.get_device_name()
    lab.say("device", name=name, torch=torch.__version__, cuda=torch.version.cuda, vocabulary=lab.info.vocab_size)
    for part in options.parts.split(","):
        lab.run(part, getattr(lab, part))
    return 1 if lab.failed else 0


if __name__ == "__main__":
    sys.exit(main())
