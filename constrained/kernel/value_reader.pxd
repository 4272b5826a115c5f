cimport cython

from constrained.kernel.int_rows cimport IntRows
from constrained.kernel.memory cimport grow_int
from constrained.kernel.value_trie cimport END, HUGE, LISTS, MEMBERS, NAMED, VALUES, ValueTrie

cdef class ValueReader
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
cdef bint _is_number_byte(int byte) noexcept
cdef int _digit(int byte) noexcept
cdef bint _has_spare(bytes digits) noexcept

@cython.final
cdef class ValueReader:
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
    cdef int* here
    cdef int* begun
    cdef int* held
    cdef int* bits
    cdef int* used
    cdef bint calm
    cdef object look
    cdef object huge
    cdef int _room(self, int levels) except -1
    cdef int _list(self, int* values, int count) except? -9
    cdef void _listed(self, int chain, int* out, int count) noexcept
    cdef int _pack(self) except -1
    cdef int _unpack(self, int state) except -1
    cdef int one(self, int state, int byte) except? -9
    cdef int _flags(self) noexcept
    cdef bint _needs_values(self) noexcept
    cdef int _all_to(self, int label) except -1
    cdef int _values_begin(self) except -1
    cdef int _step(self, int byte) except? -9
    cdef int _open(self, int byte) except -1
    cdef int _close(self, int byte) except? -9
    cdef int _close_value(self) except? -9
    cdef int _close_name(self) except? -9
    cdef int _off_without(self, int name) except -1
    cdef int _hold(self) except -1
    cdef int _in_string(self, int byte) except? -9
    cdef int _end_string(self) except? -9
    cdef int _half(self, int node) noexcept
    cdef int _append(self, int unit) except -1
    cdef int _in_number(self, int byte) except? -9
    cdef bint _is_zero(self) noexcept
    cdef object _digits(self)
    cdef int _end_number(self) except -1
    cdef bint look_at(self, int state) except -1
    cdef void _bit(self, int byte) noexcept
    cdef void _blanks(self) noexcept
    cdef void _ends(self) noexcept
    cdef void _figures(self) noexcept
    cdef bint _trouble(self, int held, int node, int begun) except -1
    cdef bint _string_trouble(self, int held, int node) except -1
    cdef void _hexadecimal(self) noexcept
    cdef void _any_number(self) noexcept
    cdef bint _number_trouble(self, int held, int node, int begun) except -1
    cdef void _equal_so_far(self) noexcept
