from constrained.regex.syntax cimport Node


cpdef bint has_assertions(Node root) except -1
cpdef bint is_nothing(Node node) except -1
cpdef bint is_any_text(Node node) except -1
cpdef Node search_form(Node root)
cpdef Node simplify(Node root)
