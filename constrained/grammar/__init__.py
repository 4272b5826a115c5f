"""The grammar: an immutable expression tree for each rule, and combinators to write one in Python."""
