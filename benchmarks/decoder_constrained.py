"""The cases of ``benchmarks/decoder.py`` that write JSON under a schema.

They read the shared data (``$CONSTRAINED_SHARED``): the first schemas of its sample, in file order, that have a valid
instance of 20 to 400 tokens. Grammars are compiled for compact JSON (``any_whitespace=False``, no blanks after ``:``
and ``,``), which is how the instances are written; ``--whitespace any`` takes the default, in which the grammar leaves
blanks open and so forces less.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

import constrained
from constrained.decoder.choosing import Chooser
from constrained.decoder.generate import generate
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler

if TYPE_CHECKING:
    from decoder import Bench

PROMPT = 64
COMPACT = {"any_whitespace": False, "separators": (",", ":")}


class Schemas:
    """The sample, compiled for the benchmark's vocabulary."""

    def __init__(self, bench: Bench, whitespace: str) -> None:
        self.bench = bench
        self.options: dict[str, Any] = COMPACT if whitespace == "compact" else {}
        self.label = bench.label + ("" if whitespace == "compact" else ", any whitespace")
        self._compiler = constrained.GrammarCompiler(bench.info)

    def compiled(self, schema: Any) -> Any:
        return self._compiler.compile_json_schema(schema, **self.options)

    def matcher(self, schema: Any) -> Any:
        return constrained.GrammarMatcher(self.compiled(schema))

    def first(self, count: int) -> Iterator[tuple[str, Any, str]]:
        """Name, schema and the instance as compact JSON."""
        info = self.bench.info
        root = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
        with gzip.open(root / "data" / "maskbench" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                case = json.loads(line)
                for test in case["tests"]:
                    text = json.dumps(test["data"], ensure_ascii=False, separators=(",", ":")) if test["valid"] else ""
                    ids = info.encode(text) if text else None
                    if ids and 20 <= len(ids) <= 400:
                        try:
                            self.compiled(case["schema"])
                        except constrained.ConstrainedError as error:
                            print(json.dumps({"not_compiled": case["name"], "why": str(error)[:200]}), flush=True)
                            break
                        yield case["name"], case["schema"], text
                        count -= 1
                        break
                if count == 0:
                    return

    def ask(self, schema: Any, most: int = 300) -> list[int]:
        """A chat turn that asks for an instance of ``schema``, whose text is cut at ``most`` tokens."""
        info = self.bench.info
        start, end = (info.token_ids_by_text[f"<|im_{name}|>"][0] for name in ("start", "end"))
        text = info.encode(f"user\nWrite one JSON value for this schema: {json.dumps(schema)}") or []
        newline = info.encode("\n") or []
        return [start, *text[:most], end, *newline, start, *(info.encode("assistant\n") or [])]

    # -- cases -------------------------------------------------------------------------------------------------

    def written(self) -> None:
        """Each instance written under its schema and freely; in both its text overrules the model's choice."""
        skipped: list[str] = []
        rows, forced, total, passes, mask_time, ours_time, theirs_time = [], 0, 0, 0, 0.0, 0.0, 0.0
        for name, schema, text in list(self.first(50)):
            timed = Timed(self.matcher(schema))
            start = time.process_time()
            done = self._replay(text, timed)
            ours = time.process_time() - start
            if done is None:  # the engine refuses the instance as written, or forces another text
                skipped.append(name)
                continue
            start = time.process_time()
            plain = self._replay(text, None)
            theirs = time.process_time() - start
            rows.append((len(done.token_ids) / ours) / (len(plain.token_ids) / theirs))
            mask_time, ours_time, theirs_time = mask_time + timed.seconds, ours_time + ours, theirs_time + theirs
            forced += done.usage.forced_tokens
            passes += done.usage.forward_passes
            total += len(done.token_ids)
        print(json.dumps({
            "case": f"{self.label} {len(rows)} schemas, constrained against free", "unit": "ratio of tokens/s",
            "ratio": round(statistics.median(rows), 2), "mean": round(statistics.mean(rows), 2),
            "least": round(min(rows), 2), "below_1.2": sum(row < 1.2 for row in rows),
            "of_the_sums": round(theirs_time / ours_time, 2), "tokens": total, "forced": round(forced / total, 3),
            "tokens_a_pass": round(total / passes, 2), "mask_share": round(mask_time / ours_time, 4),
            "skipped": skipped}), flush=True)

    def _replay(self, text: str, matcher: Any) -> Any:
        bench = self.bench
        scheduler = bench.scheduler(1, PROMPT + 900)
        scheduler._chooser = Replay(bench, text)
        most = 900 if matcher is not None else len(bench.info.encode(text) or []) + 1
        params = SamplingParams(temperature=0, max_tokens=most)
        (answer,) = generate(scheduler, [bench.tokens[:PROMPT]], params, [matcher])[0]
        return answer if answer.finish_reason == "stop" and answer.text == text else None

    def canonical(self) -> None:
        """How often forced tokens leave greedy text as the plain masked run has it. The two may part where that run's
        own tokens stop being the tokenizer's (often at the very end: ``}`` ``}`` for ``}}``), and only there."""
        info = self.bench.info
        finished = same = canonical = same_prefix = written = compared = 0
        parted: list[dict[str, Any]] = []
        for name, schema, _ in self.first(50):
            answers = []
            for options in ({}, {"jump_forward": False}):
                scheduler: Scheduler = self.bench.scheduler(1, 512, **options)
                answers += generate(scheduler, [self.ask(schema)], SamplingParams(temperature=0, max_tokens=120),
                                    [self.matcher(schema)])[0]
            forced, plain = answers
            if plain.finish_reason != "stop":
                continue
            finished += 1
            same += forced.text == plain.text
            tokens, wanted = plain.token_ids[:-1], info.encode(plain.text) or []
            shared = next((i for i, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b),
                          min(len(tokens), len(wanted)))
            canonical += shared == len(tokens) == len(wanted)
            written, compared = written + len(tokens), compared + shared
            common = b"".join(map(info.token_bytes, tokens[:shared]))
            if forced.text.encode().startswith(common):
                same_prefix += 1
            else:
                parted.append({"schema": name, "plain": plain.text, "forced": forced.text})
        print(json.dumps({
            "case": f"{self.label} forced tokens against the plain masked run, greedy", "finished": finished,
            "same_text": same, "plain_run_canonical_to_its_end": canonical,
            "tokens_up_to_its_first_that_is_not": round(compared / written, 3),
            "same_as_far_as_the_plain_run_is_canonical": same_prefix, "parted": parted}), flush=True)

    def batch64(self) -> None:
        """64 requests, 64 schemas: continuous batching, against one left-padded batch under our processor."""
        from constrained.integrations.transformers import LogitsProcessor

        bench = self.bench
        cases = list(self.first(64))
        prompts = [self.ask(schema) for _, schema, _ in cases]
        compiled = [self.compiled(schema) for _, schema, _ in cases]
        params = SamplingParams(temperature=0, max_tokens=96)
        lengths = [len(prompt) for prompt in prompts]
        width, stops = max(lengths), set(bench.info.stop_token_ids)
        padded = torch.tensor([[0] * (width - len(p)) + p for p in prompts])
        attention = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])

        def ours() -> float:
            scheduler = bench.scheduler(32, 512)
            matchers = [constrained.GrammarMatcher(one) for one in compiled]
            start = time.process_time()
            answers = generate(scheduler, prompts, params, matchers)
            return (time.process_time() - start) / sum(len(answer.token_ids) for (answer,) in answers)

        def theirs() -> float:
            processor = LogitsProcessor(compiled)
            start = time.process_time()
            out = bench.theirs.generate(padded, attention_mask=attention, max_new_tokens=96, do_sample=False,
                                        eos_token_id=sorted(stops), pad_token_id=0, logits_processor=[processor])
            seconds = time.process_time() - start
            rows = out[:, width:].tolist()
            return seconds / sum(next((i + 1 for i, t in enumerate(row) if t in stops), len(row)) for row in rows)

        pairs = [(ours(), theirs()) for _ in range(max(1, bench.repeats // 2))]  # minutes each: no warm-up
        print(json.dumps({
            "case": f"{self.label} 64 requests, 64 schemas", "unit": "tokens/s",
            "ours": round(1 / statistics.median(one for one, _ in pairs), 2),
            "theirs": round(1 / statistics.median(two for _, two in pairs), 2),
            "ratio": round(statistics.median(two / one for one, two in pairs), 2),
            "prompt_tokens": [min(lengths), round(statistics.median(lengths)), max(lengths)]}), flush=True)


class Replay(Chooser):
    """Does all the work of choosing and then takes the next canonical token of a given text."""

    def __init__(self, bench: Bench, text: str) -> None:
        super().__init__(bench.ours, jump_forward=True, small_heads=True, deterministic=False)
        self._info, self._text = bench.info, text

    def commit(self, sequence: Any, choice: Any, row: Any, raw: Any) -> None:
        written = len(b"".join(self._info.token_bytes(t) for t in sequence.history.output).decode("utf-8", "ignore"))
        rest = self._info.encode(self._text[written:]) or list(self._info.stop_token_ids[:1])
        super().commit(sequence, type(choice)(rest[0]), row, raw)


class Timed:
    """A matcher that counts the time spent in it and its forks, by the CPU clock or another."""

    def __init__(self, matcher: Any, *, clock: Callable[[], float] = time.process_time,
                 parent: Timed | None = None) -> None:
        self._matcher, self._clock, self._root, self.seconds = matcher, clock, parent or self, 0.0

    def fork(self) -> Timed:
        return Timed(self._matcher.fork(), clock=self._clock, parent=self._root)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._matcher, name)
        if not callable(method):
            return method

        def timed(*args: Any) -> Any:
            start = self._clock()
            try:
                return method(*args)
            finally:
                self._root.seconds += self._clock() - start

        return timed
