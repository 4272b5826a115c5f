"""The vLLM backend and logits processor over classes of its base classes' shape.

``tests/integrations/test_vllm_cpu.py`` runs them inside vLLM itself where it is installed.
"""

from __future__ import annotations

import enum
import types
from abc import ABC, abstractmethod
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import constrained as cd

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")

from constrained.integrations import vllm as adapter  # noqa: E402


class Options(enum.Enum):
    JSON = enum.auto()
    JSON_OBJECT = enum.auto()
    REGEX = enum.auto()
    GRAMMAR = enum.auto()
    CHOICE = enum.auto()
    STRUCTURAL_TAG = enum.auto()


class BaseGrammar(ABC):
    @abstractmethod
    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool: ...

    @abstractmethod
    def validate_tokens(self, tokens: list[int]) -> list[int]: ...

    @abstractmethod
    def rollback(self, num_tokens: int) -> None: ...

    @abstractmethod
    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None: ...

    @abstractmethod
    def is_terminated(self) -> bool: ...

    @abstractmethod
    def reset(self) -> None: ...


@dataclass
class BaseBackend(ABC):
    vllm_config: Any
    tokenizer: Any
    vocab_size: int

    @abstractmethod
    def compile_grammar(self, request_type: Options, grammar_spec: str, stop_token_ids: Any = None) -> BaseGrammar: ...

    @abstractmethod
    def allocate_token_bitmask(self, max_num_seqs: int) -> Any: ...

    @abstractmethod
    def destroy(self) -> None: ...


CHARS = "abcdefghijklmnopqrstuvwxyz0123456789-{}\":, "
END, EXTRA_STOP, WIDTH = 60, 61, 64
CLOSED = '{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}'


def tokenizer() -> Any:
    vocab = {char: i for i, char in enumerate(CHARS)} | {"</s>": END, "<stop>": EXTRA_STOP}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[], unk_token=None))
    made.add_special_tokens(["</s>", "<stop>"])
    return made


def ids(text: str) -> list[int]:
    return [CHARS.index(char) for char in text]


def config(**structured: Any) -> Any:
    return types.SimpleNamespace(structured_outputs_config=types.SimpleNamespace(backend="auto", **structured),
                                 model_config=types.SimpleNamespace(get_vocab_size=lambda: WIDTH))


@pytest.fixture
def backend() -> Any:
    made: Any = adapter.make_backend(BaseBackend, BaseGrammar)
    return made(config(disable_any_whitespace=True), tokenizer=tokenizer(), vocab_size=WIDTH)


def allowed(grammar: Any, backend: Any) -> str:
    bitmask = backend.allocate_token_bitmask(3)
    grammar.fill_bitmask(bitmask, 1)
    assert (bitmask[0] == -1).all() and (bitmask[2] == -1).all()
    return "".join(char for i, char in enumerate(CHARS) if (int(bitmask[1, i // 32]) >> (i % 32)) & 1)


def test_a_request_from_first_to_last(backend: Any) -> None:
    grammar = backend.compile_grammar(Options.REGEX, r"\d{2}-ab", stop_token_ids={END, EXTRA_STOP})
    assert allowed(grammar, backend) == "0123456789"
    assert grammar.accept_tokens("r", ids("03"))
    assert grammar.validate_tokens(ids("-az")) == ids("-a")
    assert grammar.validate_tokens(ids("x")) == []
    assert not grammar.accept_tokens("r", ids("x"))
    assert allowed(grammar, backend) == "-"
    assert grammar.accept_tokens("r", ids("-ab"))
    assert not grammar.is_terminated()
    assert grammar.validate_tokens([EXTRA_STOP, END]) == [EXTRA_STOP]
    assert grammar.accept_tokens("r", [EXTRA_STOP, 5, 5])
    assert grammar.is_terminated()
    assert grammar.accept_tokens("r", [5])
    grammar.rollback(2)
    assert allowed(grammar, backend) == "b"
    grammar.reset()
    assert allowed(grammar, backend) == "0123456789"


@pytest.mark.parametrize(("kind", "spec", "good", "bad"), [
    (Options.JSON, CLOSED, '{"a": 12}', '{"b'),
    (Options.JSON_OBJECT, "", '{"a": 12}', "1"),
    (Options.GRAMMAR, 'root ::= "ab"+', "abab", "b"),
    (Options.CHOICE, '["yes", "no"]', "yes", "maybe"),
    (Options.STRUCTURAL_TAG, '{"type": "structural_tag", "format": {"type": "const_string", "value": "abc"}}',
     "abc", "b"),
])
def test_kinds(backend: Any, kind: Options, spec: str, good: str, bad: str) -> None:
    grammar = backend.compile_grammar(kind, spec)
    assert grammar.accept_tokens("r", [*ids(good), END]) and grammar.is_terminated()
    grammar = backend.compile_grammar(kind, spec)
    assert len(grammar.validate_tokens(ids(bad))) < len(bad)


def test_what_cannot_be_enforced_raises(backend: Any) -> None:
    with pytest.raises(cd.ConstrainedError, match="type"):
        backend.compile_grammar(Options.JSON, '{"type": "strin"}')
    with pytest.raises(cd.UnsatisfiableGrammarError):
        backend.compile_grammar(Options.REGEX, "[A-Z]")  # this vocabulary has no capital letters


# -- the patch ------------------------------------------------------------


@dataclass
class Params:
    """The shape of ``StructuredOutputsParams``."""

    json: Any = None
    regex: str | None = None
    choice: Any = None
    grammar: str | None = None
    json_object: bool | None = None
    structural_tag: str | None = None
    _backend: str | None = None
    _backend_was_auto: bool = False

    def all_constraints_none(self) -> bool:
        return all(value is None for value in (self.json, self.regex, self.choice, self.grammar, self.json_object,
                                               self.structural_tag))


def vllm_double() -> tuple[Any, Any]:
    class Manager:
        def __init__(self) -> None:
            self.backend: Any = None
            self.vllm_config = config(disable_any_whitespace=False)
            self.tokenizer = tokenizer()

        def grammar_init(self, request: Any) -> None:
            if request.structured_output_request is None:
                return
            assert self.backend is not None, "vLLM would make its own backend here"
            made: Future[Any] = Future()
            kind, spec = request.structured_output_request
            made.set_result(self.backend.compile_grammar(kind, spec, stop_token_ids={END}))
            request.grammar = made

    class SamplingParams:
        def __init__(self, asked: Params | None) -> None:
            self.structured_outputs = asked

        def _validate_structured_outputs(self, model_config: Any, structured: Any, tokens: Any) -> None:
            raise AssertionError("XGrammar would be asked here")

    adapter.install(Manager, SamplingParams, adapter.make_backend(BaseBackend, BaseGrammar))
    adapter.install(Manager, SamplingParams, adapter.make_backend(BaseBackend, BaseGrammar))
    return Manager, SamplingParams


def test_the_manager_makes_this_backend() -> None:
    manager_class, _ = vllm_double()
    manager = manager_class()
    manager.grammar_init(types.SimpleNamespace(structured_output_request=None))
    assert manager.backend is None
    request = types.SimpleNamespace(structured_output_request=(Options.REGEX, "a+"))
    manager.grammar_init(request)
    assert request.grammar.result().accept_tokens("r", ids("aa"))
    first = manager.backend
    manager.grammar_init(types.SimpleNamespace(structured_output_request=(Options.REGEX, "b+")))
    assert manager.backend is first


@pytest.mark.parametrize(("asked", "message"), [
    (None, None), (Params(), None), (Params(json={"type": "integer", "multipleOf": 3}), None),
    (Params(json='{"type": "a"}'), "type"), (Params(regex="a+"), None), (Params(regex="("), "group"),
    (Params(choice=["a", "b"]), None), (Params(choice=[]), "choices"), (Params(choice=[1]), "choices"),
    (Params(grammar='root ::= "a'), "line 1"), (Params(json_object=True), None),
    (Params(structural_tag="{}"), "structural|tag|format"),
])
def test_requests_are_checked_at_the_door(asked: Params | None, message: str | None) -> None:
    _, sampling_params = vllm_double()
    structured = types.SimpleNamespace(backend="auto")
    params = sampling_params(asked)
    if message is None:
        params._validate_structured_outputs(None, structured, tokenizer())
        if asked is not None and not asked.all_constraints_none():
            assert asked._backend == "auto" and asked._backend_was_auto
            with pytest.raises(ValueError, match="tokenizer"):
                params._validate_structured_outputs(None, structured, None)
    else:
        with pytest.raises(ValueError, match=message):
            params._validate_structured_outputs(None, structured, tokenizer())


def test_register_does_nothing_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, "", "0"):
        monkeypatch.delenv(adapter.SWITCH, raising=False)
        if value is not None:
            monkeypatch.setenv(adapter.SWITCH, value)
        adapter.register()  # would import vllm, which is not installed here
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'constrained = "constrained.integrations.vllm:register"' in project


# -- the logits processor ------------------------------------------------------------


class Direction(enum.Enum):
    UNIDIRECTIONAL = enum.auto()
    SWAP = enum.auto()


def processor(state: Any = None) -> Any:
    made: Any = object.__new__(adapter.make_processor())
    made.setup(tokenizer(), WIDTH, state)
    return made


def params(**extra: Any) -> Any:
    return types.SimpleNamespace(extra_args=extra or None)


def update(removed: Any = (), added: Any = (), moved: Any = ()) -> Any:
    return types.SimpleNamespace(removed=removed, added=added, moved=moved)


def letters(logits: Any, line: int) -> str:
    return "".join(char for i, char in enumerate(CHARS) if logits[line, i] == 0)


def test_v1_rows_come_go_and_move() -> None:
    one = processor()
    first: list[int] = []
    second: list[int] = []
    one.update_state(update(added=[(0, params(constrained_regex="ab*"), [1], first), (1, params(), [1], []),
                                   (2, params(constrained_choice='["no", "yes"]'), None, second)]))
    logits = one.apply(torch.zeros(3, WIDTH))
    assert [letters(logits, line) for line in range(3)] == ["a", CHARS, "ny"]
    first += ids("ab")
    second += ids("y")
    one.update_state(None)
    logits = one.apply(torch.zeros(3, WIDTH))
    assert letters(logits, 0) == "b" and logits[0, END] == 0 and letters(logits, 2) == "e"
    one.update_state(update(moved=[(0, 2, Direction.SWAP)]))
    logits = one.apply(torch.zeros(3, WIDTH))
    assert [letters(logits, line) for line in range(3)] == ["e", CHARS, "b"]
    one.update_state(update(removed=[0], moved=[(2, 0, Direction.UNIDIRECTIONAL)]))
    logits = one.apply(torch.zeros(2, WIDTH))
    assert [letters(logits, line) for line in range(2)] == ["b", CHARS]
    first.append(END)
    assert letters(one.apply(torch.zeros(2, WIDTH)), 0) == CHARS  # ended: what comes is thrown away
    one.update_state(update(added=[(0, params(), None, [])]))
    assert not one.rows
    assert one.is_argmax_invariant() is False


def test_v1_preempted_and_placeholders() -> None:
    one = processor()
    output = ids("aab")
    one.update_state(update(added=[(0, params(constrained_regex="a*b*"), None, output)]))
    assert letters(one.apply(torch.zeros(1, WIDTH)), 0) == "b"
    del output[2:]  # drafts taken back
    assert letters(one.apply(torch.zeros(1, WIDTH)), 0) == "ab"


@pytest.mark.parametrize(("token", "reason"), [(-1, "asynchronous scheduling"), (None, "overrules")])
def test_a_request_that_cannot_be_followed_ends_alone(token: int | None, reason: str,
                                                      caplog: pytest.LogCaptureFixture) -> None:
    one = processor()
    output, other = ids("a"), ids("a")
    one.update_state(update(added=[(0, params(constrained_regex="a*b*"), None, output),
                                   (1, params(constrained_regex="a*b*"), None, other)]))
    output.append(ids("z")[0] if token is None else token)
    for _ in range(2):
        logits = one.apply(torch.zeros(2, WIDTH))
        assert letters(logits, 0) == "" and logits[0, END] == 0 and letters(logits, 1) == "ab"
    assert reason in caplog.text


def test_a_grammar_that_this_vocabulary_cannot_spell_ends_alone(caplog: pytest.LogCaptureFixture) -> None:
    one = processor()
    one.validate_params(params(constrained_regex="\u00e9"))  # the vocabulary is not known there
    one.update_state(update(added=[(0, params(constrained_regex="\u00e9"), None, []),
                                   (1, params(constrained_regex="ab"), None, [])]))
    logits = one.apply(torch.zeros(2, WIDTH))
    assert letters(logits, 0) == "" and logits[0, END] == 0 and letters(logits, 1) == "a"
    assert "a constrained request ends" in caplog.text


def test_a_grammar_that_fails_ends_alone(backend: Any, caplog: pytest.LogCaptureFixture) -> None:
    from constrained.errors import GrammarLimitError

    class Failing(adapter.GrammarMatcher):
        def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
            raise GrammarLimitError("max_states", 1, 2)

    grammar = backend.compile_grammar(Options.REGEX, "ab")
    failing = type(grammar)(Failing(grammar.matcher.compiled))
    bitmask = backend.allocate_token_bitmask(2)
    failing.fill_bitmask(bitmask, 0)
    grammar.fill_bitmask(bitmask, 1)
    assert [i for i in range(WIDTH) if int(bitmask[0, i // 32]) >> (i % 32) & 1] == [END]
    assert [i for i in range(WIDTH) if int(bitmask[1, i // 32]) >> (i % 32) & 1] == ids("a")
    assert "max_states" in caplog.text


def test_v2_slots_and_drafts() -> None:
    state = types.SimpleNamespace(
        prompt_len=types.SimpleNamespace(np=torch.tensor([2, 1, 3]).numpy()),
        total_len=types.SimpleNamespace(gpu=torch.tensor([2, 1, 3], dtype=torch.int32)),
        all_token_ids=types.SimpleNamespace(gpu=torch.zeros(3, 16, dtype=torch.int32)))
    one = processor(state)
    assert one.add_request(0, params(constrained_regex="ab*c"))
    assert not one.add_request(1, params())
    assert one.add_request(2, params(constrained_grammar='root ::= "xyz"'))

    def context(slots: list[int], places: list[int], fed: list[int]) -> Any:
        return types.SimpleNamespace(expanded_idx_mapping=torch.tensor(slots), expanded_local_pos=torch.tensor(places),
                                     input_ids=torch.tensor(fed))

    logits = one.apply(torch.zeros(3, WIDTH), context([2, 1, 0], [0, 0, 0], [0, 0, 0]))
    assert [letters(logits, line) for line in range(3)] == ["x", CHARS, "a"]
    state.all_token_ids.gpu[0, 2:4] = torch.tensor(ids("ab"))
    state.total_len.gpu[0] = 4
    # slot 0 comes with the drafts b, c and a wrong one
    logits = one.apply(torch.zeros(5, WIDTH), context([0, 0, 0, 0, 2], [0, 1, 2, 3, 0], [*ids("bbcz"), 0]))
    assert [letters(logits, line) for line in range(5)] == ["bc", "bc", "", CHARS, "x"]
    assert logits[2, END] == 0
    assert letters(one.apply(torch.zeros(1, WIDTH), context([0], [0], ids("b"))), 0) == "bc"
    assert not one.add_request(0, params())
    assert letters(one.apply(torch.zeros(1, WIDTH), context([0], [0], [0])), 0) == CHARS


@pytest.mark.parametrize(("extra", "message"), [
    ({"constrained_regex": "("}, "group"),
    ({"constrained_regexp": "a"}, "unknown constraint 'constrained_regexp'"),
    ({"constrained_regex": "a", "constrained_choice": ["a"]}, "2 constraints"),
])
def test_bad_parameters(extra: dict[str, Any], message: str) -> None:
    one = processor()
    with pytest.raises(ValueError, match=message):
        one.validate_params(params(**extra))
    one.validate_params(params(other=1))
    one.validate_params(params())
