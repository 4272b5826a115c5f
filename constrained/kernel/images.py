# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Rules that many grammars have, lowered once: any JSON value, a number, a string.

The *image* of a rule is the finished program (``kernel.program``) of that rule and the bodies of its loops. Nothing in
it depends on the grammar around: regions never cross a call, and the rules it calls beside itself (``calls``) have
images of their own, made before. In the network of a grammar such a rule is *opaque*: one position without edges, of
which the passes know only whether the rule may be empty; ``Program`` links the image in behind all other positions.

An image is made of a node that was marked by ``nodes.share`` when the first grammar has it, and holds in every grammar
in which the names it refers to have the same texts. They are kept for the process, up to ``KEPT_POSITIONS`` positions.
Cost: 2 ns a position and edge to link one.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.families import Family
    from cython.cimports.constrained.kernel.memory import grow_int
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.families import Family
    from constrained.kernel.memory import grow_int

MOST_POSITIONS: int = 400
"""Positions of a rule that is worth an image: linking a larger one saves less, and it holds more."""
KEPT_POSITIONS = cython.declare(cython.int, 200_000)
"""Positions of all images that a process keeps (60 bytes each)."""

_images: dict = {}
"""A rule's text -> ``Image``. Emptied when it is full."""
_held: list = [0]
"""Positions in ``_images``."""


@cython.final
@cython.cclass
class Image:
    """See the module docstring. Read-only once made.

    ``part``: the program; rule 0 is the rule itself. ``calls``: name and number in ``part`` of each rule that is called
    and has an image. ``texts``: names and the texts they must have. ``recursive``: the own name is one, too.
    ``largest``: the largest count met. ``alone`` and ``family`` as in ``kernel.partition``.
    ``calling``: those of the program's edges that are calls. ``later``: nobody may enter it (``kernel.later``).
    """

    if cython.compiled:

        def __dealloc__(self):
            free(self.calling)

    else:

        def __new__(cls, *args):
            self = object.__new__(cls)
            self.calling = self.family = None
            self.n_calling = 0
            self.later = self.nullable = False
            self.alone = [0] * 8
            return self

    def __init__(self, part, name: str, recursive: bool, calls: tuple, texts: tuple, largest: int):
        self.part = part
        self.positions = part.n_positions
        self.name = name
        self.recursive = recursive
        self.calls = calls
        self.texts = texts
        self.largest = largest

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def hold(self, alone: cython.p_uint, family: Family) -> cython.int:
        """Keep what ``ByteSets`` has collected."""
        i: cython.int
        for i in range(8):
            self.alone[i] = alone[i]
        self.family = family
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def find_calling(self, offsets: cython.p_int) -> cython.int:
        """Fill ``calling``. ``offsets``: where the edges of the program's positions begin."""
        p: cython.int
        i: cython.int
        n: cython.int = 0
        for p in range(self.positions):
            n += offsets[4 * p + 3] - offsets[4 * p + 2]
        self.calling = grow_int(self.calling, n + 1)
        if not self.calling:
            raise MemoryError
        for p in range(self.positions):
            for i in range(offsets[4 * p + 2], offsets[4 * p + 3]):
                self.calling[self.n_calling] = i
                self.n_calling += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def fits(self, name: str, rules: dict) -> cython.bint:
        """Whether this is what the rule ``name`` is in a grammar."""
        text: tuple
        if self.recursive and name != self.name:
            return False
        for text in self.texts:
            if rules.get(text[0]) is not text[1]:
                return False
        return True


@cython.cfunc
def image_of(expr) -> Image:
    """The image of a rule's text, or None."""
    return _images.get(expr)


def keep_image(expr, image: Image) -> None:
    """Keep the image of a rule's text."""
    _held[0] += image.positions
    if _held[0] > KEPT_POSITIONS:
        _images.clear()
        _held[0] = image.positions
    _images[expr] = image
