cimport cython

cdef class ByteNodes:
    cdef int k
    cdef int pieces
    cdef int way
    cdef int count
    cdef int room
    cdef int entry_room
    cdef int sets
    cdef int set_room
    cdef int pool_room
    cdef int slot_count
    cdef int set_slot_count
    cdef int part_room
    cdef int top
    cdef int* start
    cdef int* last
    cdef int* home
    cdef int* at
    cdef int* lo
    cdef int* hi
    cdef int* child
    cdef int* set_of
    cdef int* set_at
    cdef int* pool
    cdef int* slots
    cdef int* set_slots
    cdef int* part_lo
    cdef int* part_hi
    cdef int* part_child
    cdef int* marked
    @cython.final
    cdef int _cut(self, tuple classes) except -1
    @cython.final
    cdef int _rooms(self) except -1
    @cython.final
    cdef int _push(self, int lo, int hi, int child) except -1
    @cython.final
    cdef int _node(self, int base) except -1
    @cython.final
    cdef void _join(self, int base) noexcept
    @cython.final
    cdef int _slot(self, int* lo, int* hi, int* child, int at, int size) noexcept
    @cython.final
    cdef int _add(self, int base) except -1
    @cython.final
    cdef int _mark(self, int index, int fill) noexcept
    @cython.final
    cdef int _set(self, int fill) except -1
    @cython.final
    cdef int _set_slot(self, int at, int size) noexcept
