# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What the texts of one grammar share, and what the grammars of one vocabulary do.

``engine.compiled.CompiledGrammar`` is a ``SharedGrammar`` and ``engine.vocabulary_tables.VocabularyTrie`` is a
``SharedTables``; they have everything else. Here is what every grammar and every text comes by on its way to the first
mask: the automaton of the grammar's program, the number of a text.

An automaton has twenty parts, each with tables of its own: to make them takes as long as a small grammar's first mask.
So when a grammar has ended its automaton leaves the program (``TokenAutomaton.leave``) and waits, with small tables and
nothing in them, for the vocabulary's next grammar. A grammar that lasts (one for a cache) takes none: its tables have
the size that it needs.

Data
    spares       automata without a program, at most ``KEPT``, each with up to 2 MB of tables, and scratch for which
                 the vocabulary's size is a bound
    automaton    of a grammar: a ``TokenAutomaton``, or what stands for one
    _texts       weak references to the matchers that are told before an epoch ends; _started: how many there were

Only an automaton that nobody else holds is kept: not in a free-threaded build before Python 3.14, where that cannot be
told. Taking and keeping are one operation on a list each; two threads that keep at once may keep one more. The
cyclic collector does not see automata: nothing that they hold leads back to them.

Cost: an automaton that waited takes 2,900 instructions and 300 lines of memory, a new one 13,500 and 920 (means of 34
middle schemas under callgrind).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.passes import lower_plainly
    from cython.cimports.constrained.kernel.program import Program
    from cython.cimports.constrained.kernel.token_automaton import TokenAutomaton
    from cython.cimports.cpython.weakref import PyWeakref_NewRef
else:
    from constrained.kernel.passes import lower_plainly
    from constrained.kernel.program import Program
    from constrained.kernel.token_automaton import TokenAutomaton

from sys import getrefcount
from threading import Lock
from weakref import ref

from constrained.kernel.stacks import ThreadLimitReached  # a Python name in both modes

KEPT = cython.declare(cython.int, 2)
NO_IDS: object = frozenset()
_WRITING: object = Lock()
"""Held where a program is replaced by the whole one."""
LAZY_CALLS = cython.declare(cython.int, 252)
"""Steps that a matcher counts as taken when it looks at the memory: in a lazy automaton a mask may take 40 MB."""
FEW_TEXTS = cython.declare(cython.int, 16)
"""New texts between two looks at the memory: many short ones must not fill it unseen."""


@cython.cclass
class SharedTables:
    """What all grammars of one vocabulary share. See the module docstring."""

    def __init__(self, info, trie):
        self.info = info
        self.trie = trie
        self.stops = frozenset(info.stop_token_ids)
        self.stop_ids = info.stop_token_ids
        self.unspellable = info.unspellable_bytes
        self.closed = info.closed
        self.spares = []


@cython.cclass
class SharedGrammar:
    """What all texts of one grammar share. See the module docstring."""

    if cython.compiled:

        def __dealloc__(self):
            if type(self.automaton) is TokenAutomaton and is_lone(cython.cast(cython.p_void, self.automaton)):  # noqa: F821 - the .pxd
                self._keep()

    else:

        def __new__(cls, *args, **options):
            self = object.__new__(cls)
            self.automaton = self.program = self.live = self._graph = None
            self._has_distinct = False
            self._budget = self._kept = self._looks = self._started = self.calls_ahead = 0
            return self

        def __del__(self):
            if type(self.automaton) is TokenAutomaton and getrefcount(self.automaton) == 2:
                self._keep()

    @cython.cfunc
    def _keep(self):
        """The automaton waits for the next grammar."""
        spares: list = cython.cast(SharedTables, self.tables).spares
        if spares is not None and len(spares) < KEPT:  # None: the collector was here
            try:
                if cython.cast(TokenAutomaton, self.automaton).leave():
                    spares.append(self.automaton)
            except MemoryError:
                pass  # it is not kept

    def __init__(self, rules, tokenizer_info, limits, tables=None, *, lasting=False):
        """``tables``: those of ``tokenizer_info``, where they are at hand; ``lasting``: somebody keeps the grammar."""
        shared: SharedTables = self._tables_of(tokenizer_info) if tables is None else tables
        self.rules = rules
        self.tokenizer_info = tokenizer_info
        self.limits = limits
        self.tables = shared
        self.by_id_only = NO_IDS
        self._held = []
        self._texts = []
        self.program = self._written(shared, shared.closed)
        try:
            self._run(shared, lasting)
            if cython.cast(Program, self.program).waits and cython.cast(TokenAutomaton, self.automaton).a.choices:
                self.program = self._written(shared, False)  # such an automaton stays with its program
                self._run(shared, True)
        except ThreadLimitReached as error:
            self._refuse(error)
        if self._has_distinct or not shared.closed:
            self._finish()

    @cython.cfunc
    def _written(self, tables: SharedTables, later: cython.bint):
        """The grammar's program, or what is needed of it at first, where ``later`` lets it (``kernel.later``)."""
        made = None
        if not tables.unspellable:
            writer = self._writer(self.rules, self.limits, self._resolve, self._mark, True, True, later)
            made = lower_plainly(writer, self.rules.root)
            if type(made) is Program:
                return made
        return self._lower(self.rules, self.limits, tables.unspellable, self._resolve, self._mark, begun=made)

    def write_whole(self):
        """Of a grammar that has values left for later (``kernel.later``): write them.

        The automaton begins a new epoch. Called by whoever gets ``Unwritten``, on any thread; raises
        ``GrammarLimitError`` as compiling does.
        """
        one: TokenAutomaton
        with _WRITING:
            if not self.program.waits:
                return
            before = self.program
            program = self._written(self.tables, False)
            one = self.automaton
            self.program = program  # first: what is carried over from the program before is no state of this one
            try:
                one.change(program, self.limits.max_threads, cython.cast(SharedTables, self.tables).stop_ids,
                           self.limits.max_mask_bytes, self.limits.max_walk_nodes, self.by_id_only)
            except BaseException:
                self.program = before
                raise
            if one.a.has_lazy:
                self.calls_ahead = LAZY_CALLS

    @cython.cfunc
    def _run(self, tables: SharedTables, lasting: cython.bint):
        """Make the automaton of the program, or take one that waits."""
        limits = self.limits
        one: TokenAutomaton
        waits: cython.bint = False
        if tables.spares and not lasting:
            try:
                one = tables.spares.pop()
                waits = True
            except IndexError:
                pass  # another thread has it
        if waits:
            one.load(self.program, limits.max_threads, tables.stop_ids, limits.max_mask_bytes, limits.max_walk_nodes,
                     self.by_id_only)
        else:
            one = TokenAutomaton(self.program, limits.max_threads, tables.trie, tables.stop_ids, limits.max_mask_bytes,
                                 limits.max_walk_nodes, self.by_id_only)
            if cython.compiled:  # the collector may empty what is in a cycle while another object's end keeps it
                PyObject_GC_UnTrack(cython.cast(cython.p_void, one))  # noqa: F821 - the .pxd
                PyObject_GC_UnTrack(cython.cast(cython.p_void, one.a))  # noqa: F821 - the .pxd
        self.automaton = one
        if one.a.has_lazy:
            self.calls_ahead = LAZY_CALLS

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def matcher_begins(self, matcher) -> cython.longlong:
        """Called by every new matcher, which is carried over into new epochs; returns the number of its text."""
        if cython.compiled:
            self._texts.append(PyWeakref_NewRef(matcher, None))
        else:
            self._texts.append(ref(matcher))
        self._started += 1
        number: cython.longlong = self._started
        if number % FEW_TEXTS == 0:
            self._look_at_texts()
        return number

    def text_begins(self):
        """Called where a matcher begins anew; returns the number of its text."""
        self._started += 1
        return self._started

    # ---- what ``CompiledGrammar`` has ----------------------------------------------------------------

    def _tables_of(self, tokenizer_info):
        raise NotImplementedError

    def _writer(self, rules, limits, resolve_tokens, mark, annexes, makes_images, later):
        raise NotImplementedError

    def _lower(self, rules, limits, unspellable, resolve_tokens, mark, *, begun=None):
        raise NotImplementedError

    def _resolve(self, reference):
        raise NotImplementedError

    def _mark(self):
        raise NotImplementedError

    def _refuse(self, error):
        raise NotImplementedError

    def _finish(self):
        raise NotImplementedError

    def _look_at_texts(self):
        raise NotImplementedError
