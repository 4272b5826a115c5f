"""A model double of a fixed speed: a decoder whose forward pass takes so many milliseconds, whatever is in it.

It has the decoder's interface (cache, hidden states, head) and no layers: hidden states are rows of a small random
table, logits their products with another. So a server over it measures the server: scheduler, grammars, HTTP.

Run as a program it is such a server in a process of its own: ``python -m tests.server.fixed_speed --port 8123``.
"""

from __future__ import annotations

import argparse
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any, Literal

import torch

from constrained.decoder.chat_template import ChatTemplate
from constrained.decoder.models.base import BaseDecoder, DecoderOutput, kept_positions, pack
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.scheduler import Scheduler
from constrained.server.engine import Engine
from constrained.server.settings import ServerSettings
from constrained.vocabulary import TokenizerInfo

HIDDEN = 16
PAD, BOS, EOS = 256, 257, 258
CONTROL = {"<pad>": PAD, "<|begin|>": BOS, "<|end|>": EOS}
TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


class ByteEncoder:
    """Texts as their bytes."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())


def byte_pairs() -> TokenizerInfo:
    """256 bytes, three control tokens, and pairs of frequent letters: 1,024 tokens."""
    pieces = [bytes([i]) for i in range(256)] + [text.encode() for text in CONTROL]
    letters = "etaoinshrdlucmfwypvbgk ,.\"{}[]:"
    pairs = iter(f"{a}{b}" for a in letters for b in letters)
    while len(pieces) < 1024:
        pieces.append(next(pairs).encode())
    return TokenizerInfo(pieces, stop_token_ids=[EOS], special_token_ids=[PAD, BOS, EOS],
                         token_texts={i: text for text, i in CONTROL.items()}, encoder=ByteEncoder())


class FixedSpeedModel(BaseDecoder):
    """Takes ``step_ms`` for each forward pass."""

    def __init__(self, vocab_size: int, step_ms: float, max_position: int = 1 << 16) -> None:
        super().__init__()
        self.config = CoreConfig(family="double", vocab_size=vocab_size, hidden_size=HIDDEN, n_layers=1, n_heads=1,
                                 n_kv_heads=1, head_dim=2, max_position=max_position, bos_token_id=BOS,
                                 eos_token_ids=(EOS,), pad_token_id=PAD)
        self.dtype = torch.float32
        self.device = torch.device("cpu")
        self.step_seconds = step_ms / 1e3
        self.fail_at: int | None = None
        """The pass to raise in."""
        self.passes = 0
        generator = torch.Generator().manual_seed(0)
        self._rows = torch.randn(vocab_size, HIDDEN, generator=generator)
        self._columns = torch.randn(vocab_size, HIDDEN, generator=generator)
        # Texts without a grammar do not end by chance, and every token is text at once: no halves of characters.
        self._never = torch.tensor([*range(0x80, 0x100), EOS])

    def head(self, hidden: torch.Tensor, allowed_ids: torch.Tensor | None = None) -> torch.Tensor:
        columns = self._columns if allowed_ids is None else self._columns[allowed_ids]
        logits = hidden @ columns.T
        if allowed_ids is None:
            logits[..., self._never] -= 50.0
        return logits

    def _run(self, input_ids: torch.Tensor, cache: Any, slots: Sequence[int], lengths: Sequence[int],
             n_new: Sequence[int], keep: int | Literal["all"], allowed_ids: torch.Tensor | None,
             wanted: frozenset[int], with_logits: bool) -> DecoderOutput:
        self.passes += 1
        if self.passes == self.fail_at:
            raise RuntimeError("the double was told to fail")
        time.sleep(self.step_seconds)
        kept = kept_positions(n_new, keep, self.device)
        x = self._rows[pack(input_ids, n_new)]
        cache.commit(slots, [length + new for length, new in zip(lengths, n_new, strict=True)])
        return DecoderOutput(None, {layer: kept.take(x) for layer in wanted} if kept is not None else {})


def make_engine(*, step_ms: float, max_batch: int, max_len: int = 1024, template: str = TEMPLATE,
                **options: Any) -> Engine:
    """An engine over the double."""
    info = byte_pairs()
    scheduler = Scheduler(FixedSpeedModel(info.vocab_size, step_ms), info, max_batch=max_batch, max_len=max_len)
    settings = ServerSettings(**{"model_name": "double", "max_batch": max_batch, "max_len": max_len, **options})
    return Engine(scheduler, settings, chat_template=ChatTemplate(template))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--step-ms", type=float, default=40.0)
    parser.add_argument("--max-batch", type=int, default=8)
    parser.add_argument("--max-queue", type=int, default=256)
    parser.add_argument("--max-len", type=int, default=1024)
    parser.add_argument("--drain-seconds", type=float, default=25.0)
    given = parser.parse_args()
    from constrained.server.run import serve

    torch.set_num_threads(1)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", given.port))
    engine = make_engine(step_ms=given.step_ms, max_batch=given.max_batch, max_len=given.max_len,
                         max_queue=given.max_queue, drain_seconds=given.drain_seconds)
    return serve(engine, listener)


if __name__ == "__main__":
    sys.exit(main())
