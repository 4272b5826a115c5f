UTF8: int
CANONICAL: int
ANY: int
SPELLINGS: dict[str, int]

class ByteTrie:
    def __init__(self, classes: tuple[tuple[tuple[int, int], ...], ...], way: int) -> None: ...
    def nodes(self) -> list[tuple[tuple[int, int, int], ...]]: ...
