"""``ApiError``: a request that is answered with an error, in the body that OpenAI's clients read.

    {"error": {"message": str, "type": str, "param": str | null, "code": str | null}}

Library errors become 400 with the field they are about in ``param``; what is nobody's fault but ours becomes 500 with a
fixed text. Messages are at most 2,000 characters, echo at most 200 characters of input (``constrained.errors``), and
hold neither paths nor addresses.
"""

from __future__ import annotations

import json
from typing import Any

from constrained.decoder.budget import BudgetTooSmall
from constrained.decoder.chat_template import ChatTemplateError
from constrained.decoder.sampling_params import RequestError, SamplingError
from constrained.decoder.service import QueueFullError, ServiceClosedError
from constrained.errors import ConstrainedError, GrammarLimitError, SchemaError

__all__ = ["ApiError", "bad_request", "from_library"]

TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 408: "timeout_error",
         413: "invalid_request_error", 429: "rate_limit_error", 503: "service_unavailable_error"}


class ApiError(Exception):
    """A request ends with this HTTP status and error body."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None,
                 headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code
        self.headers = headers or {}

    @property
    def kind(self) -> str:
        """The ``type`` of the body."""
        return TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")

    def body(self) -> dict[str, Any]:
        """The JSON value of the answer."""
        return {"error": {"message": str(self)[:2000], "type": self.kind, "param": self.param, "code": self.code}}

    def json(self) -> bytes:
        """The answer's body."""
        return json.dumps(self.body()).encode()


def bad_request(message: str, param: str | None = None, code: str | None = None) -> ApiError:
    """A 400: the client has to change something."""
    return ApiError(400, message, param=param, code=code)


def from_library(error: BaseException, *, param: str | None = None, code: str | None = None) -> ApiError:
    """What the client is told about ``error``."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, QueueFullError):
        return ApiError(429, "too many requests wait; try again later", code="queue_full",
                        headers={"retry-after": "1"})
    if isinstance(error, ServiceClosedError):
        return ApiError(503, "the server is shutting down", code="shutting_down", headers={"retry-after": "5"})
    if isinstance(error, SchemaError):
        return bad_request(str(error), param, code or "invalid_json_schema")
    if isinstance(error, GrammarLimitError):
        return bad_request(str(error), param, code or "grammar_limit_exceeded")
    if isinstance(error, ChatTemplateError):
        return bad_request(str(error), param or "messages", code)
    if isinstance(error, RequestError) and error.no_room:
        return bad_request(str(error), param or "messages", "context_length_exceeded")
    if isinstance(error, BudgetTooSmall):
        return bad_request(str(error), param or "max_tokens", code)
    if isinstance(error, RequestError) and param is None:
        param = error.field
    if isinstance(error, (RequestError, SamplingError, ConstrainedError)):
        return bad_request(str(error), param, code)
    return ApiError(500, "the server failed on this request; others are not concerned", code="internal_error")
