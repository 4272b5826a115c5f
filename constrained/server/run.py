"""``serve``: an application on uvicorn, with a shutdown that lets running requests end.

The first SIGTERM or SIGINT closes the port and lets what runs go on for ``drain_seconds``; the second ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Iterator
from types import FrameType

import uvicorn

from constrained.server.app import create_app
from constrained.server.engine import Engine
from constrained.server.protocol import limited_protocol

__all__ = ["SWITCH_SECONDS", "serve", "uvicorn_config"]

SWITCH_SECONDS = 0.0005
"""How long one thread may keep the interpreter from another: the event loop must not hold up a decoding step at each of
its many torch calls, which give the interpreter away (the default is 5 ms)."""


class _Server(uvicorn.Server):
    """Signals end it with exit code 0, not by being raised again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        handlers = {name: signal.signal(name, self._leave) for name in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for name, handler in handlers.items():
                signal.signal(name, handler)

    def _leave(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True


def uvicorn_config(engine: Engine) -> uvicorn.Config:
    """How uvicorn runs the application over an engine."""
    return uvicorn.Config(
        create_app(engine), http=limited_protocol(engine.settings), log_level="error", access_log=False,
        server_header=False, timeout_graceful_shutdown=max(1, round(engine.settings.drain_seconds)),
        timeout_keep_alive=30, lifespan="on", ws="none", proxy_headers=False)


def serve(engine: Engine, listener: socket.socket) -> int:
    """Serve on a bound socket until a signal; the exit code.

    What is loaded by now is taken out of the garbage collector's sight: a full collection that walks a model's and a
    vocabulary's objects stops every stream for 100 ms.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)
    server = _Server(uvicorn_config(engine))
    asyncio.run(server.serve(sockets=[listener]))
    return 0 if server.started else 1
