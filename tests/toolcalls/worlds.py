"""Small vocabularies for tool-call tests: every byte, some longer pieces, and the delimiters of a family as tokens."""

from __future__ import annotations

import random
import re
from functools import lru_cache

import constrained as cd
from constrained.toolcalls import Event, ToolFormat
from constrained.toolcalls.events import ArgumentsDelta, ReasoningDelta, TextDelta

__all__ = ["joined", "vocabulary", "walk", "written"]

PIECES = (
    b'{"', b'": "', b'", "', b'"}', b"name", b"arguments", b"parameters", b"city", b"Paris", b"</", b"\n", b"\n\n",
    b"<tool", b"_call>", b"get_weather", b"function", b"[{", b"}]", b"true", b"12", b"\xc3", b"\xa9", b"json", b"='",
    b'\\"', b">\n", b"\n<", b"think>", b"<think", b"</think", b"\xc3\xa9", b"[TOOL", b"_CALLS]", b"escape>")
_DELIMITER = re.compile(r"<[|｜/a-zA-Z_▁]+>|\[[/A-Z_]+\]|<\|[A-Z_]+\|>")


@lru_cache
def vocabulary(special: tuple[str, ...], added: tuple[str, ...] = ()) -> cd.TokenizerInfo:
    """256 bytes, pieces, control tokens, added tokens, one stop token."""
    tokens: list[bytes | None] = [bytes([i]) for i in range(256)]
    tokens += PIECES
    texts: dict[int, str] = {}
    controls = []
    for text in (*special, "<stop>"):
        controls.append(len(tokens))
        texts[len(tokens)] = text
        tokens.append(None)
    ordinary = []
    for text in added:
        ordinary.append(len(tokens))
        tokens.append(text.encode())
    return cd.TokenizerInfo(tokens, stop_token_ids=controls[-1], special_token_ids=controls, added_token_ids=ordinary,
                            token_texts=texts)


def delimiters(fmt: ToolFormat) -> tuple[str, ...]:
    """The delimiters of a format that look like tokens."""
    found = set(fmt.tokens) | set(fmt.think or ())
    found |= set(_DELIMITER.findall(repr(fmt.calls)))
    if fmt.name == "harmony":
        found |= {"<|channel|>", "<|message|>", "<|end|>", "<|start|>", "<|call|>", "<|return|>", "<|constrain|>"}
        found.discard("<|channel|>analysis<|message|>")
    return tuple(sorted(found))


def written(info: cd.TokenizerInfo, ids: list[int]) -> bytes:
    """The bytes of tokens, control tokens as they are written."""
    names = {i: text for text, found in info.token_ids_by_text.items() for i in found}
    return b"".join(info.token_bytes(i) or names.get(i, "").encode() for i in ids)


def walk(compiled: cd.CompiledGrammar, rng: random.Random, steps: int) -> list[int]:
    """A random text of the grammar, by its masks; brought to an end after some steps."""
    matcher = cd.GrammarMatcher(compiled)
    info = compiled.tokenizer_info
    ids: list[int] = []
    named = sorted(info.special_token_ids | info.added_token_ids)
    while not matcher.is_terminated():
        allowed = matcher.allowed_token_ids()
        assert allowed
        if len(ids) >= steps:
            if matcher.is_completed():
                break
            # the way to an end: by bytes where there is one, else by the tokens that are named
            before = matcher.distance_to_end()
            for one in [i for i in named if i in allowed] + allowed:
                place = matcher.fork()
                if place.accept_token(one) and (place.is_completed() or place.distance_to_end() < before):
                    break
            else:
                one = rng.choice(allowed)
        else:
            special = [i for i in named if i in allowed]
            one = rng.choice(special) if special and rng.random() < 0.3 else rng.choice(allowed)
        assert matcher.accept_token(one)
        ids.append(one)
        assert len(ids) < 40 * steps + 4000
    return [i for i in ids if i not in info.stop_token_ids]


def joined(events: list[Event]) -> list[tuple[object, ...]]:
    """Events with neighbouring deltas of a kind as one."""
    found: list[tuple[object, ...]] = []
    for event in events:
        if isinstance(event, (TextDelta, ReasoningDelta, ArgumentsDelta)):
            key = (type(event).__name__, getattr(event, "index", -1))
            if found and found[-1][:2] == key:
                found[-1] = (*key, str(found[-1][2]) + event.text)
            else:
                found.append((*key, event.text))
        else:
            found.append((type(event).__name__, event))
    return found
