"""llama.cpp's decode step through ``llama-cpp-python``'s low-level binding, for ``benchmarks/decoder.py``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np


class LlamaCpp:
    """One context of ``batch`` sequences, one thread, no GPU layers, and the same prompt in every sequence."""

    def __init__(self, module: Any, path: Path, batch: int) -> None:
        self._c, self._batch_size = module, batch
        self.version = str(module.__version__)
        module.llama_backend_init()
        silence = module.llama_log_callback(lambda *_: None)
        module.llama_log_set(silence, None)
        self._silence = silence  # the library keeps a pointer to it
        model_options = module.llama_model_default_params()
        model_options.n_gpu_layers = 0
        self._model = module.llama_model_load_from_file(str(path).encode(), model_options)
        options = module.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch = 256 * batch, 512, 512
        options.n_seq_max, options.n_threads, options.n_threads_batch = batch, 1, 1
        self._context = module.llama_init_from_model(self._model, options)
        if not self._model or not self._context:
            raise RuntimeError(f"llama.cpp cannot read {path}")
        self._vocab_size = module.llama_vocab_n_tokens(module.llama_model_get_vocab(self._model))

    @classmethod
    def load(cls, path: Path, batch: int) -> LlamaCpp | None:
        """None where the package is not installed."""
        try:
            import llama_cpp
        except ImportError:
            return None
        return cls(llama_cpp, path, batch)

    def step_seconds(self, prompt: list[int], steps: int) -> float:
        """CPU seconds of one greedy step after ``prompt``, the mean of ``steps``."""
        self._c.llama_memory_clear(self._c.llama_get_memory(self._context), True)
        for sequence in range(self._batch_size):
            self._decode([(token, place, sequence) for place, token in enumerate(prompt)])
        tokens = [prompt[-1]] * self._batch_size
        start = time.process_time()
        for step in range(steps):
            self._decode([(token, len(prompt) + step, sequence) for sequence, token in enumerate(tokens)])
            tokens = [self._argmax(sequence) for sequence in range(self._batch_size)]
        return (time.process_time() - start) / steps

    def _decode(self, rows: list[tuple[int, int, int]]) -> None:
        """Run (token, position, sequence) rows; logits are kept of each sequence's last one."""
        batch = self._c.llama_batch_init(len(rows), 0, 1)
        last = {sequence: i for i, (_, _, sequence) in enumerate(rows)}
        for i, (token, place, sequence) in enumerate(rows):
            batch.token[i], batch.pos[i] = token, place
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
            batch.logits[i] = last[sequence] == i
        batch.n_tokens = len(rows)
        status = self._c.llama_decode(self._context, batch)
        self._c.llama_batch_free(batch)
        if status:
            raise RuntimeError(f"llama_decode returned {status}")

    def _argmax(self, row: int) -> int:
        logits = self._c.llama_get_logits_ith(self._context, row)
        return int(np.ctypeslib.as_array(logits, (self._vocab_size,)).argmax())
