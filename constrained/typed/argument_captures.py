"""Arguments of tool calls while they are written: what of them can no longer change, by the tool's own schema.

A parser hands arguments on as JSON text whatever the model's format is; that text is one of the tool's schema, so it
is followed with the captures of the schema's grammar (:mod:`constrained.typed.partial_captures`): a number is certain
as soon as the schema allows no further digit. Graphs are kept by schema.

Cost: a compilation for each new schema, when its first call is streamed; then that of ``JsonCaptures``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from constrained.engine.capture_graph import CaptureGraph
from constrained.errors import ConstrainedError
from constrained.frontends.json_schema.captured import captured_rules
from constrained.toolcalls import ToolSpec
from constrained.typed.partial_captures import JsonCaptures
from constrained.typed.tool_prompts import bounded_integers

__all__ = ["arguments_follower"]

MAX_GRAPHS = 128


def arguments_follower(tools: Iterable[Mapping[str, Any]], name: str) -> JsonCaptures | None:
    """A follower of one call of a tool; None where nothing is known of its arguments (``strict`` false), or where the
    schema has no captures."""
    for tool in tools:
        inner = tool.get("function", tool)
        if inner.get("name") == name:
            graph = None if inner.get("strict") is False else _graph(json.dumps(tool))
            return None if graph is None else JsonCaptures(graph)
    return None


@lru_cache(maxsize=MAX_GRAPHS)
def _graph(tool: str) -> CaptureGraph | None:
    (bounded,) = bounded_integers([json.loads(tool)])
    inner = bounded.get("function", bounded)
    try:
        schema = ToolSpec(inner["name"], None, inner.get("parameters")).schema
        return CaptureGraph(captured_rules(schema, strict_mode=True), None)
    except ConstrainedError:  # the grammar of the calls says what is wrong; a graph may need more than the limits have
        return None
