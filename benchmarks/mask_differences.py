"""Masks of this engine against llguidance's and XGrammar's at every token: where they differ, and who is right.

    python benchmarks/mask_differences.py [--texts 300]

Prints the tables of ``docs/mask_differences.md``. A difference is a token that one engine allows at a place and the
other does not. Differences are counted by kind of token; of each kind some are put to the independent recogniser of
``tests/oracles.py`` (Earley over bytes), which says whether the text so far and the token begin a text of the grammar.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from engine import contestants, shared_dir
from measure import Contestant
from peers import Ours, Refused, Vocabulary, load_vocabulary
from workloads import BOUNDED, Workload, bounded, json_texts, json_workload, sql_texts, sql_workload

from tests.oracles import Recogniser

KINDS = ("end of the text", "control token", "no text", "bytes outside UTF-8", "part of a character",
         "white space only", "has white space", "other text")
ASK = 60
"""Differences of one kind that are put to the recogniser."""


@dataclass
class Kind:
    """Differences of one kind, in one direction."""

    places: int = 0
    tokens: int = 0
    asked: list[tuple[bytes, int]] = field(default_factory=list)


def token_kinds(vocabulary: Vocabulary) -> np.ndarray:
    """The index into ``KINDS`` for every id."""
    info = vocabulary.info
    found = np.zeros(info.vocab_size, np.int8)
    for token in range(info.vocab_size):
        data = info.token_bytes(token)
        if token in info.stop_token_ids:
            kind = 0
        elif token in info.special_token_ids:
            kind = 1
        elif not data:
            kind = 2
        else:
            try:
                data.decode()
                kind = 5 if not data.strip(b" \t\r\n") else 6 if data.strip(b" \t\r\n") != data or b" " in data else 7
            except UnicodeDecodeError:
                kind = 4 if _completable(data) else 3
        found[token] = kind
    return found


def _completable(data: bytes) -> bool:
    """Whether ``data`` is a run of UTF-8 cut at both ends: some bytes before and after make it whole."""
    leads = (b"", b"\xc3", b"\xe4\xb8", b"\xe4", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xf0", b"\xe1", b"\xed", b"\xe0",
             b"\xf4")
    for lead in leads:
        for tail in (b"", b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\xa0\x80", b"\x90\x80\x80"):
            try:
                (lead + data + tail).decode()
                return True
            except UnicodeDecodeError:
                continue
    return False


def compare(vocabulary: Vocabulary, ours: Contestant, peer: Contestant, texts: Sequence[list[int]],
            kinds: np.ndarray) -> tuple[dict[tuple[bool, int], Kind], int, int, int]:
    """Differences by (only ours, kind); places compared, places that differ, texts the peer refused."""
    found: dict[tuple[bool, int], Kind] = {}
    places = differ = refused = 0
    mine = ours.engine.compile(ours.source)
    theirs = peer.engine.compile(peer.source)
    for ids in texts:
        fill, accept = ours.engine.begin(mine)
        fill_peer, accept_peer = peer.engine.begin(theirs)
        prefix = b""
        for token in ids:
            fill()
            fill_peer()
            a, b = ours.engine.buffer[0].view(np.uint32), peer.engine.buffer[0].view(np.uint32)
            places += 1
            if not np.array_equal(a, b):
                differ += 1
                for only_ours, bits in ((True, a & ~b), (False, b & ~a)):
                    which = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
                    which = which[which < len(kinds)]
                    for kind in np.unique(kinds[which]):
                        those = which[kinds[which] == kind]
                        entry = found.setdefault((only_ours, int(kind)), Kind())
                        entry.places += 1
                        entry.tokens += len(those)
                        if len(entry.asked) < ASK and len(prefix) < 300:
                            entry.asked.append((prefix, int(those[(places * 7919) % len(those)])))
            assert accept(token)
            if not accept_peer(token):
                refused += 1
                theirs = peer.engine.compile(peer.source)
                break
            prefix += vocabulary.info.token_bytes(token)
    return found, places, differ, refused


def report(vocabulary: Vocabulary, title: str, work: Workload, texts: Sequence[list[int]], kinds: np.ndarray,
           skip: tuple[str, ...] = ()) -> None:
    """Print the differences of one workload."""
    ours, *peers = contestants(vocabulary, work, by_state=False)
    assert isinstance(ours.engine, Ours)
    oracle = Recogniser(work.ours().rules)
    stops = vocabulary.info.stop_token_ids
    print(f"## {title}\n")
    for peer in peers:
        if peer.label in skip:
            print(f"{peer.label}: not compared, a mask takes too long (see the benchmarks).\n")
            continue
        try:
            found, places, differ, refused = compare(vocabulary, ours, peer, texts, kinds)
        except Refused as error:
            print(f"{peer.label}: refuses the grammar ({' '.join(str(error).split())[:120]}).\n")
            continue
        print(f"{peer.label}: {differ} of {places} places differ; {refused} of {len(texts)} texts refused.\n")
        if found:
            print("| allowed only by | kind | places | tokens | the grammar allows, of those asked "
                  "| example: text so far, token |\n| --- | --- | --- | --- | --- | --- |")
        for (only_ours, kind), entry in sorted(found.items(), key=lambda item: (not item[0][0], item[0][1])):
            right = []
            for prefix, token in entry.asked:
                data = vocabulary.info.token_bytes(token)
                if token in stops:
                    right.append(oracle.accepts(prefix))
                else:
                    right.append(bool(data) and oracle.is_viable_prefix(prefix + data))
            shown = ""
            if entry.asked:
                prefix, token = entry.asked[0]
                shown = f"`{_show(prefix[-24:])}`, `{_show(vocabulary.info.token_bytes(token))}` ({token})"
            name = "constrained" if only_ours else peer.engine.name
            print(f"| {name} | {KINDS[kind]} | {entry.places} | {entry.tokens} "
                  f"| {sum(right)} of {len(right)} | {shown} |")
        print(flush=True)


def _show(data: bytes) -> str:
    return repr(data)[2:-1].replace("|", "\\|").replace("`", "\\x60")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=300, help="texts of each workload")
    most = parser.parse_args().texts
    shared = shared_dir()
    vocabulary = load_vocabulary(shared / "data/tokenizers/llama3_1/tokenizer.json", 128_256)
    kinds = token_kinds(vocabulary)
    encode = vocabulary.encode
    report(vocabulary, "JSON", json_workload(), [encode(t) for t in json_texts(shared, most)], kinds,
           ("XGrammar, same EBNF",))
    report(vocabulary, "SQL", sql_workload(), [encode(t) for t in sql_texts(min(most, 100))], kinds,
           ("XGrammar, same EBNF", "XGrammar, Lark"))
    for name in BOUNDED:
        work, texts = bounded(name, shared)
        report(vocabulary, name, work, [encode(t)[:200] for t in texts[:most]], kinds)


if __name__ == "__main__":
    main()
