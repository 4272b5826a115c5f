"""Typed functions: the docstring is the prompt, the return annotation is the type.

    @llm.fn
    def extract(text: str) -> Person:
        \"\"\"Extract the person in: {text}\"\"\"

    extract("Ada Lovelace is 36.")             # Person(name='Ada Lovelace', age=36)

The body is never run. Everything that can be wrong with the signature is found when the decorator runs.
"""

from __future__ import annotations

import copy
import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Iterable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from constrained.frontends.json_schema.coverage import CoverageReport
from constrained.typed.docstring_prompt import DocstringPrompt
from constrained.typed.errors import AnnotationError, PromptError
from constrained.typed.output_type import OutputType, output_type
from constrained.typed.results import Result
from constrained.typed.stream import Stream
from constrained.typed.threads import AsyncStream, in_thread

if TYPE_CHECKING:
    from constrained.typed.llm import LLM, Options

__all__ = ["TypedFunction", "local_names", "make_function", "return_annotation"]

P = ParamSpec("P")
R = TypeVar("R")


class TypedFunction(Generic[P, R]):
    """Made by ``@llm.fn``. Call it as the function is written; ``async def`` functions return an awaitable."""

    def __init__(self, llm: LLM, function: Callable[P, Any], annotation: Any, options: Options) -> None:
        update_wrapper(self, function)
        self._llm = llm
        self._function = function
        self._signature = inspect.signature(function)
        self._prompt = DocstringPrompt(_name(function), function.__doc__, list(self._signature.parameters))
        self._options = options
        self._is_async = inspect.iscoroutinefunction(function)
        self._instance: tuple[Any, ...] = ()
        self.output_type: OutputType = output_type(annotation)

    def __get__(self, instance: Any, owner: Any = None) -> TypedFunction[..., R]:
        """A method: ``{self.name}`` is a placeholder like any other, ``self`` alone is not written down."""
        if instance is None:
            return self
        bound = copy.copy(self)
        bound._instance = (instance,)
        return bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The value. Raises ``TruncatedError`` for a cut text, ``OutputError`` where validators refused every try."""
        if self._is_async:
            value: Any = self.acall(*args, **kwargs)
            return value  # type: ignore[no-any-return]
        output: R = self.result(*args, **kwargs).output
        return output

    def result(self, *args: P.args, **kwargs: P.kwargs) -> Result[R]:
        """The whole result: text, usage, log-probabilities."""
        return self._llm._finished(self._request(args, kwargs))

    async def acall(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The value, without blocking the event loop."""
        result = await self._llm._afinished(self._request(args, kwargs))
        output: R = result.output
        return output

    def batch(self, arguments: Iterable[Any]) -> list[R]:
        """A value for each: arguments are a tuple, a dict of keywords, or the only argument itself.

        Raises the error of the first that failed; ``batch_results`` raises nothing.
        """
        return [result.output for result in self.batch_results(arguments)]

    def batch_results(self, arguments: Iterable[Any]) -> list[Result[R]]:
        """A result for each; those that failed raise when asked for their output."""
        return self._llm._batch([self._request(*_spread(one)) for one in arguments])

    async def abatch(self, arguments: Iterable[Any]) -> list[R]:
        """``batch`` without blocking the event loop."""
        from constrained.typed.llm import Running

        calls, running = [self._request(*_spread(one)) for one in arguments], Running()
        results = await in_thread(lambda: self._llm._batch(calls, running), running.cancel)
        return [result.output for result in results]

    def stream(self, *args: P.args, **kwargs: P.kwargs) -> Stream[R]:
        """Events as they come, the last ``output.done``; ``retries`` does not apply."""
        call, _ = self._request(args, kwargs)
        return Stream(call, self._llm.engine.start(call))

    def astream(self, *args: P.args, **kwargs: P.kwargs) -> AsyncStream[R]:
        """``stream`` for ``async for``."""
        return AsyncStream(self.stream(*args, **kwargs))

    def options(self, **options: Any) -> TypedFunction[P, R]:
        """The same function with other options: those of ``LLM.generate``."""
        changed = self._options.updated(**options)
        self._llm._params(changed)  # wrong ones are found here
        other: TypedFunction[P, R] = TypedFunction(self._llm, self._function, self.output_type, changed)
        other._instance = self._instance
        return other

    def prompt(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The text of the user's message, without the schema."""
        return self._prompt.render(self._bound(args, kwargs))

    @property
    def coverage(self) -> CoverageReport:
        """What of the return type the mask enforces; the rest is up to validators and ``retries``."""
        return self.output_type.coverage

    def _request(self, args: Any, kwargs: Any) -> Any:
        return self._llm._call(self._prompt.render(self._bound(args, kwargs)), self.output_type, {},
                               base=self._options)

    def _bound(self, args: Any, kwargs: Any) -> dict[str, Any]:
        bound = self._signature.bind(*self._instance, *args, **kwargs)  # TypeError, as of any function
        bound.apply_defaults()
        return bound.arguments

    def __repr__(self) -> str:
        return f"<typed function {_name(self._function)}{self._signature}>"


def make_function(llm: LLM, function: Any, options: dict[str, Any], depth: int = 2) -> TypedFunction[..., Any]:
    """Check a function and wrap it.

    Raises:
        AnnotationError: no return annotation, or no type.
        PromptError: the docstring and the parameters do not fit.
    """
    from constrained.typed.llm import Options

    if not callable(function) or not hasattr(function, "__code__"):
        raise PromptError(f"@llm.fn decorates a function, not {type(function).__name__}")
    chosen = Options().updated(**options)
    if chosen.raw:
        raise PromptError("raw=True does not go with @llm.fn", hint="use llm.generate(text, T, raw=True)")
    llm._params(chosen)
    return TypedFunction(llm, function, return_annotation(function, local_names(depth + 1)), chosen)


def local_names(depth: int) -> dict[str, Any]:
    """Names visible where the decorator stands: annotations may be text that names local classes."""
    try:
        return dict(sys._getframe(depth).f_locals)
    except ValueError:
        return {}


def return_annotation(function: Callable[..., Any], names: dict[str, Any]) -> Any:
    """The return type, resolved. Raises :class:`AnnotationError`."""
    name = _name(function)
    declared = inspect.signature(function).return_annotation
    if declared is inspect.Signature.empty or declared is None or declared == "None":
        raise AnnotationError(f"{name} has no return type" if declared is inspect.Signature.empty
                              else f"{name} returns None, so there is nothing to write",
                              hint=f"the annotation is the type of the answer: def {name}(...) -> Person:")
    if not isinstance(declared, str) and typing.get_origin(declared) is None and not isinstance(declared, type):
        return declared  # a value that stands for a type: Regex(...), Choice(...)
    try:
        hints = typing.get_type_hints(function, localns=names, include_extras=True)
    except NameError as error:
        raise AnnotationError(f"{name}: the annotation names {error.name!r}, which is not there",
                              hint="define or import the type before the function") from None
    except (TypeError, SyntaxError):
        hints = {"return": _evaluated(declared, function, names)}
    found = hints["return"]
    origin = typing.get_origin(found)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Awaitable):
        found = typing.get_args(found)[-1]
    return found


def _evaluated(declared: Any, function: Any, names: dict[str, Any]) -> Any:
    """An annotation that ``typing`` does not take for a type, such as ``Regex(...)`` written as text."""
    if not isinstance(declared, str):
        return declared
    try:
        return eval(declared, function.__globals__, names)  # the program's own source, as typing does it
    except Exception as error:
        raise AnnotationError(f"{_name(function)}: the return annotation cannot be read: "
                              f"{type(error).__name__}: {error}") from None


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "the function"))


def _spread(one: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(one, tuple):
        return one, {}
    if isinstance(one, dict):
        return (), one
    return (one,), {}
