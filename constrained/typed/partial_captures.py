"""Values that are still being written, from the captures of their grammar: what of them can no longer change.

Idea: a text held to a grammar is followed by a ``CaptureTracker`` over the same grammar with its parts named. A part is
told once no continuation of the text can change it: where it begins, and where it ends. So nothing is guessed from the
text: ``150`` is whole as soon as the type allows no further digit, an object is there once every alternative that may
still be read is one.

    JsonCaptures     the values and names of a JSON type (``json_schema.captured``) -> dicts, lists, scalars
    TextCaptures     the named parts of a plain text grammar -> ``{"name": ["first", "second"]}``

Both speak as ``PartialJson``: ``feed`` tells whether more became certain, ``snapshot`` is what is certain. Snapshots
are monotone: a member once shown keeps its value, a list only grows by whole elements, and the last snapshot is the
value. (A name that a dict writes twice shows its first value until the dict is whole, its last one then, as JSON is
read.)

Invariant: the text is a beginning of one of the grammar. Where it is not (a server wrote it), or following it needs
more threads than ``Limits.max_threads``, nothing more becomes certain: ``broken``.

Cost: 5-20 us a byte for each way to read the text; a snapshot copies the open containers.
"""

from __future__ import annotations

import json
from typing import Any

from constrained.engine.capture_graph import CaptureGraph
from constrained.engine.captures import CaptureSpan, CaptureTracker
from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.captured import KEY
from constrained.typed.partial import MISSING

__all__ = ["JsonCaptures", "TextCaptures"]


class _Follower:
    """The tracker and its text."""

    def __init__(self, graph: CaptureGraph) -> None:
        self._tracker = CaptureTracker(graph)
        self._data = bytearray()
        self.done = False
        """The value is whole."""
        self.broken = False

    def feed(self, text: str) -> bool:
        """Add text; whether anything became certain."""
        if self.broken or self.done:
            return False
        data = text.encode("utf-8", "surrogatepass")
        self._data += data
        try:
            spans = self._tracker.feed(data)
        except GrammarLimitError:
            self.broken = True
            return False
        self.broken = not self._tracker.alive
        return not self.broken and self._told(spans)

    def finish(self) -> bool:
        """The text has ended: what is certain now."""
        if self.broken or self.done:
            return False
        return self._told(self._tracker.finish())

    def _told(self, spans: list[CaptureSpan]) -> bool:
        raise NotImplementedError


class JsonCaptures(_Follower):
    """A JSON value.

    ``_parts``: closed names and values that no closed value holds, by their beginning; ``_open``: where open values
    begin, the outermost first.
    """

    def __init__(self, graph: CaptureGraph) -> None:
        super().__init__(graph)
        self._parts: list[tuple[int, str, Any]] = []
        self._open: list[int] = []

    @property
    def snapshot(self) -> Any:
        """What is certain, ``MISSING`` before anything is; later text does not change it."""
        if self.done:
            return self._parts[0][2]
        root: Any = MISSING
        holder: Any = None
        name: str | None = None
        at = 0
        for depth, start in enumerate(self._open):
            end = self._open[depth + 1] if depth + 1 < len(self._open) else len(self._data)
            begin = self._data[start : start + 1]
            value: Any = {} if begin == b"{" else [] if begin == b"[" else MISSING
            if value is MISSING or isinstance(holder, list):  # a scalar; an element shows when it is whole
                break
            if holder is None:
                root = value
            elif name is not None:
                holder.setdefault(name, value)
            while at < len(self._parts) and self._parts[at][0] < start:
                at += 1
            name = None
            while at < len(self._parts) and self._parts[at][0] < end:
                name = _into(value, self._parts[at], name)
                at += 1
            holder = value
        return root

    def _told(self, spans: list[CaptureSpan]) -> bool:
        grew = False
        for span in spans:
            if span.name == KEY:
                self._parts.append((span.start, KEY, json.loads(self._data[span.start : span.end])))
            else:
                self._close(span)
                grew = True
        # values that have begun; a value may be one of another rule, which begins with it
        begun = dict.fromkeys(span.start for span in self._tracker.open if span.name != KEY)
        opened = [start for start in begun if start < len(self._data)]
        grew = grew or opened != self._open
        self._open = opened
        self.done = not begun and bool(self._parts)
        return grew

    def _close(self, span: CaptureSpan) -> None:
        inside = len(self._parts)
        while inside and self._parts[inside - 1][0] >= span.start:
            inside -= 1
        within = self._parts[inside:]
        del self._parts[inside:]
        if not within:
            value: Any = json.loads(self._data[span.start : span.end])
        elif within[0][0] == span.start:  # a value that is one of another rule
            value = within[0][2]
        else:
            value = {} if self._data[span.start] == 0x7B else []
            name = None
            for part in within:
                name = _into(value, part, name, last=True)
        self._parts.append((span.start, span.name, value))


def _into(holder: Any, part: tuple[int, str, Any], name: str | None, *, last: bool = False) -> str | None:
    """Add a part to its container; the name that waits for its value."""
    _, kind, value = part
    if kind == KEY:
        return str(value)
    if isinstance(holder, list):
        holder.append(value)
    elif name is not None:
        if last:
            holder[name] = value
        else:
            holder.setdefault(name, value)
    return None


class TextCaptures(_Follower):
    """Named parts of a text, each name with a list: parts may come several times."""

    def __init__(self, graph: CaptureGraph) -> None:
        super().__init__(graph)
        self._found: dict[str, list[str]] = {}

    @property
    def snapshot(self) -> dict[str, list[str]]:
        """What is certain; later text does not change it."""
        return {name: list(texts) for name, texts in self._found.items()}

    def _told(self, spans: list[CaptureSpan]) -> bool:
        for span in spans:
            text = self._data[span.start : span.end].decode("utf-8", "replace")
            self._found.setdefault(span.name, []).append(text)
        return bool(spans)
