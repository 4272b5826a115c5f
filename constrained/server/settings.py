"""``ServerSettings``: every number and name of a server, with its default and its reason."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from constrained.errors import ConstrainedError
from constrained.limits import Limits

__all__ = ["REQUEST_LIMITS", "ServerSettings"]

REQUEST_LIMITS = Limits(
    max_source_chars=1_000_000, max_nesting=500, max_positions=200_000, max_dfa_states=10_000, max_threads=5_000,
    max_states=500_000, max_automaton_bytes=16 << 20, max_mask_bytes=16 << 20, max_walk_nodes=10_000_000,
    max_live_search=20_000, max_schema_alternatives=10_000)
"""Budgets of a grammar that comes with a request: what strangers send must not cost the others a noticeable pause."""

WHITESPACE = ("any", "line", "compact")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Settings of one server. Raises :class:`ConstrainedError` for a value out of its range."""

    model_name: str = "model"
    """What ``/v1/models`` lists. Requests may name it, ``default``, or anything where ``any_model`` is on."""
    any_model: bool = True
    """Serve requests whatever model they name: clients have names built in."""
    api_keys: tuple[str, ...] = ()
    """Bearer tokens; none: no authentication."""
    max_batch: int = 8
    """Outputs that run at once."""
    max_queue: int = 256
    """Outputs that wait; more are answered 429."""
    max_len: int = 4096
    """Most tokens of prompt and output together."""
    max_samples: int = 32
    """Largest ``n``."""
    max_body_bytes: int = 1 << 20
    """Larger bodies are answered 413 before they are read."""
    body_seconds: float = 30.0
    """A body that has not come by then is answered 408."""
    header_seconds: float = 10.0
    """A connection whose request line and headers have not come by then is closed."""
    write_seconds: float = 60.0
    """A stream whose reader takes nothing for so long is cancelled."""
    drain_seconds: float = 25.0
    """How long running requests may go on after SIGTERM."""
    compile_workers: int = 1
    """Processes that compile grammars, apart from the one that decodes."""
    compile_seconds: float = 1.0
    """A grammar that takes more processor time is refused, as is one that is not ready twice as long after it came."""
    compile_queue: int = 64
    """Grammars that may wait for a worker; more are answered 429."""
    compile_memory_bytes: int = 512 << 20
    """Address space a compiling process may take beyond what it needs to start."""
    grammar_cache_bytes: int = 128 << 20
    """What compiled grammars may hold in memory; the least recently used go first."""
    store_bytes: int = 64 << 20
    """What answers of the Responses API that may be fetched or continued by id may hold in memory; 0: none is kept."""
    store_seconds: float = 24 * 3600.0
    """How long such an answer is kept at most."""
    limits: Limits = field(default=REQUEST_LIMITS)
    """Budgets of request grammars."""
    json_whitespace: str = "line"
    """How JSON is laid out: ``line`` (one line, a space after ``,`` and ``:``: most tokens are forced), ``compact``,
    or ``any`` (what the model likes)."""
    at_limit: str = "close"
    """A constrained output near its token limit is steered so that it ends whole (``close``), or ``cut``."""
    tool_format: str = "auto"
    """How this model writes tool calls: a name of ``constrained.toolcalls``, or ``auto``: by its chat template."""
    strict_subset: str = "none"
    """``openai``: what OpenAI refuses under ``strict: true`` is refused here too (:mod:`.strict_subset`)."""
    reasoning: str = "auto"
    """``auto``: text between the model's thinking marks is reported apart; ``off``: it is ordinary text."""

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in ("max_queue", "store_bytes") and value == 0:
                continue
            if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= 0:
                raise ConstrainedError(f"{f.name} must be positive, not {value!r}")
        if self.json_whitespace not in WHITESPACE:
            raise ConstrainedError(f"json_whitespace must be one of {', '.join(WHITESPACE)}, "
                                   f"not {self.json_whitespace!r:.50}")
        if self.at_limit not in ("close", "cut"):
            raise ConstrainedError(f"at_limit must be close or cut, not {self.at_limit!r:.50}")
        if self.strict_subset not in ("none", "openai"):
            raise ConstrainedError(f"strict_subset must be none or openai, not {self.strict_subset!r:.50}")
        if self.reasoning not in ("auto", "off"):
            raise ConstrainedError(f"reasoning must be auto or off, not {self.reasoning!r:.50}")
        if any(not key or not key.isascii() for key in self.api_keys):
            raise ConstrainedError("an API key is a non-empty ASCII text")
