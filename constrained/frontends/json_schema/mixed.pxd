cimport cython

from constrained.frontends.json_schema.direct cimport Writer
from constrained.frontends.json_schema.emit cimport Emitter
from constrained.frontends.json_schema.normalise cimport Normaliser

@cython.final
cdef class _Normaliser(Normaliser):
    cdef Writer writer
    cdef dict owners

@cython.final
cdef class _Emitter(Emitter):
    cdef Writer writer
    cdef dict owners
    cdef Py_ssize_t done
    cdef object combined(self, int expression)
    cdef bint write(self) except -1
