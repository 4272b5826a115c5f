"""The generation loop against transformers' ``generate``: ratios, one thread, interleaved in one process.

    python benchmarks/decoder.py SMOLLM2.gguf [--dtype float32] [--cases ...] [--repeats 5]

Each case runs ours and theirs in turn ``--repeats`` times and prints one JSON line: the median of both and the median
of the ratios of neighbouring runs, in CPU time. The file is SmolLM2-135M-Instruct in Q4_1, or
``$CONSTRAINED_SMOLLM2``. Cases:

- ``overhead``: milliseconds a step of a 30-layer model with nothing to multiply;
- ``decode1``, ``decode8``: greedy tokens a second of the whole loop; ``sampled8``: top-p 0.9 at temperature 0.7;
- ``prefix``: time to the first token with 480 of 512 prompt tokens cached, against none;
- ``forced``: what 16 forced tokens cost in steps;
- ``lookup``: prompt-lookup speculation on a text that repeats itself, against none;
- ``llamacpp1``, ``llamacpp8``: a decode step of ours against llama.cpp's (skipped where it is not installed);
- ``schemas``, ``batch64``, ``canonical``: JSON under schemas (:mod:`decoder_constrained`; the last takes minutes and is
  not in the default list).
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
from typing import Any

import torch
from decoder_constrained import Schemas
from decoder_llamacpp import LlamaCpp
from decoder_model import ours_decode, transformers_model

from constrained.decoder.drafters import PromptLookup
from constrained.decoder.generate import generate
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.loaders.load import load_model
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler

STEPS = 24
PROMPT = 64


class Bench:
    """The two models, loaded once."""

    def __init__(self, path: Path, dtype: torch.dtype, quantized: bool, repeats: int) -> None:
        self.repeats = repeats
        self.path = path
        loaded = load_model(path, dtype=dtype, quantized=quantized)
        self.ours, self.info = loaded.model, loaded.tokenizer_info
        self.theirs = transformers_model(path, torch.bfloat16 if quantized else dtype)
        generator = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(100, 40000, (512,), generator=generator).tolist()
        self.label = str(dtype).removeprefix("torch.") + (" Q4_1" if quantized else "")

    def scheduler(self, batch: int, length: int, **options: Any) -> Scheduler:
        options.setdefault("prefix_cache", False)
        return Scheduler(self.ours, self.info, max_batch=batch, max_len=length, **options)

    def report(self, case: str, unit: str, ours: Callable[[], float], theirs: Callable[[], float],
               scale: Callable[[float], float] = lambda x: x, **more: Callable[[], Any]) -> None:
        """Seconds of both, in turn; ``ratio`` is how many times ours is faster."""
        ours(), theirs()
        pairs = [(ours(), theirs()) for _ in range(self.repeats)]
        print(json.dumps({
            "case": f"{self.label} {case}", "unit": unit,
            "ours": round(scale(statistics.median(one for one, _ in pairs)), 2),
            "theirs": round(scale(statistics.median(two for _, two in pairs)), 2),
            "ratio": round(statistics.median(two / one for one, two in pairs), 2),
            **{name: value() for name, value in more.items()}}), flush=True)

    # -- cases -------------------------------------------------------------------------------------------------

    def decode(self, batch: int, params: SamplingParams, name: str, **theirs: Any) -> None:
        """Seconds a step: the difference of a long and a one-token run, so that reading the prompt cancels out."""
        prompt = self.tokens[:PROMPT]
        ids = torch.tensor([prompt] * batch)

        def ours_for(steps: int) -> float:
            scheduler = self.scheduler(batch, 256)
            start = time.process_time()
            generate(scheduler, [prompt] * batch, params.updated(max_tokens=steps, ignore_eos=True))
            return time.process_time() - start

        def theirs_for(steps: int) -> float:
            start = time.process_time()
            self.theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=steps, min_new_tokens=steps,
                                 **theirs)
            return time.process_time() - start

        self.report(name, "tokens/s", lambda: (ours_for(STEPS + 1) - ours_for(1)) / STEPS,
                    lambda: (theirs_for(STEPS + 1) - theirs_for(1)) / STEPS, lambda s: batch / s)

    def prefix(self) -> None:
        prompt = self.tokens[:512]
        params = SamplingParams(temperature=0, max_tokens=1)
        warm = self.scheduler(2, 600, prefix_cache=True)
        generate(warm, [prompt], params)
        count = iter(range(10**6))

        def first(scheduler: Scheduler) -> float:
            tail = [200 + (next(count) * 7 + i) % 900 for i in range(32)]
            start = time.process_time()
            (answer,) = generate(scheduler, [[*prompt[:480], *tail]], params)[0]
            seconds = time.process_time() - start
            assert (answer.usage.cached_tokens == 480) == (scheduler is warm)
            return seconds

        self.report("first token, 480 of 512 cached (theirs: none cached)", "ms", lambda: first(warm),
                    lambda: first(self.scheduler(2, 600)), lambda s: s * 1e3)

    def forced(self) -> None:
        cache = KVCache(self.ours.config, 1, 256, self.ours.dtype)
        slot = cache.allocate()
        self.ours(torch.tensor([self.tokens[:PROMPT]]), cache=cache, slots=[slot], lengths=[0], n_new=[PROMPT])

        def step(size: int) -> float:
            ids = torch.tensor([self.tokens[:size]])
            start = time.process_time()
            for _ in range(5):
                self.ours(ids, cache=cache, slots=[slot], lengths=[PROMPT], n_new=[size])
            return (time.process_time() - start) / 5

        self.report("16 forced tokens in one chunk (theirs: one step; 1 / ratio is what they cost in steps)", "ms",
                    lambda: step(16), lambda: step(1), lambda s: s * 1e3)

    def lookup(self) -> None:
        text = "The red fox saw the blue fox near the old stone bridge, and the blue fox saw the red fox there. "
        prompt = self.info.encode(text * 6)
        params = SamplingParams(temperature=0, max_tokens=48, ignore_eos=True)
        answers: list[tuple[int, ...]] = []

        def run(drafter: PromptLookup | None) -> float:
            scheduler = self.scheduler(1, 400, drafter=drafter)
            start = time.process_time()
            answers.append(generate(scheduler, [prompt], params)[0][0].token_ids)
            return time.process_time() - start

        self.report("prompt lookup on a repeating text (theirs: no draft)", "tokens/s", lambda: run(PromptLookup()),
                    lambda: run(None), lambda s: 48 / s, same_tokens=lambda: len(set(answers)) == 1)

    def llamacpp(self, batch: int) -> None:
        """One decode step of each, forward pass and argmax, without either side's loop."""
        theirs = LlamaCpp.load(self.path, batch)
        if theirs is None:
            print(json.dumps({"case": f"{self.label} decode step B={batch} against llama.cpp", "skipped":
                              "llama-cpp-python is not installed"}), flush=True)
            return
        prompt = self.tokens[:PROMPT]
        ours = ours_decode(self.ours, batch, torch.tensor([prompt]))
        self.report(f"decode step B={batch} against llama.cpp {theirs.version}", "tokens/s", ours,
                    lambda: theirs.step_seconds(prompt, STEPS), lambda s: batch / s)


def overhead(repeats: int) -> None:
    """Milliseconds a step of a 30-layer model with nothing to multiply: ours, and transformers' ``generate``."""
    import tempfile

    import transformers

    from constrained.vocabulary import TokenizerInfo

    reference = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=256, hidden_size=32, intermediate_size=32, num_hidden_layers=30, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, bos_token_id=1, eos_token_id=2, pad_token_id=0)).eval()
    with tempfile.TemporaryDirectory() as directory:
        reference.save_pretrained(directory)
        model = load_model(directory, tokenizer=False).model
    info = TokenizerInfo.from_bytes([b"<p>", b"<b>", b"<e>", *(b"x%d" % i for i in range(253))], stop_token_ids=[2],
                                    special_token_ids=[0, 1])
    for batch in (1, 8):
        prompts = [[5 + i] * 10 for i in range(batch)]

        def ours(prompts: list[list[int]] = prompts) -> float:
            scheduler = Scheduler(model, info, max_batch=len(prompts), max_len=128, prefix_cache=False)
            start = time.process_time()
            generate(scheduler, prompts, SamplingParams(temperature=0, max_tokens=60, ignore_eos=True))
            return (time.process_time() - start) / 60

        def theirs(ids: torch.Tensor = torch.tensor(prompts)) -> float:  # noqa: B008 - bound to this batch
            start = time.process_time()
            reference.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=60,
                               min_new_tokens=60)
            return (time.process_time() - start) / 60

        ours(), theirs()
        pairs = [(ours(), theirs()) for _ in range(repeats)]
        print(json.dumps({
            "case": f"overhead a step, 30 layers, B={batch}", "unit": "ms",
            "ours": round(statistics.median(one for one, _ in pairs) * 1e3, 2),
            "theirs": round(statistics.median(two for _, two in pairs) * 1e3, 2),
            "ratio": round(statistics.median(two / one for one, two in pairs), 2)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf", nargs="?", default=os.environ.get("CONSTRAINED_SMOLLM2"))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--quantized", action="store_true", help="Q4_1 weights against transformers in bfloat16")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--whitespace", choices=("compact", "any"), default="compact", help="of the schemas' grammars")
    parser.add_argument("--cases", default="overhead,decode1,decode8,sampled8,prefix,forced,lookup,llamacpp1,llamacpp8,"
                                            "schemas,batch64")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    from transformers.utils import logging

    logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cases = options.cases.split(",")
    if "overhead" in cases:
        overhead(options.repeats)
        cases.remove("overhead")
    if not cases:
        return
    if options.gguf is None:
        raise SystemExit("name the GGUF file, or set CONSTRAINED_SMOLLM2")
    dtype = torch.bfloat16 if options.quantized else getattr(torch, options.dtype)
    bench = Bench(Path(options.gguf), dtype, options.quantized, options.repeats)
    greedy = SamplingParams(temperature=0)
    schemas: Schemas | None = None
    for case in cases:
        if case.startswith("decode"):
            size = int(case.removeprefix("decode"))
            bench.decode(size, greedy, f"decode B={size}", do_sample=False)
        elif case.startswith("sampled"):
            size = int(case.removeprefix("sampled"))
            bench.decode(size, SamplingParams(temperature=0.7, top_p=0.9, seed=0), f"sampled B={size}", do_sample=True,
                         temperature=0.7, top_p=0.9, top_k=0)
        elif case.startswith("llamacpp"):
            bench.llamacpp(int(case.removeprefix("llamacpp")))
        elif case in ("schemas", "batch64", "canonical"):
            schemas = schemas or Schemas(bench, options.whitespace)
            {"schemas": schemas.written, "batch64": schemas.batch64, "canonical": schemas.canonical}[case]()
        else:
            getattr(bench, case)()


if __name__ == "__main__":
    main()
