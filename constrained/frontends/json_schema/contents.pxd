cdef int MOST_KEYWORDS, _SILENT, _SAYS
cdef dict _KEYWORDS, _TYPED, _LEAVES

cpdef object content_of(dict schema, int depth=*)
