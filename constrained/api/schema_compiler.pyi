from typing import Any, NoReturn

from constrained.engine.compiled import CompiledGrammar
from constrained.engine.vocabulary_tables import VocabularyTrie
from constrained.grammar.ir import RuleSet
from constrained.limits import Limits
from constrained.vocabulary import TokenizerInfo

MANY_RULES: int

class SchemaCompiler:
    tokenizer_info: TokenizerInfo
    limits: Limits
    cache_limit_bytes: int
    _tables: VocabularyTrie | None
    _foreign: Any
    def compile_json_schema(
        self,
        schema: Any,
        *,
        draft: str | int | None = None,
        strict_mode: bool = False,
        property_order: str = "schema",
        any_whitespace: bool = True,
        max_whitespace_cnt: int | None = 64,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        string_escapes: str = "any",
        max_number_digits: int = 400,
        unsupported: str = "error",
        assert_formats: bool | str = True,
        registry: Any = None,
        limits: Limits | None = None,
        thinking: Any = None,
    ) -> CompiledGrammar: ...
    def _rules_of(self, schema: str, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                  strict_mode: bool) -> RuleSet: ...
    def _refuse_schema(self, schema: Any, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                       strict_mode: bool) -> NoReturn: ...
    def _compile_schema(self, schema: Any, draft: Any, registry: Any, limits: Limits, options: tuple[Any, ...],
                        strict_mode: bool, unsupported: str, thinking: Any) -> CompiledGrammar: ...
