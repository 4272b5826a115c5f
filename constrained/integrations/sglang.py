"""A grammar backend for SGLang (0.5): ``--grammar-backend constrained``.

SGLang calls the functions of the entry point group ``sglang.srt.plugins`` in every process; ``register`` adds this
backend to its registry, and its name to the choices of the command line. Installing the package must not change a
server, so it does so only where ``CONSTRAINED_SGLANG=1`` is set.

The adapter is duck-typed against ``BaseGrammarBackend`` and ``BaseGrammarObject`` of
``sglang.srt.constrained.base_grammar_backend``; the classes are made when SGLang is there to inherit from
(``make_backend``), and their bodies are tested against those of the installed package.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, cast

from constrained.api.compiler import GrammarCompiler
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.integrations.protocol import fill_or_end
from constrained.integrations.requests import compile_request
from constrained.masks import allocate_token_bitmask, apply_token_bitmask_inplace, reset_token_bitmask
from constrained.vocabulary import TokenizerInfo

if TYPE_CHECKING:
    import torch

__all__ = ["NAME", "SWITCH", "make_backend", "register"]

NAME = "constrained"
SWITCH = "CONSTRAINED_SGLANG"

ANY_JSON = "$$ANY$$"
"""What SGLang writes for ``json_object``; there it means any JSON value."""


class Masks:
    """What SGLang does with bitmasks (int32 ``[batch, ceil(V / 32)]``). It asks requests for it, and the backend where
    a request that still reasons has no grammar yet."""

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: object) -> torch.Tensor:
        """On the CPU, all allowed."""
        return cast("torch.Tensor", allocate_token_bitmask(batch_size, vocab_size))

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        apply_token_bitmask_inplace(logits, vocab_mask)

    @staticmethod
    def set_token_filter(vocab_mask: torch.Tensor, token_ids: Iterable[int], batch_idx: int, is_allowed: bool = True,
                         reset_vocab_mask: bool = True) -> None:
        """Allow or forbid these ids in a row; with ``reset_vocab_mask`` the others become the opposite."""
        row = vocab_mask[batch_idx]
        if reset_vocab_mask:
            row.fill_(0 if is_allowed else -1)
        for token in token_ids:
            bit = 1 << (token & 31)
            bit = bit - (1 << 32) if bit >> 31 else bit
            word = int(row[token >> 5])
            row[token >> 5] = word | bit if is_allowed else word & ~bit


class GrammarObject(Masks):
    """One request's matcher. Mixed in before ``BaseGrammarObject``."""

    def __init__(self, matcher: GrammarMatcher, key: tuple[str, str]) -> None:
        super().__init__()
        self.matcher = matcher
        self.key = key

    def accept_token(self, token: int) -> None:
        """Raises ValueError, which SGLang turns into an aborted request, for a token that is not allowed."""
        if not self.matcher.is_terminated() and not self.matcher.accept_token(token):
            raise ValueError(f"token {token} is not allowed here by the {self.key[0]} of the request")
        self.current_token = token  # None tells SGLang that a request moved here has not accepted its token yet

    def rollback(self, k: int) -> None:
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        return self.matcher.is_terminated()

    def copy(self) -> Any:
        """A matcher at the start: SGLang copies cached grammars for new requests."""
        fresh = self.matcher.fork()
        fresh.reset()
        return type(self)(fresh, self.key)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        fill_or_end(self.matcher, vocab_mask, idx)

    @staticmethod
    def fill_vocab_mask_batched(entries: Iterable[Any], vocab_mask: torch.Tensor) -> None:
        """Rows of many requests. Rows that are not listed stay as they are."""
        for row, grammar in entries:
            grammar.fill_vocab_mask(vocab_mask, row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        reset_token_bitmask(vocab_mask)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        text = self.matcher.find_jump_forward_string()
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """The output was tokenised anew with the forced text: go back to where the ids part, and on from there."""
        shared = 0
        for old, new in zip(old_output_ids, new_output_ids, strict=False):
            if old != new:
                break
            shared += 1
        self.matcher.rollback(len(old_output_ids) - shared)
        if self.matcher.accept_tokens(new_output_ids[shared:]) < len(new_output_ids) - shared:
            raise ValueError("the text tokenised anew does not fit the grammar")


class GrammarBackend(Masks):
    """Compiles the requests' grammars, in SGLang's threads. Mixed in before ``BaseGrammarBackend``."""

    grammar_class: type[GrammarObject]
    invalid_class: Any
    is_support_token_filter = True
    """``set_token_filter`` works: SGLang's strict thinking needs it."""

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Collection[int] | None = None, *,
                 any_whitespace: bool = True) -> None:
        super().__init__()
        stops = sorted(eos_token_ids) if eos_token_ids else None
        info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=vocab_size, stop_token_ids=stops)
        self.compiler = GrammarCompiler(info)
        self.any_whitespace = any_whitespace

    def _compile(self, kind: str, key: str) -> Any:
        try:
            compiled = compile_request(self.compiler, kind, key, any_whitespace=self.any_whitespace)
        except ConstrainedError as error:
            return self.invalid_class(str(error))
        return self.grammar_class(GrammarMatcher(compiled), (kind, key))

    def dispatch_json(self, key_string: str) -> Any:
        return self._compile("json", "true" if key_string == ANY_JSON else key_string)

    def dispatch_regex(self, key_string: str) -> Any:
        return self._compile("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> Any:
        return self._compile("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> Any:
        return self._compile("structural_tag", key_string)

    def reset(self) -> None:
        super().reset()  # type: ignore[misc]
        self.compiler.clear_cache()


def make_backend(base_backend: type, base_object: type, invalid_object: type) -> type[GrammarBackend]:
    """The backend class over SGLang's own base classes."""
    grammar = type("ConstrainedGrammar", (GrammarObject, base_object), {})
    return type("ConstrainedGrammarBackend", (GrammarBackend, base_backend),
                {"grammar_class": grammar, "invalid_class": invalid_object})


def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Collection[int] | None = None) -> Any:
    """What SGLang's registry calls. It leaves the wrapper for reasoning parsers to registered backends: put on here.

    Raises:
        TokenizerError: the tokenizer cannot be read.
        ConstrainedError: an option asks for a layout of JSON that this backend does not write.
    """
    for option in ("constrained_json_whitespace_pattern", "constrained_json_max_whitespace_cnt"):
        if getattr(server_args, option, None) is not None:
            raise ConstrainedError(f"--{option.replace('_', '-')} is not supported by this grammar backend",
                                   hint="--constrained-json-disable-any-whitespace")
    from sglang.srt.constrained import base_grammar_backend as base

    backend_class = make_backend(base.BaseGrammarBackend, base.BaseGrammarObject, base.InvalidGrammarObject)
    any_whitespace = not getattr(server_args, "constrained_json_disable_any_whitespace", False)
    backend: Any = backend_class(tokenizer, vocab_size, eos_token_ids, any_whitespace=any_whitespace)
    reasoning = getattr(server_args, "reasoning_parser", None)
    if reasoning:
        from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
        from sglang.srt.parser.reasoning_parser import ReasoningParser

        parser = ReasoningParser(model_type=reasoning, stream_reasoning=False, tokenizer=tokenizer)
        backend = ReasonerGrammarBackend(
            backend, parser, tokenizer,
            enable_strict_thinking=getattr(server_args, "enable_strict_thinking", False))
    return backend


def register() -> None:
    """Entry point ``sglang.srt.plugins``: registers the backend where ``CONSTRAINED_SGLANG=1``, else does nothing."""
    if os.environ.get(SWITCH, "") in ("", "0"):
        return
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    register_grammar_backend(NAME, create)
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
