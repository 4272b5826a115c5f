cimport cython

from constrained.kernel.byte_nodes cimport ByteNodes

@cython.final
cdef class ByteTrie(ByteNodes):
    cdef int* whole
    cdef int* known
    cdef int _piece(self, int code) noexcept
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
