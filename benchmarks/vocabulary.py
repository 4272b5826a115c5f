"""How long it takes to read a vocabulary: from the loaded object, from its file, from the disk cache.

    CONSTRAINED_SHARED=... python benchmarks/vocabulary.py [--repeat 7] [name ...]

Times are process CPU seconds, the median of the repeats, in one process; "load" is what the ``tokenizers`` package
itself needs to read the file, for comparison. CONSTRAINED_SMOLLM2 adds the GGUF file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from constrained.vocabulary import TokenizerInfo


def seconds(action: Callable[[], Any], repeat: int) -> float:
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    shared = Path(os.environ.get("CONSTRAINED_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    folder = shared / "data" / "tokenizers"
    print(f"{'tokenizer':<14}{'ids':>8}{'object':>9}{'file':>8}{'cache':>8}{'load':>8}{'bytes':>12}")
    for name in options.names or sorted(path.name for path in folder.iterdir()):
        path = folder / name / "tokenizer.json"
        backend = Tokenizer.from_file(str(path))
        info = TokenizerInfo.from_huggingface(backend)
        with tempfile.TemporaryDirectory() as cache:
            TokenizerInfo.from_huggingface(path, cache_dir=cache)
            row = [
                seconds(lambda b=backend: TokenizerInfo.from_huggingface(b), options.repeat),
                seconds(lambda p=path: TokenizerInfo.from_huggingface(p), options.repeat),
                seconds(lambda p=path, c=cache: TokenizerInfo.from_huggingface(p, cache_dir=c), options.repeat),
                seconds(lambda p=path: Tokenizer.from_file(str(p)), min(options.repeat, 3)),
            ]
        size = len(info.token_data) + info.token_offsets.nbytes
        print(f"{name:<14}{info.vocab_size:>8}{row[0]:>9.3f}{row[1]:>8.3f}{row[2]:>8.3f}{row[3]:>8.3f}{size:>12,}")
    if model := os.environ.get("CONSTRAINED_SMOLLM2"):
        place = Path(model)
        path = place if place.is_file() else next(place.glob("**/*.gguf"))
        size = TokenizerInfo.from_gguf(path).vocab_size
        taken = seconds(lambda: TokenizerInfo.from_gguf(path), options.repeat)
        print(f"{'smollm2 (gguf)':<14}{size:>8}{'':>9}{taken:>8.3f}")


if __name__ == "__main__":
    main()
