"""Types wherever a schema is taken, schemas for prompts, and texts back to values."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from decimal import Decimal
from typing import Annotated, Any, Literal

import pydantic
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field

import constrained as cd
from constrained.frontends.python_types import from_type, type_schema, validate
from tests.engine.worlds import byte_vocabulary
from tests.frontends.python_types.judging import accepts, compiled


class Step(BaseModel):
    """One step."""

    text: str = Field(description="what to do", examples=["stir"])
    minutes: Annotated[int, Field(ge=0, le=60)] = 5


class Recipe(BaseModel):
    """How to cook."""

    name: str
    price: Decimal = Field(max_digits=6, decimal_places=2)
    kind: Literal["soup", "cake"]
    steps: list[Step]
    note: str | None = None


def test_every_entry_takes_a_type() -> None:
    by_name = cd.Grammar.from_type(Recipe)
    assert by_name == cd.Grammar.from_json_schema(Recipe) == cd.Grammar(from_type(Recipe))
    compiler = cd.GrammarCompiler(byte_vocabulary())
    text = '{"name": "a", "price": "1.50", "kind": "cake", "steps": [{"text": "b"}]}'
    for grammar in (compiler.compile_json_schema(Recipe), compiler.compile_grammar(by_name)):
        assert accepts(grammar, text)
    assert compiler.compile_json_schema(Recipe) is compiler.compile_json_schema(Recipe)
    assert cd.coverage(Recipe).exact
    assert cd.coverage(dataclasses.make_dataclass("D", [("a", int)])).exact


def test_options_mean_what_they_mean_for_schemas() -> None:
    order = '{"steps": [], "kind": "soup", "price": 1, "name": "a"}'
    assert not accepts(compiled(Recipe), order)
    assert accepts(compiled(Recipe, property_order="any"), order)
    extra = '{"name": "a", "price": 1, "kind": "soup", "steps": [], "z": 1}'
    assert accepts(compiled(Recipe), extra) and not accepts(compiled(Recipe, strict_mode=True), extra)
    compact = compiled(Recipe, any_whitespace=False, separators=(",", ":"))
    value = Recipe(name="a", price=Decimal("2.5"), kind="soup", steps=[Step(text="é")])
    assert accepts(compact, value.model_dump_json()) and not accepts(compact, value.model_dump_json(indent=1))
    indented = compiled(Recipe, any_whitespace=False, indent=2)
    assert accepts(indented, value.model_dump_json(indent=2))
    with pytest.raises(cd.SchemaError):
        compiled(Recipe, property_order="none")


def test_types_inside_the_compiler_are_told_apart() -> None:
    compiler = cd.GrammarCompiler(byte_vocabulary())
    for size in (1, 2):
        model = pydantic.create_model("Same", a=(Annotated[str, Field(max_length=size)], ...))
        assert accepts(compiler.compile_json_schema(model), '{"a": "ab"}') == (size == 2)


def test_schema_for_prompts_has_the_order_of_the_grammar() -> None:
    schema = type_schema(Recipe)
    assert list(schema["properties"]) == ["name", "price", "kind", "steps", "note"]
    assert schema["required"] == ["name", "price", "kind", "steps"]
    assert schema["description"] == "How to cook."
    step = schema["properties"]["steps"]["items"]
    assert step["description"] == "One step." and step["properties"]["text"]["description"] == "what to do"
    assert step["properties"]["minutes"] == {"default": 5, "type": "integer", "minimum": 0, "maximum": 60}
    assert schema["properties"]["kind"] == {"enum": ["soup", "cake"]}
    assert json.loads(json.dumps(schema)) == schema


def test_schema_for_prompts_of_names_and_paths() -> None:
    class Named(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        a: float = Field(validation_alias=AliasChoices("b", AliasPath("c", 0)), lt=2.5)

    schema = type_schema(Named)
    assert schema == {"type": "object", "properties": {"b": {"type": "number", "exclusiveMaximum": 2.5}},
                      "required": ["b"]}
    assert type(next(iter(schema["properties"]))) is str


def test_schemas_of_recursive_types_have_definitions() -> None:
    class Tree(BaseModel):
        kids: list[Tree] = []

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    schema = type_schema(Tree)
    assert schema["$ref"] == "#/$defs/Tree" and schema["$defs"]["Tree"]["properties"]["kids"]["items"] == {
        "$ref": "#/$defs/Tree"}


def test_schemas_accept_what_the_grammar_does() -> None:
    text = '{"name": "a", "price": "1.50", "kind": "cake", "steps": [{"text": "b", "minutes": 3}]}'
    assert accepts(compiled(type_schema(Recipe)), text)


def test_validate() -> None:
    value = validate(list[Step], '[{"text": "a"}]')
    assert value == [Step(text="a")] and validate(int, b"3") == 3
    with pytest.raises(pydantic.ValidationError):
        validate(int, '"x"')
    with pytest.raises(cd.SchemaError):
        validate(int, 3)  # type: ignore[arg-type]


def test_none_and_wrong_schemas() -> None:
    grammar = cd.Grammar.from_type(None)
    assert accepts(cd.GrammarCompiler(byte_vocabulary()).compile_grammar(grammar), "null")
    for schema in (None, [], 5, 1.5):
        with pytest.raises(cd.SchemaError):
            cd.Grammar.from_json_schema(schema)


@pytest.mark.parametrize("code", [
    "import sys, constrained; assert 'pydantic' not in sys.modules",
    "import sys; sys.modules['pydantic'] = None; import constrained as cd\n"
    "try: cd.Grammar.from_type(int)\n"
    "except cd.ConstrainedError as error: assert 'types' in str(error)\n"
    "else: raise SystemExit('no error')"])
def test_pydantic_is_imported_only_for_types(code: str) -> None:
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_types_inside_structural_tags() -> None:
    tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "const_string", "value": "x"}, {"type": "json_schema", "json_schema": list[int]}]}}
    grammar = cd.GrammarCompiler(byte_vocabulary()).compile_grammar(cd.Grammar.from_structural_tag(tag))
    assert accepts(grammar, "x[1]") and not accepts(grammar, "x[1.0]") and not accepts(grammar, 'x["a"]')


def test_wrong_options_are_refused_as_for_schemas() -> None:
    for options in ({"max_number_digits": -1}, {"max_number_digits": "a"}, {"string_escapes": "b"},
                    {"unsupported": "c"}):
        with pytest.raises(cd.SchemaError):
            cd.Grammar.from_type(Decimal, **options)


def test_types_deeper_than_pydantic_goes_are_a_limit() -> None:
    annotation: Any = int
    for _ in range(3000):
        annotation = list[annotation]
    with pytest.raises(cd.GrammarLimitError, match="deep"):
        cd.Grammar.from_type(annotation)
