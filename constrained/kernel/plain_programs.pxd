cimport cython


@cython.final
cdef class PlainProgram:
    cdef int most
    cdef int n
    cdef int room
    cdef int total
    cdef int choice_room
    cdef int k
    cdef int stamp
    cdef int tasks
    cdef int task_room
    cdef int entry_count
    cdef int entry_room
    cdef int* set_of
    cdef int* next
    cdef int* at
    cdef int* choices
    cdef int* member
    cdef int* seen
    cdef int* stack
    cdef int* live
    cdef int* task
    cdef int* entries
    cdef readonly list sets
    cdef dict numbers
    cdef dict characters
    cdef int _set(self, tuple chars) except -1
    cdef int _place(self, int chars, int to) except -1
    cdef int _choice(self, int to) except -1
    cdef int _either(self, int one, int other) except -1
    cdef int _soon(self, list nodes, node, int what, int a, int b) except -1
    cdef int _character(self, str char) except -1
    cdef int _enter(self, int entry) except -1
    cdef int _follow(self, int top) noexcept
