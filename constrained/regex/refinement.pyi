from constrained.regex.charset import Ranges

__all__ = ["refine"]

def refine(partitions: list[tuple[Ranges, ...]]) -> tuple[tuple[Ranges, ...], list[list[int]]]: ...
