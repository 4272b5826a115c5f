"""``Engine``: one loaded model with everything a request needs: prompt, grammar, slot.

    messages -> template -> token ids (a thread)      constraint -> CompileService -> matcher
                         \\___________________ DecoderService.submit ___________________/ -> handle

Everything but decoding, template rendering and tokenising runs in the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from constrained.decoder.chat_template import ChatTemplate, encode_chat
from constrained.decoder.detokenizer import TokenText
from constrained.decoder.loaders.load import LoadedModel
from constrained.decoder.request import Budget, Request
from constrained.decoder.sampling_params import SamplingParams
from constrained.decoder.scheduler import Scheduler
from constrained.decoder.service import DecoderService, RequestHandle
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.server.compiling import Compiled, CompileService
from constrained.server.constraint import Constraint
from constrained.server.conversation_store import ConversationStore
from constrained.server.metrics import Metrics
from constrained.server.problems import ApiError, bad_request, from_library
from constrained.server.response_store import ResponseStore
from constrained.server.settings import ServerSettings
from constrained.server.tools import Tools, format_of, in_words
from constrained.vocabulary import TokenizerInfo

__all__ = ["Engine"]

PLAIN_TEMPLATE = ("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
                  "{% if add_generation_prompt %}assistant:{% endif %}")
"""For models without a chat template: the roles in words."""
MAX_CLOSING_BYTES = 2_048
"""Texts whose shortest form is longer are cut at the token limit whatever ``at_limit`` says: near the limit the way to
an end is tokenised at every step, which must stay cheap for the others."""

INLINE_CHARS = 2_000
"""Chats up to this size are encoded in the event loop (well under a millisecond); others in a thread."""


class Engine:
    """A model being served. ``start`` and ``close`` it in the event loop of the server."""

    def __init__(self, scheduler: Scheduler, settings: ServerSettings, *, chat_template: ChatTemplate | None = None,
                 add_bos: bool = False) -> None:
        self.settings = settings
        self.scheduler = scheduler
        self.info: TokenizerInfo = scheduler.vocabulary  # type: ignore[assignment]
        self.created = int(time.time())
        self.metrics = Metrics()
        self.grammars = CompileService(self.info, settings)
        self.responses = ResponseStore(settings.store_bytes, settings.store_seconds)
        self.conversations = ConversationStore(settings.store_bytes, settings.store_seconds)
        self.service = DecoderService(scheduler, max_queue=settings.max_queue)
        self.token_text = TokenText(self.info)
        self._template = chat_template or ChatTemplate(PLAIN_TEMPLATE)
        source = self._template.source
        bos = scheduler.model.config.bos_token_id
        self._bos = [bos] if add_bos and bos is not None else []
        self.tool_format = format_of(settings.tool_format, source, self.info.token_ids_by_text)
        marks = self.tool_format.think
        self.think = marks if settings.reasoning == "auto" and marks is not None and marks[0] in source else None
        """The marks around the model's reasoning, None where it does not reason."""
        self._knows_tools = "tools" in source
        self._threads = ThreadPoolExecutor(2, "constrained-encode")
        self._budget: Budget = "close" if settings.at_limit == "close" else "cut"
        self.draining = False

    @classmethod
    def of_model(cls, loaded: LoadedModel, settings: ServerSettings) -> Engine:
        """An engine over a loaded model. Raises :class:`ConstrainedError` where it has no tokenizer."""
        if loaded.tokenizer_info is None:
            raise ConstrainedError("the checkpoint has no tokenizer: nothing can be served")
        scheduler = Scheduler(loaded.model, loaded.tokenizer_info, max_batch=settings.max_batch,
                              max_len=min(settings.max_len, loaded.model.config.max_position))
        return cls(scheduler, settings, chat_template=loaded.make_chat_template(), add_bos=bool(loaded.add_bos_token))

    async def start(self) -> None:
        """Start what needs an event loop."""
        await self.grammars.start()

    async def close(self, *, drain: bool = True) -> None:
        """Let running requests end for ``drain_seconds``, then end everything."""
        self.draining = True
        seconds = self.settings.drain_seconds
        await asyncio.get_running_loop().run_in_executor(None, lambda: self.service.close(drain=drain, timeout=seconds))
        await self.grammars.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # -- prompts -----------------------------------------------------------------------------------------------

    async def chat_prompt(self, messages: Sequence[Mapping[str, Any]], tools: Tools | None = None,
                          **extra: Any) -> list[int]:
        """Token ids of a chat. Control tokens in the messages' text stay text. Raises :class:`ApiError`."""
        shown = None if tools is None else tools.shown(self.tool_format)
        if not self._knows_tools:
            messages, shown = in_words(messages, shown), None

        def work() -> list[int]:
            return encode_chat(self._template, self.info, messages, tools=shown, **extra)

        size = sum(len(str(message.get("content"))) for message in messages)
        try:
            if size <= INLINE_CHARS and tools is None:
                return work()
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except ConstrainedError as error:
            raise from_library(error, param="messages") from None

    async def text_prompt(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """Token ids of a plain prompt. Raises :class:`ApiError`."""
        encoded = await asyncio.get_running_loop().run_in_executor(self._threads, self.info.encode, text)
        if encoded is None:
            raise bad_request("prompt: the tokenizer cannot encode this text", "prompt")
        return [*(self._bos if add_special_tokens else ()), *encoded]

    # -- requests ----------------------------------------------------------------------------------------------

    async def grammar(self, constraint: Constraint | None) -> Compiled | None:
        """The compiled constraint. Raises :class:`ApiError`."""
        return None if constraint is None else await self.grammars.get(constraint)

    def submit(self, prompt_ids: Sequence[int], params: SamplingParams, compiled: Compiled | None) -> RequestHandle:
        """Queue a request. Raises :class:`ApiError`: 400, 429 or 503."""
        if self.draining:
            raise ApiError(503, "the server is shutting down", code="shutting_down", headers={"retry-after": "5"})
        matcher = None if compiled is None else GrammarMatcher(compiled.grammar)
        try:
            budget = self._budget if matcher is None or matcher.distance_to_end() <= MAX_CLOSING_BYTES else "cut"
            return self.service.submit(Request(prompt_ids=prompt_ids, params=params, matcher=matcher, budget=budget))
        except ConstrainedError as error:
            raise from_library(error) from None

    @property
    def fingerprint(self) -> str:
        """Equal for answers by the same vocabulary and version."""
        return f"fp_{self.info.fingerprint[:12]}"

    def known_model(self, name: str) -> str:
        """The name to answer with. Raises :class:`ApiError` (404) for another model's where that matters."""
        if self.settings.any_model or name in (self.settings.model_name, "default"):
            return name or self.settings.model_name
        raise ApiError(404, f"the model {name[:100]!r} does not exist; this server has "
                            f"{self.settings.model_name!r}", param="model", code="model_not_found")
