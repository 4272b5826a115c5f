"""Language models that write what a grammar allows.

    import constrained as cd
    info = cd.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    grammar = cd.GrammarCompiler(info).compile_regex(r"\\d{4}-\\d{2}-\\d{2}")
    matcher = cd.GrammarMatcher(grammar)
    bitmask = cd.allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    cd.apply_token_bitmask_inplace(logits, bitmask)

See ``docs/`` for the design, the dialects and the numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constrained import kernel as _kernel  # noqa: F401  # first: it lets imports find the compiled kernels
from constrained.api.compiler import GrammarCompiler
from constrained.api.explain import Explanation, explain
from constrained.api.grammar import Grammar
from constrained.engine.batch import BatchGrammarMatcher
from constrained.engine.captures import CaptureSpan, CaptureTracker
from constrained.engine.compiled import CompiledGrammar, StaleState
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import (
    BitmaskError,
    ConstrainedError,
    GrammarError,
    GrammarLimitError,
    GrammarSyntaxError,
    NotRegularError,
    RegexError,
    SchemaError,
    StructuralTagError,
    TokenizerError,
    UnsatisfiableGrammarError,
    UnsatisfiableSchemaError,
    UnsupportedSchemaError,
)
from constrained.frontends.json_schema.coverage import CoverageEntry, CoverageReport, coverage
from constrained.frontends.structural_tag import Thinking
from constrained.limits import Limits
from constrained.masks import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from constrained.vocabulary import TokenizerInfo

if TYPE_CHECKING:
    from constrained.decoder.sampling_params import SamplingParams
    from constrained.typed.agent import Agent, AgentRun
    from constrained.typed.llm import LLM
    from constrained.typed.partial import Partial
    from constrained.typed.results import Result, Truncated
    from constrained.typed.tools import Tool, tool
    from constrained.typed.types import EBNF, Choice, JsonSchema, Lark, Regex

__version__ = "0.1.0"

_LATER = {
    "EBNF": "constrained.typed.types",
    "LLM": "constrained.typed.llm",
    "Agent": "constrained.typed.agent",
    "AgentRun": "constrained.typed.agent",
    "Choice": "constrained.typed.types",
    "JsonSchema": "constrained.typed.types",
    "Lark": "constrained.typed.types",
    "Partial": "constrained.typed.partial",
    "Regex": "constrained.typed.types",
    "Result": "constrained.typed.results",
    "Tool": "constrained.typed.tools",
    "Truncated": "constrained.typed.results",
    "Trace": "constrained.typed.trace",
    "tool": "constrained.typed.tools",
    "trace": "constrained.typed.trace",
    "SamplingParams": "constrained.decoder.sampling_params",
}
"""Names that are imported when first asked for: they may need packages that the core does without."""

__all__ = [
    "EBNF",
    "LLM",
    "Agent",
    "AgentRun",
    "BatchGrammarMatcher",
    "BitmaskError",
    "CaptureSpan",
    "CaptureTracker",
    "Choice",
    "CompiledGrammar",
    "ConstrainedError",
    "CoverageEntry",
    "CoverageReport",
    "Explanation",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarLimitError",
    "GrammarMatcher",
    "GrammarSyntaxError",
    "JsonSchema",
    "Lark",
    "Limits",
    "NotRegularError",
    "Partial",
    "Regex",
    "RegexError",
    "Result",
    "SamplingParams",
    "SchemaError",
    "StaleState",
    "StructuralTagError",
    "Thinking",
    "TokenizerError",
    "TokenizerInfo",
    "Tool",
    "Trace",
    "Truncated",
    "UnsatisfiableGrammarError",
    "UnsatisfiableSchemaError",
    "UnsupportedSchemaError",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "coverage",
    "explain",
    "get_bitmask_shape",
    "reset_token_bitmask",
    "tool",
    "trace",
]


def __getattr__(name: str) -> Any:
    """What is imported when asked for: ``bitmask_dtype``, which is torch's where torch is installed, and ``_LATER``."""
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(_LATER[name]), name)
    if name == "bitmask_dtype":
        from constrained import masks

        return masks.bitmask_dtype
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
