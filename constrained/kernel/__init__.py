"""The parts that Cython compiles, and how to tell whether it did.

A kernel is a Python file that begins with a ``# cython:`` directive. ``setup.py`` compiles every such file, in this
room or above it, into one shared object (``bundle``); ``COMPILED_MODULES`` names them, and a test holds the two equal.
Uncompiled, the same files run as plain Python: right, but slow.
"""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec

from constrained.kernel import bundle

__all__ = ["COMPILED_MODULES", "is_compiled", "uncompiled_modules"]

_HERE = (
    "annexes", "arena", "automaton", "automaton_writer", "beside", "blocks", "bounded_digits", "byte_nodes",
    "byte_trie", "carried", "chains", "choice_records", "class_trie", "completable", "congruence", "counted_annex",
    "counted_nodes", "counted_products", "counted_records", "counted_walk", "dets", "dfa_tables", "digit_blocks",
    "distance", "exit_groups", "families", "far_counts", "follower", "found_tokens", "guard_holes", "guard_survey",
    "guard_tables", "hashing", "hole_regions", "holes", "images", "inlining", "int_rows", "item_choice",
    "joint_products", "key_annex", "later", "lazy_positions", "linking", "literals", "logits", "mask_records",
    "mask_rows", "mask_store", "mask_threads", "mask_walk", "memo", "memory", "minima", "network", "nodes",
    "nullable", "pair_list", "partition", "passes", "pending", "plain_programs", "position_sets", "program",
    "pruning", "region_automaton", "region_reach", "region_tables", "region_tokens", "regions", "registers",
    "rule_writer", "set_entry", "set_loops", "shared_grammar", "signatures", "spelling", "stacks", "starts",
    "subset_tables", "text_places", "token_automaton", "token_budgets", "token_step", "token_trie", "token_walk",
    "unions", "value_ahead", "value_pairs", "value_reader", "value_scalars", "value_states", "value_steps",
    "value_trie", "value_walk", "walk_lanes", "words",
)
_ABOVE: tuple[str, ...] = (
    "api.schema_compiler", "frontends.json_schema.applicators", "frontends.json_schema.arrays",
    "frontends.json_schema.assertions", "frontends.json_schema.contents", "frontends.json_schema.cubes",
    "frontends.json_schema.denotation", "frontends.json_schema.digits", "frontends.json_schema.direct",
    "frontends.json_schema.direct_document", "frontends.json_schema.direct_nodes",
    "frontends.json_schema.direct_places", "frontends.json_schema.direct_reading",
    "frontends.json_schema.direct_rules", "frontends.json_schema.direct_text", "frontends.json_schema.document",
    "frontends.json_schema.emit", "frontends.json_schema.expressions", "frontends.json_schema.marks",
    "frontends.json_schema.mixed", "frontends.json_schema.normalise", "frontends.json_schema.number_trees",
    "frontends.json_schema.objects", "frontends.json_schema.places", "frontends.json_schema.presence",
    "frontends.json_schema.same_values", "frontends.json_schema.scalar_texts", "frontends.json_schema.shapes",
    "frontends.plain_trees", "garbage", "grammar.keys", "regex.absorb", "regex.builder", "regex.charset",
    "regex.parse_ecma", "regex.pattern_reader", "regex.refinement", "regex.rewrite", "regex.syntax", "regex.width",
)
"""Those in other rooms, by their names below ``constrained``."""

COMPILED_MODULES = (*[f"constrained.kernel.{name}" for name in _HERE], *[f"constrained.{name}" for name in _ABOVE])

bundle.install(COMPILED_MODULES)


def uncompiled_modules() -> tuple[str, ...]:
    """The kernels that would be (or were) loaded from Python source, by full name."""
    return tuple(name for name in COMPILED_MODULES if not _origin(name).endswith(tuple(EXTENSION_SUFFIXES)))


def is_compiled() -> bool:
    """True when every kernel is compiled."""
    return not uncompiled_modules()


def _origin(name: str) -> str:
    spec = find_spec(name)
    return spec.origin or "" if spec is not None else ""
