from constrained.kernel.annexes import Annex
from constrained.kernel.blocks import Block

class KeyAnnex(Annex):
    def __init__(self, strings: Block, keys: tuple[bytes, ...], closing: int) -> None: ...
