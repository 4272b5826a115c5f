"""Tables that grow while a text is read: what was found before is found again, also in the middle of a move."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest

import constrained as cd
from constrained.kernel import is_compiled
from constrained.kernel.memo import Memo
from constrained.vocabulary import TokenizerInfo

INFO = TokenizerInfo.from_bytes([bytes([value]) for value in range(256)] + [b""], special_token_ids=[256],
                                stop_token_ids=[256])


@pytest.mark.skipif(is_compiled(), reason="compiled, only other kernels can ask a memo")
def test_a_memo_knows_what_was_put_while_it_moves() -> None:
    memo: Any = Memo()
    memo.clear()
    rng = random.Random(0)
    known: dict[tuple[int, int, int], int] = {}
    for value in range(20_000):
        key = rng.randrange(1, 40), rng.randrange(1 << 20), rng.randrange(1 << 20)
        if key in known:
            continue
        assert memo.get(*key) == -2
        memo.put(*key, value)
        known[key] = value
        assert memo.get(*key) == value
        if value % 500 == 0:
            assert all(memo.get(*one) == found for one, found in known.items())
    assert all(memo.get(*one) == found for one, found in known.items())
    memo.clear()
    assert all(memo.get(*one) == -2 for one in list(known)[:100])


def test_counts_are_the_same_ones_while_their_table_moves() -> None:
    """Each item of an array has bases of its own beside one node, and two registers where arrays lie in another."""
    grammar = cd.GrammarCompiler(INFO, cache_limit_bytes=0).compile_grammar(
        'root ::= "[" ("a" | row){30,90000} "]"\nrow ::= "<" "b"{40,70000} ">"\n')
    automaton: Any = grammar.automaton
    rng = random.Random(0)
    handle = automaton.advance(automaton.start(), b"[" + b"a" * 200 + b"<")
    met = [handle]
    for _ in range(5_000):
        handle = automaton.advance(handle, b"b")
        met.append(handle)
        if len(met) % 7 == 0:
            for one in (handle, met[rng.randrange(len(met))]):
                packed = automaton.packed(one)
                assert packed is not None
                assert automaton.unpacked(packed) == one
    assert len(set(met)) == len(met)
    again = met[0]
    for one in met[1:]:
        again = automaton.advance(again, b"b")
        assert again == one
    assert len({one & 0xFFFFFF for one in met}) < 200


def test_states_are_the_same_ones_while_their_table_moves() -> None:
    rng = random.Random(0)
    text = "".join(rng.choices("abcdefgh", k=9_000))
    automaton: Any = cd.GrammarCompiler(INFO, cache_limit_bytes=0).compile_regex(text).automaton
    handle = automaton.start()
    met = [handle]
    for letter in text:
        handle = automaton.advance(handle, letter.encode())
        met.append(handle)
        if len(met) % 7 == 0:
            old = met[rng.randrange(len(met))]
            for one in (handle, old):  # put together anew, and found among those that moved or did not yet
                packed = automaton.packed(one)
                assert packed is not None
                assert automaton.unpacked(packed) == one
    assert automaton.complete(handle)
    assert len(set(met)) == len(text) + 1
    assert automaton.counts()[1] > 9_000


FEW_ADDRESSES = """
import json, resource
import constrained as cd
info = cd.TokenizerInfo.from_bytes([bytes([b]) for b in range(256)] + [b"</s>"], stop_token_ids=256)
names = [f"key{n}" for n in range(5000)]
schema = json.dumps({"type": "object", "properties": {name: {"type": "string"} for name in names}})
matcher = cd.GrammarMatcher(cd.GrammarCompiler(info).compile_json_schema(schema, property_order="any"))
bitmask = cd.allocate_token_bitmask(1, 257)
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + (450 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for token in json.dumps({name: "v" for name in reversed(names)}).encode():
    matcher.fill_next_token_bitmask(bitmask)
    assert matcher.accept_token(token)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux") or not is_compiled(), reason="addresses as Linux counts them")
def test_where_addresses_are_few_none_are_taken_ahead() -> None:
    done = subprocess.run([sys.executable, "-c", FEW_ADDRESSES], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
