cimport cython

from constrained.kernel.passes cimport lower_plainly
from constrained.kernel.program cimport Program
from constrained.kernel.token_automaton cimport TokenAutomaton

cdef extern from *:
    """
    static CYTHON_UNUSED int is_lone(void *one) {
    #if !defined(Py_GIL_DISABLED)
        return Py_REFCNT((PyObject *)one) == 1;
    #elif PY_VERSION_HEX >= 0x030E0000
        return PyUnstable_Object_IsUniquelyReferenced((PyObject *)one);
    #else
        (void)one;
        return 0;
    #endif
    }
    """
    int is_lone(void* one) noexcept

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(void*)

cdef int KEPT
cdef int LAZY_CALLS
cdef int FEW_TEXTS

cdef class SharedTables:
    cdef object __weakref__
    cdef readonly object info
    cdef readonly object trie
    cdef readonly object stops
    cdef readonly tuple stop_ids
    cdef readonly object unspellable
    cdef readonly bint closed
    cdef readonly list spares

cdef class SharedGrammar:
    cdef object __weakref__
    cdef public object rules
    cdef public object tokenizer_info
    cdef public object limits
    cdef public SharedTables tables
    cdef public object program
    cdef public object automaton
    cdef public object live
    cdef public object by_id_only
    cdef public object _graph
    cdef public list _held
    cdef public list _texts
    cdef public bint _has_distinct
    cdef public int calls_ahead
    cdef public long long _budget
    cdef public long long _kept
    cdef public long long _looks
    cdef public long long _started
    cdef object _keep(self)
    cdef object _written(self, SharedTables tables, bint later)
    cdef object _run(self, SharedTables tables, bint lasting)
    cpdef long long matcher_begins(self, object matcher) except? -1
