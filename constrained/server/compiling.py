"""``CompileService``: request grammars compiled in other processes, with a deadline, kept in a bounded cache.

    constraint -> cache? -> known error? -> somebody at it already? -> worker process -> compiled here, once -> cache

The worker proves that a grammar can be compiled within the limits, the deadline and the memory, and hands its rules
back flat; compiling those again in this process is the cheap part, and it happens in one thread. A worker past its
deadline is killed and replaced. Errors are remembered too, so the same hostile text costs nothing twice.

All methods run in one event loop. Cost in this process: hashing the text; for a grammar met for the first time,
``compile_rules`` of it.
"""

from __future__ import annotations

import asyncio
import math
import os
import pickle
import sys
import time
from collections import OrderedDict
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from constrained.engine.compiled import CompiledGrammar, compile_rules
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.grammar.flat import from_flat
from constrained.server.compile_worker import HEADER
from constrained.server.constraint import Constraint, Relaxed
from constrained.server.problems import ApiError, bad_request, from_library
from constrained.server.settings import ServerSettings
from constrained.vocabulary.tokenizer_info import TokenizerInfo, tables_of

__all__ = ["CompileService", "Compiled"]

KNOWN_ERRORS = 2_000
START_SECONDS = 60.0

WALL = 1.7
"""Times ``compile_seconds``: how long a grammar may take from its arrival, waiting included."""

SLOW_IS_KNOWN = 30.0
"""Seconds for which a grammar that took too long is refused unseen: on a busy machine it may do better later."""

Failure = tuple[str | None, str, float]
"""Code and message of a grammar that was refused, and until when (``time.monotonic``) that holds."""


class Compiled:
    """A grammar ready for requests, and what of it was relaxed."""

    __slots__ = ("grammar", "relaxed")

    def __init__(self, grammar: CompiledGrammar, relaxed: list[Relaxed]) -> None:
        self.grammar = grammar
        self.relaxed = relaxed


class CompileService:
    """Compiles constraints for one vocabulary. ``start`` and ``close`` it in the event loop that uses it."""

    def __init__(self, info: TokenizerInfo, settings: ServerSettings) -> None:
        self.info = info
        self.settings = settings
        self.compiled = 0
        """Grammars compiled for the first time."""
        self.refused = 0
        """Grammars that were refused."""
        self.killed = 0
        """Workers that were killed at their deadline, or died."""
        self._hello = pickle.dumps((tables_of(info), settings.limits, settings.compile_memory_bytes,
                                    settings.compile_seconds), protocol=5)
        self._cache: OrderedDict[bytes, Compiled] = OrderedDict()
        self._errors: OrderedDict[bytes, Failure] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[Compiled]] = {}
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._starting: set[asyncio.Task[None]] = set()
        self._workers: set[_Worker] = set()
        self._thread = ThreadPoolExecutor(1, "constrained-compile")
        self._closed = False

    async def start(self) -> None:
        """Start the workers: one more than may work at once, so that a killed one is replaced without a wait.

        Returns when the first is ready.
        """
        await self._new_worker()
        for _ in range(self.settings.compile_workers):
            self._in_background(self._new_worker())

    async def close(self) -> None:
        """End the workers."""
        self._closed = True
        for task in [*self._running.values(), *self._starting]:
            task.cancel()
        await asyncio.gather(*self._running.values(), *self._starting, return_exceptions=True)
        for worker in list(self._workers):
            await self._end(worker)
        self._thread.shutdown(wait=False, cancel_futures=True)

    @property
    def cache_bytes(self) -> int:
        """What the cached grammars hold."""
        return sum(one.grammar.memory_size_bytes for one in self._cache.values())

    @property
    def waiting(self) -> int:
        """Grammars being compiled or waiting to be."""
        return len(self._running)

    async def get(self, constraint: Constraint) -> Compiled:
        """The compiled grammar. Raises :class:`ApiError`: 400 where it cannot be kept, 429 where too many wait."""
        key = constraint.key
        found = self._cache.get(key)
        if found is not None:
            self._cache.move_to_end(key)
            return found
        known = self._errors.get(key)
        if known is not None and time.monotonic() < known[2]:
            raise bad_request(known[1], constraint.param, known[0])
        task = self._running.get(key)
        if task is None:
            if len(self._running) >= self.settings.compile_queue:
                raise ApiError(429, "too many new grammars wait to be compiled; try again later",
                               param=constraint.param, code="compile_queue_full", headers={"retry-after": "1"})
            task = self._running[key] = asyncio.create_task(self._compile(constraint, key))
            task.add_done_callback(lambda done: self._settled(key, done))
        return await asyncio.shield(task)

    def _settled(self, key: bytes, task: asyncio.Task[Compiled]) -> None:
        self._running.pop(key, None)
        if not task.cancelled():
            task.exception()  # whoever waited has it; with nobody left it is not "never retrieved"

    async def _compile(self, constraint: Constraint, key: bytes) -> Compiled:
        came = time.monotonic()
        try:
            async with asyncio.timeout(self.settings.compile_seconds):
                worker = await self._idle.get()
        except TimeoutError:
            raise ApiError(429, "all compilers are busy; try again later", param=constraint.param,
                           code="compilers_busy", headers={"retry-after": "1"}) from None
        answer = await self._ask(worker, constraint, WALL * self.settings.compile_seconds - (time.monotonic() - came))
        if answer[0] == "failed":
            raise ApiError(500, "the server failed on this grammar; other requests are not concerned",
                           param=constraint.param, code="internal_error")
        if answer[0] != "ok":
            self._remember(key, answer[1], answer[2], math.inf if answer[0] == "error" else SLOW_IS_KNOWN)
            raise bad_request(answer[2], constraint.param, answer[1])
        _, flat, _, relaxed = answer
        loop = asyncio.get_running_loop()
        try:
            grammar = await loop.run_in_executor(self._thread, self._rebuild, flat)
        except ConstrainedError as error:
            raise from_library(error, param=constraint.param) from None
        self.compiled += 1
        made = self._cache[key] = Compiled(grammar, relaxed)
        self._evict()
        return made

    async def _ask(self, worker: _Worker, constraint: Constraint, seconds: float) -> tuple[Any, ...]:
        """One job in a worker, which afterwards is idle again or replaced."""
        try:
            async with asyncio.timeout(seconds):
                answer = await worker.ask(constraint)
        except TimeoutError:
            self._replace(worker)
            return "slow", "grammar_limit_exceeded", ("the grammar takes more than "
                                                      f"{self.settings.compile_seconds:g} s to compile")
        except (OSError, EOFError, asyncio.IncompleteReadError):
            self._replace(worker)
            return "slow", "grammar_limit_exceeded", ("the grammar cannot be compiled within this server's limits of "
                                                      f"{self.settings.compile_seconds:g} s and of memory")
        except BaseException:
            self._replace(worker)
            raise
        if worker.ended:
            self._replace(worker)
        else:
            self._idle.put_nowait(worker)
        return answer

    def _rebuild(self, flat: Any) -> CompiledGrammar:
        compiled = compile_rules(from_flat(flat), self.info, self.settings.limits)
        row = np.zeros((1, (self.info.vocab_size + 31) // 32), dtype=np.int32)
        GrammarMatcher(compiled).fill_next_token_bitmask(row)
        return compiled

    def _remember(self, key: bytes, code: str | None, message: str, seconds: float) -> None:
        self.refused += 1
        self._errors[key] = (code, message, time.monotonic() + seconds)
        if len(self._errors) > KNOWN_ERRORS:
            self._errors.popitem(last=False)

    def _evict(self) -> None:
        """Drop the least recently used grammars until the rest fits; the newest stays."""
        held = [(key, one.grammar.memory_size_bytes) for key, one in self._cache.items()]
        total = sum(size for _, size in held)
        for key, size in held[:-1]:
            if total <= self.settings.grammar_cache_bytes:
                break
            del self._cache[key]
            total -= size

    # -- workers -----------------------------------------------------------------------------------------------

    async def _new_worker(self) -> None:
        worker = await _Worker.start(self._hello)
        self._workers.add(worker)
        self._idle.put_nowait(worker)

    def _replace(self, worker: _Worker) -> None:
        self.killed += 1
        worker.kill()
        if self._closed:
            return

        async def again() -> None:
            await self._end(worker)
            await self._new_worker()

        self._in_background(again())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _end(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        worker.kill()
        await worker.process.wait()


class _Worker:
    """One compiling process; one job at a time."""

    __slots__ = ("process",)

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def start(cls, hello: bytes) -> _Worker:
        """A process that has its vocabulary and waits for jobs."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "constrained.server.compile_worker", stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, env=_environment(), start_new_session=True)
        worker = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                answer = await worker._exchange(hello)
        except BaseException:
            worker.kill()
            await process.wait()
            raise
        assert answer == ("ready",)
        return worker

    @property
    def ended(self) -> bool:
        """The process is gone, or about to be."""
        return self.process.returncode is not None or (self.process.stdout is None or self.process.stdout.at_eof())

    async def ask(self, constraint: Constraint) -> tuple[Any, ...]:
        """The worker's answer to one job. Raises ``OSError`` or ``EOFError`` where it dies."""
        return await self._exchange(pickle.dumps(constraint, protocol=5))

    async def _exchange(self, frame: bytes) -> tuple[Any, ...]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(HEADER.pack(len(frame)) + frame)
        await stdin.drain()
        head = await stdout.readexactly(HEADER.size)
        answer: tuple[Any, ...] = pickle.loads(await stdout.readexactly(HEADER.unpack(head)[0]))
        return answer

    def kill(self) -> None:
        """End the process at once."""
        if self.process.returncode is None:
            try:
                self.process.kill()
            except ProcessLookupError:
                pass


def _environment() -> dict[str, str]:
    """This process's environment, with its import path: the worker is the same library."""
    found = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": found, "OMP_NUM_THREADS": "1"}
