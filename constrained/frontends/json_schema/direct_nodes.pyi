from constrained.grammar.ir import Expr

def in_order(members: list[Expr], standing: list[int], free: Expr | None,
             separator: Expr) -> tuple[Expr | None, bool]: ...
