from constrained.regex.syntax import Node

__all__ = ["absorbed"]

def absorbed(tree: Node) -> Node: ...
