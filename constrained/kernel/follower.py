# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""What a matcher does at every step: the next mask, and the token that was taken.

``engine.matcher.GrammarMatcher`` is a ``Follower`` and has everything else. Here are the two calls of each step in
their usual form: a bitmask that was seen before, a token that leads on, nothing to count or to look up beside the
automaton. Whatever is not usual (an array not seen yet, a refused token, an end, a budget, a state of an earlier
epoch) is handed to ``_fill_slowly`` and ``_accept_slowly``, which begin anew and say in words what is wrong.

Data
    _fast        the automaton where the usual form may be used at all: compiled, a closed vocabulary, the
                 vocabulary's own stop tokens, no ``Distinct``; else None
    _state       the present state's handle
    _history     the handle before each step; _steps: what was taken: a token id, ``~id`` of the stop token at the end,
                 or a text
    _array       the array whose row ``_row`` is known to lie at ``_address``
    _calls       steps since the automaton's memory was looked at
    _quick       whether its masks can be written by address
    and what only ``GrammarMatcher`` uses: see there

Cost: 50 ns a call beside the mask's copy or the automaton's step.
"""

from __future__ import annotations

import numpy as np

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.kernel.shared_grammar import SharedGrammar
    from cython.cimports.constrained.kernel.token_automaton import TokenAutomaton
    from cython.cimports.cpython.buffer import PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
else:
    from constrained.kernel.shared_grammar import SharedGrammar
    from constrained.kernel.token_automaton import TokenAutomaton

from constrained.kernel.linking import Unwritten  # noqa: E402 - a Python name in both modes

CHECK_EVERY = cython.declare(cython.int, 256)
"""Steps between two looks at the automaton's memory (a mask is asked for where a step has led)."""

NOBODYS: object = object()
"""Stands for a bitmask before there is one: None may be asked for."""

ARRAY: object = np.ndarray
INT32: object = np.dtype(np.int32)


@cython.cclass
class Follower:
    """See the module docstring."""

    if not cython.compiled:

        def __new__(cls, *args, **options):
            self = object.__new__(cls)
            self._state = self._address = self.number = 0
            self._terminated = False
            self._held = self._finder = self._tracked = self._carried = None
            self._before = ()
            return self

    def __init__(self, compiled: SharedGrammar, *, override_stop_tokens=None, terminate_without_stop_token=False):
        fast: TokenAutomaton = None
        self._compiled = compiled
        self._auto = compiled.automaton
        self._without_stop = terminate_without_stop_token
        self._stops_given = override_stop_tokens is not None
        if override_stop_tokens is not None:
            self._stops = self._other_stops(override_stop_tokens)
        else:
            self._stops = compiled.tables.stops
            if compiled.live is None and type(compiled.automaton) is TokenAutomaton:
                fast = compiled.automaton
        if not self._stops and not terminate_without_stop_token:
            self._refuse_stops()
        self._fast = fast
        self._quick = cython.compiled and fast is not None
        self._history = []
        self._steps = []
        self._before = ()
        self._calls = compiled.calls_ahead
        self._array = NOBODYS
        self._row = 0
        self.number = compiled.matcher_begins(self)
        self._state = self._auto.start() if fast is None else fast.handle_of(fast.a.start)
        if terminate_without_stop_token:
            self._terminated = self._is_final()

    def _follow_as(self, other: Follower):
        """Stand where ``other`` does; lists are copied."""
        self._compiled = other._compiled
        self._auto = other._auto
        self._fast = other._fast
        self._quick = other._quick
        self._stops = other._stops
        self._stops_given = other._stops_given
        self._without_stop = other._without_stop
        self._held = other._held
        self._carried = other._carried
        self._before = other._before
        self.number = other.number
        self._state = other._state
        self._history = other._history[:]
        self._steps = other._steps[:]
        self._terminated = other._terminated
        self._calls = other._calls
        self._array = NOBODYS

    def accept_token(self, token_id):
        """Take a token. False, and nothing changes, if it is not allowed here (or the text has ended).

        A stop token is allowed where the text may end, and ends it. A stop token that the grammar itself names at
        this place is taken as the grammar's. Ids out of range are not allowed anywhere.

        Raises:
            ConstrainedError: ``token_id`` is no int.
            GrammarLimitError: a budget ended; the matcher stays where it is and usable.
        """
        token: cython.longlong
        after: cython.longlong = 0
        fast: TokenAutomaton = self._fast
        if fast is None or self._terminated or type(token_id) is not int:
            return self._accept_slowly(token_id)
        try:
            token = token_id
            if 0 <= token < fast.vocab_size:
                with fast.a.lock:
                    after = fast._step(self._state, cython.cast(cython.int, token))
        except Unwritten:
            fast._recover()
            self._compiled.write_whole()
            self._fresh()
            return self.accept_token(token_id)
        except Exception:
            fast._recover()
            return self._accept_slowly(token_id)
        return self._take(token_id, after)

    @cython.ccall
    def _take(self, token_id, after: cython.longlong):
        """Go on to ``after``; where that is 0, take a stop token that ends the text. Whether the token was taken."""
        if after == 0:
            return self._ends_with(token_id)
        self._push(token_id, after)
        if self._without_stop:
            self._terminated = self._is_final()
        return True

    @cython.ccall
    def _push(self, step, after: cython.longlong):
        """A step has led to ``after``."""
        self._history.append(self._state)
        self._steps.append(step)
        self._state = after
        self._calls += 1
        if self._calls >= CHECK_EVERY:
            self._look_at_memory()

    def fill_next_token_bitmask(self, bitmask, index=0):
        """Write which tokens are allowed next into row ``index``; the whole row is written.

        Args:
            bitmask: writable, C-contiguous, int32 ``[B, ceil(V / 32)]``: numpy, or torch on the CPU.
            index: the row.

        Returns:
            Whether the row needs to be applied: False if every token is allowed.

        After the end the row allows the stop tokens only. Raises ``BitmaskError`` for a wrong array and
        ``GrammarLimitError`` where a budget ends.
        """
        allowed: cython.int = 0
        fast: TokenAutomaton = self._fast
        if fast is None or self._terminated:
            return self._fill_slowly(bitmask, index)
        if (bitmask is not self._array
                or (index is not self._row and (type(index) is not int or index != self._row))) and not (
                self._find(bitmask, index, fast.words)):
            return self._fill_slowly(bitmask, index)
        if cython.compiled:
            try:
                with fast.a.lock:
                    allowed = fast.write_mask(fast.node_of(self._state),
                                              cython.cast(cython.p_uint, self._address))
            except Unwritten:
                fast._recover()
                self._compiled.write_whole()
                self._fresh()
                return self.fill_next_token_bitmask(bitmask, index)
            except Exception:
                fast._recover()
                return self._fill_slowly(bitmask, index)
        return allowed != fast.vocab_size

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _find(self, bitmask, index, words: cython.Py_ssize_t) -> cython.bint:
        """Find row ``index`` of an array of numpy's that is as it must be; anything else is not found here."""
        found: cython.bint = False
        if cython.compiled:
            view = cython.declare(Py_buffer)  # noqa: F821 - Cython knows it
            row: cython.Py_ssize_t
            if type(bitmask) is not ARRAY or bitmask.dtype is not INT32 or type(index) is not int:
                return False
            try:
                row = index
                PyObject_GetBuffer(bitmask, cython.address(view), PyBUF_ND | PyBUF_WRITABLE)
            except Exception:
                return False
            if 1 <= view.ndim <= 2 and view.shape[view.ndim - 1] == words and (
                    0 <= row < (view.shape[0] if view.ndim == 2 else 1)):
                self._array = bitmask  # it is held here, so it stays where it is
                self._row = index
                self._address = cython.cast(cython.size_t, view.buf) + 4 * words * row
                found = True
            PyBuffer_Release(cython.address(view))
        return found

    # ---- the rest, which ``GrammarMatcher`` has ------------------------------------------------------

    def _other_stops(self, given):
        raise NotImplementedError

    def _refuse_stops(self):
        raise NotImplementedError

    def _fresh(self):
        raise NotImplementedError

    def _accept_slowly(self, token_id):
        raise NotImplementedError

    def _ends_with(self, token_id):
        raise NotImplementedError

    def _fill_slowly(self, bitmask, index):
        raise NotImplementedError

    def _look_at_memory(self):
        raise NotImplementedError

    def _is_final(self):
        raise NotImplementedError
