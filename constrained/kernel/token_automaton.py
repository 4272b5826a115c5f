# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""An automaton read token by token: what Python calls, with states as handles.

A handle is ``epoch << 44 | place``, a place a node and the registers of its far counts (``kernel.text_places``); 0 is
the dead state. One of an earlier epoch raises ``StaleState`` (19 bits of an epoch's number count). Every call takes the
automaton's lock; after an exception in mid-build the scratch stacks are emptied, and tables are consistent.
``fill_many`` and ``next_many`` work on the rows of a batch without the GIL.
"""

from __future__ import annotations

from heapq import heappop, heappush

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.automaton import Automaton
    from cython.cimports.constrained.kernel.carried import pack, unpack
    from cython.cimports.constrained.kernel.distance import minimum
    from cython.cimports.constrained.kernel.far_counts import MOVES
    from cython.cimports.constrained.kernel.hashing import bit
    from cython.cimports.constrained.kernel.mask_walk import MaskWalk
    from cython.cimports.constrained.kernel.memory import grow_pointers
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.text_places import NODE_BITS, Places
    from cython.cimports.constrained.kernel.token_budgets import after_token
    from cython.cimports.constrained.kernel.token_trie import TokenTrie
    from cython.cimports.constrained.kernel.unions import unite
    from cython.cimports.libc.stdlib import free
else:
    from constrained.kernel.automaton import Automaton
    from constrained.kernel.carried import pack, unpack
    from constrained.kernel.distance import minimum
    from constrained.kernel.far_counts import MOVES
    from constrained.kernel.hashing import bit
    from constrained.kernel.mask_walk import MaskWalk
    from constrained.kernel.memory import grow_pointers
    from constrained.kernel.text_places import NODE_BITS, Places
    from constrained.kernel.token_budgets import after_token
    from constrained.kernel.token_trie import TokenTrie
    from constrained.kernel.unions import unite

from constrained.kernel.stacks import ThreadLimitReached  # noqa: E402 - Python names in both modes
from constrained.kernel.token_walk import WalkLimitReached  # noqa: E402

PLACE_BITS = cython.declare(cython.int, 44)
PLACE = cython.declare(cython.longlong, (1 << 44) - 1)
NODE = cython.declare(cython.longlong, (1 << 24) - 1)
EPOCH = cython.declare(cython.int, (1 << 19) - 1)
KEPT_BYTES = cython.declare(cython.longlong, 1 << 20)
"""Tables that are not larger than this, of states and of masks, stay when their program is left."""


class StaleState(Exception):
    """A state of an earlier epoch was used; args: the handle."""


@cython.final
@cython.cclass
class TokenAutomaton(MaskWalk):
    """An ``Automaton`` read token by token. See the module docstring."""

    def __init__(self, program: Program, max_threads: cython.int, trie: TokenTrie, stop_ids,
                 max_mask_bytes: cython.longlong, max_walk_nodes: cython.longlong, by_id_only=()):
        """``max_threads``: largest number of elements of one node; ``by_id_only``: ids of the program's token sets
        whose bytes are not read."""
        self.make_walk(Automaton(), trie)
        self.places = Places()
        self.places.make(self.a)
        self.load(program, max_threads, stop_ids, max_mask_bytes, max_walk_nodes, by_id_only)

    @cython.ccall
    def load(self, program: Program, max_threads: cython.int, stop_ids: tuple, max_mask_bytes: cython.longlong,
             max_walk_nodes: cython.longlong, by_id_only):
        """Begin with a program, after ``leave``; arguments as for a new one."""
        self.a.load(program, max_threads)
        self.load_walk(stop_ids, max_mask_bytes, max_walk_nodes, by_id_only)

    @cython.ccall
    def leave(self) -> cython.bint:
        """Forget the program and all states: what is left may ``load`` another one, for the same vocabulary.

        False, and nothing is done, where that is not worth while: large tables, and programs that are rare (guards,
        budgets, token sets, positions that are made when they are met, hundreds of keys read together).
        """
        if (self.n_sets > 0 or self.a.guard_loop >= 0 or self.a.budgets or self.a.grows or self.a.choices
                or self.bytes_kept() > KEPT_BYTES):
            return False
        self.leave_walk()
        self.a.leave(KEPT_BYTES)
        self.places.forget()
        return True

    def change(self, program: Program, max_threads: cython.int, stop_ids: tuple, max_mask_bytes: cython.longlong,
               max_walk_nodes: cython.longlong, by_id_only):
        """Go over to another program of the same grammar, in a new epoch; the first is of none of the kinds that are
        rare (``leave``). Where there is no memory for it the first one stays, in a new epoch, too."""
        epoch: cython.int = self.a.epoch
        before: Program = self.a.program
        with self.a.lock:
            self.leave_walk()
            self.a.leave(KEPT_BYTES)
            self.places.forget()
            try:
                self.a.load(program, max_threads)
                self.load_walk(stop_ids, max_mask_bytes, max_walk_nodes, by_id_only)
            except MemoryError:
                self.a.load(before, max_threads)
                self.load_walk(stop_ids, max_mask_bytes, max_walk_nodes, by_id_only)
                raise
            finally:
                self.a.epoch = epoch + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def node_of(self, handle: cython.longlong) -> cython.int:
        """The node of a handle, far counts in it."""
        if handle == 0:
            return 0
        if (handle >> PLACE_BITS) != (self.a.epoch & EPOCH) or (handle & NODE) >= self.a.n_count or (
                bases_of(handle) >= self.places.v_count):
            with cython.gil:
                raise StaleState(handle)
        return cython.cast(cython.int, handle & NODE)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def absolute_of(self, handle: cython.longlong) -> cython.int:
        """The node of a handle, all counts written out."""
        node: cython.int = self.node_of(handle)
        return self.places.absolute(node, bases_of(handle))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def place_of(self, node: cython.int, bases: cython.int) -> cython.longlong:
        """The place of ``node`` at the end of a token that began with ``bases``."""
        if self.a.n_far[node] == self.places.v_bits[bases]:
            return cython.cast(cython.longlong, bases) << NODE_BITS | node
        return self.places.settle(node, bases)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def handle_of(self, place: cython.longlong) -> cython.longlong:
        if place == 0:
            return 0
        return cython.cast(cython.longlong, self.a.epoch & EPOCH) << PLACE_BITS | place

    @cython.cfunc
    @cython.exceptval(check=False)
    def _recover(self) -> cython.void:
        """After an exception in mid-build: empty the scratch stacks. Tables are consistent at every raise."""
        with self.a.lock:
            self.a.clear_scratch()

    def start(self):
        """The first state."""
        return self.handle_of(self.a.start)

    def is_fresh(self, handle: cython.longlong):
        """Whether a handle is of this epoch."""
        return handle == 0 or (handle >> PLACE_BITS) == (self.a.epoch & EPOCH)

    def new_epoch(self):
        """Forget all states and masks: every handle given out before is stale."""
        with self.a.lock:
            self.a.begin_epoch()
            self._forget()
            self.places.forget()

    def packed(self, handle: cython.longlong):
        """A state as a list of ints that every epoch understands, or None: see ``kernel.carried``."""
        node: cython.int
        out: list = []
        with self.a.lock:
            node = self.node_of(handle)
            self.places.pack(bases_of(handle), out)
            found = out if pack(self.a, node, out) else None
        return found

    def unpacked(self, data: list):
        """The state that ``packed`` put down, in this epoch."""
        node: cython.int
        bases: cython.int
        r: cython.longlong
        try:
            with self.a.lock:
                node = unpack(self.a, data, 1 + 3 * data[0])
                bases = self.places.unpack(data)
                if bases < 0:
                    raise MemoryError("no bases are left at the beginning of an epoch")
                r = self.handle_of(self.place_of(node, bases))
            return r
        except BaseException:
            self._recover()
            raise

    def next(self, handle: cython.longlong, token: cython.longlong):
        """The state after ``token``, or 0. Stop tokens are not steps."""
        r: cython.longlong
        if token < 0 or token >= self.vocab_size:
            return 0
        try:
            with self.a.lock:
                r = self._step(handle, cython.cast(cython.int, token))
            return r
        except BaseException:
            self._recover()
            raise

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _step(self, handle: cython.longlong, token: cython.int) -> cython.longlong:
        node: cython.int = self.next_state(self.node_of(handle), token)
        if node == 0:
            return 0
        return self.handle_of(self.place_of(node, bases_of(handle)))

    def advance(self, handle: cython.longlong, data: bytes, counted: cython.bint = False):
        """The state after ``data``, or 0; ``counted``: as one token of every text that has a budget."""
        row: cython.int
        node: cython.int
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(data)
        text: cython.p_const_uchar = data
        r: cython.longlong = 0
        try:
            with self.a.lock:
                row = self.a.row_of(self.node_of(handle))
                r = handle & PLACE
                for i in range(n):
                    row = self.a.step(row, self.a.cls[text[i]])
                    if row == 0:
                        return 0
                    node = self.a.row_node[row // self.a.n_classes]
                    if self.a.n_far[node] & MOVES:  # a text may be longer than any token
                        r = self.place_of(node, bases_of(r))
                        row = self.a.row_of(cython.cast(cython.int, r & NODE))
                if row != 0:
                    node = self.a.row_node[row // self.a.n_classes]
                    r = self.place_of(after_token(self.a, node) if counted and n > 0 else node, bases_of(r))
                    r = self.handle_of(r)
            return r
        except BaseException:
            self._recover()
            raise

    def unite(self, one: cython.longlong, other: cython.longlong):
        """The state that stands for "either"."""
        node: cython.int
        r: cython.longlong
        try:
            with self.a.lock:
                node = unite(self.a, self.absolute_of(one), self.absolute_of(other))
                r = self.handle_of(self.place_of(node, 0))
            return r
        except BaseException:
            self._recover()
            raise

    def complete(self, handle: cython.longlong):
        """Whether the text may end here."""
        r: cython.bint
        with self.a.lock:
            r = self.a.is_complete(self.node_of(handle))
        return bool(r)

    def distance(self, handle: cython.longlong):
        """Fewest bytes to an end, or less where ``NotFollowedBy`` kills that way; a token named counts as a million."""
        r: cython.longlong
        try:
            with self.a.lock:
                r = minimum(self.a, self.absolute_of(handle))
            return r
        except BaseException:
            self._recover()
            raise

    def fill_at(self, handle: cython.longlong, address: cython.size_t):
        """Write the mask to ``words`` 32-bit words at a memory address (compiled only); returns the allowed count."""
        r: cython.int = 0
        if cython.compiled:
            try:
                with self.a.lock:
                    r = self.write_mask(self.node_of(handle), cython.cast(cython.p_uint, address))
            except BaseException:
                self._recover()
                raise
        return r

    def fill(self, handle: cython.longlong, bitmask: cython.int[:, ::1], index: cython.int):
        """Write the mask into row ``index`` of an int32 array; returns the allowed count; sizes unchecked."""
        r: cython.int
        i: cython.int
        if cython.compiled:
            return self.fill_at(handle, cython.cast(cython.size_t, cython.address(bitmask[index, 0])))
        row = [0] * self.words
        try:
            with self.a.lock:
                r = self.write_mask(self.node_of(handle), row)
        except BaseException:
            self._recover()
            raise
        for i in range(self.words):
            bitmask[index, i] = row[i] - (1 << 32) if row[i] >= 1 << 31 else row[i]
        return r

    def known(self, handle: cython.longlong):
        """Whether the mask is already built."""
        r: cython.bint
        with self.a.lock:
            r = self.a.n_mask[self.node_of(handle)] >= 0
        return bool(r)

    def allowed_count(self, handle: cython.longlong):
        """How many tokens are allowed, stop tokens included."""
        m: cython.int
        r: cython.int
        try:
            with self.a.lock:
                m = self.mask_of(self.node_of(handle))  # first: it may move the arrays
                r = self.masks.mk_count[m]
            return r
        except BaseException:
            self._recover()
            raise

    def allowed_ids(self, handle: cython.longlong):
        """The allowed ids in order, as a list."""
        m: cython.int
        try:
            with self.a.lock:
                m = self.mask_of(self.node_of(handle))
                found = self.masks.ids_of(m)
            return found
        except BaseException:
            self._recover()
            raise

    def forced_bytes(self, handle: cython.longlong, most: cython.int):
        """The bytes that must follow (at most ``most``): as long as exactly one byte can, and the end cannot."""
        node: cython.int
        i: cython.int
        k: cython.int
        w: cython.uint
        row: cython.int
        place: cython.longlong
        out = bytearray()
        try:
            with self.a.lock:
                node = self.node_of(handle)
                place = handle & PLACE
                self.a.need_classes()
                while len(out) < most and node != 0 and not self.a.is_complete(node) and not self._reads_tokens(node):
                    for i in range(8):
                        self.first[i] = 0
                    self.a.first_classes(node, self.first)
                    if self.a.guard_loop >= 0 or self.a.budgets or self.a.has_lazy:
                        self._drop_dead_classes(node)
                    k = -1
                    for i in range(8):
                        w = self.first[i] & 0xFFFFFFFF
                        if w == 0:
                            continue
                        if k >= 0 or (w & (w - 1)) != 0:
                            k = -2
                            break
                        k = 32 * i
                        while not w & 1:
                            w = w >> 1
                            k += 1
                    if k < 0 or self.a.class_off[k + 1] - self.a.class_off[k] != 1:
                        break
                    row = self.a.step(self.a.row_of(node), k)
                    out.append(self.a.class_bytes[self.a.class_off[k]])
                    place = self.place_of(self.a.row_node[row // self.a.n_classes], bases_of(place))
                    node = cython.cast(cython.int, place & NODE)
            return bytes(out)
        except BaseException:
            self._recover()
            raise

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _reads_tokens(self, node: cython.int) -> cython.bint:
        i: cython.int
        k: cython.int
        if self.n_sets == 0:
            return False
        self.a.expand(node)
        for i in range(self.a.n_nexp[node]):
            k = self.a.n_exp[node] + 5 * i
            if self.a.exp[k] == self.a.guard_det:
                if self._reads_tokens(self.a.exp[k + 1]):  # no guards in it: one level deep
                    return True
            elif self.a.d_flags[self.a.exp[k]] & 8:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _drop_dead_classes(self, node: cython.int) -> cython.int:
        """Clear in ``first`` the byte classes after which a guard, a budget or a lazy automaton leaves nothing."""
        k: cython.int
        for k in range(self.a.n_classes):
            if (self.first[k >> 5] >> (k & 31)) & 1 and self.a.step(self.a.row_of(node), k) == 0:
                self.first[k >> 5] = self.first[k >> 5] & ~bit(k & 31)
        return 0

    def shortest(self, handle: cython.longlong, most: cython.int):
        """The bytes of a shortest way to an end, at most ``most`` of them; None where only a token set goes on."""
        node: cython.int
        k: cython.int
        row: cython.int
        t: cython.int
        least: cython.longlong
        full: cython.bint = False
        out = bytearray()
        try:
            with self.a.lock:
                node = self.absolute_of(handle)
                self.a.need_classes()
                if self.a.guard_loop >= 0:
                    return self._search(node, most)
                while not self.a.is_complete(node) and len(out) < most:
                    row = self.a.row_of(node)
                    least = minimum(self.a, node)
                    t = 0
                    for k in range(self.a.n_classes):
                        try:
                            t = self.a.step(row, k)
                        except ThreadLimitReached:
                            self.a.clear_scratch()  # another byte may be as short a way and need less
                            full = True
                            continue
                        if t != 0 and minimum(self.a, self.a.row_node[t // self.a.n_classes]) < least:
                            break
                        t = 0
                    if t == 0 and full:
                        raise ThreadLimitReached(self.a.max_threads, -1)
                    if t == 0:
                        return None
                    out.append(self.a.class_bytes[self.a.class_off[k]])
                    node = self.a.row_node[t // self.a.n_classes]
            return bytes(out)
        except BaseException:
            self._recover()
            raise

    @cython.cfunc
    def _search(self, node: cython.int, most: cython.int):
        """``shortest`` where guards may kill a way that looks short: A* (Hart, Nilsson, Raphael 1968) on ``n_min``.

        Of equally good ways the longest read so far goes on first, so that without detours this is a straight line.
        """
        k: cython.int
        t: cython.int
        depth: cython.int
        before = {node: None}
        heap = [(minimum(self.a, node), 0, node)]
        while heap:
            _, depth, node = heappop(heap)
            depth = -depth
            if self.a.is_complete(node):
                out = bytearray()
                while before[node] is not None:
                    node, k = before[node]
                    out.append(k)
                out.reverse()
                return bytes(out[:most])
            if len(before) * self.a.n_classes > self.walk.max_walk_nodes:
                raise WalkLimitReached(len(before))
            for k in range(self.a.n_classes):
                t = self.a.step(self.a.row_of(node), k)
                if t != 0:
                    t = self.a.row_node[t // self.a.n_classes]
                    if t not in before:
                        before[t] = (node, self.a.class_bytes[self.a.class_off[k]])
                        heappush(heap, (depth + 1 + minimum(self.a, t), -depth - 1, t))
        return None

    def elements(self, handle: cython.longlong):
        """The state as ``(positions, count, tail handle)`` triples: for explaining and for tests."""
        i: cython.int
        d: cython.int
        node: cython.int
        found = []
        with self.a.lock:
            node = self.absolute_of(handle)
            for i in range(self.a.n_off[node], self.a.n_off[node] + self.a.n_len[node]):
                d = self.a.el_d[i]
                positions = [self.a.door_of(self.a.d_pool[j])
                             for j in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d])]
                found.append((positions, self.a.el_c[i], self.handle_of(self.a.el_n[i])))
        return found

    def threads(self, handle: cython.longlong):
        """The positions that can read now, one list for each thread, calls entered."""
        i: cython.int
        d: cython.int
        node: cython.int
        found = []
        try:
            with self.a.lock:
                waiting = [self.node_of(handle)]
                while waiting:
                    node = waiting.pop()
                    self.a.expand(node)
                    for i in range(self.a.n_nexp[node]):
                        d = self.a.exp[self.a.n_exp[node] + 5 * i]
                        if d == self.a.guard_det:
                            waiting.append(self.a.exp[self.a.n_exp[node] + 5 * i + 1])
                            continue
                        found.append([self.a.door_of(self.a.d_pool[j])
                                      for j in range(self.a.d_off[d], self.a.d_off[d] + self.a.d_len[d])])
            return found
        except BaseException:
            self._recover()
            raise

    def memory(self):
        """Bytes held; the shared vocabulary and the grammar's own tables are not counted."""
        held: cython.longlong
        with self.a.lock:
            held = self.a.memory_bytes()
            held += self._bytes_held() + 4 * self.n_sets * self.words + self.places.bytes_held()
        return held

    def counts(self):
        """(epoch, states, rows, masks, regions walked): for benchmarks, limits and tests of the caches."""
        with self.a.lock:
            rows: cython.int = self.a.rows_len // self.a.n_classes
            found = (self.a.epoch, self.a.n_count, rows, self.masks.mk_used, self.r.w_len)
        return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bases_of(handle: cython.longlong) -> cython.int:
    """The bases of a handle, or of a place."""
    return cython.cast(cython.int, (handle & PLACE) >> NODE_BITS)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _fill_one(one: TokenAutomaton, handle: cython.longlong, out: cython.p_uint) -> cython.int:
    with one.a.lock:
        return one.write_mask(one.node_of(handle), out)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=False)
def _next_one(one: TokenAutomaton, handle: cython.longlong, token: cython.int) -> cython.longlong:
    with one.a.lock:
        return one._step(handle, token)


def fill_many(automata: list, handles: cython.longlong[::1], address: cython.size_t, rows: cython.int[::1],
              words: cython.Py_ssize_t, begin: cython.int, end: cython.int):
    """Masks of many states in one call without the GIL: row ``rows[i]`` gets the mask of ``handles[i]``.

    ``address`` is that of an int32 array of rows of ``words`` words. Compiled only; sizes are the caller's care.
    Returns None, or (i, exception) for the first row ``begin <= i < end`` that failed; those before it are done.
    """
    n: cython.int = end - begin
    i: cython.int
    done: cython.int = 0
    if cython.compiled:
        base: cython.p_uint = cython.cast(cython.p_uint, address)
        pointers: cython.pp_void = grow_pointers(cython.NULL, n + 1)
        if not pointers:
            raise MemoryError
        try:
            for i in range(n):
                one: TokenAutomaton = automata[begin + i]
                pointers[i] = cython.cast(cython.p_void, one)
            with cython.nogil:
                for i in range(n):
                    _fill_one(cython.cast(TokenAutomaton, pointers[i]), handles[begin + i],
                              base + rows[begin + i] * words)
                    done += 1
        except BaseException as error:
            one = automata[begin + done]
            one._recover()
            return begin + done, error
        finally:
            free(pointers)
    return None


def next_many(automata: list, handles: cython.longlong[::1], tokens: cython.int[::1], out: cython.longlong[::1],
              begin: cython.int, end: cython.int):
    """The states after one token each, in one call without the GIL; 0 where the token is not allowed.

    Returns None, or (i, exception) as ``fill_many``.
    """
    n: cython.int = end - begin
    i: cython.int
    done: cython.int = 0
    if cython.compiled:
        pointers: cython.pp_void = grow_pointers(cython.NULL, n + 1)
        if not pointers:
            raise MemoryError
        try:
            for i in range(n):
                one: TokenAutomaton = automata[begin + i]
                pointers[i] = cython.cast(cython.p_void, one)
            with cython.nogil:
                for i in range(n):
                    out[begin + i] = _next_one(cython.cast(TokenAutomaton, pointers[i]), handles[begin + i],
                                               tokens[begin + i])
                    done += 1
        except BaseException as error:
            one = automata[begin + done]
            one._recover()
            return begin + done, error
        finally:
            free(pointers)
    else:
        for i in range(begin, end):
            out[i] = automata[i].next(handles[i], tokens[i])
    return None
