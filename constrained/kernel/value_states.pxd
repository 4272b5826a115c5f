cimport cython

from constrained.kernel.int_rows cimport IntRows
from constrained.kernel.value_trie cimport ValueTrie

cdef int START
cdef int FIRST
cdef int ITEM
cdef int AFTER
cdef int FIRST_NAME
cdef int NAME
cdef int COLON
cdef int VALUE
cdef int STRING
cdef int NUMBER
cdef int WORD
cdef int OBJECT
cdef int DISTINCT
cdef int NEEDED
cdef int AROUND
cdef int FLAGS
cdef int SEEN
cdef int WRITTEN
cdef int WAITING
cdef int PLACES
cdef int OUTER
cdef int BASE
cdef int OFF
cdef int MARKED
cdef int RECORDED
cdef int IS_NAME
cdef int IS_ZERO
cdef int HAS_EXPONENT
cdef int MOST_OFF

cdef class ValueStates:
    cdef readonly int start
    cdef ValueTrie trie
    cdef IntRows frames
    cdef IntRows states
    cdef int frame
    cdef int kind
    cdef int aux
    cdef int levels
    cdef int cap
    cdef int looked
    cdef int killer
    cdef int* here
    cdef int* begun
    cdef int* held
    cdef int* bits
    cdef int* used
    cdef bint calm
    cdef object look
    cdef object huge
    @cython.final
    cdef int _room(self, int levels) except -1
    @cython.final
    cdef int _list(self, int* values, int count) except? -9
    @cython.final
    cdef void _listed(self, int chain, int* out, int count) noexcept
    @cython.final
    cdef int _pack(self) except -1
    @cython.final
    cdef int _unpack(self, int state) except -1
    @cython.final
    cdef int _flags(self) noexcept
    @cython.final
    cdef bint _needs_values(self) noexcept
    @cython.final
    cdef int _all_to(self, int label) except -1
    @cython.final
    cdef int _values_begin(self) except -1
    @cython.final
    cdef int _hold(self) except -1
