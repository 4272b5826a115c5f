cimport cython

from constrained.kernel.memory cimport grow_uint

cdef class Family
cdef class Labels
cdef int KNOWN_FAMILIES
cdef int KNOWN_LABELS
cdef Family family_of(unsigned int* sets, int n_sets)
cdef Labels known_labels(tuple families)
cdef int keep_labels(tuple families, Labels labels) except -1

@cython.final
cdef class Family:
    cdef int n_sets
    cdef unsigned int* sets
    cdef Labels labels

@cython.final
cdef class Labels:
    cdef unsigned char label[256]
    cdef unsigned int cuts[8]
    cdef void load(self, unsigned char* label, unsigned int* cuts) noexcept
    cdef void store(self, unsigned char* label, unsigned int* cuts) noexcept
