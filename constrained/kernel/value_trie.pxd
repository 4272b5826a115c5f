cimport cython

from constrained.kernel.chains cimport Chains
from constrained.kernel.int_rows cimport IntRows
from constrained.kernel.memory cimport grow_int

cdef class ValueTrie
cdef int VALUES
cdef int MEMBERS
cdef int OBJECTS
cdef int LISTS
cdef int FIRST_FREE
cdef int END
cdef int HUGE
cdef int NAMED
cdef unsigned int _hash(int parent, int label) noexcept

@cython.final
cdef class ValueTrie(Chains):
    cdef IntRows sets
    cdef int n
    cdef int cap
    cdef int path_cap
    cdef int found_cap
    cdef int n_found
    cdef int* parent
    cdef int* label
    cdef int* first
    cdef int* sibling
    cdef int* path
    cdef int* found
    cdef int _bucket(self, int parent, int label) noexcept
    cdef int _new(self, int parent, int label) except -1
    cdef int find(self, int parent, int label) noexcept
    cdef int child(self, int parent, int label) except -1
    cdef void _undo_nodes(self, int n) noexcept
    cdef int _labels(self, int top, int node, int at) except -1
    cdef int find_below(self, int place, int value) except -1
    cdef int text(self, int place, bytes digits) except -1
    cdef int find_text(self, int place, bytes digits) except -1
    cdef int with_member(self, int members, int name, int value) except -1
    cdef object _members(self, int members)
    cdef int object_of(self, int members) except -1
    cdef bint contains(self, int held, int node) noexcept
    cdef int _note(self, int node) except -1
    cdef int add(self, int held, int value) except -1
    cdef int _with(self, int held, int begin, int end) except -1
    cdef void _blank(self, int level) noexcept
    cdef void undo(self, int nodes, int sets) noexcept
