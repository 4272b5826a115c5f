from constrained.regex.syntax import Node


def idn_hostname() -> Node | None:
    return None
