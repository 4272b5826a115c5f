from typing import Any

from constrained.kernel.blocks import Block

class Annex: ...

class BlockAnnex(Annex):
    def __init__(self, block: Block) -> None: ...

class WordAnnex(Annex):
    def __init__(self, words: list[bytes]) -> None: ...

class LazyAnnex(Annex):
    def __init__(self, source: Any) -> None: ...
