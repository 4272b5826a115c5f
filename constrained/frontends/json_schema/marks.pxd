cimport cython

cdef Py_ssize_t FIRST_ROOM

cdef long long address(object thing) noexcept

@cython.final
cdef class Marks:
    cdef long long* table
    cdef Py_ssize_t room
    cdef Py_ssize_t count
    cdef list held
    cdef object begin(self)
    cdef Py_ssize_t place_of(self, long long number) noexcept
    cdef object at(self, long long number)
    cdef int put(self, long long number, object value) except -1
    cdef int widen(self) except -1
