"""Formats."""
from constrained.regex.syntax import Node
def format_tree(name: str, draft: str = "2020-12") -> Node | None:
    return None
