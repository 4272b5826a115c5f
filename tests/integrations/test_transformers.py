"""The logits processor under every way ``generate`` has of calling it, with tiny random models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from constrained.errors import ConstrainedError
from tests.integrations.rule_matcher import Rule, RuleMatcher, accepts

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from constrained.integrations.transformers import LogitsProcessor  # noqa: E402

WIDTH = 96  # of the models' logits
VOCAB = 90  # of the grammars
PAD, STOP, OTHER_STOP = 0, 2, 3


def tiny_model(seed: int, layers: int = 2) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH, hidden_size=32, intermediate_size=48, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=1, eos_token_id=STOP, pad_token_id=PAD,
        initializer_range=0.6)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(0)


def rising(ids: tuple[int, ...]) -> set[int]:
    """Rising numbers from 10 to 29; may end after 3 of them."""
    low = max(ids, default=9) + 1
    return set(range(low, min(low + 6, 30))) | ({STOP} if len(ids) >= 3 or low >= 30 else set())


def brackets(ids: tuple[int, ...]) -> set[int]:
    """Balanced 40 41, at most 4 deep, and 50 between them; ends when balanced and not empty."""
    depth = ids.count(40) - ids.count(41)
    allowed = {50} if depth else set()
    if depth < 4 and len(ids) < 20:
        allowed.add(40)
    if depth:
        allowed.add(41)
    elif ids:
        allowed |= {STOP, OTHER_STOP}
    return allowed


def exactly(*wanted: int) -> Rule:
    return lambda ids: {wanted[len(ids)]} if len(ids) < len(wanted) else {STOP}


def matcher(rule: Rule) -> RuleMatcher:
    return RuleMatcher(rule, VOCAB, (STOP, OTHER_STOP))


class CountedProcessor(LogitsProcessor):
    calls = 0

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.calls += 1
        return super().__call__(input_ids, scores)


def prompts(rows: int, seed: int = 0) -> Any:
    return torch.randint(4, VOCAB, (rows, 5), generator=torch.Generator().manual_seed(seed))


def generate(model: Any, ids: Any, processor: LogitsProcessor, **options: Any) -> list[list[int]]:
    """The generated ids of each row, without padding."""
    settings = {"max_new_tokens": 24, "do_sample": False, "eos_token_id": [STOP, OTHER_STOP], "pad_token_id": PAD}
    output = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor],
                            **{**settings, **options})
    rows = [row[ids.shape[1] :].tolist() for row in output]
    return [row[: next((i + 1 for i, t in enumerate(row) if t in (STOP, OTHER_STOP)), len(row))] for row in rows]


@pytest.mark.parametrize("do_sample", [False, True], ids=["greedy", "sampling"])
def test_one_grammar_a_row_and_a_free_row(model: Any, do_sample: bool) -> None:
    torch.manual_seed(1)
    processor = LogitsProcessor([matcher(rising), matcher(brackets), None, matcher(exactly(60, 61))])
    ids = prompts(4)
    rows = generate(model, ids, processor, do_sample=do_sample)
    assert accepts(rising, rows[0], (STOP,)) and rows[0][-1] == STOP
    assert accepts(brackets, rows[1], (STOP, OTHER_STOP))
    assert rows[3] == [60, 61, STOP]
    if not do_sample:
        assert rows[2] == generate(model, ids[2:3], LogitsProcessor(None))[0]


def test_a_single_grammar_serves_all_rows_each_in_its_own_state(model: Any) -> None:
    rows = generate(model, prompts(3), LogitsProcessor(matcher(rising)))
    assert len({tuple(row) for row in rows}) > 1
    for i, row in enumerate(rows):
        assert accepts(rising, row, (STOP,)) and row[-1] == STOP
        assert row == generate(model, prompts(3)[i : i + 1], LogitsProcessor(matcher(rising)))[0]


@pytest.mark.parametrize("beams", [2, 3, 5])
@pytest.mark.parametrize("do_sample", [False, True], ids=["beam", "beam sampling"])
def test_beams_reorder_rows(model: Any, beams: int, do_sample: bool) -> None:
    torch.manual_seed(2)
    processor = LogitsProcessor([matcher(rising), matcher(brackets)])
    rows = generate(model, prompts(2), processor, num_beams=beams, num_return_sequences=2, do_sample=do_sample)
    for row in rows[:2]:
        assert accepts(rising, row, (STOP,))
    for row in rows[2:]:
        assert accepts(brackets, row, (STOP, OTHER_STOP))


def test_more_beams_than_continuations(model: Any) -> None:
    for beams in (2, 4, 6):
        rows = generate(model, prompts(1), LogitsProcessor(matcher(exactly(60, 61, 62))), num_beams=beams,
                        num_return_sequences=2)
        assert rows == [[60, 61, 62, STOP]] * 2  # beams that find no place repeat others


def test_beam_search_equals_a_stateless_processor(model: Any) -> None:
    class Stateless(transformers.LogitsProcessor):  # type: ignore[misc, name-defined]
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            masked = torch.full_like(scores, -torch.inf)
            for i, row in enumerate(input_ids.tolist()):
                generated = tuple(row[5:])
                allowed = {STOP}
                if accepts(rising, generated, (STOP,)) and STOP not in generated:
                    allowed = rising(generated)
                for token_id in allowed:
                    masked[i, token_id] = scores[i, token_id]
            return masked

    for seed in range(3):
        ids = prompts(2, seed)
        expected = generate(model, ids, Stateless(), num_beams=4, num_return_sequences=3)
        assert expected == generate(model, ids, LogitsProcessor(matcher(rising)), num_beams=4, num_return_sequences=3)


def test_several_sequences_for_each_prompt(model: Any) -> None:
    torch.manual_seed(3)
    processor = LogitsProcessor([matcher(rising), matcher(exactly(70, 71, 72))])
    rows = generate(model, prompts(2), processor, do_sample=True, num_return_sequences=3)
    assert all(accepts(rising, row, (STOP,)) for row in rows[:3])
    assert rows[3:] == [[70, 71, 72, STOP]] * 3


@pytest.mark.parametrize("rule", [rising, brackets, exactly(*range(40, 60))], ids=["rising", "brackets", "exactly"])
@pytest.mark.parametrize("drafts", [1, 3, 8])
def test_prompt_lookup_gives_what_greedy_gives(model: Any, rule: Rule, drafts: int) -> None:
    for seed in range(3):
        # a prompt that repeats itself and parts of the answer: drafts are made, right and wrong ones
        ids = torch.cat([torch.tensor([[40, 41, 42, 10, 11, 12, 50, 41]]), prompts(1, seed),
                         torch.tensor([[40, 41, 42, 43, 44, 10, 11]])], dim=1)
        expected = generate(model, ids, LogitsProcessor(matcher(rule)))
        processor = CountedProcessor(matcher(rule))
        drafted = generate(model, ids, processor, prompt_lookup_num_tokens=drafts)
        assert expected == drafted
        assert accepts(rule, drafted[0], (STOP, OTHER_STOP))
        assert processor.calls > len(drafted[0]), "no draft was taken back: the test tests nothing"


@pytest.mark.parametrize("do_sample", [False, True], ids=["greedy", "sampling"])
@pytest.mark.parametrize("schedule", ["constant", "heuristic"])
def test_assisted_decoding(model: Any, do_sample: bool, schedule: str) -> None:
    for seed in (7, 0):  # another model, whose drafts are often wrong, and the same one, whose drafts are right
        assistant = tiny_model(seed)
        assistant.generation_config.num_assistant_tokens = 4
        assistant.generation_config.num_assistant_tokens_schedule = schedule
        assistant.generation_config.assistant_confidence_threshold = 0.0
        for rule in (rising, brackets):
            torch.manual_seed(4)
            ids = prompts(1, seed)
            drafted = generate(model, ids, LogitsProcessor(matcher(rule)), assistant_model=assistant,
                               do_sample=do_sample)
            assert accepts(rule, drafted[0], (STOP, OTHER_STOP))
            if not do_sample:
                assert drafted == generate(model, ids, LogitsProcessor(matcher(rule)))


def test_ended_rows_are_padded_while_others_go_on(model: Any) -> None:
    processor = LogitsProcessor([matcher(exactly(60)), matcher(exactly(*range(40, 55)))])
    ids = prompts(2)
    output = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], do_sample=False,
                            max_new_tokens=24, eos_token_id=[STOP], pad_token_id=PAD)
    assert output[0, 5:].tolist() == [60, STOP] + [PAD] * 14
    assert output[1, 5:].tolist() == [*range(40, 55), STOP]


def test_generate_that_does_not_know_the_stop_token_gets_nothing_else_after_the_end(model: Any) -> None:
    rows = model.generate(prompts(1), logits_processor=[LogitsProcessor(matcher(exactly(60)))], do_sample=False,
                          max_new_tokens=6, eos_token_id=None, pad_token_id=PAD)
    assert rows[0, 5:7].tolist() == [60, STOP]
    assert set(rows[0, 7:].tolist()) <= {STOP, OTHER_STOP}


def test_a_processor_serves_one_generation_after_another(model: Any) -> None:
    processor = LogitsProcessor([matcher(exactly(60, 61)), matcher(rising)])
    first = generate(model, prompts(2, 0), processor)
    assert generate(model, prompts(2, 0), processor) == first  # the same prompt again
    assert generate(model, prompts(2, 1), processor)[0] == [60, 61, STOP]  # another one
    assert generate(model, prompts(4, 1), processor, num_beams=2)[:2] == [[60, 61, STOP]] * 2  # other rows

    single = LogitsProcessor(matcher(exactly(60, 61)))
    ids = prompts(1)
    for _ in range(3):  # the next prompt is the last one, its output and one id more
        assert generate(model, ids, single) == [[60, 61, STOP]]
        ids = torch.cat([ids, torch.tensor([[60, 61, STOP, 33]])], dim=1)


def test_a_cut_generation_goes_on_where_it_was_cut(model: Any) -> None:
    processor = LogitsProcessor(matcher(exactly(*range(40, 50))))
    ids = prompts(1)
    assert generate(model, ids, processor, max_new_tokens=4) == [[40, 41, 42, 43]]
    longer = torch.cat([ids, torch.tensor([[40, 41, 42, 43]])], dim=1)
    assert generate(model, longer, processor) == [[44, 45, 46, 47, 48, 49, STOP]]
    processor.reset()
    assert generate(model, longer, processor, max_new_tokens=2) == [[40, 41]]


def test_a_matcher_starts_in_its_present_state_and_is_not_moved(model: Any) -> None:
    started = matcher(exactly(60, 61, 62))
    started.accept_token(60)
    assert generate(model, prompts(1), LogitsProcessor(started)) == [[61, 62, STOP]]
    assert started.ids == (60,)


def test_the_scores_that_come_in_are_kept(model: Any) -> None:
    ids = prompts(1)
    output = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=3,
                            logits_processor=[LogitsProcessor(matcher(exactly(60, 61, 62)))], pad_token_id=PAD,
                            output_logits=True, output_scores=True, return_dict_in_generate=True)
    assert all(torch.isfinite(logits).all() for logits in output.logits)
    assert [int(torch.isfinite(scores).sum()) for scores in output.scores] == [1, 1, 1]


def test_ids_beyond_the_vocabulary_are_masked_and_rewinding_is_exact() -> None:
    """Calls in a random order of prefixes, as no decoder would make them, against the rule itself."""
    rng = np.random.default_rng(0)
    for rule in (rising, brackets):
        processor = LogitsProcessor(matcher(rule))
        prompt = [5, 6, 7]
        path: list[int] = []
        processor(torch.tensor([prompt]), torch.zeros(1, WIDTH))
        for _ in range(300):
            legal = accepts(rule, path, (STOP, OTHER_STOP)) and not {STOP, OTHER_STOP} & set(path)
            if path and rng.random() < 0.4:
                path = path[: rng.integers(len(path))]
            elif legal and rng.random() < 0.8:
                path = [*path, int(rng.choice(sorted(rule(tuple(path)))))]
            else:
                path = [*path, int(rng.integers(VOCAB))]
            scores = processor(torch.tensor([prompt + path]), torch.zeros(1, WIDTH))
            legal = accepts(rule, path, (STOP, OTHER_STOP)) and not {STOP, OTHER_STOP} & set(path)
            expected = rule(tuple(path)) if legal else {STOP, OTHER_STOP}
            assert set(torch.isfinite(scores[0]).nonzero().flatten().tolist()) == expected


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ConstrainedError, match="no grammar"):
        LogitsProcessor([])
    with pytest.raises(ConstrainedError, match="str"):
        LogitsProcessor(["root ::= 'a'"])
    with pytest.raises(ConstrainedError, match="different sizes"):
        LogitsProcessor([matcher(rising), RuleMatcher(rising, 80, (STOP,))])
    three = LogitsProcessor([matcher(rising), None, None])
    with pytest.raises(ConstrainedError, match="3 grammars cannot be shared out among 4 rows"):
        three(torch.zeros(4, 2, dtype=torch.long), torch.zeros(4, WIDTH))
    with pytest.raises(ConstrainedError, match="90 ids, the model scores only 64"):
        three(torch.zeros(3, 2, dtype=torch.long), torch.zeros(3, 64))
    with pytest.raises(ConstrainedError, match="expected ids"):
        three(torch.zeros(3, 2, dtype=torch.long), torch.zeros(2, WIDTH))
