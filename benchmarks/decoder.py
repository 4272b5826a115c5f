"""The generation loop against transformers' ``generate``: ratios, one thread, interleaved in one process.

    python benchmarks/decoder.py SMOLLM2.gguf [--dtype float32] [--cases ...] [--repeats 5] [--engine constrained]

Each case runs ours and theirs in turn ``--repeats`` times and prints one JSON line: the median of both and the median
of the ratios of neighbouring runs, in CPU time. The file is SmolLM2-135M-Instruct in Q4_1, or
``$CONSTRAINED_SMOLLM2``. Cases:

- ``overhead``: milliseconds a step of a 30-layer model with nothing to multiply;
- ``decode1``, ``decode8``: greedy tokens a second of the whole loop; ``sampled8``: top-p 0.9 at temperature 0.7;
- ``prefix``: time to the first token with 480 of 512 prompt tokens cached, against none;
- ``forced``: what 16 forced tokens cost in steps;
- ``lookup``: prompt-lookup speculation on a text that repeats itself, against none;
- ``schemas``: the same instances written under their JSON Schemas and freely;
- ``canonical``: whether forced tokens change greedy text (minutes; not in the default list);
- ``batch64``: 64 requests with 64 schemas, continuous batching against the left-padded batch of transformers under
  the same matchers.

The last two read the shared data (``$CONSTRAINED_SHARED``); ``--engine llguidance`` runs them on that engine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from decoder_model import transformers_model

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

    def __init__(self, path: Path, dtype: torch.dtype, quantized: bool, repeats: int, engine: str) -> None:
        self.repeats = repeats
        self.engine = engine
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

    def schemas(self) -> None:
        """Each instance written under its schema and freely; in both its text overrules the model's choice."""
        cases = list(self._instances(50))
        skipped: list[str] = []
        rows, forced, total, passes, mask_time, wall = [], 0, 0, 0, 0.0, 0.0
        for name, schema, text in cases:
            timed = Timed(self._matcher(schema))
            start = time.process_time()
            done = self._replay(text, timed)
            ours = time.process_time() - start
            if done is None:  # the engine refuses the instance as written, or forces another text
                skipped.append(name)
                continue
            mask_time, wall = mask_time + timed.seconds, wall + ours
            start = time.process_time()
            plain = self._replay(text, None)
            theirs = time.process_time() - start
            rows.append((len(done.token_ids) / ours) / (len(plain.token_ids) / theirs))
            forced += done.usage.forced_tokens
            passes += done.usage.forward_passes
            total += len(done.token_ids)
        print(json.dumps({
            "case": f"{self.label} {len(rows)} schemas, constrained against free ({self.engine})",
            "unit": "ratio of tokens/s",
            "ratio": round(statistics.median(rows), 2), "mean": round(statistics.mean(rows), 2),
            "least": round(min(rows), 2), "tokens": total, "forced": round(forced / total, 3),
            "tokens_a_pass": round(total / passes, 2), "mask_share": round(mask_time / wall, 4),
            "skipped": skipped}), flush=True)

    def _replay(self, text: str, matcher: Any) -> Any:
        scheduler = Replay(self, text)
        params = SamplingParams(temperature=0, max_tokens=900)
        if matcher is None:
            params = params.updated(max_tokens=len(self.info.encode(text) or []) + 1)
        (answer,) = generate(scheduler, [self.tokens[:PROMPT]], params, [matcher])[0]
        return answer if answer.finish_reason == "stop" and answer.text == text else None

    def canonical(self) -> None:
        """How often forced tokens leave greedy text as the plain masked run has it. The two may part where that run's
        own tokens stop being the tokenizer's (often at the very end: ``}`` ``}`` for ``}}``), and only there."""
        finished = same = canonical = same_prefix = 0
        for _, schema, _ in self._instances(50):
            answers = []
            for options in ({}, {"jump_forward": False}):
                scheduler = self.scheduler(1, 512, **options)
                answers += generate(scheduler, [self._ask(schema)], SamplingParams(temperature=0, max_tokens=120),
                                    [self._matcher(schema)])[0]
            forced, plain = answers
            if plain.finish_reason != "stop":
                continue
            finished += 1
            same += forced.text == plain.text
            tokens, wanted = plain.token_ids[:-1], self.info.encode(plain.text) or []
            shared = next((i for i, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b), len(tokens))
            canonical += shared == len(tokens) == len(wanted)
            same_prefix += forced.text.encode().startswith(b"".join(map(self.info.token_bytes, tokens[:shared])))
        print(json.dumps({
            "case": f"{self.label} forced tokens against the plain masked run, greedy ({self.engine})",
            "finished": finished, "same_text": same, "plain_run_canonical_to_its_end": canonical,
            "same_as_far_as_the_plain_run_is_canonical": same_prefix}), flush=True)

    def batch64(self) -> None:
        from transformers import LogitsProcessor, LogitsProcessorList

        cases = list(self._instances(64))
        prompts = [self._ask(schema) for _, schema, _ in cases]
        lengths = [len(prompt) for prompt in prompts]
        params = SamplingParams(temperature=0, max_tokens=96)
        schemas = [schema for _, schema, _ in cases]
        vocab = self.ours.config.vocab_size

        def ours() -> float:
            scheduler = self.scheduler(32, 512)
            matchers = [self._matcher(schema) for schema in schemas]
            start = time.process_time()
            answers = generate(scheduler, prompts, params, matchers)
            seconds = time.process_time() - start
            return seconds / sum(len(a.token_ids) for (a,) in answers)

        class Mask(LogitsProcessor):  # type: ignore[misc]
            def __init__(self, matchers: list[Any]) -> None:
                self.matchers, self.start, self.count = matchers, 0, 0

            def __call__(self, ids: Any, scores: Any) -> Any:
                words = np.zeros((1, (vocab + 31) // 32), dtype=np.int32)
                for i, matcher in enumerate(self.matchers):
                    if ids.shape[1] > self.start and not matcher.is_terminated():
                        matcher.accept_token(int(ids[i, -1]))
                        self.count += 1
                    if matcher.is_terminated():
                        continue
                    matcher.fill_next_token_bitmask(words, 0)
                    allowed = np.unpackbits(words.view(np.uint8), bitorder="little")[:vocab]
                    scores[i].masked_fill_(torch.from_numpy(allowed == 0), -torch.inf)
                return scores

        width = max(lengths)
        padded = torch.tensor([[0] * (width - len(p)) + p for p in prompts])
        attention = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])

        def theirs() -> float:
            mask = Mask([self._matcher(schema) for schema in schemas])
            mask.start = width
            start = time.process_time()
            self.theirs.generate(padded, attention_mask=attention, max_new_tokens=96, do_sample=False,
                                 eos_token_id=list(self.info.stop_token_ids), pad_token_id=0,
                                 logits_processor=LogitsProcessorList([mask]))
            return (time.process_time() - start) / max(1, mask.count)

        pairs = [(ours(), theirs()) for _ in range(max(1, self.repeats // 2))]  # minutes each: no warm-up
        print(json.dumps({
            "case": f"{self.label} 64 requests, 64 schemas ({self.engine})", "unit": "tokens/s",
            "ours": round(1 / statistics.median(one for one, _ in pairs), 2),
            "theirs": round(1 / statistics.median(two for _, two in pairs), 2),
            "ratio": round(statistics.median(two / one for one, two in pairs), 2),
            "prompt_tokens": [min(lengths), round(statistics.median(lengths)), max(lengths)]}), flush=True)

    def _ask(self, schema: Any, most: int = 300) -> list[int]:
        """A chat turn that asks for an instance of ``schema``, whose text is cut at ``most`` tokens."""
        start, end = (self.info.token_ids_by_text[f"<|im_{name}|>"][0] for name in ("start", "end"))
        text = self.info.encode(f"user\nWrite one JSON value for this schema: {json.dumps(schema)}") or []
        newline = self.info.encode("\n") or []
        return [start, *text[:most], end, *newline, start, *(self.info.encode("assistant\n") or [])]

    def _instances(self, count: int) -> Iterator[tuple[str, Any, str]]:
        """The first schemas of the sample, in file order, with a valid instance of 20 to 400 tokens."""
        root = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
        with gzip.open(root / "data" / "maskbench" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                for test in case["tests"]:
                    text = json.dumps(test["data"], ensure_ascii=False, separators=(",", ":")) if test["valid"] else ""
                    ids = self.info.encode(text) if text else None
                    if ids and 20 <= len(ids) <= 400:
                        try:
                            self._matcher(case["schema"])
                        except ValueError:
                            break
                        yield case["name"], case["schema"], text
                        count -= 1
                        break
                if count == 0:
                    return

    def _matcher(self, schema: Any) -> Any:
        if self.engine == "llguidance":
            return LLGuidance(self.info, schema)
        import constrained

        if not hasattr(self, "_compiler"):
            self._compiler: Any = constrained.GrammarCompiler(self.info)
        return constrained.GrammarMatcher(self._compiler.compile_json_schema(schema))


class Replay(Scheduler):
    """A scheduler that does all the work of choosing and then takes the next canonical token of a given text."""

    def __init__(self, bench: Bench, text: str) -> None:
        super().__init__(bench.ours, bench.info, max_batch=1, max_len=PROMPT + 900, prefix_cache=False)
        self._info, self._text = bench.info, text

    def _commit(self, sequence: Any, choice: Any, row: Any, raw: Any) -> None:
        written = len(b"".join(self._info.token_bytes(t) for t in sequence.history.output).decode("utf-8", "ignore"))
        rest = self._info.encode(self._text[written:]) or list(self._info.stop_token_ids[:1])
        super()._commit(sequence, type(choice)(rest[0]), row, raw)


class Timed:
    """A matcher that counts the time spent in it."""

    def __init__(self, matcher: Any, parent: Timed | None = None) -> None:
        self._matcher, self._root, self.seconds = matcher, parent or self, 0.0

    def fork(self) -> Timed:
        return Timed(self._matcher.fork(), self._root)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._matcher, name)

        def timed(*args: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*args)
            finally:
                self._root.seconds += time.perf_counter() - start

        return timed


class LLGuidance:
    """llguidance behind the matcher's names."""

    tokenizer: Any = None

    def __init__(self, info: Any, schema: Any, matcher: Any = None) -> None:
        import llguidance

        if LLGuidance.tokenizer is None:
            class Wrapped:
                def __init__(self) -> None:
                    self.eos_token_id, self.bos_token_id = info.stop_token_ids[0], 1
                    self.tokens = [info.token_bytes(i) or b"\xff<%d>" % i for i in range(info.vocab_size)]
                    self.special_token_ids = sorted(info.special_token_ids)

                def __call__(self, text: Any) -> list[int]:
                    return list(info.encode(text if isinstance(text, str) else text.decode()) or [])

            LLGuidance.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapped()))
        self.info, self.ended = info, False
        if matcher is None:
            grammar = llguidance.LLMatcher.grammar_from_json_schema(
                json.dumps(schema), defaults={"whitespace_flexible": False})
            matcher = llguidance.LLMatcher(LLGuidance.tokenizer, grammar)
            if matcher.is_error():
                raise ValueError(matcher.get_error())
        self.matcher = matcher

    def accept_token(self, token: int) -> bool:
        if token in self.info.stop_token_ids:
            self.ended = self.ended or bool(self.matcher.is_accepting())
            return self.ended
        return bool(self.matcher.try_consume_tokens([token]) == 1)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        self.matcher.unsafe_compute_mask_ptr(bitmask[index].ctypes.data, bitmask.shape[1] * 4)
        return True

    def compute_ff_tokens(self) -> list[int]:
        return [] if self.ended else list(self.matcher.compute_ff_tokens())

    def rollback(self, n: int = 1) -> None:
        if self.ended:
            self.ended, n = False, n - 1
        if n:
            self.matcher.rollback(n)

    def fork(self) -> LLGuidance:
        return LLGuidance(self.info, None, self.matcher.deep_copy())

    def is_terminated(self) -> bool:
        return self.ended

    def is_completed(self) -> bool:
        return bool(self.matcher.is_accepting())


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
    parser.add_argument("--engine", choices=("constrained", "llguidance"), default="constrained")
    parser.add_argument("--cases", default="overhead,decode1,decode8,sampled8,prefix,forced,lookup,schemas,batch64")
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
    bench = Bench(Path(options.gguf), dtype, options.quantized, options.repeats, options.engine)
    greedy = SamplingParams(temperature=0)
    for case in cases:
        if case.startswith("decode"):
            size = int(case.removeprefix("decode"))
            bench.decode(size, greedy, f"decode B={size}", do_sample=False)
        elif case.startswith("sampled"):
            size = int(case.removeprefix("sampled"))
            bench.decode(size, SamplingParams(temperature=0.7, top_p=0.9, seed=0), f"sampled B={size}", do_sample=True,
                         temperature=0.7, top_p=0.9, top_k=0)
        else:
            getattr(bench, case)()


if __name__ == "__main__":
    main()
