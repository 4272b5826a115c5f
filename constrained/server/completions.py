"""``POST /v1/completions``: plain prompts, one or many, texts or token ids; streamed or not.

Output ``i`` of prompt ``p`` has index ``p * n + i``. ``echo`` puts the prompt before the text; with ``logprobs`` the
prompt's tokens then have theirs too, None for the first. Only with ``echo`` ``max_tokens`` may be 0.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import time
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from constrained.decoder.logprobs import TokenLogprob
from constrained.decoder.request import TokenEvent
from constrained.decoder.service import RequestHandle
from constrained.server.choices import FAILED, NEVER, Choice, failure, refuse_failed, usage_of
from constrained.server.compiling import Compiled
from constrained.server.deltas import PlainReader
from constrained.server.engine import Engine
from constrained.server.fields import Fields, parse_body
from constrained.server.formats import CONSTRAINT_FIELDS, read_constraint
from constrained.server.http import EventStream, Watch, json_response, read_body
from constrained.server.problems import bad_request
from constrained.server.reports import report_headers, report_of
from constrained.server.sampling import MAX_TOP_LOGPROBS, SAMPLING_FIELDS, sampling_params

__all__ = ["completions"]

KNOWN = SAMPLING_FIELDS | CONSTRAINT_FIELDS | {
    "model", "prompt", "stream", "stream_options", "logprobs", "echo", "best_of", "suffix", "user",
    "add_special_tokens"}
MAX_PROMPTS = 256
DEFAULT_TOKENS = 16
"""``max_tokens`` where none is given, as OpenAI has it."""


async def completions(request: Request, engine: Engine, request_id: str) -> Response:
    """Answer one completion request. Raises :class:`ApiError`."""
    settings = engine.settings
    fields = parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds))
    fields.check_known(frozenset(KNOWN))
    model = engine.known_model(fields.text("model", "", limit=500) or "")
    constraint = read_constraint(fields, settings.json_whitespace, settings.strict_subset)
    logprobs = fields.integer("logprobs", low=0, high=MAX_TOP_LOGPROBS)
    echo = fields.flag("echo")
    unwritten = echo and fields.value.get("max_tokens") == 0
    params = sampling_params(fields, settings, constrained=constraint is not None, logprobs=logprobs,
                             default_tokens=DEFAULT_TOKENS,
                             prompt_logprobs=(logprobs or 0) if echo and (unwritten or logprobs is not None) else None)
    if fields.has("suffix"):
        raise fields.wrong("suffix", "is not supported", "unsupported_parameter")
    if fields.integer("best_of", params.n, low=1, high=1 << 20) != params.n:
        raise fields.wrong("best_of", "other than n is not supported", "unsupported_parameter")
    if unwritten and constraint is not None:
        raise fields.wrong("max_tokens", "is 0: there is no output to constrain")
    compiled = await engine.grammar(constraint)
    prompts = await _prompts(fields, engine)
    handles: list[RequestHandle] = []
    answer = _Answer(engine, fields, model, f"cmpl-{request_id}", handles, compiled, prompts, params.n)
    try:
        for ids in prompts:
            handles.append(engine.submit(ids, params, compiled))
        if fields.flag("stream"):
            async with Watch(request.receive, answer.leave):
                await answer.begun()
            return EventStream(answer.chunks(), answer.leave, settings.write_seconds, report_headers(answer.relaxed))
        async with Watch(request.receive, answer.leave):
            body = await answer.whole()
    except BaseException:
        answer.leave()
        raise
    return json_response(body, headers=report_headers(answer.relaxed))


async def _prompts(fields: Fields, engine: Engine) -> list[list[int]]:
    """The prompts as token ids."""
    value = fields.value.get("prompt")
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise fields.wrong("prompt", "must be a text, a list of texts, token ids, or a list of lists of token ids")
    if all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        value = [value]
    if len(value) > MAX_PROMPTS:
        raise fields.wrong("prompt", f"has more than {MAX_PROMPTS} entries")
    special = fields.flag("add_special_tokens", True)
    found: list[list[int]] = []
    for i, one in enumerate(value):
        if isinstance(one, str):
            found.append(await engine.text_prompt(one, add_special_tokens=special))
        elif isinstance(one, list) and all(isinstance(t, int) and not isinstance(t, bool) for t in one):
            found.append(one)
        else:
            raise bad_request(f"prompt[{i}]: must be a text or a list of token ids", f"prompt[{i}]")
    return found


class _Answer:
    """The outputs of all prompts on their way to the client."""

    def __init__(self, engine: Engine, fields: Fields, model: str, answer_id: str, handles: list[RequestHandle],
                 compiled: Compiled | None, prompts: list[list[int]], n: int) -> None:
        self.engine = engine
        self.handles = handles
        self.relaxed = None if compiled is None else compiled.relaxed
        self.n = n
        self.prompts = prompts
        self.echo = fields.flag("echo")
        options = fields.object("stream_options")
        self.include_usage = options is not None and options.flag("include_usage")
        self.logprobs = fields.has("logprobs")
        self.head = {"id": answer_id, "object": "text_completion", "created": int(time.time()), "model": model,
                     "system_fingerprint": engine.fingerprint}
        self.choices = [Choice(PlainReader(), answer_id) for _ in range(n * len(prompts))]
        self._echoes = [engine.token_text.decode(ids) if self.echo else "" for ids in prompts]
        self._told = [not self.echo] * len(self.choices)  # the echo was sent
        self._places = [_Places(engine) for _ in self.choices]
        self._scored: list[list[TokenLogprob | None]] = [[] for _ in self.choices]

    def leave(self) -> None:
        """End everything."""
        for handle in self.handles:
            handle.cancel()

    async def begun(self) -> None:
        """Wait for the first event of any prompt. Raises :class:`ApiError` where that is a failure."""
        tasks = [asyncio.create_task(handle.peek()) for handle in self.handles]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        for handle, task in zip(self.handles, tasks, strict=True):
            event = task.result() if task.done() and not task.cancelled() else None
            await refuse_failed(handle, () if event is None else (event,))

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece. Raises :class:`ApiError`."""
        for p, handle in enumerate(self.handles):
            while events := await handle.next_events():
                for event in events:
                    self.choices[p * self.n + event.index].take(event)
                    self._scored[p * self.n + event.index] += event.prompt_logprobs
                    if event.finish_reason in FAILED:
                        raise await failure(handle, event.index)
        found = [{"index": i, "text": self._echoes[i // self.n] + choice.text,
                  "logprobs": self._logprobs(i, choice.logprobs, self._scored[i]) if self.logprobs else None,
                  "finish_reason": choice.finish_reason} for i, choice in enumerate(self.choices)]
        return {**self.head, "choices": found, "usage": self._usage(), **report_of(self.relaxed)}

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The stream: events of all prompts as they come."""
        queue: asyncio.Queue[tuple[int, list[TokenEvent]]] = asyncio.Queue()

        async def pump(p: int, handle: RequestHandle) -> None:
            while events := await handle.next_events():
                await queue.put((p, events))
            await queue.put((p, []))

        tasks = [asyncio.create_task(pump(p, handle)) for p, handle in enumerate(self.handles)]
        try:
            left = len(tasks)
            while left:
                p, events = await queue.get()
                left -= not events
                parts: list[bytes] = []
                for event in events:
                    index = p * self.n + event.index
                    choice = self.choices[index]
                    choice.take(event)
                    ended = event.finish_reason in FAILED
                    if not self._told[index]:
                        self._told[index] = True
                        scored = self._logprobs(index, (), event.prompt_logprobs) if self.logprobs else None
                        parts.append(self._chunk(index, self._echoes[p], scored, None))
                    if event.text or event.finish_reason or event.logprobs:
                        logprobs = self._logprobs(index, event.logprobs) if self.logprobs else None
                        parts.append(self._chunk(index, event.text, logprobs,
                                                 None if ended else choice.finish_reason))
                    if ended:
                        error = await failure(self.handles[p], event.index)
                        yield b"".join([*parts, f"data: {json.dumps(error.body())}\n\n".encode()])
                        return
                if parts:
                    yield b"".join(parts)
            usage = self._usage()
            if self.include_usage:
                value = {**self.head, "choices": [], "usage": usage, **report_of(self.relaxed)}
                yield f"data: {json.dumps(value)}\n\n".encode()
            yield b"data: [DONE]\n\n"
        finally:
            for task in tasks:
                task.cancel()
            self.leave()

    def _chunk(self, index: int, text: str, logprobs: Any, reason: str | None) -> bytes:
        choice = {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}
        return f"data: {json.dumps({**self.head, 'choices': [choice]})}\n\n".encode()

    def _logprobs(self, index: int, entries: Iterable[TokenLogprob],
                  prompt: Iterable[TokenLogprob | None] = ()) -> dict[str, Any]:
        """OpenAI's older shape, of echoed prompt tokens and output tokens."""
        place, first = self._places[index], self.prompts[index // self.n][0]
        found: dict[str, Any] = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
        for entry in (*prompt, *entries):
            token = first if entry is None else entry.token
            found["tokens"].append(place.name(token))
            found["text_offset"].append(place.next(token))
            found["token_logprobs"].append(None if entry is None else max(entry.logprob, NEVER))
            found["top_logprobs"].append(None if entry is None else {
                place.name(one): max(value, NEVER) for one, value in (*entry.top, (token, entry.logprob))})
        return found

    def _usage(self) -> dict[str, Any]:
        parts = [usage_of(self.engine, handle.completions, 0) for handle in self.handles]
        total = parts[0]
        for part in parts[1:]:
            for key in ("prompt_tokens", "completion_tokens", "total_tokens"):
                total[key] += part[key]
            total["prompt_tokens_details"]["cached_tokens"] += part["prompt_tokens_details"]["cached_tokens"]
            total["completion_tokens_details"]["forced_tokens"] += part["completion_tokens_details"]["forced_tokens"]
        return total


class _Places:
    """Where the tokens of one text begin, in characters. A token that ends within a character counts up to there."""

    def __init__(self, engine: Engine) -> None:
        self._text_of = engine.token_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._length = 0

    def next(self, token: int) -> int:
        """The place of ``token``, which comes next."""
        place = self._length
        self._length += len(self._decoder.decode(self._text_of(token)))
        return place

    def name(self, token: int) -> str:
        """A token's text; where it is no text by itself ``bytes:`` and its bytes, so that different tokens differ."""
        data = self._text_of(token, False)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)
