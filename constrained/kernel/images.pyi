from typing import Any

MOST_POSITIONS: int

class Image:
    @property
    def positions(self) -> int: ...
    def __init__(self, part: Any, name: str, recursive: bool, calls: tuple[tuple[str, int], ...],
                 texts: tuple[tuple[str, Any], ...], largest: int) -> None: ...

def keep_image(expr: Any, image: Image) -> None: ...
