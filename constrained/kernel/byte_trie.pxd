cimport cython

@cython.final
cdef class ByteTrie:
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
    cdef int* whole
    cdef int* known
    cdef int* marked
    cdef int _cut(self, tuple classes) except -1
    cdef int _rooms(self) except -1
    cdef int _piece(self, int code) noexcept
    cdef int _push(self, int lo, int hi, int child) except -1
    cdef int _node(self, int base) except -1
    cdef void _join(self, int base) noexcept
    cdef int _slot(self, int* lo, int* hi, int* child, int at, int size) noexcept
    cdef int _add(self, int base) except -1
    cdef int _mark(self, int index, int fill) noexcept
    cdef int _set(self, int fill) except -1
    cdef int _set_slot(self, int at, int size) noexcept
    cdef int _characters(self) except -1
    cdef int _raw(self, int lo, int hi, int child) except -1
    cdef int _longer(self, int first, int last, int more, int mark) except -1
    cdef int _alike(self, int low, int block, int shift, int last) noexcept
    cdef int _block(self, int first, int last, int more) except -1
    cdef int _whole(self, int index, int more) except -1
    cdef int _escapes(self) except -1
    cdef int _short(self, int code, int letter) except -1
    cdef int _hexadecimal(self) except -1
    cdef int _keep(self, int piece, int first, int last) except -1
    cdef int _hex(self, int digit, int child) except -1
    cdef int _branch(self, int base) except -1
    cdef int _digits(self, int first, int bits) except -2147483647
    cdef int _low_surrogates(self, int first) except -1
