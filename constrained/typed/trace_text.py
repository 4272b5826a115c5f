"""A trace as plain text: a line for each token, runs of forced tokens on one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constrained.typed.trace import Trace, TraceStep

__all__ = ["as_text", "summary"]

WIDTH = 18


def as_text(trace: Trace) -> str:
    """The whole trace; probabilities in percent."""
    return "\n".join(_lines(trace))


def summary(trace: Trace) -> str:
    """One sentence of numbers."""
    steps = trace.steps
    forced = sum(step.forced for step in steps)
    changed = sum(1 for step in steps if step.wanted and not step.wanted[0].allowed)
    seconds = sum(step.seconds for step in steps)
    masks = sum(step.mask_seconds for step in steps)
    share = masks / seconds if seconds else 0.0
    return (f"{len(steps)} tokens ({forced} forced) in {seconds:.2f} s, masks {masks * 1e3:.2f} ms ({share:.2%}); "
            f"the mask forbade the model's first choice {changed} times")


def _lines(trace: Trace) -> Iterator[str]:
    yield summary(trace)
    chain = _chain(trace.steps)
    if chain:
        yield f"sampler: {', '.join(chain)}; in brackets: the token's share of what was left, and how many that were"
    yield ""
    yield f"{'token':<{WIDTH}} {'p':>6} {'raw':>6} {'cut':>6} {'allowed':>8}  {'ms':>6}  place and alternatives"
    for (forced, thinking), run in groupby(trace.steps, key=lambda step: (step.forced, step.thinking)):
        steps = list(run)
        if steps[0].before:
            yield f"{_shown(steps[0].before)}  written by the library: the answer begins"
        elif thinking and steps[0] is trace.steps[0]:
            yield "think section, which no grammar holds:"
        if forced:
            text = "".join(step.text for step in steps)
            milliseconds = sum(step.seconds for step in steps) * 1e3
            yield f"{_shown(text):<{WIDTH}} {'forced: ' + str(len(steps)):>29}  {milliseconds:6.1f}  {_rules(steps[0])}"
            continue
        for step in steps:
            others = " ".join(f"{_shown(other.text)} {other.probability:.0%}" for other in step.alternatives[:4]
                              if other.text != step.text)
            first = step.wanted[0] if step.wanted else None
            if first is not None and not first.allowed:
                others += f"  (wanted {_shown(first.text)} {first.probability:.0%})"
            others += _sampled(step)
            yield (f"{_shown(step.text):<{WIDTH}} {step.probability:6.1%} {step.raw_probability:6.1%} "
                   f"{step.removed_mass:6.1%} {step.allowed:8,}  {step.seconds * 1e3:6.1f}  {_rules(step)}{others}")


def _sampled(step: TraceStep) -> str:
    """What the sampler made of the token; nothing where the likeliest was taken as it was."""
    shown = [f"{step.stages[-1].probability:.0%} of {step.stages[-1].kept:,}"] if _chain([step]) else []
    shown += [stage.name for stage in step.stages if stage.name.endswith("(lifted)")]
    if step.steered:
        shown.append("the token limit steered")
    return f"  [{', '.join(shown)}]" if shown else ""


def _chain(steps: Iterable[TraceStep]) -> list[str]:
    """The sampler's stages, in order; none where it is greedy alone."""
    names = list(dict.fromkeys(stage.name.removesuffix(" (lifted)") for step in steps for stage in step.stages))
    return [] if names == ["greedy"] else names


def _rules(step: TraceStep) -> str:
    if not step.rules:
        return ""
    more = f"+{len(step.rules) - 2}" if len(step.rules) > 2 else ""
    return f"<{', '.join(step.rules[:2])}{more}> "


def _shown(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 40 else shown[:24] + "..." + shown[-12:]
