"""Grammars in transformers' continuous batching, with tiny random models on the CPU."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from constrained.errors import ConstrainedError, GrammarLimitError
from tests.integrations.rule_matcher import RuleMatcher, accepts
from tests.integrations.test_transformers import (
    OTHER_STOP,
    PAD,
    STOP,
    VOCAB,
    brackets,
    exactly,
    generate,
    matcher,
    rising,
    tiny_model,
)
from tests.integrations.test_transformers_engine import DATE, INFO, NUMBERS
from tests.integrations.test_transformers_engine import tiny_model as engine_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("transformers.generation.continuous_batching",
                    reason="this version of transformers has no continuous batching")

from transformers.generation.continuous_batching.requests import FutureRequestState, RequestState  # noqa: E402

from constrained.engine.compiled import compile_rules  # noqa: E402
from constrained.frontends.regex import from_regex  # noqa: E402
from constrained.integrations.transformers import LogitsProcessor  # noqa: E402
from constrained.integrations.transformers_batching import (  # noqa: E402
    BatchingProcessor,
    RequestGrammar,
    continuous_batching,
    generate_batch,
)


def settings(**more: Any) -> Any:
    return transformers.GenerationConfig(**{"do_sample": False, "eos_token_id": STOP, "pad_token_id": PAD,
                                            "max_new_tokens": 24, **more})


def small(blocks: int = 32) -> Any:
    return transformers.ContinuousBatchingConfig(page_size=8, num_blocks=blocks, max_batch_tokens=64)


def texts(n: int, seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(4, VOCAB, (3 + i % 5,), generator=generator).tolist() for i in range(n)]


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(0)


def test_each_request_has_its_own_grammar(model: Any) -> None:
    prompts = texts(8)
    grammars = [matcher(rising), matcher(brackets), None, matcher(exactly(60, 61))] * 2
    outputs = generate_batch(model, prompts, grammars, generation_config=settings(), continuous_batching_config=small())
    for prompt, grammar, output in zip(prompts, grammars, outputs, strict=True):
        assert output.error is None and output.prompt_ids == prompt
        alone = generate(model, torch.tensor([prompt]), LogitsProcessor(grammar),
                         **({"eos_token_id": STOP} if grammar is None else {}))
        assert output.generated_tokens == alone[0]
    assert outputs[3].generated_tokens == [60, 61, STOP]


@pytest.mark.parametrize("options", [{}, {"temperature": 0.5, "top_k": 5}, {"top_p": 0.3}])
def test_masks_come_before_the_sampler(model: Any, options: dict[str, Any]) -> None:
    torch.manual_seed(3)
    outputs = generate_batch(model, texts(6), [matcher(rising)] * 6, max_new_tokens=30,
                             continuous_batching_config=small(), generation_config=settings(do_sample=True, **options))
    for output in outputs:
        assert accepts(rising, output.generated_tokens, (STOP,)) and output.generated_tokens[-1] == STOP


def test_a_cache_that_is_too_small_puts_requests_aside(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    aside: list[str] = []
    plain = RequestState.create_equivalent_initial_request

    def counted(state: Any) -> Any:
        aside.append(state.request_id)
        return plain(state)

    monkeypatch.setattr(RequestState, "create_equivalent_initial_request", counted)
    prompts = texts(9, seed=2)
    roomy = generate_batch(model, prompts, [matcher(rising)] * 9, generation_config=settings(max_new_tokens=20),
                           continuous_batching_config=small(64))
    assert not aside
    tight = generate_batch(model, prompts, [matcher(rising)] * 9, generation_config=settings(max_new_tokens=20),
                           continuous_batching_config=small(8))
    assert aside
    assert [one.generated_tokens for one in tight] == [one.generated_tokens for one in roomy]


@pytest.mark.parametrize("blocks", [64, 6])
def test_samples_of_one_prompt_go_their_own_ways(model: Any, blocks: int) -> None:
    torch.manual_seed(5)
    config = settings(do_sample=True, num_return_sequences=4, eos_token_id=[STOP, OTHER_STOP])
    found: list[list[int]] = []
    with continuous_batching(model, config, small(blocks)) as manager:
        manager.add_request(texts(1)[0], max_new_tokens=24, grammar=RequestGrammar(matcher(brackets)))
        while len(found) < 4:
            output = manager.get_result(timeout=20)
            assert output is not None
            if output.is_finished():
                assert output.error is None
                found.append(output.generated_tokens)
    assert len({tuple(ids) for ids in found}) > 1
    assert all(accepts(brackets, ids, (STOP, OTHER_STOP)) for ids in found)


def test_the_engine_s_own_grammars() -> None:
    model = engine_model(1)
    config = transformers.GenerationConfig(do_sample=False, eos_token_id=model.config.eos_token_id,
                                           pad_token_id=model.config.pad_token_id, max_new_tokens=60)
    date, numbers = (compile_rules(from_regex(pattern), INFO) for pattern in (DATE, NUMBERS))
    outputs = generate_batch(model, [[65, 66], [67], [68, 69, 70]], [date, numbers, date], generation_config=config,
                             continuous_batching_config=small())
    for output, pattern in zip(outputs, (DATE, NUMBERS, DATE), strict=True):
        text = b"".join(INFO.token_bytes(i) for i in output.generated_tokens).decode()
        assert re.fullmatch(pattern, text) and output.generated_tokens[-1] in INFO.stop_token_ids


def test_a_grammar_that_fails_ends_its_request_alone(model: Any) -> None:
    def failing(ids: tuple[int, ...]) -> set[int]:
        if len(ids) == 3:
            raise GrammarLimitError("max_states", 1, 2)
        return rising(ids)

    prompts = texts(3)
    outputs = generate_batch(model, prompts, [matcher(rising), matcher(failing), None], generation_config=settings(),
                             continuous_batching_config=small())
    assert outputs[1].error is not None and "max_states" in outputs[1].error
    assert len(outputs[1].generated_tokens) == 4 and outputs[1].generated_tokens[-1] in (STOP, OTHER_STOP)
    assert outputs[0].error is None and outputs[0].generated_tokens[-1] == STOP
    assert outputs[2].generated_tokens == generate(model, torch.tensor([prompts[2]]), LogitsProcessor(None),
                                                   eos_token_id=STOP)[0]


def test_a_text_that_has_ended_may_only_end() -> None:
    grammar = RequestGrammar(matcher(exactly(60)))
    bitmask = torch.zeros((2, (VOCAB + 31) // 32), dtype=torch.int32)

    def allowed(ids: list[int]) -> set[int]:
        grammar.fill(ids, bitmask, 1)
        return {i for i in range(VOCAB) if int(bitmask[1, i // 32]) >> (i % 32) & 1}

    assert allowed([]) == {60} and allowed([60]) == {STOP}
    assert allowed([60, STOP]) == {STOP, OTHER_STOP} == allowed([60, STOP, PAD]) == allowed([61])
    assert allowed([60]) == {STOP}  # taken back
    twin = copy.deepcopy(grammar)
    assert allowed([]) == {60}
    twin.fill([60], bitmask, 0)
    assert int(bitmask[0, 0]) == 1 << STOP


def test_what_is_refused(model: Any) -> None:
    config = transformers.ContinuousBatchingConfig(use_async_batching=True)
    with pytest.raises(ConstrainedError, match="asynchronous"), continuous_batching(model, settings(), config):
        pass
    with pytest.raises(ConstrainedError, match="2 grammars for 1 prompts"):
        generate_batch(model, texts(1), [None, None])
    with pytest.raises(ConstrainedError, match="one output"):
        generate_batch(model, texts(1), [None], generation_config=settings(num_return_sequences=2, do_sample=True))
    with pytest.raises(ConstrainedError, match="expected a CompiledGrammar"):
        generate_batch(model, texts(1), ["[0-9]"])
    assert generate_batch(model, [], []) == []


def test_a_grammar_of_the_wrong_kind_fails_its_request(model: Any) -> None:
    with continuous_batching(model, settings(), small()) as manager:
        manager.add_request(texts(1)[0], grammar=matcher(rising))
        output = manager.get_result(timeout=20)
    assert output is not None and output.error is not None and "RequestGrammar" in output.error


def test_a_vocabulary_that_is_too_large(model: Any) -> None:
    processor = BatchingProcessor()
    state = RequestState("a", [5],
                         logit_processor_kwargs={"grammar": RequestGrammar(RuleMatcher(rising, 400, (STOP,)))})
    future = FutureRequestState(state, True, {}, 1)
    processor.prepare_tensor_args([future])
    with pytest.raises(ConstrainedError, match="a grammar has more ids"):
        processor(torch.zeros(1, 96), torch.zeros(1, dtype=torch.int32))
