"""The SGLang backend over classes of its base classes' shape, and over the installed package where there is one."""

from __future__ import annotations

import sys
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

from constrained.errors import ConstrainedError  # noqa: E402
from constrained.integrations import sglang as adapter  # noqa: E402


class BaseGrammarObject:
    """The parts of sglang 0.5.23's class that the scheduler touches."""

    def __init__(self) -> None:
        self._finished = False
        self.grammar_stats = None
        self.current_token = None

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        pass

    def copy(self) -> Any:
        raise NotImplementedError

    def is_terminated(self) -> bool:
        return False


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message: str = "Unknown grammar error") -> None:
        super().__init__()
        self.error_message = error_message


class BaseGrammarBackend:
    def __init__(self) -> None:
        self.executor = ThreadPoolExecutor(1)
        self.cache: dict[tuple[str, str], Any] = {}

    def get_cached_or_future_value(self, key: tuple[str, str], require_reasoning: bool) -> tuple[Any, bool]:
        if key in self.cache:
            return self.cache[key].copy(), True
        return self.executor.submit(getattr(self, f"dispatch_{key[0]}"), key[1]), False

    def reset(self) -> None:
        self.cache.clear()


class Row(NamedTuple):
    row: int
    grammar: Any


def base_classes() -> list[Any]:
    found = [pytest.param((BaseGrammarBackend, BaseGrammarObject, InvalidGrammarObject), id="shape")]
    try:
        from sglang.srt.constrained import base_grammar_backend as base
    except Exception as error:  # importing it needs most of an installed engine
        mark = pytest.mark.skip(reason=f"sglang cannot be imported: {error}")
        found.append(pytest.param(None, id="sglang", marks=mark))
    else:
        classes = (base.BaseGrammarBackend, base.BaseGrammarObject, base.InvalidGrammarObject)
        found.append(pytest.param(classes, id="sglang"))
    return found


@pytest.fixture(params=base_classes())
def backend(request: pytest.FixtureRequest) -> Any:
    vocab = {chr(97 + i): i for i in range(26)} | {c: 26 + i for i, c in enumerate('{}":, 0123456789-')} | {"</s>": 60}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[], unk_token=None))
    tokenizer.add_special_tokens(["</s>"])
    return adapter.make_backend(*request.param)(tokenizer, 64, {60})


def ids(backend: Any, text: str) -> list[int]:
    info = backend.compiler.tokenizer_info
    return [next(i for i in range(info.vocab_size) if info.token_bytes(i) == char.encode()) for char in text]


def test_a_request_from_first_to_last(backend: Any) -> None:
    future, known = backend.get_cached_or_future_value(("regex", r"\d{2}-ab"), False)
    assert not known
    grammar = future.result()
    mask = grammar.allocate_vocab_mask(64, 2, "cpu")
    grammar.reset_vocab_mask(mask)
    assert (mask == -1).all()
    grammar.fill_vocab_mask_batched([Row(1, grammar)], mask)
    assert (mask[0] == -1).all()
    logits = torch.zeros(2, 64)
    grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
    allowed = [i for i in range(64) if logits[1, i] == 0]
    assert allowed == ids(backend, "0123456789")
    for token in ids(backend, "07"):
        grammar.accept_token(token)
    assert grammar.try_jump_forward(None) == ([], "-ab")
    assert grammar.jump_forward_str_state(([], "-ab")) == ("-ab", -1)
    old, new = ids(backend, "07"), ids(backend, "07-ab")
    grammar.jump_and_retokenize(old, new, -1)
    grammar.rollback(1)
    with pytest.raises(ValueError, match="not allowed here by the regex"):
        grammar.accept_token(ids(backend, "z")[0])
    grammar.accept_token(ids(backend, "b")[0])
    assert not grammar.is_terminated()
    grammar.accept_token(60)
    assert grammar.is_terminated()
    grammar.accept_token(3)  # SGLang goes on feeding finished requests
    other = grammar.copy()
    assert not other.is_terminated()
    other.accept_token(ids(backend, "1")[0])
    assert grammar.is_terminated()


@pytest.mark.parametrize(("kind", "key", "text"), [
    ("json", '{"type": "object", "properties": {"a": {"type": "integer"}}}', '{"a": 12}'),
    ("json", "$$ANY$$", "12"),
    ("ebnf", 'root ::= "ab"+', "abab"),
])
def test_kinds(backend: Any, kind: str, key: str, text: str) -> None:
    grammar = getattr(backend, f"dispatch_{kind}")(key)
    for token in ids(backend, text):
        grammar.accept_token(token)
    grammar.accept_token(60)
    assert grammar.is_terminated()


@pytest.mark.parametrize(("kind", "key"), [("json", '{"type": "strin"}'), ("regex", "("), ("ebnf", 'root ::= "a'),
                                           ("structural_tag", "{"), ("regex", "é")])
def test_what_cannot_be_enforced_is_an_invalid_grammar(backend: Any, kind: str, key: str) -> None:
    grammar = getattr(backend, f"dispatch_{kind}")(key)
    assert isinstance(grammar, backend.invalid_class)
    assert grammar.error_message


def test_masks_of_the_backend(backend: Any) -> None:
    """SGLang asks the backend itself where a request reasons first."""
    mask = backend.allocate_vocab_mask(64, 3, "cpu")
    assert mask.shape == (3, 2) and (mask == -1).all() and backend.is_support_token_filter
    backend.set_token_filter(mask, [0, 31, 32, 63, 31], 1)
    logits = torch.zeros(3, 64)
    backend.apply_vocab_mask(logits, backend.move_vocab_mask(mask, "cpu"))
    assert [i for i in range(64) if logits[1, i] == 0] == [0, 31, 32, 63] and (logits[[0, 2]] == 0).all()
    backend.set_token_filter(mask, [31, 40], 1, is_allowed=False, reset_vocab_mask=False)
    backend.set_token_filter(mask, [31, 40], 2, is_allowed=False)
    logits = torch.zeros(3, 64)
    backend.apply_vocab_mask(logits, mask)
    assert [i for i in range(64) if logits[1, i] == 0] == [0, 32, 63]
    assert [i for i in range(64) if logits[2, i] != 0] == [31, 40]


def test_a_request_that_was_moved_knows_its_token(backend: Any) -> None:
    grammar = backend.dispatch_regex("[0-9]+")
    assert grammar.current_token is None
    (token,) = ids(backend, "7")
    grammar.accept_token(token)
    assert grammar.current_token == token and grammar.copy().current_token is None


class TextTokenizer:
    """The parts of a transformers tokenizer that SGLang's reasoning wrapper touches."""

    def __init__(self, tokenizer: Any) -> None:
        self.backend_tokenizer = tokenizer

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return self.backend_tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, tokens: list[int], **_: Any) -> str:
        return self.backend_tokenizer.decode(tokens, skip_special_tokens=False)


@pytest.mark.parametrize("strict", [False, True])
def test_under_sglang_s_own_wrapper_for_reasoning(strict: bool) -> None:
    try:
        from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
        from sglang.srt.parser.reasoning_parser import ReasoningParser
    except Exception as error:
        pytest.skip(f"sglang cannot be imported: {error}")
    vocab = {chr(97 + i): i for i in range(26)} | {c: 26 + i for i, c in enumerate("<>/0123456789")} | {
        "<think>": 61, "</think>": 62, "</s>": 60}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[], unk_token=None))
    tokenizer.add_special_tokens(["</s>", "<think>", "</think>"])
    (classes,) = base_classes()[-1].values
    backend = adapter.make_backend(*classes)(tokenizer, 64, {60})
    parser = ReasoningParser(model_type="deepseek-r1", stream_reasoning=False, tokenizer=TextTokenizer(tokenizer))
    wrapped = ReasonerGrammarBackend(backend, parser, TextTokenizer(tokenizer), enable_strict_thinking=strict)
    future, _ = wrapped.get_cached_or_future_value(("regex", "[0-9]{2}"), True)
    grammar = future.result()
    mask = grammar.allocate_vocab_mask(64, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    assert strict or (mask == -1).all()  # it may think what it likes
    for token in ids(backend, "ab"):
        grammar.accept_token(token)
    grammar.accept_token(62)
    grammar.fill_vocab_mask(mask, 0)
    logits = torch.zeros(1, 64)
    grammar.apply_vocab_mask(logits, grammar.move_vocab_mask(mask, "cpu"))
    assert [i for i in range(64) if logits[0, i] == 0] == sorted(ids(backend, "0123456789"))
    for token in ids(backend, "42"):
        grammar.accept_token(token)
    grammar.accept_token(60)
    assert grammar.is_terminated()
    alone = wrapped.init_strict_reasoning_grammar(True)  # strict thinking without a constraint
    assert (alone is not None) == strict
    if alone is not None:
        mask = alone.allocate_vocab_mask(64, 1, "cpu")
        alone.fill_vocab_mask(mask, 0)
        alone.apply_vocab_mask(torch.zeros(1, 64), alone.move_vocab_mask(mask, "cpu"))


def test_options_that_this_backend_does_not_have() -> None:
    for option in ("constrained_json_whitespace_pattern", "constrained_json_max_whitespace_cnt"):
        with pytest.raises(ConstrainedError, match=option.replace("_", "-")):
            adapter.create(types.SimpleNamespace(**{option: 3}), None, 10)


def test_reset_forgets(backend: Any) -> None:
    backend.dispatch_regex("abc")
    assert backend.compiler.get_cache_size_bytes() > 0
    backend.reset()
    assert backend.compiler.get_cache_size_bytes() == 0


def test_register_only_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    choices = ["xgrammar"]
    for name in ("sglang", "sglang.srt", "sglang.srt.arg_groups", "sglang.srt.constrained"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    choice = types.ModuleType("sglang.srt.arg_groups.choices")
    choice.GRAMMAR_BACKEND_CHOICES, choice.add_grammar_backend_choices = choices, choices.extend  # type: ignore[attr-defined]
    base = types.ModuleType("sglang.srt.constrained.base_grammar_backend")
    base.register_grammar_backend = lambda name, make: calls.append((name, make))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, choice.__name__, choice)
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.delenv(adapter.SWITCH, raising=False)
    adapter.register()
    monkeypatch.setenv(adapter.SWITCH, "0")
    adapter.register()
    assert not calls
    monkeypatch.setenv(adapter.SWITCH, "1")
    adapter.register()
    adapter.register()
    assert calls == [("constrained", adapter.create)] * 2
    assert choices == ["xgrammar", "constrained"]
