"""Reading Hugging Face tokenizers: every kind of source gives the same tables, and bad sources a typed error."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrained.errors import TokenizerError
from constrained.vocabulary import TokenizerInfo
from tests.vocabulary.sources import NAMES, added, backend_of, document, folder_of, info_of

read = TokenizerInfo.from_huggingface


@pytest.mark.parametrize("name", NAMES)
def test_file_and_object_agree(name: str) -> None:
    from_object, from_file = info_of(name), read(folder_of(name) / "tokenizer.json")
    assert from_file.decoded_vocab == from_object.decoded_vocab
    assert from_file.special_token_ids == from_object.special_token_ids
    assert from_file.added_token_ids == from_object.added_token_ids
    assert from_file.token_ids_by_text == from_object.token_ids_by_text
    assert set(from_file.stop_token_ids) == set(from_object.stop_token_ids)
    # tokenizer_config.json lies beside the file and names the end token that comes first.
    config = json.loads((folder_of(name) / "tokenizer_config.json").read_bytes())
    end = config["eos_token"] if isinstance(config["eos_token"], str) else config["eos_token"]["content"]
    assert from_file.stop_token_ids[0] in from_file.token_ids_by_text[end]


def test_all_forms_of_a_tokenizer_json_agree(tmp_path: Path) -> None:
    made = document(["a", "Ġ", "</s>"], decoder={"type": "ByteLevel"})
    text = json.dumps(made)
    path = tmp_path / "tokenizer.json"
    path.write_text(text)
    infos = [read(source) for source in (made, text, text.encode(), path, str(path), tmp_path, str(tmp_path))]
    assert len({info.fingerprint for info in infos}) == 1
    assert infos[0].decoded_vocab == [b"a", b" ", b""]


def test_roles_named_by_files_beside_the_tokenizer(tmp_path: Path) -> None:
    pieces = ["a", "<bos>", "<end>", "<alt>", "<third>", "</s>"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(pieces)))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({
        "eos_token": {"content": "<end>"}, "bos_token": "<bos>", "pad_token": None,
        "extra_special_tokens": {"x": "<alt>"}}))
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [4, 2, 99]}))
    info = read(tmp_path)
    assert info.stop_token_ids == (2, 4, 5)
    assert info.special_token_ids == {1, 2, 3, 4, 5}
    assert info.decoded_vocab == [b"a", b"", b"", b"", b"", b""]
    assert info.token_ids_by_text["<alt>"] == (3,)
    (tmp_path / "tokenizer_config.json").write_text("[" * 100_000)
    (tmp_path / "generation_config.json").write_text("null")
    assert read(tmp_path).stop_token_ids == (5,)


def test_width_and_stops_given() -> None:
    made = document(["a", "b", "</s>"])
    assert read(made, vocab_size=10).vocab_size == 10
    assert read(made, stop_token_ids=1).stop_token_ids == (1,)
    assert read(made, stop_token_ids=[1, 2]).special_token_ids == {1, 2}
    with pytest.raises(TokenizerError, match="out of range"):
        read(made, stop_token_ids=3)
    with pytest.raises(TokenizerError, match="stop token"):
        read(made, vocab_size=2)
    with pytest.raises(TokenizerError, match="vocab_size"):
        read(made, vocab_size="10")  # type: ignore[arg-type]


def test_a_model_narrower_than_its_tokenizer() -> None:
    """Gemma-3's tokenizer has one id more than its text models have logits."""
    info = read(backend_of("gemma3"), vocab_size=262_144)
    assert info.vocab_size == 262_144
    assert info.decoded_vocab == info_of("gemma3").decoded_vocab[:-1]


def test_holes_and_ids_given_to_added_tokens() -> None:
    made = document(["a", "x", "</s>"], model={"vocab": {"a": 0, "x": 4, "</s>": 2}})
    made["added_tokens"] = [added(2, "</s>", special=True), added(4, "y", special=False),
                            added(7, "<z>", special=False)]
    info = read(made)
    assert info.decoded_vocab == [b"a", b"", b"", b"", b"y", b"", b"", b"<z>"]


def test_the_unknown_token_spells_nothing() -> None:
    info = read(document(["a", "[UNK]", "</s>"], model={"unk_token": "[UNK]"}))
    assert info.special_token_ids == {1, 2}
    assert info.token_ids_by_text["[UNK]"] == (1,)


def test_duplicate_pieces_of_a_unigram_model() -> None:
    """Two ids with one piece are two tokens, though the package's own vocabulary keeps only one of them."""
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.Unigram([("<unk>", 0.0), ("\u2581a", -1.0), ("\u2581a", -2.0), ("</s>", 0.0)], unk_id=0)
    backend = tokenizers.Tokenizer(model)
    backend.decoder = tokenizers.decoders.Metaspace()
    backend.add_special_tokens(["</s>"])
    for source in (backend, json.loads(backend.to_str())):
        info = read(source)
        assert info.decoded_vocab == [b"", b" a", b" a", b""]
        assert info.special_token_ids == {0, 3}


def test_words_with_characters_kept() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "<unk>": 2, "</s>": 3}, "<unk>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    backend.add_special_tokens(["</s>"])
    info = read(backend)
    assert info.decoded_vocab == [b"a", b"b", b"", b""]
    assert info.encode("abba") == [0, 1, 1, 0]
    assert info.encode("abc") is None


def test_a_part_written_in_python_is_refused() -> None:
    tokenizers = pytest.importorskip("tokenizers")

    class Reverse:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens[::-1]

    backend = tokenizers.Tokenizer.from_str(json.dumps(document(["a", "</s>"])))
    backend.decoder = tokenizers.decoders.Decoder.custom(Reverse())
    with pytest.raises(TokenizerError, match="no written form"):
        read(backend)


def test_transformers_wrapper() -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    backend = tokenizers.Tokenizer.from_str(json.dumps(document(["a", "<sep>", "<end>", "</s>"])))
    wrapper = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", pad_token="<sep>")
    info = read(wrapper, vocab_size=8)
    assert info.stop_token_ids == (2, 3)
    assert info.special_token_ids == {1, 2, 3}
    assert info.decoded_vocab == [b"a", *[b""] * 7]
    real = transformers.PreTrainedTokenizerFast(tokenizer_object=backend_of("llama2"), eos_token="</s>")
    assert read(real) == info_of("llama2")


def test_slow_tokenizers_are_refused() -> None:
    transformers = pytest.importorskip("transformers")
    with pytest.raises(TokenizerError, match="not a fast tokenizer"):
        read(transformers.ByT5Tokenizer())


@pytest.mark.parametrize("bad", [
    None, 5, object(), [], ["a"], "", "no such file", "a\0b", "{", "{}", "[]", b"\xff{}", b"{}", "{" * 10_000,
    '{"a":' * 100_000, {}, {"model": 5}, {"model": {"type": "BPE"}}, {"model": {"type": "BPE", "vocab": {"a": -1}}},
    {"model": {"type": "BPE", "vocab": {"a": "0"}}}, {"model": {"type": "BPE", "vocab": {"a": True}}},
    {"model": {"type": "BPE", "vocab": {"a": 1 << 40}}}, {"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}}},
    {"model": {"type": "BPE", "vocab": {}}}, {"model": {"type": "Unigram", "vocab": ["a"]}},
    {"model": {"type": "Unigram", "vocab": [[1, 2]]}}, document(["a", "</s>"], added_tokens=5),
    document(["a", "</s>"], added_tokens=[{"id": "1", "content": "x"}]),
    document(["a", "</s>"], added_tokens=[added(1 << 40, "x", special=True)]),
    document(["a", "</s>"], added_tokens=[added(-1, "x", special=True)]),
    document(["a", "</s>"], added_tokens=[added(1, "x", special=True), added(1, "y", special=True)]),
    document(["a", "</s>"], added_tokens=[]), document(["a", "</s>"], decoder=5), document(["a", "</s>"], decoder=[]),
    document(["a", "</s>"], decoder={"type": "Sequence", "decoders": [5]}), document(["\ud800", "</s>"]),
], ids=lambda bad: type(bad).__name__)
def test_bad_sources(bad: Any) -> None:
    with pytest.raises(TokenizerError) as caught:
        read(bad)
    assert 0 < len(str(caught.value)) <= 2000


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"tokenizer\.json"):
        read(tmp_path)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        container = pending.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        found.extend((container, key) for key in keys)
        pending.extend(container[key] for key in keys if isinstance(container[key], (dict, list)))
    return found


JUNK = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
                 st.just("\ud800"), st.builds(list), st.builds(dict), st.builds(lambda: [None]),
                 st.builds(lambda: {"type": "Sequence"}))


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_any_change_to_a_document_is_read_or_refused(data: st.DataObject) -> None:
    """Whatever stands where: a vocabulary or a ``TokenizerError``, no other exception."""
    step = {"type": "ByteLevel", "add_prefix_space": True}
    mark = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    made = copy.deepcopy(data.draw(st.sampled_from([
        document(["a", "\u2581b", "</s>"], decoder={"type": "Sequence", "decoders": [mark, {"type": "ByteFallback"}]},
                 normalizer={"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "_"}]}),
        document(["a", "b", "</s>"], decoder=step, pre_tokenizer={"type": "Sequence", "pretokenizers": [step]}),
        document(["a", "b", "</s>"], model={"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["b", -1.0]]}),
    ])))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(nodes(made)))
        container[key] = data.draw(JUNK)
    try:
        read(made)
    except TokenizerError:
        pass


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_configuration_beside_is_read_or_ignored(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(["a", "b", "</s>"])))
    names = ["eos_token", "eos_token_id", "pad_token", "additional_special_tokens", "extra_special_tokens"]
    values = st.one_of(JUNK, st.lists(JUNK), st.dictionaries(st.sampled_from(["content", "x"]), JUNK))
    for name in ("tokenizer_config.json", "generation_config.json", "config.json"):
        (tmp_path / name).write_text(json.dumps(data.draw(st.dictionaries(st.sampled_from(names), values) | JUNK)))
    assert 2 in read(tmp_path).stop_token_ids


# -- tokenising --------------------------------------------------------------------------------------------


def test_the_encoder_is_independent_of_the_object() -> None:
    """Truncation, padding and new tokens set on the caller's object later do not reach the vocabulary."""
    tokenizers = pytest.importorskip("tokenizers")
    backend = tokenizers.Tokenizer.from_str(json.dumps(document(["a", "b", "</s>"])))
    backend.enable_padding(length=8)
    backend.enable_truncation(1)
    info = read(backend)
    assert info.encode("abba") == [0, 1, 1, 0]
    backend.add_tokens(["abba"])
    assert info.encode("abba") == [0, 1, 1, 0]


def test_pickled_encoders(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = document(["a", "b", "</s>"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(made))
    for source in (made, json.dumps(made), path, tokenizers.Tokenizer.from_file(str(path))):
        info = read(source)
        for _ in range(2):  # before and after the tokenizer is built
            back = pickle.loads(pickle.dumps(info))
            assert back == info
            assert back.encode("ab") == [0, 1]
            assert info.encode("ab") == [0, 1]
    gone = read(path)
    path.unlink()
    assert gone.encode("ab") is None


def test_encoding_from_many_threads() -> None:
    info = read(document([*"abcdefgh", "</s>"]))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(info.encode, ["abc", "hgf", "a" * 500] * 30))
    assert answers == [[0, 1, 2], [7, 6, 5], [0] * 500] * 30


def test_prefix_blanks_of_every_kind_are_left_out() -> None:
    for parts in (
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False},
         "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False}},
        {"normalizer": {"type": "Prepend", "prepend": "\u2581"},
         "decoder": {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}},
    ):
        info = read(document(["\u2581", "a", "b", "</s>"], **parts))
        assert info.add_prefix_space
        assert info.encode("ab") == [1, 2]
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    info = read(document(["Ġ", "a", "b", "</s>"], decoder=byte_level,
                         pre_tokenizer={"type": "Sequence", "pretokenizers": [byte_level]}))
    assert info.add_prefix_space
    assert info.encode("ab a") == [1, 2, 0, 1]
