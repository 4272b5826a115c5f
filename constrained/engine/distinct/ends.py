"""Ends of texts in which nothing comes twice: a short one, and the bytes that must follow.

Idea
    Distances know nothing of what was seen, so that a shortest end is found by A* (Hart, Nilsson, Raphael 1968) on
    relaxed's distances, which are at most the true ones; and where that takes long, by a descent that leads as near to
    an end as any byte does and takes back what has no way on, or by a search that is content with a short end.

What is tried on the way is taken back from the reader's tables.
Cost: 2-5 us a state that is met.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from constrained.engine.distinct import NAMED, Pairs
from constrained.kernel.token_automaton import TokenAutomaton
from constrained.kernel.value_pairs import SearchLimitReached, ValuePairs

__all__ = ["Ends", "members"]

MARK_COST = 1_000_000
"""What a mark counts in distances of *exact*, as every token that is no text."""

SOON = 400
"""States in which a shortest end is looked for at once,"""

QUICK = 1_500
"""and in which a shorter one than that at hand is."""

EAGER = 8
"""What a byte less to go is worth, in bytes written, where a short end is enough; and out of reach of what was seen."""

FAR = 1 << 60
"""More bytes than any text has."""

VARIANTS = 4
"""Ways to one state of the automata that such a search follows."""

_BYTES = [bytes((value,)) for value in range(256)]
_BLANKS = sum(1 << value for value in b" \t\n\r")

State = tuple[int, Pairs]
"""A state of relaxed, and pairs of the readers and exact."""


class Ends:
    """Searches from a state of relaxed and the pairs of ``steps``; ``named``: whether the grammar names tokens."""

    def __init__(self, relaxed: TokenAutomaton, steps: ValuePairs, named: bool, max_search: int) -> None:
        self.relaxed = relaxed
        self.exact = steps.exact
        self.reader = steps.reader
        self.steps = steps
        self.named = named
        self.max_search = max_search

    def forced(self, pairs: Pairs, most: int) -> bytes:
        """Bytes that must follow, at most ``most``: as long as one only has a way on, and the end cannot come."""
        out = bytearray()
        marked = self.reader.mark()
        self.steps.begin()
        try:
            while len(out) < most and pairs and not self.complete(pairs) and not self._reads_names(pairs):
                ways = []
                for byte in members(self._options(pairs)):
                    after = self.steps.feed(pairs, _BYTES[byte])
                    if after:
                        ways.append((byte, after))
                        if len(ways) > 1:
                            break
                if len(ways) != 1:
                    break
                out.append(ways[0][0])
                pairs = ways[0][1]
        finally:  # what was tried is taken back even where a search ends at its limit
            self.reader.undo(marked)
        return bytes(out)

    def complete(self, pairs: Pairs) -> bool:
        """Whether the text may end here."""
        return any(reader == 0 and self.exact.complete(state) for reader, state in pairs)

    def _reads_names(self, pairs: Pairs) -> bool:
        return self.named and any(i >= NAMED for _, state in pairs for i in self.exact.allowed_ids(state))

    def _options(self, pairs: Pairs) -> int:
        found = 0
        for _, state in pairs:
            found |= self.steps.first_bytes(state)
        return found

    def shortest(self, start: State, most: int) -> bytes | None:
        """The bytes of a way to an end, at most ``most`` of them; None where only a named token goes on.

        A shortest one by A* on relaxed's distances, which are at most the true ones (Hart, Nilsson, Raphael 1968).
        Where ``SOON`` states do not tell, a short one: without needless blanks, of the texts that differ only in what
        the readers remember a few, and distances count ``EAGER`` times (Pohl 1970), so that a way that has found its
        new items is followed to the end. Where ``QUICK`` states do not tell that either, the one that ``_descend``
        comes to. A shorter one than that at hand is taken, if ``QUICK`` states tell it.
        """
        short = None
        for eager, budget in ((False, SOON), (True, QUICK)):
            self.steps.begin()
            try:
                short = self._search(start, most, eager, budget)
            except SearchLimitReached:
                continue
            if not eager:
                return short
        if short is None:
            short = self._descended(start)
        if short is not None and len(short) == self.relaxed.distance(start[0]):
            return short[:most]
        self.steps.begin()
        try:
            found = self._search(start, most, False, QUICK, FAR if short is None else len(short))
            return short[:most] if found is None and short is not None else found
        except SearchLimitReached:
            if short is not None:
                return short[:most]
        for eager, budget in ((True, self.max_search), (False, self.max_search)):
            self.steps.begin()
            try:
                found = self._search(start, most, eager, budget)
            except SearchLimitReached:
                continue
            if found is not None or not eager:
                return found
        raise SearchLimitReached(self.max_search)

    def _search(self, start: State, most: int, eager: bool, budget: int, below: int = FAR) -> bytes | None:
        """``eager``: a short end is enough. ``below``: only one of fewer bytes is wanted."""
        marked = self.reader.mark()
        try:
            return self._search_end(start, most, eager, budget, below)
        finally:
            self.reader.undo(marked)

    def _search_end(self, start: State, most: int, eager: bool, budget: int, below: int) -> bytes | None:
        before: dict[State, tuple[State, int]] = {start: (start, 0)}
        heap = [(0, 0, 0, start)]
        met: dict[tuple[int, ...], int] = {}
        while heap:
            _, depth, _, here = heappop(heap)
            row, pairs = here
            if self.complete(pairs):
                out = bytearray()
                while here != start:
                    here, byte = before[here]
                    out.append(byte)
                out.reverse()
                return bytes(out[:most])
            options = self._options(pairs)
            for byte in members((options & ~_BLANKS or options) if eager else options):
                data = _BYTES[byte]
                next_row = self.relaxed.advance(row, data)
                if not next_row:
                    continue
                after = (next_row, self.steps.feed(pairs, data))
                if not after[1] or after in before:
                    continue
                far = self.relaxed.distance(next_row)
                if 1 - depth + far >= below:
                    continue
                if eager:
                    place = (next_row, *[state for _, state in after[1]])
                    met[place] = met.get(place, 0) + 1
                    if met[place] > VARIANTS:
                        continue
                    far = EAGER * max(far, self._far(after[1]))
                before[after] = (here, byte)
                # of equally good ways the longest goes on, of those the youngest
                heappush(heap, (1 - depth + far, depth - 1, len(before), after))
            if len(before) > budget:
                raise SearchLimitReached(len(before))
        return None

    def _descended(self, start: State) -> bytes | None:
        """``_descend``, or None where it finds no end, or not within ``max_search`` steps."""
        marked = self.reader.mark()
        self.steps.begin()
        try:
            return self._descend(start)
        except SearchLimitReached:
            return None
        finally:
            self.reader.undo(marked)

    def _descend(self, start: State) -> bytes | None:
        """An end by steps that each lead as near to one as any does, and of those out of reach of what was seen.

        Distances know nothing of what was seen. Where that bars the nearest end the next one may be far; a search by
        distances first tries whatever can be written in other ways, as 1.0 and 1.00, but a step that leads away from an
        end leads towards another, and no living state is without one. What has no way on is taken back. A place of the
        automata counts as farther each time it is met, so that new items that bring no end are not written for ever.
        """
        met = {start}
        visits: dict[tuple[int, ...], int] = {}
        way: list[tuple[int, list[tuple[int, Pairs, int]]]] = []
        here, steps = start, 0
        while not self.complete(here[1]):
            ways = self._nearest(here, visits)
            while True:
                while not ways and way:
                    _, ways = way.pop()
                if not ways:
                    return None
                row, pairs, byte = ways.pop()
                here = row, self.steps.living(pairs)
                if here[1] and here not in met:
                    break
            met.add(here)
            place = (here[0], *[state for _, state in here[1]])
            visits[place] = visits.get(place, 0) + 1
            way.append((byte, ways))
            steps += 1
            if steps > self.max_search:
                return None
        return bytes([byte for byte, _ in way])

    def _nearest(self, here: State, visits: dict[tuple[int, ...], int]) -> list[tuple[int, Pairs, int]]:
        """What a byte leads to, and the byte; the nearest to an end comes last. Whether it lives is not asked.

        ``visits``: how often a place was met before, which counts as bytes.
        """
        row, pairs = here
        options = self._options(pairs)
        found: list[tuple[int, int, int, Pairs]] = []
        for byte in members(options & ~_BLANKS or options):
            data = _BYTES[byte]
            after = self.relaxed.advance(row, data)
            read = self.steps.read(pairs, data) if after else ()
            if read:
                far = max(self.relaxed.distance(after), self._far(read))
                if not all(reader <= 0 or self.reader.outlook(reader)[0] for reader, _ in read):
                    far += EAGER
                far += visits.get((after, *[state for _, state in read]), 0)
                found.append((-far, -byte, after, read))
        found.sort()
        return [(after, read, -byte) for _, byte, after, read in found]

    def _far(self, pairs: Pairs) -> int:
        """About how many bytes lead to an end: what relaxed takes for an end of an item may be none for any pair."""
        marks, count = divmod(min(self.exact.distance(state) for reader, state in pairs if reader >= 0), MARK_COST)
        return marks + count


def members(bits: int) -> Iterator[int]:
    """The values whose bits are set, in order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
