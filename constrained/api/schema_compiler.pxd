
cdef class SchemaCompiler:
    cdef object __weakref__
    cdef public object tokenizer_info
    cdef public object limits
    cdef public object cache_limit_bytes
    cdef public object _tables
    cdef public object _foreign
    cdef object _compile_text(self, str schema, object draft, object registry, object limits, tuple options, bint strict)
