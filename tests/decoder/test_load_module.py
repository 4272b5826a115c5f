# ruff: noqa: E402 - imports follow pytest.importorskip
"""A transformers model in memory: the same logits in this library's loop, with its tokenizer and chat template."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from constrained.decoder.errors import CheckpointError
from constrained.decoder.loaders.module import load_module
from tests.decoder.tiny_models import FAMILIES, make

KINDS = [name for name in FAMILIES if name in ("llama", "llama-tied", "qwen3", "gemma3", "mistral-window")]


@pytest.mark.parametrize("name", KINDS)
def test_the_same_logits(name: str) -> None:
    theirs = make(name)
    ours = load_module(theirs).model
    ids = torch.arange(5, 25).unsqueeze(0)
    cache = ours.new_cache(1, 32)
    out = ours(ids, cache=cache, slots=[cache.allocate()], lengths=[0], n_new=[20], logits_to_keep="all")
    with torch.inference_mode():
        torch.testing.assert_close(out.logits, theirs(ids).logits, atol=1e-4, rtol=1e-4)


def fast_tokenizer(template: Any = None) -> Any:
    vocab = {"<pad>": 0, "<s>": 1, "</s>": 2}
    for letter in sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())[:196]:
        vocab.setdefault(letter, len(vocab))
    bare = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, []))
    bare.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = tokenizers.decoders.ByteLevel()
    bare.add_special_tokens(["<pad>", "<s>", "</s>"])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=bare, bos_token="<s>", eos_token="</s>",
                                                     pad_token="<pad>")
    tokenizer.chat_template = template
    return tokenizer


def test_tokenizer_and_template() -> None:
    pytest.importorskip("jinja2")
    loaded = load_module(make("llama"), fast_tokenizer("{{ bos_token }}{{ messages[0].content }}"))
    assert loaded.tokenizer_info is not None and loaded.tokenizer_info.stop_token_ids == (2,)
    template = loaded.make_chat_template()
    assert template is not None and template.render([{"role": "user", "content": "hi"}]) == "<s>hi"


def test_what_is_no_model() -> None:
    with pytest.raises(CheckpointError, match="no transformers model"):
        load_module(object())
    with pytest.raises(CheckpointError, match="unknown model_type"):
        load_module(transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=1, n_embd=12, n_head=1, vocab_size=9)))


def test_an_llm_of_it() -> None:
    pytest.importorskip("pydantic")
    from constrained.typed.llm import LLM

    with LLM(make("llama"), tokenizer=fast_tokenizer("{{ messages[0].content }}"), max_len=64) as llm:
        result = llm.generate("hi", bool, temperature=1.0, schema_in_prompt=False)
        assert result.output in (True, False) and result.finish_reason == "stop"
