cimport cython

cdef int WORD, MANY_PIECES

@cython.final
cdef class Cubes:
    cdef int names, half, words
    cdef int count
    cdef int room
    cdef int among
    cdef long long* rows
    cdef int* origins
    cdef int* alive
    cdef int* order
    cpdef int add(self) except -1
    cpdef int ask(self, int cube, int name, bint there) except -1
    cpdef bint asks(self, int cube, int name, bint there) except -1
    cpdef int origin(self, int cube) except -1
    cpdef list fewer(self)
    cdef int reserve(self, int count) except -1
    cdef int by_size(self) except -1
    cdef bint within(self, int few, int many) except -1
    cdef bint loosen(self) except -1
    cdef int loosened(self, int cube) except -2
    cdef bint is_turned(self, int cube, int at, long long bit) except -1
    cdef bint is_covered(self, int at) except -1
    cdef bint are_apart(self, int one, int other) except -1
    cdef int split(self, int now, int to, int at, long long bit) except -1
