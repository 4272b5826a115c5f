# ruff: noqa: E402 - imports follow pytest.importorskip
"""The logit lens: the last layer is the model, the others are transformers' hidden states through norm and head."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from constrained import GrammarCompiler, GrammarMatcher
from constrained.decoder.lens import logit_lens
from constrained.decoder.sampling_params import RequestError
from tests.decoder.test_scheduler import INFO, Loaded, prompts


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return Loaded("llama", tmp_path_factory.mktemp("llama-lens"))


def test_layers_are_those_of_transformers(llama) -> None:
    tokens = prompts(1, seed=51)[0]
    with torch.inference_mode():
        hidden = llama.reference(torch.tensor([tokens]), output_hidden_states=True).hidden_states
        norm, head = llama.reference.model.norm, llama.reference.lm_head
        views = logit_lens(llama.model, tokens, last=2, top=3)
        assert [(v.layer, v.position) for v in views] == [
            (layer, len(tokens) - 2 + row) for layer in range(4) for row in range(2)]
        for view in views:
            state = hidden[view.layer][0, view.position]
            logits = head(state if view.layer == 3 else norm(state))  # transformers norms the last one itself
            expected = logits.softmax(-1).topk(3)
            assert [i for i, _ in view.top] == expected.indices.tolist()
            assert [p for _, p in view.top] == pytest.approx(expected.values.tolist(), abs=1e-5)


def test_a_matcher_removes_what_is_illegal(llama) -> None:
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_regex("(ab|12)+"))
    for view in logit_lens(llama.model, [5, 6, 7], matcher=matcher, layers=[0, 2]):
        assert view.top and all(INFO.token_bytes(i) in (b"a", b"ab", b"abc"[:2], b"1", b"12") for i, _ in view.top)


def test_bad_requests(llama) -> None:
    for tokens, options in (([], {}), ([999], {}), ([5], {"layers": [4]}), ([5], {"last": 2}), ([5], {"top": 0})):
        with pytest.raises(RequestError):
            logit_lens(llama.model, tokens, **options)
