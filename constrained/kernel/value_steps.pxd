cimport cython

from constrained.kernel.value_scalars cimport ValueScalars

cdef class ValueSteps(ValueScalars):
    @cython.final
    cdef int one(self, int state, int byte) except? -9
    @cython.final
    cdef int _step(self, int byte) except? -9
    @cython.final
    cdef int _open(self, int byte) except -1
    @cython.final
    cdef int _close(self, int byte) except? -9
    @cython.final
    cdef int _close_value(self) except? -9
    @cython.final
    cdef int _close_name(self) except? -9
    @cython.final
    cdef int _end_string(self) except? -9
    @cython.final
    cdef int _off_without(self, int name) except -1
