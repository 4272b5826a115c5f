# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What has no rules in it, between two positions of a network: characters, automata, lists of words.

Large ones are written apart (``kernel.annexes``) where that is allowed: one position here, all others in the program.
Cost: 5-10 ns a position that is written here, 20 ns a word.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.annexes import Annex, LazyAnnex, WordAnnex
    from cython.cimports.constrained.kernel.blocks import Block, block_of_character, block_of_rows
    from cython.cimports.constrained.kernel.counted_annex import CountedAnnex
    from cython.cimports.constrained.kernel.inlining import LITERAL, RuleTable
    from cython.cimports.constrained.kernel.key_annex import KeyAnnex
    from cython.cimports.constrained.kernel.network import Network
    from cython.cimports.constrained.kernel.nodes import ByteDfa, CharClass, Literal
    from cython.cimports.constrained.kernel.partition import ByteSets, sets_of
    from cython.cimports.constrained.kernel.regions import mark_region
else:
    from constrained.kernel.annexes import Annex, LazyAnnex, WordAnnex
    from constrained.kernel.blocks import Block, block_of_character, block_of_rows
    from constrained.kernel.counted_annex import CountedAnnex
    from constrained.kernel.inlining import LITERAL, RuleTable
    from constrained.kernel.key_annex import KeyAnnex
    from constrained.kernel.network import Network
    from constrained.kernel.nodes import ByteDfa, CharClass, Literal
    from constrained.kernel.partition import ByteSets, sets_of
    from constrained.kernel.regions import mark_region

from constrained.kernel.network import NetworkTooLarge  # noqa: E402 - a Python name in both modes

WORDS_APART = cython.declare(cython.int, 64)
"""Bytes in words that are written apart, in an annex."""
COUNTS_A_POSITION = cython.declare(cython.int, 64)
"""Counts beside an automaton that take as much memory as one position."""
WORDS_WEIGHT = cython.declare(cython.int, 4)
"""How many of their positions count as one of ``most``: they are written once, and in final form."""


class RepeatTooLarge(Exception):
    """A repetition counts beyond ``largest``; args: the count."""


@cython.cclass
class AutomatonWriter:
    """Writes into ``net``. ``table``: the rules around. ``annexes``: whether large automata may be written apart.
    ``largest``: the largest count; ``counted``: the largest met.
    """

    @cython.cfunc
    def _block_of(self, dfa: ByteDfa) -> Block:
        block: Block
        if dfa.block is None:
            block = block_of_rows(dfa.transitions, dfa.accepting)
            dfa.block = block
            return block
        return dfa.block

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _char_class(self, node: CharClass, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        block: Block
        if node.block is None:
            states, edges = self.template(node.ranges)
            block = block_of_character(states, edges)
            node.block = block
        block = node.block
        return block.write_between(self.net, start, end, origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _counted_dfa(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        block: Block = self._block_of(node.inner)
        self._count(node.top)
        if (node.top + 1) * block.n > 1 << 29:
            raise NetworkTooLarge
        if self.annexes:
            room: cython.int = (node.top + 1) // COUNTS_A_POSITION
            if room > self.net.most - self.net.n:
                raise NetworkTooLarge
            self.net.most -= room
            annex: Annex = CountedAnnex(block, node.boundary, node.minimum, node.top, node.maximum is None,
                                        self.net.most)
            return self._block_apart(block, annex, node.minimum == 0, start, end, origin)
        if (node.top + 1) * block.n > self.net.most or (node.top + 2) * (block.edges + block.finals) > 1 << 30:
            raise NetworkTooLarge
        return block.write_counted(self.net, node.boundary, node.minimum, node.top, node.maximum is None, start, end,
                                   origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _block_apart(self, block: Block, annex: Annex, may_be_empty: cython.bint, start: cython.int, end: cython.int,
                     origin: cython.int) -> cython.int:
        """``annex`` counts as so many positions as ``block`` has states: that many are written, or measured."""
        i: cython.int
        if may_be_empty:
            for i in range(block.finals):
                if block.final[i] == 0:
                    self.net.add_edge(start, 1, 0, 0, end)
        return self.net.add_annex(start, end, annex, max(block.n, annex.size), origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _key_dfa(self, node: ByteDfa, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        block: Block
        strings: Block
        annex: KeyAnnex
        keys: object = node
        if node.block is None or self.annexes:
            strings = self._block_of(keys.strings)
            if not strings.inside:
                sets: ByteSets = sets_of(self.net)
                sets.take_block(strings)
                sets.end()
                mark_region(strings)
            annex = KeyAnnex(strings, keys.keys, keys.closing)
            if self.annexes:
                return self._block_apart(strings, annex, True, start, end, origin)
            node.block = annex.whole()
        block = node.block
        return block.write(self.net, start, end, origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lazy_dfa(self, node, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Always apart: there is nothing to write out."""
        source: object = node.source
        if source.accepts(source.start()):
            self.net.add_edge(start, 1, 0, 0, end)
        annex: Annex = LazyAnnex(source)
        return self.net.add_annex(start, end, annex, 0, origin)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _words_apart(self, words: list, start: cython.int, end: cython.int, origin: cython.int) -> cython.int:
        """Sorted words in an annex; 0 if they are not worth one."""
        different: list = []
        word: bytes
        before: bytes = b""
        size: cython.longlong = 0
        for word in words:
            if word != before:
                different.append(word)
                size += len(word)
                before = word
        if size < WORDS_APART or len(different) < 2:
            return 0
        if size >= 1 << 29:
            raise NetworkTooLarge
        if len(words[0]) == 0:
            self.net.add_edge(start, 1, 0, 0, end)
        annex: Annex = WordAnnex(different)
        self.net.add_annex(start, end, annex, annex.size // WORDS_WEIGHT, origin)
        return 1

    @cython.cfunc
    def _share_prefixes(self, options: tuple, start: cython.int, end: cython.int, origin: cython.int) -> tuple:
        """Spell the literal options as one trie (a list of keywords would make every set as wide as the list)."""
        net: Network = self.net
        table: RuleTable = self.table
        literal: Literal
        words: list = []
        path: list = [start]  # positions behind the beginnings of the word before, the whole word left out
        here: cython.int
        there: cython.int
        i: cython.int
        n: cython.int
        most: cython.int
        text: cython.p_const_uchar
        other: cython.p_const_uchar
        data: bytes
        before: bytes = b""
        for option in options:
            if table.kind_of(option) == LITERAL:
                literal = option
                words.append(literal.data)
        if len(words) < 4:
            return options
        words.sort()
        if self.annexes and self._words_apart(words, start, end, origin):
            return tuple([option for option in options if table.kind_of(option) != LITERAL])
        for data in words:
            n = cython.cast(cython.int, len(data))
            if n == 0:
                net.add_edge(start, 1, 0, 0, end)
                continue
            text = data
            other = before
            most = min(cython.cast(cython.int, len(path)) - 1, n - 1)
            i = 0
            while i < most and text[i] == other[i]:
                i += 1
            del path[i + 1:]
            here = path[i]
            while i < n - 1:
                there = net.add_position(origin)
                net.add_edge(here, 0, text[i], text[i], there)
                path.append(there)
                here = there
                i += 1
            net.add_edge(here, 0, text[n - 1], text[n - 1], end)
            before = data
        if len(words) == len(options):
            return ()
        return tuple([option for option in options if table.kind_of(option) != LITERAL])

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _count(self, count) -> cython.int:
        """Something counts so far."""
        if count > self.largest:
            raise RepeatTooLarge(count)
        if count > self.counted:
            self.counted = count
        return 0
