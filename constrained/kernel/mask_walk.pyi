from constrained.kernel.mask_threads import MaskThreads

class MaskWalk(MaskThreads):
    @property
    def vocab_size(self) -> int: ...
    @property
    def n_sets(self) -> int: ...
