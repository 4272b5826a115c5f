"""``generate`` under this library's own grammars: tiny random models by default, SmolLM2 nightly where it is here."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.frontends.ebnf import from_ebnf
from constrained.frontends.regex import from_regex
from constrained.vocabulary import TokenizerInfo
from tests.vocabulary.sources import smollm2_path

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from constrained.integrations.transformers import LogitsProcessor  # noqa: E402

WORDS = [b"ab", b"12", b"-0", b"true", b"false", b'{"', b'":', b'",', b"  ", b"\n", "é".encode(), b"null"]
STOP, PAD = 256 + len(WORDS), 256 + len(WORDS) + 1
WIDTH = 288
INFO = TokenizerInfo.from_bytes([*(bytes([i]) for i in range(256)), *WORDS, b"", b""], vocab_size=WIDTH,
                                special_token_ids=[STOP, PAD], stop_token_ids=[STOP])
DATE = r"[12][0-9]{3}-(0[1-9]|1[0-2])-[0-3][0-9]"
NUMBERS = r"\[(-?[0-9]{1,3}(, -?[0-9]{1,3}){0,4})?\]"
JSON = r'''
root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (string ":" value ("," string ":" value){0,2})? "}"
array ::= "[" (value ("," value){0,2})? "]"
string ::= "\"" [^"\\\x00-\x1f]{0,6} "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,3})
'''


def tiny_model(seed: int) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512, bos_token_id=PAD, eos_token_id=STOP, pad_token_id=PAD,
        initializer_range=0.5)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(0)


@pytest.fixture(scope="module")
def grammars() -> dict[str, CompiledGrammar]:
    return {"date": compile_rules(from_regex(DATE), INFO), "numbers": compile_rules(from_regex(NUMBERS), INFO),
            "json": compile_rules(from_ebnf(JSON), INFO)}


def text_of(row: list[int]) -> tuple[bytes, bool]:
    """The text of generated ids, and whether it has ended."""
    ended = STOP in row
    ids = row[: row.index(STOP)] if ended else row
    return b"".join(INFO.token_bytes(i) for i in ids), ended


def check(name: str, row: list[int], grammar: CompiledGrammar) -> None:
    text, ended = text_of(row)
    if not ended:
        assert GrammarMatcher(grammar).accept_string(text)
    elif name == "json":
        json.loads(text)
    else:
        assert re.fullmatch(DATE if name == "date" else NUMBERS, text.decode())


def run(model: Any, rows: int, processor: Any, **options: Any) -> list[list[int]]:
    ids = torch.randint(32, 127, (rows, 6), generator=torch.Generator().manual_seed(9))
    output = model.generate(ids, attention_mask=torch.ones_like(ids), logits_processor=[processor], max_new_tokens=40,
                            **{"do_sample": False, **options})
    return [row[6:].tolist() for row in output]


MODES: dict[str, dict[str, Any]] = {
    "greedy": {}, "sampling": {"do_sample": True, "temperature": 1.5}, "top-k": {"do_sample": True, "top_k": 5},
    "beams": {"num_beams": 4}, "beam sampling": {"num_beams": 3, "do_sample": True},
    "several": {"do_sample": True, "num_return_sequences": 2},
}


@pytest.mark.parametrize("mode", sorted(MODES))
def test_a_batch_of_different_grammars(model: Any, grammars: dict[str, CompiledGrammar], mode: str) -> None:
    torch.manual_seed(5)
    names = ["date", None, "json", "numbers"]
    processor = LogitsProcessor([None if name is None else grammars[name] for name in names])
    rows = run(model, 4, processor, **MODES[mode])
    each = len(rows) // 4
    for i, row in enumerate(rows):
        name = names[i // each]
        if name is not None:
            check(name, row, grammars[name])
            assert text_of(row)[1] or name == "json"


@pytest.mark.parametrize("name", ["date", "numbers", "json"])
def test_drafts_change_nothing(model: Any, grammars: dict[str, CompiledGrammar], name: str) -> None:
    greedy = run(model, 1, LogitsProcessor(grammars[name]))
    check(name, greedy[0], grammars[name])
    assert run(model, 1, LogitsProcessor(grammars[name]), prompt_lookup_num_tokens=4) == greedy
    for seed in (0, 1):
        assistant = tiny_model(seed)
        assistant.generation_config.num_assistant_tokens = 5
        assistant.generation_config.assistant_confidence_threshold = 0.0
        assert run(model, 1, LogitsProcessor(grammars[name]), assistant_model=assistant) == greedy


def test_a_matcher_under_way_is_a_start(model: Any, grammars: dict[str, CompiledGrammar]) -> None:
    matcher = GrammarMatcher(grammars["date"])
    assert matcher.accept_string("1815-12-")
    text, ended = text_of(run(model, 1, LogitsProcessor(matcher))[0])
    assert ended and re.fullmatch("[0-3][0-9]", text.decode())


def test_the_outlines_backend_gives_the_same(model: Any, grammars: dict[str, CompiledGrammar]) -> None:
    pytest.importorskip("outlines_core")
    from constrained.integrations.outlines_core import OutlinesCompiler

    theirs = OutlinesCompiler(INFO).compile_regex(DATE)
    for options in ({}, {"num_beams": 3}):
        assert run(model, 2, LogitsProcessor(theirs), **options) == run(
            model, 2, LogitsProcessor(grammars["date"]), **options)


@pytest.mark.skipif(os.environ.get("CONSTRAINED_NIGHTLY", "") in ("", "0"), reason="loads a real model: nightly")
def test_smollm2_writes_what_the_grammar_says() -> None:
    pytest.importorskip("accelerate")  # transformers reads GGUF files with it
    path = smollm2_path()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name).eval()
    info = TokenizerInfo.from_gguf(path, vocab_size=model.config.vocab_size)
    person = compile_rules(from_ebnf(
        'root ::= "{\\"name\\": \\"" [A-Z] [a-z]+ "\\", \\"age\\": " [1-9] [0-9]? "}"'), info)
    city = compile_rules(from_regex(r"The capital of France is (Paris|London|Rome)\."), info)
    tokenizer.padding_side = "left"
    prompts = [tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False,
                                             add_generation_prompt=True)
               for text in ("Describe Alice, who is 30 years old, as JSON.", "What is the capital of France?")]
    batch = tokenizer(prompts, return_tensors="pt", padding=True)

    def answers(**options: Any) -> list[str]:
        output = model.generate(**batch, logits_processor=[LogitsProcessor([person, city])], max_new_tokens=40,
                                pad_token_id=tokenizer.eos_token_id, **options)
        return tokenizer.batch_decode(output[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)

    described, capital = answers(do_sample=True, temperature=2.0)
    assert set(json.loads(described)) == {"name", "age"}
    assert capital.startswith("The capital of France is ")
    described, capital = answers(do_sample=False)
    assert json.loads(described) == {"name": "Alice", "age": 30}
    assert capital == "The capital of France is Paris."
