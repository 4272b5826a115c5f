# ruff: noqa: E402 - imports follow pytest.importorskip
"""Speculative decoding: the same tokens as without a draft, fewer forward passes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained.decoder.draft_model import DraftModel
from constrained.decoder.drafters import ChainDrafter, GrammarDrafter, PromptLookup
from constrained.decoder.generate import generate
from constrained.decoder.loaders.load import load_model
from constrained.decoder.sampling_params import RequestError, SamplingParams
from constrained.decoder.scheduler import Scheduler
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.test_scheduler import INFO, MIXED, prompts
from tests.decoder.tiny_models import make

TEXTS = [b'{"name": true}', b'{"name": false}', b'{"name": 12, "ab": "cd"}', b"12", b'{"name": 12, "ab": "abcabc"}']


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("llama-draft")
    make("llama", directory)
    return load_model(directory, tokenizer=False).model


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    directory = tmp_path_factory.mktemp("qwen2-draft")
    make("qwen2", directory)
    return load_model(directory, tokenizer=False).model


class Oracle:
    """Drafts the answer known from a plain run, with every fourth token wrong."""

    def __init__(self, answers):
        self.answers = answers

    def propose(self, sequence, limit):
        known = self.answers[tuple(sequence.request.prompt_ids)]
        at = sequence.history.n_output
        return [(t + 1) % 150 + 5 if (at + i) % 4 == 3 else t for i, t in enumerate(known[at : at + limit])]

    def release(self, sequence):
        pass


def run(model, given, params, drafter=None, matchers=None, **options):
    scheduler = Scheduler(model, INFO, max_batch=3, max_len=48, drafter=drafter, **options)
    answers = generate(scheduler, given, params, matchers)
    assert scheduler.cache.n_free == 3
    return answers, scheduler


def test_drafts_never_change_the_tokens(model, small) -> None:
    given = prompts(len(MIXED) - 1, seed=12, longest=12)
    params = MIXED[:-1]
    plain, plain_run = run(model, given, params)
    known = {tuple(p): a[0].token_ids for p, a in zip(given, plain, strict=True)}
    for drafter in (Oracle(known), PromptLookup(2, 1), DraftModel(small, max_len=48), DraftModel(model, max_len=48),
                    ChainDrafter(PromptLookup(3, 2), DraftModel(small, max_len=48))):
        answers, scheduler = run(model, given, params, drafter, draft_tokens=4)
        assert [a.token_ids for (a,) in answers] == [a.token_ids for (a,) in plain]
        for (a,) in answers:
            assert 0 <= a.usage.accepted_tokens <= a.usage.drafted_tokens
        if isinstance(drafter, Oracle):
            assert scheduler.forward_passes < plain_run.forward_passes * 0.6
            assert all(a.usage.accepted_tokens > 0 for (a,) in answers)
    itself, scheduler = run(model, given, params, DraftModel(model, max_len=48), draft_tokens=4)
    assert scheduler.forward_passes < plain_run.forward_passes * 0.6  # a model agrees with itself at any temperature
    accepted = sum(a.usage.accepted_tokens for (a,) in itself)
    assert accepted > 0.9 * sum(a.usage.drafted_tokens for (a,) in itself)


def test_drafts_under_a_constraint(model, small) -> None:
    given = prompts(5, seed=13, longest=10)
    params = SamplingParams(temperature=1.1, seed=tuple(range(5)))

    def matchers():
        return [TextsMatcher(INFO, TEXTS, forcing=False) for _ in given]

    plain, _ = run(model, given, params, matchers=matchers(), jump_forward=False)
    known = {tuple(p): a[0].token_ids for p, a in zip(given, plain, strict=True)}
    for drafter in (Oracle(known), DraftModel(small, max_len=48), PromptLookup(), GrammarDrafter(INFO)):
        for jump in (False, True):
            answers, _ = run(model, given, params, drafter, matchers(), jump_forward=jump)
            assert [a.token_ids for (a,) in answers] == [a.token_ids for (a,) in plain]
            assert all(a.text.encode() in TEXTS for (a,) in answers)


class CanonicalInfo:
    """INFO with an encoder that takes the longest token first."""

    def __getattr__(self, name):
        return getattr(INFO, name)

    def encode(self, text):
        data, out = text.encode(), []
        while data:
            best = max((t for t in range(INFO.vocab_size) if INFO.token_bytes(t) and
                        data.startswith(INFO.token_bytes(t))), key=lambda t: len(INFO.token_bytes(t)))
            out.append(best)
            data = data[len(INFO.token_bytes(best)) :]
        return out


def test_the_grammar_drafts_the_canonical_tokens_of_forced_text(model) -> None:
    matcher = [TextsMatcher(INFO, [b'{"name": "abcabc"}'], forcing=False)]
    likely = dict.fromkeys(CanonicalInfo().encode('{"name": "abcabc"}'), 50.0)
    params = SamplingParams(temperature=0, logit_bias=likely)
    plain, plain_run = run(model, [[5, 6]], params, matchers=matcher, jump_forward=False)
    drafted, scheduler = run(model, [[5, 6]], params, GrammarDrafter(CanonicalInfo()), matcher, jump_forward=False)
    assert drafted[0][0].token_ids == plain[0][0].token_ids
    assert scheduler.forward_passes < plain_run.forward_passes
    assert drafted[0][0].usage.accepted_tokens > 0


def test_prompt_lookup_takes_the_latest_earlier_occurrence() -> None:
    fake = SimpleNamespace(tokens=[1, 2, 3, 9, 1, 2, 4, 1, 2])
    assert PromptLookup(3, 1).propose(fake, 3) == [4, 1, 2]
    assert PromptLookup(3, 3).propose(fake, 3) == []


def test_wrong_draft_models_are_refused(small) -> None:
    with pytest.raises(RequestError):
        DraftModel(small, vocab_size=10_000)
