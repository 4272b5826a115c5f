"""Many matchers at once: the rows of a decoding step in one call that does not hold the GIL.

Known masks are one copy each. Masks that are new are built in the same call; with ``max_threads`` over one, a call
with several new ones is split between threads, which pays since different grammars have different locks.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from constrained.engine.buffers import RowFinder
from constrained.engine.compiled import KERNEL_LIMITS, StaleState, limit_error
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import BitmaskError, ConstrainedError
from constrained.kernel.linking import Unwritten
from constrained.kernel.token_automaton import fill_many, next_many

__all__ = ["BatchGrammarMatcher"]


class BatchGrammarMatcher:
    """Batch calls over matchers of one vocabulary. Not for use by several threads at a time.

    Args:
        max_threads: threads that build new masks; 1 keeps everything in the calling thread.
    """

    def __init__(self, max_threads: int = 1) -> None:
        if max_threads < 1:
            raise ConstrainedError(f"max_threads must be at least 1, not {max_threads}")
        self.max_threads = max_threads
        self._pool: ThreadPoolExecutor | None = None
        self._finder = RowFinder(0)
        self._last: list[GrammarMatcher | None] = []
        self._automata: list[Any] = []
        self._widths: set[int] = set()
        self._all_quick = True

    def batch_fill_next_token_bitmask(
        self, matchers: Sequence[GrammarMatcher | None], bitmask: Any, indices: Sequence[int] | None = None
    ) -> None:
        """Fill row ``indices[i]`` (default ``i``) for matcher ``i``; None leaves its row as it is.

        A row that fails does not keep the others from being filled; the first failure is raised at the end.
        Raises as ``GrammarMatcher.fill_next_token_bitmask``.
        """
        if indices is None:
            indices = range(len(matchers))
        elif len(indices) != len(matchers):
            raise BitmaskError(f"{len(matchers)} matchers but {len(indices)} rows")
        if self._last != matchers:  # by identity; a step usually has the matchers of the step before
            self._last = list(matchers)
            self._automata = [m._auto for m in self._last if m is not None]
            self._widths = {m._auto.words for m in self._last if m is not None and m._quick}
            self._all_quick = all(m is not None and m._quick for m in self._last)
        automata = self._automata
        quick: list[int] | None = None
        handles = array("q", [m._state for m in matchers if not m._terminated] if self._all_quick else ())  # type: ignore[union-attr]
        if not self._all_quick or len(handles) != len(matchers):
            quick = [i for i, m in enumerate(matchers) if m is not None and m._quick and not m._terminated]
            automata = [self._last[i]._auto for i in quick]  # type: ignore[union-attr]
            handles = array("q", [self._last[i]._state for i in quick])  # type: ignore[union-attr]
        rows = array("i", indices if quick is None else [indices[i] for i in quick])
        base = self._base(bitmask, rows) if rows else 0
        failed: Exception | None = None

        def run(begin: int, end: int) -> Exception | None:
            first: Exception | None = None
            while begin < end:
                stopped = fill_many(automata, handles, base, rows, self._finder.words, begin, end)
                if stopped is None:
                    break
                at, error = stopped
                wrong = self._settle(matchers, indices, rows[at], error, bitmask)
                first = first or wrong
                begin = at + 1
            return first

        if automata:
            failed = self._spread(run, automata, handles)
        if quick is not None:
            done = set(quick)
            for i, matcher in enumerate(matchers):
                if matcher is not None and i not in done:
                    try:
                        matcher.fill_next_token_bitmask(bitmask, indices[i])
                    except ConstrainedError as error:
                        failed = failed or error
        if failed is not None:
            raise failed

    def _base(self, bitmask: Any, rows: array[int]) -> int:
        """The address of row 0, after the rows and the width were checked."""
        base = 0
        for words in self._widths:  # one, or the bitmask does not fit all
            if self._finder.words != words:
                self._finder = RowFinder(words)
            self._finder.address(bitmask, min(rows))
            last = max(rows)
            base = self._finder.address(bitmask, last) - 4 * words * last
        return base

    def _settle(self, matchers: Sequence[GrammarMatcher | None], indices: Sequence[int], row: int, error: BaseException,
                bitmask: Any) -> Exception | None:
        """Fill the row alone if its state was only stale, or its grammar not whole; else word its error."""
        matcher = matchers[list(indices).index(row)]
        assert matcher is not None
        if isinstance(error, (StaleState, Unwritten)):
            try:
                matcher.fill_next_token_bitmask(bitmask, row)
            except ConstrainedError as wrong:
                return wrong
            return None
        if isinstance(error, KERNEL_LIMITS):
            return limit_error(error, matcher._compiled)
        raise error

    def _spread(self, run: Callable[[int, int], Exception | None], automata: list[Any],
                handles: array[int]) -> Exception | None:
        """Run over all rows; in threads if several masks are new."""
        n = len(automata)
        if self.max_threads > 1 and n > 1:
            new = 0
            for automaton, handle in zip(automata, handles, strict=True):
                if not (automaton.is_fresh(handle) and automaton.known(handle)):
                    new += 1
                    if new > 1:
                        break
            if new > 1:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self.max_threads - 1)  # and the calling thread
                parts = min(self.max_threads, n)
                cuts = [n * i // parts for i in range(parts + 1)]
                waiting = [self._pool.submit(run, a, b) for a, b in pairwise(cuts[1:])]
                failed = run(0, cuts[1])
                for future in waiting:
                    failed = failed or future.result()
                return failed
        return run(0, n)

    def batch_accept_token(self, matchers: Sequence[GrammarMatcher], token_ids: Sequence[int]) -> list[bool]:
        """``accept_token`` for each pair, in one call; a matcher that fails stays where it is."""
        if len(matchers) != len(token_ids):
            raise ConstrainedError(f"{len(matchers)} matchers but {len(token_ids)} tokens")
        n = len(matchers)
        results = [False] * n
        fast = [i for i, (m, t) in enumerate(zip(matchers, token_ids, strict=True))
                if m._quick and not m._terminated and not m._without_stop and 0 <= t < m._auto.vocab_size]
        automata: list[Any] = [matchers[i]._auto for i in fast]
        handles = array("q", [matchers[i]._state for i in fast])
        tokens = array("i", [token_ids[i] for i in fast])
        out = array("q", bytes(8 * len(fast)))
        begin = 0
        failed: Exception | None = None
        settled = [False] * n
        while begin < len(fast):
            stopped = next_many(automata, handles, tokens, out, begin, len(fast))
            if stopped is None:
                break
            at, _ = stopped
            begin = at + 1
            out[at] = 0  # taken again below, one by one
        for k, i in enumerate(fast):
            if out[k]:
                matchers[i]._push(token_ids[i], out[k])
                results[i] = settled[i] = True
        for i in range(n):
            if not settled[i]:
                try:
                    results[i] = matchers[i].accept_token(token_ids[i])
                except ConstrainedError as error:
                    failed = failed or error
        if failed is not None:
            raise failed
        return results

    def batch_accept_string(self, matchers: Sequence[GrammarMatcher], texts: Sequence[str | bytes]) -> list[bool]:
        """``accept_string`` for each pair."""
        if len(matchers) != len(texts):
            raise ConstrainedError(f"{len(matchers)} matchers but {len(texts)} texts")
        return [matcher.accept_string(text) for matcher, text in zip(matchers, texts, strict=True)]

    def batch_rollback(self, matchers: Sequence[GrammarMatcher], num_tokens: int | Sequence[int] = 1) -> None:
        """Undo steps of each matcher; checked for all before any is changed."""
        counts = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else list(num_tokens)
        if len(counts) != len(matchers):
            raise ConstrainedError(f"{len(matchers)} matchers but {len(counts)} counts")
        for matcher, count in zip(matchers, counts, strict=True):
            if count < 0 or count > matcher.num_steps:
                raise ConstrainedError(f"cannot undo {count} steps: {matcher.num_steps} were taken")
        for matcher, count in zip(matchers, counts, strict=True):
            matcher.rollback(count)
