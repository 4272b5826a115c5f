from collections.abc import Iterable
from types import TracebackType
from typing import Any

class postponed:
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def settle(nodes: Iterable[Any]) -> None: ...
