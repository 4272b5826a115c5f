cimport cython

cdef int DEEPEST, DEEPEST_NOTES, LONGEST_NAME, SLOTS, ROOM, WATCH
cdef list _known
cdef bytes _held, _ends
cdef unsigned char* _names
cdef unsigned char* _stops
cdef dict _WATCHED
cdef int REFERS, ELSEWHERE, OLD_ID, NEW_ID, RARELY, NOTE, DATA, BY_NAME

cdef int slot_of(Py_ssize_t size, int first, int middle, int last) noexcept
cdef Py_ssize_t behind_spaces(unsigned char* p, Py_ssize_t at) noexcept

@cython.final
cdef class TextReader:
    cdef readonly object value
    cdef readonly int seen
    cdef Py_ssize_t at
    cdef bint ascii
    cdef int watched
    cdef int read(self, str text) except -1
    cdef int read_bytes(self, unsigned char* p, Py_ssize_t size) except -1
    cdef str key(self, unsigned char* p, Py_ssize_t at)
    cdef int watch(self, int watched, str value, Py_ssize_t depth) except -1
    cdef str string(self, unsigned char* p, Py_ssize_t begin)
    cdef int is_text(self, unsigned char* p, Py_ssize_t begin) except -1
    cdef str unescaped(self, unsigned char* p, Py_ssize_t begin, Py_ssize_t end)
    cdef object number(self, unsigned char* p, Py_ssize_t begin)

cpdef int is_nameless(int seen, bint old_ids) except -1
