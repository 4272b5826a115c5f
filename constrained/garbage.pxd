cdef extern from "Python.h":
    int PyGC_Enable()
    int PyGC_Disable()

cdef class postponed:
    cdef bint _was_on
