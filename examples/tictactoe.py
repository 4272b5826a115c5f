"""A game by the rules: the grammar of each move is the list of free squares, so no move can be illegal."""

from __future__ import annotations

import re

import constrained as cd

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
SQUARES = [f"{column}{row}" for row in "321" for column in "abc"]


def winner(board: list[str]) -> str | None:
    """Who has three in a row."""
    return next((board[a] for a, b, c in LINES if board[a] != "." and board[a] == board[b] == board[c]), None)


def main(llm: cd.LLM | None = None) -> list[str]:
    """The model plays both sides; returns the moves."""
    llm = llm or cd.LLM()
    board, moves = ["."] * 9, []
    while winner(board) is None and "." in board:
        side = "XO"[len(moves) % 2]
        free = [square for square, taken in zip(SQUARES, board, strict=True) if taken == "."]
        shown = "\n".join("".join(board[row : row + 3]) for row in (0, 3, 6))
        move = llm.generate(f"Tic-tac-toe, you are {side}.\n{shown}\nYour move?", cd.Choice(free), max_tokens=8).output
        assert re.fullmatch("[abc][123]", move)
        board[SQUARES.index(move)] = side
        moves.append(move)
    print(" ".join(moves), "-", winner(board) or "nobody", "wins")
    return moves


if __name__ == "__main__":
    main()
