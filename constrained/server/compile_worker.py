"""The process that compiles request grammars, so that a hostile one costs the decode thread nothing.

    python -m constrained.server.compile_worker      frames on stdin and stdout

A frame is a length (8 bytes, little endian) and a pickle; both ends are this library, and nothing in a frame is the
client's but plain text. The first frame in is ``(vocabulary tables, limits, memory, seconds)``, then one
``Constraint`` a frame. Each is answered with ``("ok", flat rules, seconds, relaxed)`` or ``("error", code, message)``,
or with ``("failed", ...)`` where the fault is ours.
A job is compiled completely and its first mask computed, so whoever repeats it knows that it can be done and what it
costs.

The address space is limited; a job that needs more is an error, and the process ends, to be started afresh. So is the
processor time of a job: at its end the kernel ends the process, whatever it is in the middle of. It runs at a lower
priority than the process that decodes.
"""

from __future__ import annotations

import logging
import os
import pickle
import resource
import signal
import struct
import sys
import time
from typing import Any, BinaryIO

import numpy as np

from constrained.engine.compiled import compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError, GrammarLimitError, SchemaError, UnsatisfiableGrammarError
from constrained.grammar.flat import to_flat
from constrained.limits import Limits
from constrained.server.constraint import Constraint, build_grammar
from constrained.vocabulary.tokenizer_info import TokenizerInfo, info_of_tables

__all__ = ["HEADER", "compile_one", "main"]

log = logging.getLogger("constrained.server")

HEADER = struct.Struct("<Q")
MAX_JOBS = 5_000
"""Jobs after which the process is renewed: freed memory is not always given back."""


NICE = 10


def read_frame(stream: BinaryIO) -> Any:
    """The next frame, None at the end of the stream."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    return pickle.loads(stream.read(HEADER.unpack(head)[0]))


def write_frame(stream: BinaryIO, value: Any) -> None:
    """One frame."""
    data = pickle.dumps(value, protocol=5)
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def compile_one(constraint: Constraint, info: TokenizerInfo, limits: Limits) -> tuple[Any, ...]:
    """The answer to one job, never an exception but ``MemoryError``."""
    started = time.perf_counter()
    try:
        grammar, relaxed = build_grammar(constraint, limits, info)
        matcher = GrammarMatcher(compile_rules(grammar.rules, info, limits))
        row = np.zeros((1, (info.vocab_size + 31) // 32), dtype=np.int32)
        matcher.fill_next_token_bitmask(row)
    except ConstrainedError as error:
        return "error", error_code(error), str(error)
    except RecursionError:
        return "error", None, "the grammar is nested too deeply"
    except MemoryError:
        raise
    except Exception:  # a fault of ours: told apart from the client's
        log.exception("a grammar failed to compile")
        return "failed", None, ""
    return "ok", to_flat(grammar.rules), time.perf_counter() - started, relaxed


def error_code(error: ConstrainedError) -> str | None:
    """The ``code`` of the HTTP answer."""
    if isinstance(error, GrammarLimitError):
        return "grammar_limit_exceeded"
    if isinstance(error, SchemaError):
        return "invalid_json_schema"
    return "unsatisfiable_grammar" if isinstance(error, UnsatisfiableGrammarError) else "invalid_grammar"


def limit_memory(extra: int) -> None:
    """At most ``extra`` bytes of address space beyond what is taken now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + extra, taken + extra))


def main() -> int:
    """Serve frames until the stream ends."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but frames goes to the pipe
    first = read_frame(source)
    if first is None:
        return 0
    tables, limits, memory, seconds = first
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # whatever the server's own class is
    os.nice(NICE)
    info = info_of_tables(tables, None)
    compile_one(Constraint("ebnf", 'root ::= "a" | [b-d]+'), info, limits)  # first use builds shared tables
    if sys.platform == "linux":
        limit_memory(memory)
    write_frame(sink, ("ready",))
    for _ in range(MAX_JOBS):
        job = read_frame(source)
        if job is None:
            return 0
        signal.setitimer(signal.ITIMER_PROF, seconds)  # SIGPROF ends the process: nothing handles it
        try:
            answer = compile_one(job, info, limits)
        except MemoryError:
            write_frame(sink, ("error", "grammar_limit_exceeded", "the grammar needs too much memory to compile"))
            return 0
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        write_frame(sink, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
