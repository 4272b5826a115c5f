"""A grammar matcher over an explicit set of texts: the same methods as the engine's, written for clarity.

Every tokenisation of every text is legal. Forced tokens are those that are the only legal ones.
"""

from __future__ import annotations

import numpy as np

from constrained.vocabulary import TokenizerInfo


class TextsMatcher:
    def __init__(self, info: TokenizerInfo, texts: list[bytes], *, forcing: bool = True) -> None:
        self.info = info
        self.texts = [bytes(t) for t in texts]
        self.forcing = forcing
        self.path: list[int] = []
        self.fills = 0

    @property
    def written(self) -> bytes:
        return b"".join(self.info.token_bytes(t) for t in self.path)

    def legal(self) -> list[int]:
        if self.is_terminated():
            return []
        written = self.written
        out = list(self.info.stop_token_ids) if written in self.texts else []
        for token in range(self.info.vocab_size):
            data = self.info.token_bytes(token)
            if data and any(text.startswith(written + data) for text in self.texts):
                out.append(token)
        return sorted(out)

    def accept_token(self, token: int) -> bool:
        if token not in self.legal():
            return False
        self.path.append(token)
        return True

    def fill_next_token_bitmask(self, bitmask, index=0) -> bool:
        self.fills += 1
        row = np.zeros(bitmask.shape[1] * 32, dtype=np.uint8)
        row[self.legal()] = 1
        bitmask[index] = np.packbits(row, bitorder="little").view("<i4")
        return True

    def compute_ff_tokens(self) -> list[int]:
        out: list[int] = []
        twin = self.fork()
        while self.forcing:
            legal = twin.legal()
            if len(legal) != 1 or legal[0] in self.info.stop_token_ids:
                break
            out.append(legal[0])
            twin.accept_token(legal[0])
        return out

    def find_jump_forward_string(self) -> str:
        rest = [text[len(self.written):] for text in self.texts if text.startswith(self.written)]
        shared = rest[0]
        for other in rest:
            while not other.startswith(shared):
                shared = shared[:-1]
        return shared.decode("utf-8", "ignore")

    def rollback(self, n: int = 1) -> None:
        assert 0 <= n <= len(self.path)
        del self.path[len(self.path) - n :]

    def fork(self) -> TextsMatcher:
        twin = TextsMatcher(self.info, self.texts, forcing=self.forcing)
        twin.path = list(self.path)
        return twin

    def is_terminated(self) -> bool:
        return bool(self.path) and self.path[-1] in self.info.stop_token_ids

    def is_completed(self) -> bool:
        return self.is_terminated() or self.written in self.texts
