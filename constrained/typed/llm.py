"""``LLM``: a language model that answers with values of Python types.

    llm = LLM()                                          # SmolLM2-135M-Instruct, fetched once
    llm.generate("Ada is 36 and lives in London.", Person).output    # Person(name='Ada', age=36, city='London')

Every call is one ``Call`` value for the engine (:mod:`constrained.typed.sources`). A text prompt is a user's message in
the model's chat template; ``raw=True`` passes text or token ids on as they are. Where a type is asked for, its schema
goes into the prompt (``schema_in_prompt=False``: not), the grammar holds the text to it, near the token limit the text
is steered to an end (``budget="close"``), and validators run at the end (``retries``: how often what they say is told
to the model for another try).

Sampling is greedy unless the call or the ``LLM`` says otherwise. Each call takes ``sampling=SamplingParams(...)`` or a
preset's name, and single fields by keyword (``temperature=0.7, seed=1, max_tokens=200``).

Thread-safe: calls from several threads share one batch. The async twins wait in a thread of their own.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from constrained.errors import ConstrainedError
from constrained.typed.call import Budget, Call, Engine, Generation, ToolChoice
from constrained.typed.errors import OutputError, PromptError
from constrained.typed.output_type import output_type
from constrained.typed.prompts import as_messages, with_feedback, with_instructions
from constrained.typed.results import Failed, Result, Usage
from constrained.typed.sources import open_source
from constrained.typed.stream import Assembler, Stream
from constrained.typed.threads import AsyncStream, in_thread
from constrained.typed.tools import as_tools, checked_choice, tool, tool_dicts

if TYPE_CHECKING:
    from constrained.decoder.sampling_params import SamplingParams
    from constrained.typed.function import TypedFunction

__all__ = ["LLM", "Options"]

T = TypeVar("T")
P = ParamSpec("P")

NO_OPTIONS: Mapping[str, Any] = {}


class Running:
    """The generations of one call of a user, so that another thread can end them."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._started: list[Generation] = []
        self._cancelled = False

    def now(self, generation: Generation) -> None:
        """One more runs; it is cancelled at once where all were."""
        with self._guard:
            self._started.append(generation)
            if self._cancelled:
                generation.cancel()

    def cancel(self) -> None:
        """End all, those to come too."""
        with self._guard:
            self._cancelled = True
            for generation in self._started:
                generation.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a call is made; the keyword arguments that ``LLM.generate`` and its kin share."""

    sampling: SamplingParams | str | None = None
    """Parameters, or the name of a preset (``"factual"``, ``"creative"``, ``"structured"``)."""
    budget: Budget = "close"
    schema_in_prompt: bool = True
    thinking: bool | int | None = None
    """Reason in free text first: True, or the most tokens of it. False and None: not."""
    retries: int = 0
    """Further tries for what a grammar cannot hold (validators), the error told to the model."""
    raw: bool = False
    """The prompt is text or token ids as they are, not a message."""
    system: str | None = None
    template_options: dict[str, Any] = field(default_factory=dict)
    """Further variables of the chat template."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Single sampling fields (``temperature=0.7``)."""

    def updated(self, **changes: Any) -> Options:
        """A copy: own fields by name, all others as sampling fields."""
        own = {name: changes.pop(name) for name in list(changes) if name in _OWN}
        retries = own.get("retries", self.retries)
        if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
            raise PromptError(f"retries is a number of further tries, not {retries!r:.50}")
        if own.get("budget", self.budget) not in ("close", "cut"):
            raise PromptError(f"budget is 'close' or 'cut', not {own['budget']!r:.50}")
        thinking = own.get("thinking", self.thinking)
        if thinking is not None and (not isinstance(thinking, int) or thinking < 0):
            raise PromptError(f"thinking is True, False or a number of tokens, not {thinking!r:.50}")
        return replace(self, **own, fields={**self.fields, **changes})


_OWN = frozenset(("sampling", "budget", "schema_in_prompt", "thinking", "retries", "raw", "system",
                  "template_options"))


class LLM:
    """See the module docstring.

    Args:
        source: what runs: see :mod:`constrained.typed.sources`.
        tokenizer: of a transformers model.
        device, dtype, quantized: as ``constrained.decoder.load_model``. The built-in model runs quantized on a CPU.
        max_batch: calls that run at once.
        max_len: most tokens of prompt and output together; default: the model's, at most 4096.
        max_tokens: most output tokens of a call that does not say.
        sampling: the default sampling; greedy.
        system: a system message for calls without one.
        model, api_key, timeout: of a server; ``timeout`` in seconds without an answer.
        tool_format: how the model writes tool calls; default: recognised by its chat template and tokens.
        progress: whether fetching the built-in model shows progress on standard error.

    Raises:
        SourceError: the source is none; further the loader's own errors.
    """

    def __init__(self, source: Any = None, *, tokenizer: Any = None, device: Any = None, dtype: Any = None,
                 quantized: bool | None = None, max_batch: int = 8, max_len: int | None = None, max_tokens: int = 512,
                 sampling: SamplingParams | str | None = None, system: str | None = None, model: str | None = None,
                 api_key: str | None = None, timeout: float = 120.0, tool_format: str | None = None,
                 progress: bool = True) -> None:
        self.engine: Engine = open_source(
            source, tokenizer=tokenizer, device=device, dtype=dtype, quantized=quantized, max_batch=max_batch,
            max_len=max_len, max_tokens=max_tokens, model=model, api_key=api_key, timeout=timeout,
            tool_format=tool_format, progress=progress)
        self.system = system
        self._sampling = sampling
        self._params(Options())  # a preset that is none is found here
        self._close = weakref.finalize(self, self.engine.close)

    # -- one answer --------------------------------------------------------------------------------------------

    @overload
    def generate(self, prompt: Any, output_type: type[T], **options: Any) -> Result[T]: ...
    @overload
    def generate(self, prompt: Any, output_type: Any = None, **options: Any) -> Result[Any]: ...

    def generate(self, prompt: Any, output_type: Any = None, **options: Any) -> Result[Any]:
        """One answer: a value of ``output_type``, or free text where it is None.

        ``options``: fields of :class:`Options`, and of ``SamplingParams``.

        Raises:
            PromptError, AnnotationError, SamplingError, RequestError: the call cannot be made.
            BudgetError: no value of the type fits into ``max_tokens``.
            OutputError: a validator refused every try.
        """
        return self._finished(self._call(prompt, output_type, options))

    def chat(self, messages: Any, output_type: Any = None, *, tools: Sequence[Any] = (),
             tool_choice: ToolChoice = "auto", parallel_tool_calls: bool = True, **options: Any) -> Result[Any]:
        """One answer to a conversation, or the tool calls the model makes instead: ``result.message``.

        ``tools``: functions, ``Tool`` values or OpenAI's dicts. Raises as ``generate``, and :class:`ToolError`.
        """
        return self._finished(self._call(messages, output_type, options, tools, tool_choice, parallel_tool_calls))

    def stream(self, prompt: Any, output_type: Any = None, *, tools: Sequence[Any] = (),
               tool_choice: ToolChoice = "auto", parallel_tool_calls: bool = True, **options: Any) -> Stream[Any]:
        """The answer as :mod:`events <constrained.typed.events>`, the last of them ``output.done``.

        What was streamed cannot be taken back, so ``retries`` does not apply. Raises as ``chat``.
        """
        call, _ = self._call(prompt, output_type, options, tools, tool_choice, parallel_tool_calls)
        return Stream(call, self.engine.start(call))

    # -- many --------------------------------------------------------------------------------------------------

    def generate_batch(self, prompts: Sequence[Any], output_types: Any = None, **options: Any) -> list[Result[Any]]:
        """An answer to each prompt. ``output_types``: a list of a type (None: free text) for each, or one for all.

        A call that fails, or cannot begin (its prompt is too long, no value fits), does not disturb the others: its
        result is ``Failed``, and raises when asked for its output. ``seed`` may be a list, one for each prompt. Raises
        as ``generate`` for wrong types, prompts and options; then none runs.
        """
        return self._batch(self._calls(prompts, output_types, options))

    def _calls(self, prompts: Sequence[Any], output_types: Any, options: dict[str, Any]) -> list[tuple[Call, int]]:
        types = output_types if isinstance(output_types, list) else [output_types] * len(prompts)
        if len(types) != len(prompts):
            raise PromptError(f"{len(types)} output types for {len(prompts)} prompts", hint="None stands for free text")
        calls = [self._call(prompt, kind, options) for prompt, kind in zip(prompts, types, strict=True)]
        seeds = calls[0][0].params.seed if calls else None
        if not isinstance(seeds, tuple):
            return calls
        if len(seeds) != len(prompts):
            raise PromptError(f"{len(seeds)} seeds for {len(prompts)} prompts")
        return [(replace(call, params=call.params.for_prompt(i)), retries) for i, (call, retries) in enumerate(calls)]

    def _batch(self, calls: list[tuple[Call, int]], running: Running | None = None) -> list[Result[Any]]:
        """Start all, then read one after the other; retries come last."""
        running = running or Running()
        generations: list[Generation] = []
        started: list[Generation | ConstrainedError] = []
        try:
            for call, _ in calls:
                try:
                    generations.append(self.engine.start(call))
                except ConstrainedError as error:
                    started.append(error)
                    continue
                started.append(generations[-1])
                running.now(generations[-1])
            results: list[Result[Any]] = []
            for (call, _), generation in zip(calls, started, strict=True):
                if isinstance(generation, ConstrainedError):
                    results.append(Failed(None, "", "error", Usage(requests=0), error=generation))
                    continue
                assembler = Assembler(call, events=False)
                for piece in generation:
                    assembler.feed(piece)
                results.append(assembler.result(generation.ending))
        except BaseException:
            for generation in generations:
                generation.cancel()
            raise
        again = [i for i, (_, retries) in enumerate(calls) if retries and _invalid(results[i])]
        for i in again:
            results[i] = self._retried(*calls[i], results[i], running)
        return results

    # -- async twins -------------------------------------------------------------------------------------------

    async def agenerate(self, prompt: Any, output_type: Any = None, **options: Any) -> Result[Any]:
        """``generate`` without blocking the event loop; cancelling it ends the generation."""
        return await self._afinished(self._call(prompt, output_type, options))

    async def achat(self, messages: Any, output_type: Any = None, *, tools: Sequence[Any] = (),
                    tool_choice: ToolChoice = "auto", parallel_tool_calls: bool = True, **options: Any) -> Result[Any]:
        """``chat`` without blocking the event loop."""
        return await self._afinished(
            self._call(messages, output_type, options, tools, tool_choice, parallel_tool_calls))

    async def agenerate_batch(self, prompts: Sequence[Any], output_types: Any = None,
                              **options: Any) -> list[Result[Any]]:
        """``generate_batch`` without blocking the event loop."""
        calls, running = self._calls(prompts, output_types, options), Running()
        return await in_thread(lambda: self._batch(calls, running), running.cancel)

    def astream(self, prompt: Any, output_type: Any = None, **options: Any) -> AsyncStream[Any]:
        """``stream`` for ``async for``; arguments as there."""
        return AsyncStream(self.stream(prompt, output_type, **options))

    # -- functions and tools -----------------------------------------------------------------------------------

    @overload
    def fn(self, function: Callable[P, T], /) -> TypedFunction[P, T]: ...
    @overload
    def fn(self, /, **options: Any) -> Callable[[Callable[P, T]], TypedFunction[P, T]]: ...

    def fn(self, function: Any = None, /, **options: Any) -> Any:
        """Decorator: a function whose docstring is the prompt and whose return annotation is the type.

        ``@llm.fn`` or ``@llm.fn(retries=1, thinking=True)``; see :class:`constrained.typed.function.TypedFunction`.
        """
        from constrained.typed.function import make_function

        if function is None:
            return lambda f: make_function(self, f, options)
        return make_function(self, function, options)

    tool = staticmethod(tool)

    # -- inside ------------------------------------------------------------------------------------------------

    def _call(self, prompt: Any, kind: Any = None, options: Mapping[str, Any] = NO_OPTIONS, tools: Sequence[Any] = (),
              tool_choice: ToolChoice = "auto", parallel: bool = True, base: Options | None = None) -> tuple[Call, int]:
        """The call, and how often it may be retried."""
        chosen = (base or Options()).updated(**options)
        params = self._params(chosen)
        output = None if kind is None else output_type(kind)
        if chosen.raw:
            raw = prompt if isinstance(prompt, str) else tuple(prompt)
            return Call(params=params, prompt=raw, output=output, budget=chosen.budget,
                        thinking=chosen.thinking or None), chosen.retries
        given = as_tools(tools) if tools else []
        dicts = tool_dicts(given)
        if dicts or tool_choice != "auto":
            checked_choice(dicts, tool_choice, parallel)
        system = chosen.system if chosen.system is not None else self.system
        messages = as_messages(prompt, system)
        if output is not None and chosen.schema_in_prompt:
            messages = with_instructions(messages, output.instructions)
        return Call(params=params, messages=messages, output=output, budget=chosen.budget,
                    tools=dicts, tool_choice=tool_choice,
                    parallel_tool_calls=parallel, thinking=chosen.thinking,
                    template_options=chosen.template_options), chosen.retries

    def _params(self, options: Options) -> SamplingParams:
        from constrained.decoder.sampling_params import PRESETS, SamplingError, SamplingParams

        base = options.sampling if options.sampling is not None else self._sampling
        if isinstance(base, str):
            if base not in PRESETS:
                raise SamplingError(f"there is no preset {base!r:.50}", hint=f"one of: {', '.join(PRESETS)}")
            base = PRESETS[base]
        params = SamplingParams(temperature=0.0) if base is None else base
        if not isinstance(params, SamplingParams):
            raise SamplingError(f"sampling is a SamplingParams or the name of a preset, not {type(params).__name__}",
                                hint="single fields go by keyword: temperature=0.7")
        return params.updated(**options.fields) if options.fields else params

    def _finished(self, request: tuple[Call, int], running: Running | None = None) -> Result[Any]:
        call, retries = request
        running = running or Running()
        result = self._drained(call, running)
        if retries and _invalid(result):
            result = self._retried(call, retries, result, running)
        if isinstance(result, Failed):
            assert result.error is not None
            raise result.error
        return result

    def _drained(self, call: Call, running: Running) -> Result[Any]:
        generation = self.engine.start(call)
        running.now(generation)
        assembler = Assembler(call, events=False)
        try:
            for piece in generation:
                assembler.feed(piece)
        except BaseException:
            generation.cancel()
            raise
        return assembler.result(generation.ending)

    def _retried(self, call: Call, retries: int, result: Result[Any], running: Running) -> Result[Any]:
        """Tell the model what was wrong, up to ``retries`` times; usage adds up."""
        for _ in range(retries):
            assert isinstance(result, Failed) and isinstance(result.error, OutputError)
            error = str(result.error).split("\nhint:")[0]
            if call.messages is not None:
                call = replace(call, messages=with_feedback(call.messages, result.text, error))
            elif isinstance(call.prompt, str):
                call = replace(call, prompt=f"{call.prompt}{result.text}\n\nThis is not valid: {error}. Corrected:\n")
            again = self._drained(call, running)
            result = replace(again, usage=result.usage + again.usage)
            if not _invalid(result):
                break
        return result

    async def _afinished(self, request: tuple[Call, int]) -> Result[Any]:
        running = Running()
        return await in_thread(lambda: self._finished(request, running), running.cancel)

    def close(self) -> None:
        """End what runs and free the model's thread. Also done when the ``LLM`` is no longer used."""
        self._close()

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LLM {self.engine.described}>"


def _invalid(result: Result[Any]) -> bool:
    return isinstance(result, Failed) and isinstance(result.error, OutputError)
