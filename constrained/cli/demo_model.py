"""The demo's model behind one small interface, run by this library's own decoder or by transformers.

Both write greedily, so the text is the same on every run of one machine. A ``Writer`` calls back for each piece
as it comes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from constrained.cli.timed_matcher import TimedMatcher
from constrained.vocabulary import TokenizerInfo

__all__ = ["DecoderWriter", "Piece", "TransformersWriter", "Writer", "chat_prompt"]

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The system prompt of SmolLM2's own chat template."""
MAX_LENGTH = 512


@dataclass(frozen=True, slots=True)
class Piece:
    """A step of the model: the token it chose, and those that were forced after it."""

    token_ids: tuple[int, ...]


class Writer(Protocol):
    """A loaded model."""

    info: TokenizerInfo
    described: str

    def write(self, prompt_ids: list[int], matcher: TimedMatcher | None, max_tokens: int,
              show: Callable[[Piece], None]) -> None:
        """Write until the text ends."""


def chat_prompt(info: TokenizerInfo, text: str) -> list[int]:
    """One user message as ChatML, the format of SmolLM2's template, up to where the assistant begins."""
    start, end = (info.token_ids_by_text[name][0] for name in ("<|im_start|>", "<|im_end|>"))
    ids: list[int] = []
    for turn in (f"system\n{SYSTEM}", f"user\n{text}"):
        ids += [start, *_encoded(info, turn), end, *_encoded(info, "\n")]
    return [*ids, start, *_encoded(info, "assistant\n")]


def _encoded(info: TokenizerInfo, text: str) -> list[int]:
    ids = info.encode(text)
    assert ids is not None, "the model's tokenizer encodes ASCII"
    return ids


class DecoderWriter:
    """The model in ``constrained.decoder``: its 4-bit weights as they are, forced tokens in one pass."""

    def __init__(self, path: Path) -> None:
        from constrained.decoder.loaders.load import load_model
        from constrained.decoder.scheduler import Scheduler

        loaded = load_model(path, quantized=True)
        assert loaded.tokenizer_info is not None
        self.info = loaded.tokenizer_info
        self.described = "constrained.decoder, 4-bit weights, bfloat16 activations"
        self._scheduler = Scheduler(loaded.model, self.info, max_batch=1, max_len=MAX_LENGTH)

    def write(self, prompt_ids: list[int], matcher: TimedMatcher | None, max_tokens: int,
              show: Callable[[Piece], None]) -> None:
        from constrained.decoder.generate import stream
        from constrained.decoder.sampling_params import SamplingParams

        stops = set(self.info.stop_token_ids)
        params = SamplingParams(temperature=0.0, max_tokens=max_tokens)
        for event in stream(self._scheduler, prompt_ids, params, matcher):
            ids = tuple(i for i in event.token_ids if i not in stops)
            if ids:
                show(Piece(ids))


class TransformersWriter:
    """The model in ``transformers`` with this library's logits processor: every token is a step of its own."""

    def __init__(self, path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.environ.setdefault("TQDM_DISABLE", "1")  # read when tqdm is imported; the bars would break the page
            import transformers

            transformers.logging.set_verbosity_error()
            transformers.logging.disable_progress_bar()
            self._model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name).eval()
        self.info = TokenizerInfo.from_gguf(path, vocab_size=self._model.config.vocab_size)
        self.described = f"transformers {transformers.__version__}, float32"

    def write(self, prompt_ids: list[int], matcher: TimedMatcher | None, max_tokens: int,
              show: Callable[[Piece], None]) -> None:
        from constrained.integrations.transformers import LogitsProcessor

        processors = [] if matcher is None else [LogitsProcessor([matcher])]
        self._model.generate(
            self._model.dummy_inputs["input_ids"].new_tensor([prompt_ids]), logits_processor=processors,
            streamer=_Streamer(show, set(self.info.stop_token_ids)), max_new_tokens=max_tokens, do_sample=False,
            eos_token_id=list(self.info.stop_token_ids), pad_token_id=self.info.stop_token_ids[0])


class _Streamer:
    """What ``generate`` calls with the prompt, then with each token."""

    def __init__(self, show: Callable[[Piece], None], stops: set[int]) -> None:
        self._show = show
        self._stops = stops
        self._prompt_seen = False

    def put(self, value: Any) -> None:
        if self._prompt_seen:
            for token_id in value.reshape(-1).tolist():
                if token_id not in self._stops:
                    self._show(Piece((token_id,)))
        self._prompt_seen = True

    def end(self) -> None:
        pass
