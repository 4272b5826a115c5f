"""A generation seen token by token: what the model wanted, what the mask left of it, and what it cost.

    seen = trace(llm, "Ada is 36 and lives in London.", Person)
    seen.save("trace.html")        # one page, no network
    print(seen)                    # the same as text

The call runs as always; its pieces are timed. Then the tokens are read once more (``decoder.look``) through the same
model and a fresh matcher: probabilities before and after the mask, the mass it removed, the likeliest alternatives,
the grammar's rules at the place, the mask's time, and the logit lens (what each layer would have said). ``probability``
is that of the raw model under the mask; what penalties, temperature and truncation made of it is told stage by stage.
A generation that thinks first is two requests (:mod:`constrained.typed.local`), and each is read with its own prompt.

Cost: one more pass over prompt and output (two where it thinks), and for each shown layer one output head a token.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrained.typed.errors import SourceError
from constrained.typed.local import LocalEngine, Part
from constrained.typed.trace_page import page
from constrained.typed.trace_text import as_text

if TYPE_CHECKING:
    from constrained.decoder.stages import Stage
    from constrained.typed.call import Piece
    from constrained.typed.llm import LLM

__all__ = ["Trace", "TraceStep", "trace"]

MAX_LAYERS = 8
"""Layers of the lens by default, spread evenly."""

STAGE_TOP = 3
"""Tokens kept of each stage of the sampler but the last, of which there are as many as alternatives."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A token that could have come: its text and probability."""

    text: str
    probability: float
    allowed: bool = True


@dataclass(frozen=True, slots=True)
class SamplerStage:
    """What one stage of the sampler left of the tokens, after the mask and the stages before it."""

    name: str
    """The parameter and its value: ``top_p 0.9``."""
    kept: int
    removed_mass: float
    probability: float
    """Of the token that came."""
    top: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One output token."""

    token_id: int
    text: str
    forced: bool
    """The grammar left one way on: no choice was made."""
    probability: float
    """Under the mask."""
    raw_probability: float
    """Before the mask."""
    removed_mass: float
    """Share of the raw distribution that the mask takes away."""
    allowed: int
    """Tokens that the mask leaves; the vocabulary's size where there is no grammar."""
    alternatives: tuple[Choice, ...]
    """The likeliest tokens under the mask."""
    wanted: tuple[Choice, ...]
    """The likeliest tokens before the mask."""
    rules: tuple[str, ...]
    complete: bool
    """The text may end before this token."""
    seconds: float
    """Wall time of the step that brought it; tokens that came together share theirs."""
    mask_seconds: float
    lens: tuple[Choice, ...] = ()
    """The likeliest token after each of ``Trace.layers``."""
    stages: tuple[SamplerStage, ...] = ()
    """Those that were on, in order; none for forced tokens. The last is what the token was drawn from."""
    steered: bool = False
    """The token limit asked for it in place of another (``budget="close"``)."""
    thinking: bool = False
    """A token of the think section, which no grammar holds."""
    before: str = ""
    """What the library wrote into the context before this token: the end of a think section."""


@dataclass(frozen=True)
class Trace:
    """A traced generation: ``result`` is what the call gave."""

    prompt: str
    steps: tuple[TraceStep, ...]
    layers: tuple[int, ...]
    model: str
    vocab_size: int
    result: Any = field(repr=False)

    @property
    def text(self) -> str:
        """The output, control tokens written out; the think section and its end are part of it."""
        return "".join(step.before + step.text for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Everything but ``result``, as plain values."""
        return {"prompt": self.prompt, "model": self.model, "vocab_size": self.vocab_size, "layers": list(self.layers),
                "finish_reason": self.result.finish_reason, "steps": [asdict(step) for step in self.steps]}

    def to_json(self) -> str:
        """``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_html(self) -> str:
        """One self-contained page."""
        return page(self)

    def save(self, path: str | Path) -> Path:
        """Write the page (or, for a name that ends in ``.json``, the data)."""
        target = Path(path)
        target.write_text(self.to_json() if target.suffix == ".json" else self.to_html(), encoding="utf-8")
        return target

    def __str__(self) -> str:
        return as_text(self)


def trace(llm: LLM, prompt: Any, output_type: Any = None, *, layers: Sequence[int] | int = MAX_LAYERS, top: int = 6,
          **options: Any) -> Trace:
    """Generate as ``llm.generate(prompt, output_type, **options)`` does, and look.

    Args:
        layers: of the logit lens: their numbers (0 is the embeddings), or how many; 0: none.
        top: alternatives shown for each token.

    Raises:
        SourceError: the LLM is a server, whose model cannot be looked into; further as ``generate``.
    """
    engine = llm.engine
    if not isinstance(engine, LocalEngine):
        raise SourceError("a trace needs the model itself, not a server", hint="LLM('path/to/model') loads one")
    call, _ = llm._call(prompt, output_type, options)
    from constrained.typed.stream import Assembler

    assembler = Assembler(call, events=False)
    timed: list[list[tuple[Piece, float]]] = []
    generation = engine.start(call)
    last = time.perf_counter()
    for piece in generation:
        assembler.feed(piece)
        now = time.perf_counter()
        if piece.token_ids:
            while len(timed) < len(generation.parts):
                timed.append([])
            timed[-1].append((piece, now - last))
            last = now
    result = assembler.result(generation.ending)
    wanted = _layers(layers, engine.scheduler.model.config.n_layers)
    names = _Names(engine)
    read: list[int] = []
    steps: list[TraceStep] = []
    for part, pieces in zip(generation.parts, timed, strict=False):  # a part that wrote nothing may have no pieces
        found = _steps(engine, call, part, pieces, wanted, top)
        if found and read:
            kept = next((i for i, (a, b) in enumerate(zip(read, part.prompt, strict=False)) if a != b), len(read))
            found[0] = replace(found[0], before=names.text(part.prompt[kept:]))  # an end token is not kept
        steps += found
        read = [*part.prompt, *(token for piece, _ in pieces for token in piece.token_ids)]
    prompt_text = names.text(generation.parts[0].prompt)
    return Trace(prompt_text, tuple(steps), tuple(wanted), engine.described, engine.info.vocab_size, result)


def _layers(asked: Sequence[int] | int, deepest: int) -> list[int]:
    if not isinstance(asked, int):
        return sorted(set(asked))
    if asked <= 0:
        return []
    count = min(asked, deepest)
    return sorted({round(deepest * (i + 1) / count) for i in range(count)})


def _steps(engine: LocalEngine, call: Any, part: Part, timed: list[tuple[Piece, float]],
           layers: list[int], top: int) -> list[TraceStep]:
    from constrained.decoder.look import look

    output = [token for piece, _ in timed for token in piece.token_ids]
    forced = [i in piece.forced_at for piece, _ in timed for i in range(len(piece.token_ids))]
    steered = [i in piece.steered_at for piece, _ in timed for i in range(len(piece.token_ids))]
    seconds = [taken / len(piece.token_ids) for piece, taken in timed for _ in piece.token_ids]
    names = _Names(engine)
    steps = []
    matcher = None if part.thinking else engine.matcher(call)
    sampler = engine.scheduler.sampler(part.params, forced, constrained=matcher is not None)
    seen = look(engine.scheduler.model, part.prompt, output, matcher=matcher, layers=layers, top=top, sampler=sampler,
                passes=_passes(timed))
    for i, one in enumerate(seen):
        steps.append(TraceStep(
            one.token, names.written(one.token), forced[i], _rounded(one.probability), _rounded(one.raw_probability),
            _rounded(one.removed_mass), one.allowed,
            tuple(Choice(names.written(t), _rounded(p)) for t, p in one.top),
            tuple(Choice(names.written(t), _rounded(p), legal) for t, p, legal in one.raw_top),
            one.rules, one.complete, round(seconds[i], 6), round(one.mask_seconds, 8),
            tuple(Choice(names.written(t), _rounded(p)) for t, p in one.lens),
            tuple(_stage(stage, names, top if stage is one.stages[-1] else STAGE_TOP) for stage in one.stages),
            steered[i], part.thinking))
    return steps


def _stage(stage: Stage, names: _Names, top: int) -> SamplerStage:
    likeliest = tuple(Choice(names.written(t), _rounded(p)) for t, p in stage.top[:top])
    return SamplerStage(stage.name, stage.kept, _rounded(stage.removed_mass), _rounded(stage.probability), likeliest)


def _passes(timed: list[tuple[Piece, float]]) -> list[int]:
    """Tokens of each forward pass of the generation after the prompt's: the tokens of a piece go into the next one.

    What was forced before the first choice was read with the prompt.
    """
    first = timed[0][0] if timed else Piece()
    begun = next((i for i in range(len(first.token_ids)) if i not in first.forced_at), len(first.token_ids))
    counts = [len(piece.token_ids) for piece, _ in timed]
    return [counts[0] - begun, *counts[1:]] if counts else []


class _Names:
    """Tokens as text; control tokens by name, bytes that are no whole characters as U+FFFD."""

    def __init__(self, engine: LocalEngine) -> None:
        self._info = engine.info
        self._names = {i: text for text, several in engine.info.token_ids_by_text.items() for i in several}

    def written(self, token: int) -> str:
        data = self._info.token_bytes(token)
        return data.decode("utf-8", "replace") if data else self._names.get(token, f"<[{token}]>")

    def text(self, tokens: list[int]) -> str:
        """Several tokens: their bytes joined first, so that characters cut into tokens are whole."""
        parts = (self._info.token_bytes(i) or self.written(i).encode() for i in tokens)
        return b"".join(parts).decode("utf-8", "replace")


def _rounded(value: float) -> float:
    """Five significant digits: pages of a thousand tokens stay small."""
    return float(f"{value:.5g}")
