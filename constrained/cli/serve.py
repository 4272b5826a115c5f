"""``constrained serve``: load a model, say where it is served, serve it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console

from constrained.cli.problem import UsageProblem
from constrained.errors import ConstrainedError, echo
from constrained.typed.sources import built_in_model

__all__ = ["serve"]


def serve(console: Console, model: Path | None, host: str, port: int, *, device: str, quantized: bool,
          threads: int | None, options: Mapping[str, Any]) -> int:
    """Serve until a signal; the exit code. Raises ``UsageProblem``, ``ImportError`` where a package is missing."""
    path = _model(model)
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(threads)  # read when torch is imported
    from constrained.decoder.loaders.load import load_model
    from constrained.server.engine import Engine
    from constrained.server.run import serve as run
    from constrained.server.settings import ServerSettings

    name = options["model_name"] or path.name.removesuffix(".gguf")
    try:
        settings = ServerSettings(**{**options, "model_name": name})
    except ConstrainedError as error:
        raise UsageProblem(str(error)) from None
    listener = _listen(host, port)
    with closing(listener):
        started = time.perf_counter()
        engine = Engine.of_model(load_model(path, device=device, quantized=quantized), settings)
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        console.print(f"{name}: loaded in {time.perf_counter() - started:.1f} s, vocabulary of "
                      f"{engine.info.vocab_size:,} tokens, {settings.max_batch} outputs at once")
        if not settings.api_keys and host not in ("127.0.0.1", "localhost", "::1"):
            console.print("[yellow]anybody who reaches this port may use it: there is no --api-key[/]")
        console.print(f"serving {address}/v1 (SIGTERM or Ctrl-C ends it)")
        return run(engine, listener)


def _model(given: Path | None) -> Path:
    if given is not None:
        if not given.exists():
            raise UsageProblem(f"there is no file or folder {echo(os.fspath(given))}")
        return given
    return built_in_model()


def _listen(host: str, port: int) -> socket.socket:
    """A bound socket: a port that is taken is found out before the model is loaded."""
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise ConstrainedError(f"cannot listen on {echo(host)} port {port}: {error.strerror or error}") from None
    return listener
