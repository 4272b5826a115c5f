from typing import Any

class TextReader:
    value: Any
    seen: int

def read_text(text: str) -> tuple[Any, int] | None: ...
def is_nameless(seen: int, old_ids: bool) -> int: ...
