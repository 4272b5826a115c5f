# ruff: noqa: E402 - imports follow pytest.importorskip
"""Beam search: equal to transformers where that is defined, exact on small grammars."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from constrained.decoder.beam import BeamParams, beam_search
from constrained.decoder.generate import score
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.sampling_params import RequestError, SamplingError, SamplingParams
from tests.decoder.matcher_double import TextsMatcher
from tests.decoder.test_scheduler import INFO, Loaded, prompts

SETTINGS = [
    {}, {"length_penalty": 0.0, "early_stopping": "never"}, {"length_penalty": 2.0}, {"length_penalty": -1.0},
    {"early_stopping": True}, {"num_beams": 2, "early_stopping": "never"}, {"repetition_penalty": 1.4},
    {"no_repeat_ngram_size": 2}, {"min_tokens": 6},
]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-beam"))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("end_bias", [0.0, 3.0])
def test_equal_to_transformers(llama, settings, end_bias) -> None:
    """The end token gets a bias in both, so that hypotheses finish at many lengths."""
    settings = dict(settings)
    beams = settings.pop("num_beams", 4)
    sampling = {k: settings.pop(k) for k in ("repetition_penalty", "no_repeat_ngram_size", "min_tokens")
                if k in settings}
    compared = 0
    for prompt in prompts(4, seed=31, longest=9):
        theirs = llama.reference.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), num_beams=beams,
            num_return_sequences=beams, do_sample=False, max_new_tokens=9, return_dict_in_generate=True,
            output_scores=True, pad_token_id=0, suppress_tokens=[0, 1], sequence_bias=[[[2], end_bias or 1e-9]],
            min_new_tokens=sampling.get("min_tokens"), repetition_penalty=sampling.get("repetition_penalty"),
            no_repeat_ngram_size=sampling.get("no_repeat_ngram_size"), **settings)
        ours = beam_search(llama.model, INFO, prompt, BeamParams(
            num_beams=beams, n=beams, **settings, sampling=SamplingParams(
                temperature=0, max_tokens=9, logit_bias={2: end_bias or 1e-9}, **sampling)))
        expected = theirs.sequences_scores.tolist()
        assert [h.score for h in ours] == pytest.approx(expected, abs=1e-4)
        for i, (hypothesis, row) in enumerate(zip(ours, theirs.sequences.tolist(), strict=True)):
            near = [s for j, s in enumerate(expected) if j != i and abs(s - expected[i]) < 1e-3]
            if near:
                continue
            compared += 1
            tokens = row[len(prompt):]
            length = len(hypothesis.token_ids)
            assert list(hypothesis.token_ids) == tokens[:length]
            assert set(tokens[length:]) <= {0, 2}
    assert compared >= 6


TEXTS = [b"ab", b"abc", b"12", b"true", b"cd12"]


def every_path(texts: list[bytes]) -> list[tuple[int, ...]]:
    """All token sequences that spell one of ``texts`` and end."""
    paths, out = [()], []
    while paths:
        path = paths.pop()
        matcher = TextsMatcher(INFO, texts)
        assert all(matcher.accept_token(t) for t in path)
        for token in matcher.legal():
            if token == 2:
                out.append((*path, token))
            else:
                paths.append((*path, token))
    return out


@pytest.mark.parametrize("renormalize", [False, True])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_wide_beams_find_the_best_text_of_a_grammar(llama, renormalize, length_penalty) -> None:
    prompt = prompts(1, seed=33)[0]
    paths = every_path(TEXTS)
    scored = []
    for path in paths:
        given = score(llama.model, INFO, prompt, list(path), matcher=TextsMatcher(INFO, TEXTS))
        logprob = given.logprob if renormalize else given.raw_logprob
        scored.append((logprob / len(path) ** length_penalty, path))
    scored.sort(reverse=True)
    found = beam_search(llama.model, INFO, prompt, BeamParams(
        num_beams=len(paths), n=len(paths), length_penalty=length_penalty, early_stopping="never",
        renormalize=renormalize), matcher=TextsMatcher(INFO, TEXTS))
    assert len(found) == len(paths)
    assert [h.score for h in found] == pytest.approx([s for s, _ in scored], abs=1e-4)
    assert found[0].token_ids == scored[0][1]
    assert all(h.text.encode() in TEXTS and h.finish_reason == "stop" for h in found)


def test_equal_to_transformers_under_the_same_mask(llama) -> None:
    class Mask(transformers.LogitsProcessor):
        def __call__(self, ids, scores):
            out = torch.full_like(scores, -torch.inf)
            for i, row in enumerate(ids.tolist()):
                matcher = TextsMatcher(INFO, TEXTS * 1)
                if all(matcher.accept_token(t) for t in row[n_prompt:]):
                    legal = matcher.legal()
                    out[i, legal] = scores[i, legal]
            return out

    for prompt, beams in itertools.product(prompts(3, seed=35), (1, 2, 3)):
        n_prompt = len(prompt)
        theirs = llama.reference.generate(
            torch.tensor([prompt]), attention_mask=torch.ones(1, n_prompt, dtype=torch.long), num_beams=beams,
            do_sample=False, max_new_tokens=9, pad_token_id=0, logits_processor=[Mask()])[0].tolist()[n_prompt:]
        ours = beam_search(llama.model, INFO, prompt, BeamParams(num_beams=beams), matcher=TextsMatcher(INFO, TEXTS))
        if beams > 1:  # with one beam transformers is greedy and stops at the first end
            length = len(ours[0].token_ids)
            assert list(ours[0].token_ids) == theirs[:length]
        assert ours[0].text.encode() in TEXTS


def test_slots_are_given_back_and_bad_input_is_refused(llama) -> None:
    cache = KVCache(llama.model.config, 4, 30)
    prompt = prompts(1, seed=36)[0]
    beam_search(llama.model, INFO, prompt, BeamParams(num_beams=4), cache=cache, prefill_chunk=3)
    assert cache.n_free == 4
    for wrong in ({"num_beams": 0}, {"n": 5}, {"length_penalty": float("nan")}, {"early_stopping": "maybe"},
                  {"sampling": SamplingParams()}, {"sampling": SamplingParams(temperature=0, stop="a")}):
        with pytest.raises(SamplingError):
            BeamParams(**wrong)
    with pytest.raises(RequestError):
        beam_search(llama.model, INFO, [])
    with pytest.raises(RequestError):
        beam_search(llama.model, INFO, prompt, BeamParams(num_beams=5), cache=cache)
    with pytest.raises(RequestError):
        beam_search(llama.model, INFO, [5] * 30, cache=cache)
    assert cache.n_free == 4
