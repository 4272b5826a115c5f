"""The trace as one HTML page: data, style and script in it, nothing fetched.

Tokens stand in a strip, coloured by their probability under the mask; forced ones are grey, a red mark stands where the
mask forbade what the model wanted most. Below, a bar for each token shows its time. A click (or the arrow keys)
opens a token: probabilities before and after the mask, the grammar's place, and what each layer would have said.
Markup, style and script lie in ``trace_assets``.
"""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from constrained.typed.trace_text import summary

if TYPE_CHECKING:
    from constrained.typed.trace import Trace

__all__ = ["page"]


def page(trace: Trace) -> str:
    """The page. Its texts are shown as text, whatever the model wrote."""
    data = json.dumps(trace.to_dict(), ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace(
        "\u2029", "\\u2029")
    assets = files("constrained.typed") / "trace_assets"
    parts = {"title": escape(f"Trace: {trace.model}"), "summary": escape(summary(trace)), "data": data,
             "style": (assets / "style.css").read_text("utf-8"), "script": (assets / "script.js").read_text("utf-8")}
    whole = (assets / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], whole)
