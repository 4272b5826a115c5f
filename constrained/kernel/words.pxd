from constrained.kernel.network cimport Network

cdef int WORD
cdef int add_word(Network net, bytes data, int start, int end, int origin) except -1
cdef int collect_word(bytes data, unsigned int* alone) except -1
cdef int place_words(Network net, int first) except -1
cdef int write_words(Network net, int* off, int* a, int* b, int* to, int first, int at) except -1
