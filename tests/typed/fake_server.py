"""A server of OpenAI's protocol in a thread: it keeps the requests and says what it is told to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeServer:
    """``answers``: for each request the chunks to stream, a dict to answer whole, or an int: an error status."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, Any, dict[str, str]]] = []
        self.answers: list[Any] = []
        self.url = ""


def text_chunks(*deltas: Any, finish: str = "stop") -> list[dict[str, Any]]:
    said = [{"choices": [{"index": 0, "delta": d if isinstance(d, dict) else {"content": d}}]} for d in deltas]
    return [*said, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5,
                                      "completion_tokens_details": {"forced_tokens": 2}}}]


@contextmanager
def serving() -> Iterator[FakeServer]:
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._json(200, {"data": [{"id": "listed"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.requests.append((self.path, body, dict(self.headers)))
            answer = fake.answers.pop(0)
            if isinstance(answer, int):
                self._json(answer, {"error": {"message": "told to fail"}})
            elif isinstance(answer, dict):
                self._json(200, answer)
            else:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for chunk in answer:
                    self.wfile.write(chunk if isinstance(chunk, bytes) else b"data: " + json.dumps(chunk).encode()
                                     + b"\n\n")
                self.wfile.write(b"data: [DONE]\n\n")

        def _json(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
