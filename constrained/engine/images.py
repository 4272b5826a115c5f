"""Images of rules that many grammars have (``kernel.images``): the passes of lowering over one rule alone."""

from __future__ import annotations

from constrained.errors import GrammarLimitError
from constrained.grammar.ir import Expr
from constrained.kernel.automaton_writer import RepeatTooLarge
from constrained.kernel.completable import find_dead
from constrained.kernel.images import MOST_POSITIONS, keep_image
from constrained.kernel.network import NetworkTooLarge
from constrained.kernel.nodes import unshare
from constrained.kernel.nullable import empty_items, find_nullable
from constrained.kernel.pruning import drop_dead
from constrained.kernel.regions import find_regions
from constrained.kernel.rule_writer import RuleWriter
from constrained.kernel.starts import add_root, make_starts

__all__ = ["keep_image_of"]


def keep_image_of(writer: RuleWriter, text: Expr, name: str) -> None:
    """Make and keep the image of a rule by its name. One that has none is lowered anew in each grammar."""
    image = None
    try:
        net = writer.run(name)
        find_nullable(net)
        if not empty_items(net) and not net.guard_dfas and make_starts(net):
            add_root(net)
            find_regions(net)
            find_dead(net)
            drop_dead(net)
            image = writer.image_of_root(name)
        net.give_back()
    except (GrammarLimitError, NetworkTooLarge, RepeatTooLarge):
        return  # under other limits there may be one
    if image is None or image.positions > MOST_POSITIONS:
        unshare(text)
    else:
        keep_image(text, image)
