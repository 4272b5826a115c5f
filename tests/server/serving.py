"""A running server for tests: an engine in this process, uvicorn in a thread of its own, a free port."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn

from constrained.server.engine import Engine
from constrained.server.run import uvicorn_config

__all__ = ["Running", "running"]


class Running:
    """Where a server listens, and the engine behind it."""

    def __init__(self, engine: Engine, port: int) -> None:
        self.engine = engine
        self.port = port
        self.url = f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def running(engine: Engine) -> Iterator[Running]:
    """Serve until the block ends; what still runs then is cancelled."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn_config(engine))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive() and time.monotonic() < end, "the server did not start"
        time.sleep(0.01)
    try:
        yield Running(engine, listener.getsockname()[1])
    finally:
        with engine.service._guard:
            engine.service._cancels.extend(engine.service._handles.values())
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not end"
