WORD: int
