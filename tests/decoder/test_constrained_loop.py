# ruff: noqa: E402 - imports follow pytest.importorskip
"""The loop under the real engine: every output is a text of its grammar, whatever drives it."""

from __future__ import annotations

import json
import re

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained import GrammarCompiler, GrammarLimitError, GrammarMatcher, Limits, UnsatisfiableGrammarError
from constrained.decoder.beam import BeamParams, beam_search
from constrained.decoder.draft_model import DraftModel
from constrained.decoder.drafters import GrammarDrafter, PromptLookup
from constrained.decoder.generate import generate, score, stream
from constrained.decoder.request import Request
from constrained.decoder.sampling_params import RequestError, SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.vocabulary import TokenizerInfo
from tests.decoder.test_scheduler import INFO, Loaded, prompts

GRAMMAR = r'''
root ::= "{\"name\": " value "}"
value ::= "true" | "false" | [1-9] [0-9]{0,2} | "\"" [a-d]{1,6} "\"" | "[" value ("," value){0,2} "]"
'''
DATE = r"\d{4}-\d{2}-\d{2}"


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-constrained"))


@pytest.fixture(scope="module")
def compiler():
    return GrammarCompiler(INFO)


def matcher(compiler) -> GrammarMatcher:
    return GrammarMatcher(compiler.compile_grammar(GRAMMAR))


def canonical(text: str) -> list[int]:
    """The longest token at each place, and the end: what the engine takes for canonical without an encoder."""
    data, out = text.encode(), []
    while data:
        fitting = [t for t in range(INFO.vocab_size) if INFO.token_bytes(t) and data.startswith(INFO.token_bytes(t))]
        out.append(max(fitting, key=lambda t: (len(INFO.token_bytes(t)), -t)))
        data = data[len(INFO.token_bytes(out[-1])) :]
    return [*out, 2]


OPTIONS = {
    "plain": {"jump_forward": False, "small_heads": False}, "forced": {"small_heads": False},
    "small heads": {"jump_forward": False}, "both": {}, "deterministic": {"deterministic": True},
    "lookup": {"drafter": PromptLookup(2, 1)}, "grammar draft": {"drafter": GrammarDrafter(INFO)},
}


def test_every_way_to_run_gives_texts_of_the_grammar(llama, compiler) -> None:
    given = prompts(6, seed=41, longest=10)
    params = SamplingParams(temperature=1.2, seed=tuple(range(6)), max_tokens=40)
    runs = {}
    for name, options in OPTIONS.items():
        scheduler = Scheduler(llama.model, INFO, max_batch=4, max_len=64, **options)
        runs[name] = [a for (a,) in generate(scheduler, given, params, [matcher(compiler) for _ in given])]
        for answer in runs[name]:
            if answer.finish_reason == "stop":
                json.loads(answer.text)
                assert answer.token_ids[-1] == 2
                check = matcher(compiler)
                assert check.accept_tokens(answer.token_ids) == len(answer.token_ids) and check.is_terminated()
            else:
                assert answer.finish_reason == "length", answer.error
    tokens = {name: [a.token_ids for a in answers] for name, answers in runs.items()}
    assert tokens["plain"] == tokens["small heads"]
    assert tokens["forced"] == tokens["both"] == tokens["lookup"] == tokens["grammar draft"] == tokens["deterministic"]
    assert sum(a.usage.forced_tokens for a in runs["both"]) > 10
    assert sum(a.usage.forced_tokens for a in runs["plain"]) == 0
    equal = 0
    for forced, plain in zip(runs["both"], runs["plain"], strict=True):
        if list(plain.token_ids) == canonical(plain.text):
            equal += 1
            assert forced.text == plain.text
    del equal  # random models rarely write canonical tokens; benchmarks/decoder.py counts the share on a real one


def test_a_draft_model_under_the_engine(llama, compiler, tmp_path) -> None:
    small = Loaded("qwen2", tmp_path)
    given = prompts(3, seed=42, longest=10)
    params = SamplingParams(seed=(1, 2, 3), max_tokens=40)
    answers = []
    for drafter in (None, DraftModel(small.model, max_len=64), DraftModel(llama.model, max_len=64)):
        scheduler = Scheduler(llama.model, INFO, max_batch=3, max_len=64, drafter=drafter, draft_tokens=4)
        answers.append([a.token_ids for (a,) in generate(scheduler, given, params,
                                                         [matcher(compiler) for _ in given])])
    assert answers[0] == answers[1] == answers[2]


def test_beams_fork_the_engine_s_states(llama, compiler) -> None:
    grammar = compiler.compile_regex(DATE)
    found = beam_search(llama.model, INFO, [9, 10, 11], BeamParams(num_beams=5, n=5), matcher=GrammarMatcher(grammar))
    assert len({h.token_ids for h in found}) == 5
    for hypothesis in found:
        assert re.fullmatch(DATE, hypothesis.text)
        given = score(llama.model, INFO, [9, 10, 11], list(hypothesis.token_ids), matcher=GrammarMatcher(grammar))
        assert given.raw_logprob == pytest.approx(hypothesis.logprob, abs=1e-3)


def test_different_grammars_and_free_text_in_one_batch(llama, compiler) -> None:
    matchers = [matcher(compiler), None, GrammarMatcher(compiler.compile_regex(DATE)),
                GrammarMatcher(compiler.compile_regex("(ab|abc|cd)+"), terminate_without_stop_token=True)]
    given = prompts(4, seed=43)
    params = SamplingParams(seed=(1, 2, 3, 4), max_tokens=30)
    answers = [a for (a,) in generate(Scheduler(llama.model, INFO, max_batch=4, max_len=64), given, params, matchers)]
    assert re.fullmatch(DATE, answers[2].text)
    assert re.fullmatch("(ab|abc|cd)*", answers[3].text) or answers[3].finish_reason == "length"
    alone = generate(Scheduler(llama.model, INFO, max_batch=1, max_len=64), [given[1]],
                     params.updated(seed=2))[0][0]
    assert answers[1].token_ids == alone.token_ids


def test_a_grammar_limit_ends_its_own_request_only(llama, compiler) -> None:
    tight = GrammarCompiler(INFO, limits=Limits(max_threads=2))
    limited = GrammarMatcher(tight.compile_regex("([a-z ]*x[a-z ]{5,9}){3}"))
    for _ in range(2):
        assert limited.accept_token(INFO.token_data.index(b"x") + 3)  # single characters follow three controls
    scheduler = Scheduler(llama.model, INFO, max_batch=2, max_len=64)
    ids = [scheduler.submit(Request(prompt_ids=[5, 6], matcher=one, params=SamplingParams(seed=1, max_tokens=20)))
           for one in (limited, matcher(compiler))]
    for _ in scheduler.run():
        pass
    bad, good = (scheduler.completions(i)[0] for i in ids)
    assert bad.finish_reason == "error" and isinstance(bad.error, GrammarLimitError)
    assert good.error is None and good.finish_reason in ("stop", "length")


def test_streamed_constrained_text_says_what_was_forced(llama, compiler) -> None:
    scheduler = Scheduler(llama.model, INFO, max_batch=2, max_len=64)
    events = list(stream(scheduler, [5, 6], SamplingParams(seed=3, max_tokens=40), matcher(compiler)))
    assert events[0].text.startswith('{"name": ') and events[0].forced > 0
    assert "".join(e.text for e in events).startswith('{"name": ')


def test_a_grammar_that_the_vocabulary_cannot_spell_is_refused_when_compiled(compiler) -> None:
    for pattern in (r"\x04", "a\u4e16", "(ab)+\x7f"):
        with pytest.raises(UnsatisfiableGrammarError):
            compiler.compile_regex(pattern)
    kept = GrammarMatcher(compiler.compile_regex("a(\u4e16|z)"))  # the way that can be spelled is left
    assert kept.accept_token(canonical("a")[0]) and kept.allowed_token_ids() == canonical("z")[:1]


def test_a_grammar_of_another_vocabulary_is_refused(llama) -> None:
    other = TokenizerInfo.from_bytes([bytes([i]) for i in range(97)], stop_token_ids=[2])
    foreign = GrammarMatcher(GrammarCompiler(other).compile_regex("A+"))
    scheduler = Scheduler(llama.model, INFO, max_batch=1, max_len=64)
    with pytest.raises(RequestError, match="another vocabulary"):
        scheduler.submit(Request(prompt_ids=[5], matcher=foreign))
    with pytest.raises(RequestError, match="another vocabulary"):
        beam_search(llama.model, INFO, [5], matcher=foreign)
