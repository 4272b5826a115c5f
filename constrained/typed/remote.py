"""An OpenAI-compatible server behind a ``Call``: the constraint goes along, and what comes back is checked.

JSON types are sent as ``response_format`` (``json_schema``), plain text types as ``structured_outputs`` (``choice``,
``regex``, ``grammar``: vLLM's form, also this library's server's). A server may ignore either, so text is tested
against the grammar here, JSON by the type's own validation, and that of a ``JsonSchema`` against the schema's grammar:
a value that comes back is of its type. Sampling fields go along under the names that OpenAI, vLLM or this library's
server have for them; what has no name there is refused, never left out.

Requests are streamed over the standard library's HTTP client: the environment's proxies and certificates apply. One
daemon thread reads each response; at most ``CONNECTIONS`` at once, the others wait.

Not to be had from a server: steering to an end near the token limit (a cut text is ``Truncated``), forced-token counts
(unless it reports them), token ids.
"""

from __future__ import annotations

import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

from constrained.errors import ConstrainedError, echo
from constrained.typed.call import Call, Ending, Piece, TextLogprob
from constrained.typed.errors import OutputError, PromptError, SourceError
from constrained.typed.remote_check import check, checker
from constrained.typed.remote_fields import constraint_fields, sampling_fields, tool_choice_field
from constrained.typed.results import FinishReason, Usage

__all__ = ["RemoteEngine"]

CONNECTIONS = 32
MAX_ANSWER = 64 << 20
"""Bytes of one response."""
MAX_ERROR = 4_000

FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length", "tool_calls": "stop", "function_call": "stop",
                                   "content_filter": "content_filter"}


class RemoteEngine:
    """A server. ``model`` None: the first that it lists. Raises :class:`SourceError` for a URL that is none."""

    def __init__(self, url: str, *, model: str | None, api_key: str | None, timeout: float, max_tokens: int) -> None:
        self.described = url
        self._base = url.rstrip("/")
        self._model = model
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._timeout = timeout
        self._max_tokens = max_tokens
        self._slots = threading.Semaphore(CONNECTIONS)
        self._guard = threading.Lock()

    def start(self, call: Call) -> RemoteGeneration:
        """Send the call. Raises :class:`PromptError` for what cannot be sent."""
        path, body = self.body(call)
        return RemoteGeneration(self, call, path, body)

    def close(self) -> None:
        """Nothing is held between calls."""

    @property
    def model(self) -> str:
        """The model's name; asks the server the first time. Raises :class:`SourceError`."""
        with self._guard:
            if self._model is None:
                with self.open("/models", None) as response:
                    listed = _parsed(response.read(MAX_ANSWER))
                data = listed.get("data") if isinstance(listed, dict) else None
                names = [m.get("id") for m in data if isinstance(m, dict)] if isinstance(data, list) else []
                if not names or not isinstance(names[0], str):
                    raise SourceError("the server lists no model", hint="name it: LLM(url, model=...)")
                self._model = names[0]
            return self._model

    def body(self, call: Call) -> tuple[str, dict[str, Any]]:
        """Path and JSON body of a request, without the model's name."""
        params = call.params
        if params.n > 1:
            raise PromptError(f"n={params.n} samples in one call",
                              hint="give generate_batch the prompt as often as wanted")
        body: dict[str, Any] = {
            "stream": True, "stream_options": {"include_usage": True}, "temperature": params.temperature,
            "top_p": params.top_p, "max_tokens": params.max_tokens or self._max_tokens}
        body.update(sampling_fields(params))
        if call.thinking is not None and not isinstance(call.thinking, bool):
            raise PromptError("a server takes no number of thinking tokens", hint="thinking=True, and max_tokens for "
                              "all that it writes")
        if call.output is not None and (not call.calls_tools or call.tool_choice == "auto"):
            body.update(constraint_fields(call.output))
        if call.output is not None:
            checker(call.output)  # what cannot be checked is found before anything is sent
        if call.messages is None:
            if params.logprobs is not None:
                body["logprobs"] = params.logprobs
            return "/completions", {**body, "prompt": call.prompt if isinstance(call.prompt, str)
                                    else list(call.prompt or ())}
        if params.logprobs is not None:
            body.update(logprobs=True, top_logprobs=params.logprobs)
        if call.tools:
            body.update(tools=list(call.tools), parallel_tool_calls=call.parallel_tool_calls,
                        tool_choice=tool_choice_field(call.tool_choice))
        options = dict(call.template_options)
        if call.thinking is not None:
            options["enable_thinking"] = bool(call.thinking)
        if options:
            body["chat_template_kwargs"] = options
        return "/chat/completions", {**body, "messages": [dict(message) for message in call.messages]}

    def open(self, path: str, body: Mapping[str, Any] | None) -> Any:
        """The response of a GET, or of a POST with ``body``. Raises :class:`SourceError`."""
        data = None if body is None else json.dumps(body).encode()
        try:
            request = urllib.request.Request(self._base + path, data=data, headers=self._headers)
            return urllib.request.urlopen(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            said = _server_says(error.read(MAX_ERROR))
            raise SourceError(f"the server answers {error.code} {error.reason}: {said}",
                              hint=_hint(error.code)) from None
        except (OSError, ValueError) as error:  # URLError and timeouts are OSErrors; a malformed URL a ValueError
            reason = getattr(error, "reason", error)
            raise SourceError(f"no answer from {echo(self._base)}: {reason}",
                              hint="is the server running, and does the URL end in /v1?") from None


class RemoteGeneration:
    """A call that a thread reads."""

    held = False

    def __init__(self, engine: RemoteEngine, call: Call, path: str, body: dict[str, Any]) -> None:
        self._engine = engine
        self._call = call
        self._path, self._body = path, body
        self._pieces: queue.SimpleQueue[Piece | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._ending = Ending("error")
        self._finish: FinishReason | None = None
        self._usage = Usage()
        self._logprobs: list[TextLogprob] = []
        self._text: list[str] = []
        self._calls: set[int] = set()
        self._refused = False
        threading.Thread(target=self._run, name="constrained-server", daemon=True).start()

    def __iter__(self) -> Iterator[Piece]:
        while (piece := self._pieces.get()) is not None:
            yield piece

    def cancel(self) -> None:
        """Stop reading at the next event."""
        self._stop.set()

    @property
    def ending(self) -> Ending:
        """After the last piece."""
        return self._ending

    def _run(self) -> None:
        error: Exception | None = None
        try:
            with self._engine._slots:
                if not self._stop.is_set():
                    self._read()
        except ConstrainedError as problem:
            error = problem
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
            error = SourceError(f"the server's answer cannot be read: {type(problem).__name__}: {echo(str(problem))}")
        finally:
            self._ending = self._end(error)
            self._pieces.put(None)

    def _read(self) -> None:
        body = {"model": self._engine.model, **self._body}
        with self._engine.open(self._path, body) as response:
            if "text/event-stream" not in response.headers.get("Content-Type", ""):
                self._whole(_parsed(response.read(MAX_ANSWER)))
                return
            for line in response:
                if self._stop.is_set():
                    return
                if not line.startswith(b"data:"):
                    continue
                data = line[5:].strip()
                if data == b"[DONE]":
                    return
                self._chunk(_parsed(data), "delta")

    def _whole(self, answer: Any) -> None:
        """An answer that was not streamed."""
        self._chunk(answer, "message")

    def _chunk(self, chunk: Any, part: str) -> None:
        if not isinstance(chunk, dict):
            raise SourceError("the server's answer is no JSON object")
        if chunk.get("error"):
            raise SourceError(f"the server reports an error: {_server_says(json.dumps(chunk).encode())}")
        if isinstance(chunk.get("usage"), dict):
            self._usage = _usage(chunk["usage"])
        for choice in chunk.get("choices") or ():
            said = choice.get(part) or ({"content": choice["text"]} if "text" in choice else {})
            self._said(said)
            found = _logprobs(choice.get("logprobs") or {})
            if found:
                self._logprobs.extend(found)
                self._pieces.put(Piece(logprobs=found))
            if choice.get("finish_reason"):
                self._finish = FINISH.get(choice["finish_reason"], "stop")
                if self._finish == "stop":
                    for index in sorted(self._calls):
                        self._pieces.put(Piece(call=index, closed=True))

    def _said(self, said: Mapping[str, Any]) -> None:
        put = self._pieces.put
        reasoning = said.get("reasoning_content") or said.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            put(Piece(reasoning=reasoning))
        if said.get("refusal"):
            self._refused = True
            put(Piece(refusal=str(said["refusal"])))
        if said.get("content"):
            text = str(said["content"])
            self._text.append(text)
            put(Piece(text=text))
        for place, one in enumerate(said.get("tool_calls") or ()):
            function = one.get("function") or {}
            index = int(one.get("index", place))
            self._calls.add(index)
            put(Piece(call=index, name=function.get("name") or "",
                      arguments=function.get("arguments") or "", call_id=one.get("id") or ""))

    def _end(self, error: Exception | None) -> Ending:
        logprobs = tuple(self._logprobs) if self._call.params.logprobs is not None else None
        if error is None and self._stop.is_set():
            return Ending("cancelled", self._usage, (), logprobs)
        if error is None and self._finish is None:
            error = SourceError("the server's answer ended without a finish_reason",
                                hint="the connection broke, or the server does not speak OpenAI's protocol")
        output = self._call.output
        if error is None and self._finish == "stop" and output is not None and not (
                self._calls or self._refused):
            try:
                check(output, "".join(self._text))
            except OutputError as problem:
                error = problem
        return Ending("error" if error is not None else self._finish or "stop", self._usage, (), logprobs,
                      self._call.params.seed if isinstance(self._call.params.seed, int) else None, error)


# -- what servers say ----------------------------------------------------------------------------------------


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"the server's answer is no JSON: {echo(data)}") from error


def _server_says(data: bytes) -> str:
    try:
        value = json.loads(data)
        said = value.get("error", value) if isinstance(value, dict) else value
        message = said.get("message", said) if isinstance(said, dict) else said
    except (ValueError, RecursionError):
        message = data.decode("utf-8", "replace")
    return echo(str(message), 500)


def _hint(code: int) -> str | None:
    return {401: "pass api_key=", 403: "is the key allowed to use this model?",
            404: "the URL ends in /v1, and model= names a model of this server"}.get(code)


def _usage(said: Mapping[str, Any]) -> Usage:
    details = said.get("completion_tokens_details") or {}
    cached = (said.get("prompt_tokens_details") or {}).get("cached_tokens")
    return Usage(int(said.get("prompt_tokens") or 0), int(cached or 0), int(said.get("completion_tokens") or 0),
                 int(details.get("forced_tokens") or said.get("forced_tokens") or 0))


def _logprobs(said: Mapping[str, Any]) -> tuple[TextLogprob, ...]:
    """Of a chat (``content``), or of a completion in OpenAI's older shape (``tokens``)."""
    if "tokens" not in said:
        return tuple(_logprob(one) for one in said.get("content") or () if isinstance(one, dict))
    tops = said.get("top_logprobs") or [None] * len(said["tokens"])
    return tuple(TextLogprob(str(token), float(value or 0.0), tuple(sorted((top or {}).items(), key=lambda t: -t[1])))
                 for token, value, top in zip(said["tokens"], said["token_logprobs"], tops, strict=True))


def _logprob(one: Mapping[str, Any]) -> TextLogprob:
    top = tuple((str(t.get("token")), float(t.get("logprob", 0.0))) for t in one.get("top_logprobs") or ())
    return TextLogprob(str(one.get("token")), float(one.get("logprob", 0.0)), top)
