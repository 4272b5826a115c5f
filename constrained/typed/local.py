"""This library's decoder behind a ``Call``: prompt ids, grammar, request; one service thread for all calls.

A call with ``thinking`` runs in two requests over one prompt: free text up to the end of the think section, then the
answer under its grammar; the second finds the first in the KV cache.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from constrained.api.compiler import GrammarCompiler
from constrained.engine.matcher import GrammarMatcher
from constrained.typed.call import Call, Ending, Piece
from constrained.typed.errors import BudgetError, PromptError, SourceError
from constrained.typed.results import Usage

if TYPE_CHECKING:
    from constrained.decoder.chat_template import ChatTemplate
    from constrained.decoder.loaders.load import LoadedModel
    from constrained.decoder.request import Completion, Request
    from constrained.decoder.service import RequestHandle

__all__ = ["LocalEngine"]

MAX_QUEUE = 1 << 20
"""Calls that may wait: a batch of any size is one queue."""

THINK = ("<think>", "</think>")
MAX_THINKING = 512
"""Tokens of reasoning where ``thinking=True`` does not say how many."""


class LocalEngine:
    """A loaded model, its grammar compiler, and the thread that runs it."""

    def __init__(self, loaded: LoadedModel, *, max_batch: int, max_len: int | None, max_tokens: int) -> None:
        from constrained.decoder.scheduler import Scheduler
        from constrained.decoder.service import DecoderService

        if loaded.tokenizer_info is None:
            raise SourceError("the model has no tokenizer", hint="give one: LLM(model, tokenizer=...)")
        self.info = loaded.tokenizer_info
        self.template: ChatTemplate | None = loaded.make_chat_template()
        self.compiler = GrammarCompiler(self.info)
        self.described = loaded.source.name
        self._loaded = loaded
        self._max_tokens = max_tokens
        self.scheduler = Scheduler(loaded.model, self.info, max_batch=max_batch, max_len=max_len)
        self.service = DecoderService(self.scheduler, max_queue=MAX_QUEUE)

    def start(self, call: Call) -> LocalGeneration:
        """Raises what the prompt, the grammar or the scheduler refuses; ``BudgetError`` where no value fits."""
        if call.params.n > 1:
            raise PromptError(f"n={call.params.n} samples in one call",
                              hint="give generate_batch the prompt as often as wanted")
        return LocalGeneration(self, call, self.prompt_ids(call))

    def close(self) -> None:
        """Cancel what runs and end the thread."""
        self.service.close(drain=False)

    def prompt_ids(self, call: Call) -> list[int]:
        """Token ids of the prompt. Raises :class:`PromptError` where the model has no chat template."""
        from constrained.decoder.chat_template import encode_chat, encode_prompt_text

        if call.messages is None:
            ids = encode_prompt_text(self.info, call.prompt) if isinstance(call.prompt, str) else list(
                call.prompt or ())
            bos = self._loaded.model.config.bos_token_id
            if isinstance(call.prompt, str) and self._loaded.add_bos_token and bos is not None:
                ids.insert(0, bos)
            return ids
        if self.template is None:
            raise PromptError("this model has no chat template", hint="write the whole prompt and pass raw=True")
        options = dict(call.template_options)
        if call.thinking is not None or call.output is not None:
            options.setdefault("enable_thinking", bool(call.thinking))
        return encode_chat(self.template, self.info, call.messages, tools=list(call.tools) or None, **options)

    def matcher(self, call: Call) -> GrammarMatcher | None:
        """A fresh matcher of what the call may write, None for free text."""
        if call.output is None:
            return None
        return GrammarMatcher(self.compiler.compile_grammar(call.output.grammar))

    def submit(self, prompt: list[int], call: Call, matcher: GrammarMatcher | None, **changes: Any) -> RequestHandle:
        """Queue one request. Raises as ``start``."""
        from constrained.decoder.budget import BudgetTooSmall
        from constrained.decoder.request import Request

        params = call.params if call.params.max_tokens else call.params.updated(max_tokens=self._max_tokens)
        request: Request = Request(prompt_ids=prompt, params=params.updated(**changes), matcher=matcher,
                                   budget=call.budget)
        try:
            return self.service.submit(request)
        except BudgetTooSmall as error:
            raise BudgetError(error.needed, error.available) from None


class LocalGeneration:
    """A call that the service runs."""

    def __init__(self, engine: LocalEngine, call: Call, prompt: list[int]) -> None:
        self._engine = engine
        self._call = call
        self._prompt = prompt
        self._guard = threading.Lock()
        self._cancelled = False
        self._matcher = engine.matcher(call)
        self._ending: Ending | None = None
        self._usage = Usage(requests=0)
        self._thinks = bool(call.thinking)
        if self._thinks:
            tokens = call.thinking if not isinstance(call.thinking, bool) and call.thinking else MAX_THINKING
            self._prompt = prompt + self._encoded(THINK[0] + "\n")
            self._handle = engine.submit(self._prompt, call, None, stop=(THINK[1],), stop_token_ids=(), logprobs=None,
                                         raw_logprobs=False, min_tokens=0, include_stop=False, max_tokens=tokens,
                                         ignore_eos=False)
        else:
            self._handle = engine.submit(self._prompt, call, self._matcher)

    def __iter__(self) -> Iterator[Piece]:
        if self._thinks:
            for event in self._handle:
                if event.text:
                    yield Piece(reasoning=event.text, token_ids=event.token_ids)
            done = self._handle.completion
            self._usage += _usage(done)
            if done.finish_reason in ("cancelled", "error", "time"):
                self._ending = self._end(done)
                return
            self._prompt += self._encoded(done.text.rstrip() + "\n" + THINK[1] + "\n\n")
            with self._guard:
                self._handle = self._engine.submit(self._prompt, self._call, self._matcher)
                if self._cancelled:
                    self._handle.cancel()
        for event in self._handle:
            yield Piece(text=event.text, token_ids=event.token_ids, forced=event.forced, logprobs=event.logprobs)
        done = self._handle.completion
        self._usage += _usage(done)
        self._ending = self._end(done)

    def cancel(self) -> None:
        """End it before the next step."""
        with self._guard:
            self._cancelled = True
            self._handle.cancel()

    @property
    def ending(self) -> Ending:
        """After the last piece."""
        assert self._ending is not None
        return self._ending

    def _end(self, done: Completion) -> Ending:
        return Ending(done.finish_reason, dataclasses.replace(self._usage, requests=1), done.token_ids, done.logprobs,
                      done.seed, done.error)

    def _encoded(self, text: str) -> list[int]:
        from constrained.decoder.chat_template import encode_prompt_text

        return encode_prompt_text(self._engine.info, text)


def _usage(done: Completion) -> Usage:
    u = done.usage
    return Usage(u.prompt_tokens, u.cached_tokens, u.output_tokens, u.forced_tokens, u.forward_passes)
