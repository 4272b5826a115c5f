"""Counters of a server, in Prometheus' text format (version 0.0.4).

Everything is counted in the event loop but what the decode thread counts itself, so there are no locks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

__all__ = ["Histogram", "Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Histogram:
    """Counts by upper bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> Iterable[str]:
        """The metric's lines."""
        seen = 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            seen += count
            yield f'{name}_bucket{{le="{bound}"}} {seen}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {seen}"


class Metrics:
    """What a server has done so far."""

    def __init__(self) -> None:
        self.responses: dict[tuple[str, int], int] = {}
        self.prompt_tokens = 0
        self.cached_tokens = 0
        self.output_tokens = 0
        self.forced_tokens = 0
        self.reasoning_tokens = 0
        self.disconnects = 0
        self.first_token = Histogram()
        self.request_seconds = Histogram()

    def answered(self, endpoint: str, status: int) -> None:
        """Count one response."""
        key = (endpoint, status)
        self.responses[key] = self.responses.get(key, 0) + 1

    def lines(self, gauges: dict[str, float]) -> Iterable[str]:
        """All metrics; ``gauges`` are the values of now."""
        yield "# TYPE constrained_responses_total counter"
        for (endpoint, status), count in sorted(self.responses.items()):
            yield f'constrained_responses_total{{endpoint="{endpoint}",status="{status}"}} {count}'
        for name in ("prompt_tokens", "cached_tokens", "output_tokens", "forced_tokens", "reasoning_tokens",
                     "disconnects"):
            yield f"# TYPE constrained_{name}_total counter"
            yield f"constrained_{name}_total {getattr(self, name)}"
        for name, histogram in (("first_token_seconds", self.first_token), ("request_seconds", self.request_seconds)):
            yield f"# TYPE constrained_{name} histogram"
            yield from histogram.lines(f"constrained_{name}")
        for name, value in gauges.items():
            yield f"# TYPE constrained_{name} {'counter' if name.endswith('_total') else 'gauge'}"
            yield f"constrained_{name} {value:g}"
