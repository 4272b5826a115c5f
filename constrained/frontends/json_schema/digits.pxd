from constrained.regex.syntax cimport Node


cpdef tuple digits_of(object number)
cpdef str successor(str digits)
cpdef object predecessor(str digits)
cpdef Node whole_numbers(str first, object last, object cap)
cpdef list run(Node char, object minimum, object maximum)
cpdef Node one_digit(int low, int high)
cpdef Node exponents(int first, int last)
