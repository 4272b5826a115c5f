from constrained.kernel.nodes cimport Choice, Node, Repeat, Sequence, Unordered

cdef extern from "Python.h":
    int PyGC_Enable()
    int PyGC_Disable()
    int PyObject_IS_GC(object)
    int PyObject_GC_IsTracked(object)
    void PyObject_GC_UnTrack(void*)

cdef class postponed:
    cdef bint _was_on

cdef bint put_off() noexcept
cdef void go_on(bint was_on) noexcept
cdef _hide(tuple held, list waiting)
