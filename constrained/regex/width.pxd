from constrained.regex.syntax cimport Node


cpdef dict all_widths(Node root)
cpdef tuple width_of(Node root)
cpdef bint may_be_empty(Node root) except -1
