cimport cython

from constrained.kernel.shared_grammar cimport SharedGrammar
from constrained.kernel.token_automaton cimport TokenAutomaton

cdef int CHECK_EVERY

cdef class Follower:
    cdef object __weakref__
    cdef public object _auto
    cdef public object _stops
    cdef public object _held
    cdef public object _finder
    cdef public object _tracked
    cdef public object _carried
    cdef public object _before
    cdef public long long number
    cdef public bint _quick
    cdef public bint _stops_given
    cdef public TokenAutomaton _fast
    cdef public long long _state
    cdef public list _history
    cdef public list _steps
    cdef public bint _terminated
    cdef public bint _without_stop
    cdef public int _calls
    cdef public object _array
    cdef public object _row
    cdef public size_t _address
    cdef public SharedGrammar _compiled
    cdef bint _find(self, object bitmask, object index, Py_ssize_t words) except -1
    cpdef _take(self, object token_id, long long after)
    cpdef _push(self, object step, long long after)
