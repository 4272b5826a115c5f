cpdef Py_ssize_t same_values(object one, object other, Py_ssize_t most) except? -1

cdef int _are_equal(object one, object other, list pairs) except -1
