from constrained.regex.syntax cimport Node


cpdef Node absorbed(Node tree)
