# ruff: noqa: E402 - imports follow pytest.importorskip
"""Slots and pages: who owns what, what a prefix lookup finds, and that memory is neither lost nor shared by mistake."""

from __future__ import annotations

import random
from functools import partial

import pytest

torch = pytest.importorskip("torch")

from constrained.decoder.errors import CacheError, ModelError
from constrained.decoder.kv_cache import KVCache
from constrained.decoder.models.config import CoreConfig
from constrained.decoder.paged_cache import BlockPool, PagedCache

CONFIG = CoreConfig(family="test", vocab_size=10, hidden_size=8, n_layers=2, n_heads=4, n_kv_heads=2, head_dim=2,
                    max_position=64)


@pytest.fixture(params=[KVCache, partial(PagedCache, block_size=4)], ids=["slots", "pages"])
def cache(request):
    return request.param(CONFIG, 4, 20)


def write(cache, slot, tokens, start=None):
    """What a forward pass does to the cache: key = value = token + layer / 10 everywhere, and remembers nothing."""
    start = cache.length(slot) if start is None else start
    cache.check_rows([slot], [start], [len(tokens)])
    plan = cache.plan([slot], [start], [len(tokens)])
    for layer in range(CONFIG.n_layers):
        rows = torch.tensor(tokens, dtype=torch.float32)[:, None, None].expand(-1, 2, 2) + layer / 10
        plan.write(layer, rows, rows)
    cache.commit([slot], [start + len(tokens)])


def read(cache, slot):
    """The tokens a slot's keys were written from."""
    length = cache.length(slot)
    if isinstance(cache, PagedCache):
        size = cache.block_size
        found = [cache.keys[:, cache.block_table(slot)[p // size], p % size, 0, 0] for p in range(length)]
    else:
        found = [cache.keys[:, slot, 0, p, 0] for p in range(length)]
    assert all(abs(one[1] - one[0] - 0.1) < 1e-5 for one in found)
    return [int(one[0]) for one in found]


def test_slots_run_out_and_come_back(cache):
    slots = [cache.allocate() for _ in range(4)]
    assert sorted(slots) == [0, 1, 2, 3]
    with pytest.raises(CacheError, match="all 4 slots"):
        cache.allocate()
    cache.free(slots[2])
    assert cache.n_free == 1
    assert cache.allocate() == slots[2]


@pytest.mark.parametrize("slot", [0, 3, -1, 4, "0", None, 1.0])
def test_slots_that_are_not_live(cache, slot):
    cache.free(cache.allocate())
    for call in (cache.free, cache.length, partial(cache.truncate, length=0), partial(cache.remember, tokens=[]),
                 cache.fork, partial(cache.copy_prefix, dst=0, length=0)):
        with pytest.raises(ModelError, match="not allocated"):
            call(slot)


def test_truncation(cache):
    slot = cache.allocate()
    write(cache, slot, [1, 2, 3, 4, 5, 6])
    cache.truncate(slot, 5)
    assert read(cache, slot) == [1, 2, 3, 4, 5]
    for length in (6, -1):
        with pytest.raises(ModelError, match="truncate"):
            cache.truncate(slot, length)
    cache.truncate(slot, 5)
    write(cache, slot, [7, 8, 9])
    assert read(cache, slot) == [1, 2, 3, 4, 5, 7, 8, 9]


def test_a_full_slot(cache):
    slot = cache.allocate()
    write(cache, slot, list(range(20)))
    with pytest.raises(CacheError, match="do not fit a slot of 20"):
        write(cache, slot, [1])
    assert read(cache, slot) == list(range(20))


def test_forks_are_independent(cache):
    first = cache.allocate()
    write(cache, first, [1, 2, 3, 4, 5, 6])
    second, third = cache.fork(first), cache.fork(first, 3)
    write(cache, first, [7, 8])
    write(cache, second, [9])
    write(cache, third, [1, 1])
    assert read(cache, first) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert read(cache, second) == [1, 2, 3, 4, 5, 6, 9]
    assert read(cache, third) == [1, 2, 3, 1, 1]
    cache.copy_prefix(second, first, 5)
    write(cache, first, [4])
    assert read(cache, first) == [1, 2, 3, 4, 5, 4]
    assert read(cache, second) == [1, 2, 3, 4, 5, 6, 9]
    with pytest.raises(ModelError, match="cannot copy 8"):
        cache.copy_prefix(second, first, 8)
    with pytest.raises(ModelError, match="cannot fork 8"):
        cache.fork(second, 8)
    cache.copy_prefix(first, first, 2)
    assert read(cache, first) == [1, 2]


def test_prefix_reuse(cache):
    assert cache.longest_prefix([1, 2]) == (-1, 0)
    first = cache.allocate()
    write(cache, first, [1, 2, 3, 4, 5, 6])
    assert cache.longest_prefix([1, 2]) == (-1, 0)
    cache.remember(first, [1, 2, 3, 4, 5, 6])
    assert cache.longest_prefix([1, 2, 3, 9]) == (first, 3)
    assert cache.longest_prefix([2]) == (-1, 0)
    assert cache.longest_prefix([]) == (-1, 0)
    copied, shared = cache.allocate_with_prefix([1, 2, 3, 9, 9])
    assert (copied != first, shared) == (True, 3)
    assert read(cache, copied) == [1, 2, 3]
    # all but the last token of the prompt: its logits are still wanted
    whole, shared = cache.allocate_with_prefix([1, 2, 3, 4, 5, 6])
    assert shared == 5
    cache.free(whole)
    cache.free(copied)
    cache.free(first)
    reused, shared = cache.allocate_with_prefix([1, 2, 3, 4, 5, 6, 7])
    assert (reused, shared) == (first, 6)
    assert read(cache, reused) == [1, 2, 3, 4, 5, 6]
    assert cache.allocate_with_prefix([8, 8])[1] == 0


def test_a_short_common_beginning_does_not_cost_a_long_one(cache):
    slots = [cache.allocate() for _ in range(4)]
    write(cache, slots[0], [1, 2, 3, 4, 5, 6])
    cache.remember(slots[0], [1, 2, 3, 4, 5, 6])
    cache.free(slots[0])
    # alone free: reused in place, though most of it is lost
    assert cache.allocate_with_prefix([1, 9]) == (slots[0], 1)
    write(cache, slots[0], [1, 2, 3, 4, 5, 6])
    cache.remember(slots[0], [1, 2, 3, 4, 5, 6])
    cache.free(slots[0])
    cache.free(slots[1])
    assert cache.allocate_with_prefix([1, 9]) == (slots[1], 1)
    assert read(cache, slots[1]) == [1]
    assert cache.longest_prefix([1, 2, 3, 4, 5, 6, 7]) == (slots[0], 6)
    cache.free(slots[1])
    # half of it goes on being used: in place
    assert cache.allocate_with_prefix([1, 2, 3, 8]) == (slots[0], 3)


def test_what_is_overwritten_is_forgotten(cache):
    slot = cache.allocate()
    write(cache, slot, [1, 2, 3, 4])
    cache.remember(slot, [1, 2, 3, 4])
    with pytest.raises(ModelError, match="5 tokens remembered"):
        cache.remember(slot, [1, 2, 3, 4, 5])
    write(cache, slot, [7, 8, 9], start=2)
    assert cache.longest_prefix([1, 2, 3, 4]) == (slot, 2)
    cache.truncate(slot, 1)
    assert cache.longest_prefix([1, 2, 3, 4]) == (slot, 1)
    cache.free(slot)
    slots = [cache.allocate() for _ in range(4)]
    assert cache.longest_prefix([1, 2]) == (-1, 0)
    assert all(cache.length(slot) == 0 for slot in slots)


def test_remembered_slots_are_handed_out_last(cache):
    kept, plain = cache.allocate(), cache.allocate()
    for slot in (kept, plain):
        write(cache, slot, [1, 2])
    cache.remember(kept, [1, 2])
    cache.free(kept)
    cache.free(plain)
    assert [cache.allocate() for _ in range(4)][-1] == kept


def test_a_reused_slot_holds_finite_numbers():
    """A row that overflowed leaves nothing that a masked position of the next owner could turn into NaN."""
    cache = KVCache(CONFIG, 2, 8)
    slot = cache.allocate()
    write(cache, slot, [1, 2, 3])
    cache.keys[:, slot, :, :3] = float("nan")
    cache.free(slot)
    assert cache.allocate() == slot
    assert torch.isfinite(cache.keys).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("pages", [False, True])
def test_random_use(seed, pages):
    """Slots of any history hold what was written to them; blocks are counted exactly; nothing leaks."""
    draw = random.Random(seed)
    cache = PagedCache(CONFIG, 6, 24, block_size=3, n_blocks=24) if pages else KVCache(CONFIG, 6, 24)
    live: dict[int, list[int]] = {}
    refused = 0
    for _ in range(400):
        action = draw.choice(["new", "write", "write", "write", "rewrite", "truncate", "fork", "free", "keep", "copy"])
        try:
            if action == "new":
                prompt = [draw.randrange(3) for _ in range(draw.randrange(1, 9))]
                slot, shared = cache.allocate_with_prefix(prompt)
                live[slot] = prompt[:shared]
            elif not live:
                continue
            elif action == "copy":
                source, target = draw.choice(list(live)), draw.choice(list(live))
                length = draw.randrange(len(live[source]) + 1)
                cache.copy_prefix(source, target, length)
                live[target] = live[source][:length]
            else:
                slot = draw.choice(list(live))
                if action in ("write", "rewrite"):
                    start = len(live[slot]) if action == "write" else draw.randrange(len(live[slot]) + 1)
                    new = [draw.randrange(3) for _ in range(draw.randrange(1, 7))]
                    write(cache, slot, new, start)
                    live[slot] = live[slot][:start] + new
                elif action == "truncate":
                    length = draw.randrange(len(live[slot]) + 1)
                    cache.truncate(slot, length)
                    live[slot] = live[slot][:length]
                elif action == "fork":
                    live[cache.fork(slot)] = list(live[slot])
                else:
                    if action == "keep":
                        cache.remember(slot, live[slot])
                    cache.free(slot)
                    del live[slot]
        except CacheError:
            refused += 1
        for slot, tokens in live.items():
            assert read(cache, slot) == tokens
        if pages:
            check_blocks(cache)
    for slot in live:
        cache.free(slot)
    assert refused


def check_blocks(cache):
    listed = [block for table in cache._tables for block in table]
    assert [listed.count(block) for block in range(cache.pool.n_blocks)] == cache.pool.reference_counts
    assert cache.pool.n_free == cache.pool.reference_counts.count(0)


def test_pages_share_full_blocks_and_copy_the_last():
    cache = PagedCache(CONFIG, 4, 20, block_size=4)
    first = cache.allocate()
    write(cache, first, [1, 2, 3, 4, 5, 6])
    free = cache.pool.n_free
    second = cache.fork(first)
    assert cache.pool.n_free == free
    write(cache, second, [7])
    assert cache.pool.n_free == free - 1
    assert cache.block_table(second)[0] == cache.block_table(first)[0]
    assert cache.block_table(second)[1] != cache.block_table(first)[1]
    cache.free(second)
    assert cache.pool.n_free == free


def test_pages_are_refused_before_anything_changes():
    cache = PagedCache(CONFIG, 3, 20, block_size=4, n_blocks=4)
    first, second = cache.allocate(), cache.allocate()
    write(cache, first, [1, 2, 3, 4, 5])
    with pytest.raises(CacheError, match="3 more blocks of 4 tokens are needed, 2 can be freed"):
        write(cache, second, list(range(9)))
    assert cache.pool.n_free == 2
    cache.remember(first, [1, 2, 3, 4, 5])
    cache.free(first)
    write(cache, second, list(range(9)))  # the remembered slot gives way
    assert cache.longest_prefix([1, 2]) == (-1, 0)
    assert read(cache, second) == list(range(9))


def test_block_pool():
    pool = BlockPool(2)
    one, two = pool.allocate(), pool.allocate()
    with pytest.raises(CacheError):
        pool.allocate()
    pool.share(one)
    pool.release(one)
    assert pool.n_free == 0
    pool.release(one)
    pool.release(two)
    assert pool.n_free == 2


@pytest.mark.parametrize("make", [lambda: KVCache(CONFIG, 0, 4), lambda: KVCache(CONFIG, 1, 0),
                                  lambda: PagedCache(CONFIG, 1, 4, block_size=0),
                                  lambda: PagedCache(CONFIG, 1, 4, n_blocks=-1)])
def test_impossible_sizes(make):
    with pytest.raises(ModelError):
        make()
