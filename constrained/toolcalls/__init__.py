"""Tool calls in the formats of model families: the grammar of each, and the parser of what it accepts."""

from constrained.toolcalls.events import (
    ArgumentsDelta,
    Event,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from constrained.toolcalls.families import FAMILIES
from constrained.toolcalls.formats import ToolFormat, detect_format, format_names, get_format, register_format
from constrained.toolcalls.parser import ToolCallParser
from constrained.toolcalls.tools import ToolSpec, tool_specs

__all__ = [
    "FAMILIES",
    "ArgumentsDelta",
    "Event",
    "ReasoningDelta",
    "TextDelta",
    "ToolCallEnd",
    "ToolCallParser",
    "ToolCallStart",
    "ToolFormat",
    "ToolSpec",
    "detect_format",
    "format_names",
    "get_format",
    "register_format",
    "tool_specs",
]
