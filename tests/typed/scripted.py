"""An engine that says what it is told to: for the logic above engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from constrained.typed.call import Call, Ending, Piece
from constrained.typed.results import Usage


class ScriptedGeneration:
    held = False

    def __init__(self, said: Any, wait: Callable[[], None] | None = None) -> None:
        self._said = said
        self._wait = wait
        self.cancelled = False
        self.ending = Ending("stop", Usage(10, 0, 5, 2, 3))

    def __iter__(self) -> Iterator[Piece]:
        if self._wait is not None:
            self._wait()
        if isinstance(self._said, str):
            yield Piece(text=self._said)
            return
        for index, (name, arguments) in enumerate(self._said):
            yield Piece(call=index, name=name)
            yield Piece(call=index, arguments=arguments)
            yield Piece(call=index, closed=True)

    def cancel(self) -> None:
        self.cancelled = True


class ScriptedEngine:
    """``script``: for each generation a text, or a list of (tool, arguments)."""

    described = "script"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.calls: list[Call] = []

    def start(self, call: Call) -> ScriptedGeneration:
        self.calls.append(call)
        return ScriptedGeneration(self.script.pop(0))

    def close(self) -> None:
        pass


def scripted(*script: Any) -> Any:
    """An ``LLM`` over a script."""
    from constrained.typed.llm import LLM

    llm = LLM("http://127.0.0.1:9/v1", model="none")
    llm.engine = ScriptedEngine(*script)
    return llm
