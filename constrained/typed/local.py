"""This library's decoder behind a ``Call``: prompt ids, grammar, request; one service thread for all calls.

A call with ``thinking`` runs in two requests over one prompt: free text up to the end of the think section, then the
answer under its grammar; the second finds the first in the KV cache.
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.api.requests import grammar_of_request
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError, GrammarError
from constrained.toolcalls import (
    ArgumentsDelta,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallParser,
    ToolCallStart,
    detect_format,
    get_format,
)
from constrained.toolcalls import Event as ParserEvent
from constrained.typed.call import Call, Ending, Piece
from constrained.typed.errors import BudgetError, PromptError, SourceError
from constrained.typed.prompts import with_system, with_text
from constrained.typed.results import FinishReason, Usage
from constrained.typed.tool_prompts import (
    bounded_integers,
    knows_tools,
    plain_example,
    plain_messages,
    tool_instructions,
    with_parsed_arguments,
)

if TYPE_CHECKING:
    from constrained.decoder.loaders.load import LoadedModel
    from constrained.decoder.request import Completion, Request
    from constrained.decoder.sampling_params import SamplingParams
    from constrained.decoder.service import RequestHandle

__all__ = ["LocalEngine"]

MAX_QUEUE = 1 << 20
"""Calls that may wait: a batch of any size is one queue."""

PLAIN_TEMPLATE = ("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
                  "{% if add_generation_prompt %}assistant:{% endif %}")
"""For models without a chat template: the roles in words."""

MAX_TOOL_GRAMMARS = 64
"""Grammars of tools that are kept."""

THINK = ("<think>", "</think>")
MAX_THINKING = 512
"""Tokens of reasoning where ``thinking=True`` does not say how many."""


class LocalEngine:
    """A loaded model, its grammar compiler, and the thread that runs it."""

    def __init__(self, loaded: LoadedModel, *, max_batch: int, max_len: int | None, max_tokens: int,
                 tool_format: str | None = None) -> None:
        from constrained.decoder.chat_template import ChatTemplate
        from constrained.decoder.scheduler import Scheduler
        from constrained.decoder.service import DecoderService

        if loaded.tokenizer_info is None:
            raise SourceError("the model has no tokenizer", hint="give one: LLM(model, tokenizer=...)")
        self.info = loaded.tokenizer_info
        self.template = loaded.make_chat_template() or ChatTemplate(PLAIN_TEMPLATE)
        self.compiler = GrammarCompiler(self.info)
        self.tool_format = (get_format(tool_format) if tool_format is not None
                            else detect_format(loaded.chat_template, self.info.token_ids_by_text))
        self._tool_grammars: OrderedDict[Any, tuple[Any, Grammar]] = OrderedDict()
        self.described = loaded.source.name
        self._loaded = loaded
        longest = loaded.model.config.max_position
        if max_len is not None and not 0 < max_len <= longest:
            raise SourceError(f"max_len={max_len!r:.30}: this model reads from 1 to {longest} tokens")
        if max_batch < 1:
            raise SourceError(f"max_batch is a number of calls from 1 on, not {max_batch!r:.30}")
        self.max_tokens = max_tokens
        self.scheduler = Scheduler(loaded.model, self.info, max_batch=max_batch, max_len=max_len)
        self.service = DecoderService(self.scheduler, max_queue=MAX_QUEUE)

    def start(self, call: Call) -> LocalGeneration:
        """Raises what the prompt, the grammar or the scheduler refuses; ``BudgetError`` where no value fits."""
        if call.params.n > 1:
            raise PromptError(f"n={call.params.n} samples in one call",
                              hint="give generate_batch the prompt as often as wanted")
        if call.params.prompt_logprobs is not None:
            raise PromptError("a Result has no place for prompt_logprobs",
                              hint="constrained.decoder.generate gives them with its completions")
        return LocalGeneration(self, call, self.prompt_ids(call))

    def close(self) -> None:
        """Cancel what runs and end the thread."""
        self.service.close(drain=False)

    def prompt_ids(self, call: Call) -> list[int]:
        """Token ids of the prompt. Raises ``ChatTemplateError`` where the template refuses the messages."""
        from constrained.decoder.chat_template import encode_chat, encode_prompt_text

        bos = self._loaded.model.config.bos_token_id if self._loaded.add_bos_token else None
        begin = [] if bos is None else [bos]  # a template of the model's own writes it itself
        if call.messages is None:
            if isinstance(call.prompt, str):
                return begin + encode_prompt_text(self.info, call.prompt)
            return list(call.prompt or ())
        if self._loaded.chat_template is not None:
            begin = []
        options = dict(call.template_options)
        if call.thinking is not None or call.output is not None:
            options.setdefault("enable_thinking", bool(call.thinking))
        messages: Any = with_text(call.messages)
        tools: Any = list(call.tools) or None
        if not knows_tools(self.template.source):
            messages = plain_messages(messages, self.tool_format)
            if tools:  # also where none may be called now: the beginning of a conversation stays in the KV cache
                must = call.tool_choice not in ("auto", "none")
                text = tool_instructions(tools, self._example(call), must=must, typed=call.output is not None)
                messages = with_system(messages, text)
            tools = None
        else:
            messages = with_parsed_arguments(messages)
        return begin + encode_chat(self.template, self.info, messages, tools=tools, **options)

    def matcher(self, call: Call) -> GrammarMatcher | None:
        """A fresh matcher of what the call may write, None for free text.

        With tools and a type: tool calls, or a value; with tools alone: text with calls in it.
        """
        if not call.calls_tools and call.output is not None:
            return GrammarMatcher(self.compiler.compile_grammar(call.output.grammar))
        if not call.tools:
            return None
        return GrammarMatcher(self.compiler.compile_grammar(self._with_tools(call)))

    def _with_tools(self, call: Call) -> Grammar:
        key = (json.dumps([call.tools, call.tool_choice, call.parallel_tool_calls]),
               None if call.output is None or call.tool_choice != "auto" else id(call.output))
        held = self._tool_grammars.get(key)
        if held is None:
            choice = "required" if call.output is not None and call.tool_choice == "auto" else call.tool_choice
            tag = self.tool_format.structural_tag(bounded_integers(call.tools), tool_choice=choice,
                                                  parallel_tool_calls=call.parallel_tool_calls)
            grammar = grammar_of_request("structural_tag", json.dumps(tag), layout="line", tokenizer_info=self.info)
            if call.output is not None and call.tool_choice == "auto":
                grammar = grammar | call.output.grammar
            held = self._tool_grammars[key] = (call.output, grammar)  # held, so that its id stays its own
            if len(self._tool_grammars) > MAX_TOOL_GRAMMARS:
                self._tool_grammars.popitem(last=False)
        return held[1]

    def _example(self, call: Call) -> str:
        """The shortest call of the first tool, as the format has it."""
        tag = self.tool_format.structural_tag(call.tools[:1], tool_choice="required", parallel_tool_calls=False)
        try:
            compiled = self.compiler.compile_grammar(Grammar.from_structural_tag(tag))
            return GrammarMatcher(compiled).shortest_completion().decode("utf-8", "replace")
        except GrammarError:  # a delimiter that is a token only
            return plain_example(call.tools[0], self.tool_format)

    def parser(self, call: Call) -> ToolCallParser | None:
        """A parser for one generation, None where no tool may be called."""
        if not call.calls_tools:
            return None
        return self.tool_format.parser(call.tools, tool_choice=call.tool_choice)

    def check_budget(self, call: Call, matcher: GrammarMatcher | None) -> None:
        """Raises :class:`BudgetError` where no value fits into the call's tokens, whatever the prompt."""
        from constrained.decoder.budget import BudgetTooSmall, TokenBudget
        from constrained.decoder.guide import Guide, Legal

        if matcher is None or call.budget != "close":
            return
        guide = Guide(matcher, self.info.vocab_size, Legal(0, None, None))
        try:
            TokenBudget(self.info, guide, call.params.max_tokens or self.max_tokens)
        except BudgetTooSmall as error:
            raise BudgetError(error.needed, error.available) from None

    def params(self, call: Call, **changes: Any) -> SamplingParams:
        """What a request of a call is sampled with."""
        params = call.params if call.params.max_tokens else call.params.updated(max_tokens=self.max_tokens)
        if call.calls_tools:  # delimiters may be control tokens: the parser reads them
            changes.setdefault("skip_special_tokens", False)
        return params.updated(**changes)

    def submit(self, prompt: list[int], params: SamplingParams, call: Call,
               matcher: GrammarMatcher | None) -> RequestHandle:
        """Queue one request. Raises as ``start``."""
        from constrained.decoder.budget import BudgetTooSmall
        from constrained.decoder.request import Request

        request: Request = Request(prompt_ids=prompt, params=params, matcher=matcher, budget=call.budget)
        try:
            return self.service.submit(request)
        except BudgetTooSmall as error:
            raise BudgetError(error.needed, error.available) from None


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a generation: what it was asked, and whether its text is a think section."""

    prompt: list[int]
    params: SamplingParams
    thinking: bool


class LocalGeneration:
    """A call that the service runs. ``parts`` are its requests so far: the think section, then the answer."""

    held = True

    def __init__(self, engine: LocalEngine, call: Call, prompt: list[int]) -> None:
        self._engine = engine
        self._call = call
        self._prompt = prompt
        self.parts: list[Part] = []
        self._guard = threading.Lock()
        self._cancelled = False
        self._matcher = engine.matcher(call)
        self._ending: Ending | None = None
        self._usage = Usage(requests=0)
        self._thinks = bool(call.thinking)
        begin, self._think_end = engine.tool_format.think or THINK
        opened = self._ends_with(begin)  # by a template that always thinks
        if self._thinks:
            tokens = call.thinking if not isinstance(call.thinking, bool) and call.thinking else MAX_THINKING
            engine.check_budget(call, self._matcher)
            if not opened:
                self._prompt = prompt + self._encoded(begin + "\n")
            left = engine.scheduler.cache.max_len - len(self._prompt)
            value = min(call.params.max_tokens or engine.max_tokens, left // 2)  # kept for the answer
            tokens = max(1, min(tokens, left - value))
            self._handle = self._submit(thinking=True, stop=(self._think_end,), stop_token_ids=(), logprobs=None,
                                        raw_logprobs=False, min_tokens=0, include_stop=False, max_tokens=tokens,
                                        ignore_eos=False, skip_special_tokens=False)
        else:
            if opened and call.output is not None:
                self._prompt = prompt + self._encoded(f"\n{self._think_end}\n\n")
            self._handle = self._submit()

    def _submit(self, *, thinking: bool = False, **changes: Any) -> RequestHandle:
        params = self._engine.params(self._call, **changes)
        handle = self._engine.submit(self._prompt, params, self._call, None if thinking else self._matcher)
        self.parts.append(Part(self._prompt, params, thinking))
        return handle

    def _ends_with(self, text: str) -> bool:
        """Whether the prompt ends with ``text``, and perhaps a line break."""
        try:
            endings = self._encoded(text), self._encoded(text + "\n")
        except ConstrainedError:  # this tokenizer cannot write it
            return False
        return any(self._prompt[-len(ids) :] == ids for ids in endings)

    def __iter__(self) -> Iterator[Piece]:
        if self._thinks:
            for event in self._handle:
                yield Piece(reasoning=event.text, token_ids=event.token_ids)
            done = self._handle.completion
            self._usage += _usage(done)
            if done.finish_reason in ("cancelled", "error", "time"):
                self._ending = self._end(done)
                return
            self._prompt = self._prompt + self._thoughts(done)
            try:
                with self._guard:
                    self._handle = self._submit()
                    if self._cancelled:
                        self._handle.cancel()
            except ConstrainedError as error:  # the thoughts fill the context
                self._ending = Ending("error", dataclasses.replace(self._usage, requests=1), error=error)
                return
        parser = self._engine.parser(self._call)
        for event in self._handle:
            piece = Piece(text=event.text, token_ids=event.token_ids, forced=event.forced, forced_at=event.forced_at,
                          steered_at=event.steered_at, logprobs=event.logprobs)
            if parser is None:
                yield piece
            else:
                yield dataclasses.replace(piece, text="")
                for part in parser.feed(event.text.encode("utf-8", "surrogatepass")):
                    yield _piece(part)
        done = self._handle.completion
        if parser is not None:
            for part in parser.finish():
                yield _piece(part)
        self._usage += _usage(done)
        self._ending = self._end(done)

    def _thoughts(self, done: Completion) -> list[int]:
        """The tokens of the think section as they were written, closed where the model did not close it."""
        if done.stop_reason == self._think_end:
            return [*done.token_ids, *self._encoded("\n\n")]
        ids = done.token_ids[:-1] if isinstance(done.stop_reason, int) else done.token_ids
        return [*ids, *self._encoded(f"\n{self._think_end}\n\n")]

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
        reason: FinishReason = done.finish_reason
        limit = self._call.params.max_tokens or self._engine.max_tokens
        if reason == "stop" and self._call.output is None and done.stop_reason is None and len(done.token_ids) >= limit:
            reason = "length"  # free text with tools may end anywhere, so its grammar calls this an end
        return Ending(reason, dataclasses.replace(self._usage, requests=1), done.token_ids, done.logprobs,
                      done.seed, done.error)

    def _encoded(self, text: str) -> list[int]:
        from constrained.decoder.chat_template import encode_prompt_text

        return encode_prompt_text(self._engine.info, text)


def _piece(part: ParserEvent) -> Piece:
    match part:
        case TextDelta(text):
            return Piece(text=text)
        case ReasoningDelta(text):
            return Piece(reasoning=text)
        case ToolCallStart(index, name):
            return Piece(call=index, name=name)
        case ArgumentsDelta(index, text):
            return Piece(call=index, arguments=text)
        case ToolCallEnd(index, _, _):
            return Piece(call=index, closed=True)


def _usage(done: Completion) -> Usage:
    u = done.usage
    return Usage(u.prompt_tokens, u.cached_tokens, u.output_tokens, u.forced_tokens, u.forward_passes)
