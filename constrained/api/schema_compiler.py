# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""The usual way of a JSON Schema's text to a compiled grammar.

``api.compiler.GrammarCompiler`` is a ``SchemaCompiler`` and has everything else. Here is the one call that stands
between a schema that nobody has seen and its first mask, in its usual form: a text, options that are read by
``direct_document``, this library's engine, no cache and no think section. Whatever is not usual is handed to
``_compile_schema``; a schema that ``direct_document`` leaves alone to ``_rules_of``.

Cost: 12,000 instructions and 210 lines of memory fewer than through five functions of Python (means of 34 middle
schemas under callgrind).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from constrained.kernel import cython_shim as cython

if cython.compiled:
    from cython.cimports.constrained.frontends.json_schema.direct_document import Front
    from cython.cimports.constrained.garbage import go_on, put_off
else:
    from constrained.frontends.json_schema.direct_document import Front
    from constrained.garbage import go_on, put_off

from constrained.engine.compiled import CompiledGrammar
from constrained.errors import UnsatisfiableGrammarError
from constrained.frontends.json_schema.compile import FRONT
from constrained.garbage import settle

MANY_RULES = 60
"""Of a grammar whose nodes are worth to be settled: the collector looks at what is new at every 700th object."""


@cython.cclass
class SchemaCompiler:
    """See the module docstring."""

    def compile_json_schema(self, schema, *, draft=None, strict_mode=False, property_order="schema",
                            any_whitespace=True, max_whitespace_cnt=64, indent=None, separators=None,
                            string_escapes="any", max_number_digits=400, unsupported="error", assert_formats=True,
                            registry=None, limits=None, thinking=None):
        """Compile a JSON Schema (text, a dict, a boolean) or a type; all else as ``Grammar.from_json_schema``."""
        options: tuple = (assert_formats, any_whitespace, max_whitespace_cnt, indent, separators, string_escapes,
                          max_number_digits, property_order)
        if limits is None:
            limits = self.limits
        if (type(schema) is str and thinking is None and not self.cache_limit_bytes and self._foreign is None
                and unsupported == "error"):
            try:
                return self._compile_text(schema, draft, registry, limits, options, strict_mode)
            except UnsatisfiableGrammarError:
                self._refuse_schema(schema, draft, registry, limits, options, strict_mode)
        return self._compile_schema(schema, draft, registry, limits, options, strict_mode, unsupported, thinking)

    @cython.cfunc
    def _compile_text(self, schema: str, draft, registry, limits, options: tuple, strict: bool):
        """Compile a text without looking for it in the cache."""
        front: Front = FRONT
        collected: cython.bint = put_off()
        try:
            rules = front.rules_of(schema, draft, registry, limits, options, strict)
            if rules is None:
                rules = self._rules_of(schema, draft, registry, limits, options, strict)
            compiled = CompiledGrammar(rules, self.tokenizer_info, limits, self._tables)
            written: dict = rules.rules
            if len(written) > MANY_RULES:
                settle(written.values())
        finally:
            go_on(collected)
        if self._tables is None:
            self._tables = compiled.tables
        return compiled

    # ---- what ``GrammarCompiler`` has ----------------------------------------------------------------

    def _rules_of(self, schema, draft, registry, limits, options, strict_mode):
        raise NotImplementedError

    def _refuse_schema(self, schema, draft, registry, limits, options, strict_mode):
        raise NotImplementedError

    def _compile_schema(self, schema, draft, registry, limits, options, strict_mode, unsupported, thinking):
        raise NotImplementedError
