"""What commands are given: grammar files, patterns, built-in names, tokenizers. Each reader says what is wrong.

Raises ``UsageProblem`` (exit code 2) for what cannot be read at all; errors *in* a grammar are the library's own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from constrained.api.grammar import Grammar
from constrained.cli.problem import UsageProblem
from constrained.errors import GrammarError, TokenizerError, echo
from constrained.grammars import builtin_names
from constrained.typed.model_package import cached_model
from constrained.vocabulary import TokenizerInfo

__all__ = ["PATTERN_SUFFIXES", "one_grammar", "read_text", "tokenizer_info"]

PATTERN_SUFFIXES = (".regex", ".re")
MAX_FILE_BYTES = 64 << 20
GGUF_MAGIC = b"GGUF"


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageProblem(f"{path}: {reason}") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageProblem(f"{path}: more than {MAX_FILE_BYTES >> 20} MB: this is no grammar")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageProblem(f"{path}: not UTF-8: byte 0x{data[error.start]:02X} at offset {error.start}, line {line}",
                           hint="save the file as UTF-8") from None


def one_grammar(file: str | None, pattern: str | None, builtin: str | None, *, root: str = "root") -> Grammar:
    """The grammar that exactly one of the three options names. Raises also what the front ends raise."""
    given = [option for option in (file, pattern, builtin) if option is not None]
    if len(given) != 1:
        raise UsageProblem("give one of --grammar FILE, --regex PATTERN and --builtin NAME",
                           hint=f"built-in grammars: {', '.join(builtin_names())}")
    if builtin is not None:
        try:
            return Grammar.builtin(builtin)
        except GrammarError as error:
            raise UsageProblem(str(error)) from None
    if pattern is not None:
        return Grammar.from_regex(pattern)
    assert file is not None
    text = read_text(file)
    return Grammar.from_regex(pattern_in(text)) if file.endswith(PATTERN_SUFFIXES) else Grammar.from_ebnf(text,
                                                                                                         root=root)


def pattern_in(text: str) -> str:
    """The pattern in a file: all of it but the line end that editors add."""
    return text.removesuffix("\n").removesuffix("\r")


def tokenizer_info(path: str | None) -> TokenizerInfo:
    """The vocabulary of a ``tokenizer.json``, of the folder that holds one, or of a GGUF file.

    Without a path: the demo's model, if it has been fetched.
    """
    if path is None:
        found = cached_model()
        if found is None:
            raise UsageProblem("there is no tokenizer: the demo's model has not been fetched yet",
                               hint="run `constrained demo` once, or pass --tokenizer with a tokenizer.json or .gguf")
        path = str(found)
    place = Path(path)
    try:
        if place.is_dir():
            magic = b""
        else:
            with place.open("rb") as file:
                magic = file.read(len(GGUF_MAGIC))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageProblem(f"{echo(path)}: {reason}") from None
    try:
        return TokenizerInfo.from_gguf(place) if magic == GGUF_MAGIC else TokenizerInfo.from_huggingface(place)
    except TokenizerError as error:
        raise UsageProblem(f"{path}: {error}") from None
