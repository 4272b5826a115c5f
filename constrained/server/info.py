"""The small endpoints: models, health, metrics, tokenize."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from constrained.server.engine import Engine
from constrained.server.fields import parse_body
from constrained.server.http import json_response, read_body
from constrained.server.messages import chat_messages
from constrained.server.problems import ApiError

__all__ = ["detokenize", "health", "list_models", "metrics", "one_model", "tokenize"]


async def list_models(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/models``."""
    return json_response({"object": "list", "data": [_model(engine)]})


async def one_model(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /v1/models/{name}``."""
    if request.path_params["name"] != engine.settings.model_name:
        raise ApiError(404, "the model does not exist", param="model", code="model_not_found")
    return json_response(_model(engine))


def _model(engine: Engine) -> dict[str, Any]:
    return {"id": engine.settings.model_name, "object": "model", "created": engine.created, "owned_by": "local",
            "max_model_len": engine.scheduler.cache.max_len}


async def health(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /health``: 200 while requests are taken, 503 while shutting down or when decoding has ended."""
    ok = engine.service.alive and not engine.draining
    return json_response({"status": "ok" if ok else "unavailable"}, 200 if ok else 503)


async def metrics(request: Request, engine: Engine, request_id: str) -> Response:
    """``GET /metrics``."""
    service, grammars = engine.service, engine.grammars
    running = service.running
    lines = engine.metrics.lines({
        "running_outputs": running, "waiting_outputs": max(0, service.outstanding - running),
        "slots": engine.scheduler.cache.n_slots, "steps_total": service.steps,
        "step_seconds_total": service.step_seconds, "failed_steps_total": service.failures,
        "grammars_compiled_total": grammars.compiled, "grammars_refused_total": grammars.refused,
        "compile_workers_replaced_total": grammars.killed, "grammars_waiting": grammars.waiting,
        "grammar_cache_bytes": grammars.cache_bytes, "stored_responses": len(engine.responses),
        "stored_response_bytes": engine.responses.held_bytes, "background_responses": len(engine.responses.running),
        "conversations": len(engine.conversations), "conversation_bytes": engine.conversations.held_bytes})
    return Response("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")


async def tokenize(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /tokenize``: the ids of a ``prompt`` (as for completions) or of ``messages`` (as for a chat)."""
    settings = engine.settings
    fields = parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds))
    if fields.has("messages"):
        ids = await engine.chat_prompt(chat_messages(fields),
                                       add_generation_prompt=fields.flag("add_generation_prompt", True))
    else:
        ids = await engine.text_prompt(fields.needed_text("prompt"),
                                       add_special_tokens=fields.flag("add_special_tokens", True))
    return json_response({"count": len(ids), "max_model_len": engine.scheduler.cache.max_len, "tokens": ids})


async def detokenize(request: Request, engine: Engine, request_id: str) -> Response:
    """``POST /detokenize``: the text of ``tokens``, control tokens as they are written."""
    settings = engine.settings
    fields = parse_body(await read_body(request, settings.max_body_bytes, settings.body_seconds))
    tokens = fields.items("tokens", limit=1 << 20)
    size = engine.info.vocab_size
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < size for one in tokens):
        raise fields.wrong("tokens", f"must be token ids below {size}")
    return json_response({"prompt": engine.token_text.decode(tokens, False)})
