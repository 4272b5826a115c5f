from constrained.kernel.byte_nodes import ByteNodes

UTF8: int
CANONICAL: int
ANY: int
SPELLINGS: dict[str, int]

class ByteTrie(ByteNodes):
    def __init__(self, classes: tuple[tuple[tuple[int, int], ...], ...], way: int) -> None: ...
