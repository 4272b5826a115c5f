# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The classes that several partitions of the code points tell apart together.

Where a range begins, its partition is in another class: sorted, these beginnings are all there is to look at. Each is
one int: the code point, the place of the partition and the number of the class, 21 bits each.

Cost: 0.1 us a range.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

from constrained.regex.charset import FIRST_SURROGATE, MAX_CODE_POINT

__all__ = ["refine"]

_PART = cython.declare(cython.longlong, (1 << 21) - 1)
_END = cython.declare(cython.longlong, MAX_CODE_POINT + 1)
_SURROGATE = cython.declare(cython.longlong, FIRST_SURROGATE)


@cython.ccall
def refine(partitions: list) -> tuple:
    """The common refinement of some partitions, and for each of these the classes that the new classes lie in."""
    first_one: tuple = partitions[0]
    classes: tuple
    ranges: tuple
    pair: tuple
    begins: list = []
    current: list
    same: list
    pieces: dict = {}
    piece: list
    key: tuple
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    place: cython.longlong
    first: cython.longlong
    last: cython.longlong
    code: cython.longlong
    count: cython.Py_ssize_t = len(partitions)
    differs: cython.bint = False
    for i in range(1, count):
        if partitions[i] is not first_one and partitions[i] != first_one:
            differs = True
            break
    if not differs:
        same = list(range(len(first_one)))
        return first_one, [same] * count
    # all cover the same code points, so that something begins behind every end
    for place in range(count):
        classes = partitions[place]
        for i in range(len(classes)):
            ranges = classes[i]
            for j in range(len(ranges)):
                pair = ranges[j]
                first = pair[0]
                begins.append((first << 42) + (place << 21) + i)
    begins.sort()
    current = [0] * count
    i = 0
    code = begins[0]
    while i < len(begins):
        first = code >> 42
        while code >> 42 == first:
            current[(code >> 21) & _PART] = code & _PART
            i += 1
            code = cython.cast(cython.longlong, begins[i]) if i < len(begins) else _END << 42
        last = (code >> 42) - 1
        if first < _SURROGATE <= last:
            last = _SURROGATE - 1
        key = tuple(current)
        found = pieces.get(key)
        if found is None:
            pieces[key] = [(first, last)]
        else:
            piece = found
            piece.append((first, last))
    return tuple([tuple(some) for some in pieces.values()]), [list(homes) for homes in zip(*pieces, strict=True)]
