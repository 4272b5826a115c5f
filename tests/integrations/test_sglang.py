"""The SGLang backend over classes of its base classes' shape, and over the installed package where there is one."""

from __future__ import annotations

import sys
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

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
