from constrained.kernel.annexes import Annex
from constrained.kernel.blocks import Block

class CountedAnnex(Annex):
    def __init__(self, block: Block, boundary: int, least: int, top: int, endless: bool, most: int) -> None: ...
