"""A slow, clear recogniser for the whole grammar IR, and brute-force masks: what the engine is measured against.

Earley's algorithm (J. Earley, 1970) on recursive transition networks. Every IR node is a small automaton of its
own (``_Machine``): in a state it may read a byte, read a token, or call another node and go on when that returns.
A counted repetition is a machine whose states are the counts, so ``x{1000000}`` costs nothing until it is read.

An item is (machine, state, origin set); a set closes its items under prediction and completion. A call that
returns without having read anything is noted in the set (``empty``), so nullable calls, left recursion and
hidden left recursion need no special case and nothing recurses. Machines that can never return are never called,
so every item of a set can still be completed: a set that is not empty is a viable prefix, exactly.

``NotFollowedBy`` reads nothing and adds a *watch* (its automaton's state) to the item, which every byte read afterwards
moves on, through the ends of machines: an item whose watch accepts is dropped. An item then is (machine, state, origin
set, watches it was called with, watches now), and a call is shared only by callers with equal watches. With watches a
set that is not empty need not be a viable prefix (the text that must follow may be the forbidden one).

Nothing here shares code with the library but the IR itself. Cost: cubic in the text at worst.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Sequence as Items
from typing import Any

from constrained.grammar.ir import (
    AnyTextUntil,
    ByteDfa,
    Capture,
    CharClass,
    Choice,
    Expr,
    Literal,
    NotFollowedBy,
    Reference,
    Repeat,
    RuleSet,
    Sequence,
    TokenReference,
    Unordered,
    children,
)
from constrained.grammar.unfolded import unfolded

State = Any  # a hashable value of the machine's own
Key = int | str  # id() of a node, or the name of a rule


def accepts(rule_set: RuleSet, data: bytes) -> bool:
    """Whether ``data`` as a whole is a text of the grammar (token references match no bytes)."""
    return Recogniser(rule_set).accepts(data)


def is_viable_prefix(rule_set: RuleSet, data: bytes) -> bool:
    """Whether some text of the grammar begins with ``data`` (a token reference counts as possible)."""
    return Recogniser(rule_set).is_viable_prefix(data)


def brute_force_mask(
    rule_set: RuleSet,
    prefix: bytes | Items[int],
    tokens: Items[bytes],
    specials: Mapping[str, int | Iterable[int]] | None = None,
    *,
    stops: Collection[int] = (),
    alphabet: Collection[int] | None = None,
) -> set[int]:
    """Every id that may follow ``prefix`` (bytes, or token ids): each token is tried, byte by byte.

    ``tokens[i]`` are the bytes of token i, empty for ids that are never text. ``specials`` names tokens for
    token references by text; ``stops`` are allowed where the text may end. ``alphabet`` leaves out every
    continuation that needs another byte. An id of ``prefix`` that does not fit makes the mask empty.
    """
    recogniser = Recogniser(rule_set, tokens=tokens, specials=specials, alphabet=alphabet)
    here = recogniser.start()
    for step in prefix:
        here = recogniser.read_byte(here, step) if isinstance(prefix, bytes) else recogniser.read_token(here, step)
    mask = {i for i in range(len(tokens)) if recogniser.read_token(here, i).items}
    return mask | set(stops) if recogniser.is_complete(here) else mask


class Recogniser:
    """The grammar as machines. Sets are values: reading makes a new one and leaves the old one as it was."""

    def __init__(
        self,
        rule_set: RuleSet,
        *,
        tokens: Items[bytes] = (),
        specials: Mapping[str, int | Iterable[int]] | None = None,
        alphabet: Collection[int] | None = None,
    ) -> None:
        self.tokens = tokens
        self.named: dict[str, frozenset[int]] = {}
        for text, ids in (specials or {}).items():
            self.named[text] = frozenset((ids,) if isinstance(ids, int) else ids)
        self.known = {i for i, data in enumerate(tokens) if data}.union(*self.named.values())
        self.alphabet = frozenset(range(256) if alphabet is None else alphabet)
        self.machines: dict[Key, _Machine] = {}
        self.watched: list[NotFollowedBy] = []
        rule_set = unfolded(rule_set)
        self._build(rule_set)
        self.productive = self._fixpoint(lambda machine, done: machine.productive(done))
        self.nullable = self._fixpoint(lambda machine, done: machine.nullable(done))
        for machine in self.machines.values():
            machine.body_is_nullable = any(child in self.nullable for child in machine.callees())
            machine.can_write = self.productive
        self.root: Key = rule_set.root

    def _build(self, rule_set: RuleSet) -> None:
        stack: list[Expr] = list(rule_set.rules.values())
        for name, body in rule_set.rules.items():
            self.machines[name] = _Chain((id(body),))
        while stack:
            node = stack.pop()
            if id(node) not in self.machines:
                self.machines[id(node)] = self._machine(node)
                stack.extend(children(node))

    def _machine(self, node: Expr) -> _Machine:
        if isinstance(node, Literal):
            return _Bytes([[(b, b) for b in node.data]], self.alphabet)
        if isinstance(node, CharClass):
            return _Bytes([path for pair in node.ranges for path in utf8_paths(*pair)], self.alphabet)
        if isinstance(node, Capture):
            return _Chain((id(node.body),))
        if isinstance(node, Sequence):
            return _Chain(tuple(id(item) for item in node.items))
        if isinstance(node, Choice):
            return _Branch(tuple(id(option) for option in node.options))
        if isinstance(node, Repeat):
            return _Counter(id(node.body), node.minimum, node.maximum)
        if isinstance(node, Unordered):
            return _Group(node)
        if isinstance(node, Reference):
            return _Chain((node.name,))
        if isinstance(node, TokenReference):
            return _Token(self._ids(node), bool(self.tokens))
        if isinstance(node, AnyTextUntil):
            return _Until(node, self.alphabet)
        if isinstance(node, NotFollowedBy):
            self.watched.append(node)
            return _Watch(len(self.watched) - 1)
        assert isinstance(node, ByteDfa)
        return _Dfa(node, self.alphabet)

    def _ids(self, node: TokenReference) -> frozenset[int]:
        ids: set[int] = set()
        for one in node.tokens:
            ids |= {one} if isinstance(one, int) else self.named.get(one, frozenset())
        return frozenset(self.known - ids if node.exclude else ids)

    def _fixpoint(self, test: Callable[[_Machine, set[Key]], bool]) -> set[Key]:
        """The least set of machines for which ``test`` holds; a machine is tried again when a callee joins."""
        callers: dict[Key, list[Key]] = {}
        for key, machine in self.machines.items():
            for child in machine.callees():
                callers.setdefault(child, []).append(key)
        done: set[Key] = set()
        agenda = list(self.machines)
        while agenda:
            key = agenda.pop()
            if key not in done and test(self.machines[key], done):
                done.add(key)
                agenda += callers.get(key, ())
        return done

    # -- reading ------------------------------------------------------------------------------------------------

    def accepts(self, data: bytes) -> bool:
        return self.is_complete(self.read(data))

    def is_viable_prefix(self, data: bytes) -> bool:
        return bool(self.read(data).items)

    def read(self, data: bytes) -> ItemSet:
        here = self.start()
        for byte in data:
            here = self.read_byte(here, byte)
        return here

    def start(self) -> ItemSet:
        here = ItemSet()
        if self.root in self.productive:
            here.is_start = True
            self._close(here, [(self.root, self.machines[self.root].start, here, NO_WATCH, NO_WATCH)])
        return here

    def is_complete(self, here: ItemSet) -> bool:
        return here.complete

    def read_byte(self, here: ItemSet, byte: int) -> ItemSet:
        after = ItemSet()
        self._close(after, self._read(here, byte))
        return after

    def _read(self, here: ItemSet, byte: int) -> list[Item]:
        found = []
        for key, state, origin, called, watches in here.items:
            targets = self.machines[key].read(state, byte)
            moved = self._watch(watches, byte) if targets else None
            if moved is not None:
                found += [(key, target, origin, called, moved) for target in targets]
        return found

    def _watch(self, watches: Watches, byte: int) -> Watches | None:
        """The watches after a byte; None if one of them has seen what may not follow."""
        moved = set()
        for index, state in watches:
            dfa = self.watched[index].dfa
            target = next((t for low, high, t in dfa.transitions[state] if low <= byte <= high), None)
            if target in dfa.accepting:
                return None
            if target is not None:
                moved.add((index, target))
        return frozenset(moved)

    def _may_end(self, watches: Watches) -> bool:
        return not any(state in self.watched[index].at_end for index, state in watches)

    def read_token(self, here: ItemSet, token: int) -> ItemSet:
        """The set after one token: as text, byte by byte, and as itself where the grammar names it."""
        after = ItemSet()
        moved: list[Item] = []
        data = self.tokens[token] if 0 <= token < len(self.tokens) else b""
        before = here
        for i, byte in enumerate(data):
            if i == len(data) - 1:
                moved = self._read(before, byte)
            else:
                before = self.read_byte(before, byte)
        for key, state, origin, called, watches in here.items:
            targets = self.machines[key].read_id(state, token)
            if targets and self._may_end(watches):  # no text follows here: as where the text ends
                moved += [(key, target, origin, called, NO_WATCH) for target in targets]
        self._close(after, moved)
        return after

    def _close(self, here: ItemSet, items: Iterable[Item]) -> None:
        agenda = list(items)
        while agenda:
            item = agenda.pop()
            if item in here.items:
                continue
            here.items[item] = None
            key, state, origin, called, watches = item
            machine = self.machines[key]
            if isinstance(machine, _Watch) and state == 0:
                dfa = self.watched[machine.index].dfa
                if 0 not in dfa.accepting:
                    agenda.append((key, 1, origin, called, watches | {(machine.index, 0)}))
                continue
            for child, target in machine.calls(state):
                if child not in self.productive:
                    continue
                here.waiting.setdefault((child, watches), []).append((key, target, origin, called, watches))
                agenda.append((child, self.machines[child].start, here, watches, watches))
                for ended in here.empty.get((child, watches), ()):
                    agenda += self._returned([(key, target, origin, called, watches)], ended, empty=True)
            if not machine.may_return(state):
                continue
            if key == self.root and origin.is_start and self._may_end(watches):
                here.complete = True
            if origin is here:
                here.empty.setdefault((key, called), set()).add(watches)
            agenda += self._returned(origin.waiting.get((key, called), ()), watches, empty=origin is here)

    def _returned(self, callers: Iterable[Item], watches: Watches, *, empty: bool) -> list[Item]:
        """The callers of a machine in the state after the call, with the watches it ended with. An empty round of a
        counter is dropped: its minimum is 0 then (see ``_Counter``), so it only repeats what is there."""
        return [(key, state, origin, called, watches) for key, state, origin, called, before in callers
                if not (empty and watches == before and isinstance(self.machines[key], _Counter))]


class ItemSet:
    """One set of items. ``waiting[m, watches]``: the items that called m here, in their state after the call;
    ``empty[m, watches]``: the watches with which m has ended here without having read anything."""

    __slots__ = ("complete", "empty", "is_start", "items", "waiting")

    def __init__(self) -> None:
        self.items: dict[Item, None] = {}
        self.waiting: dict[tuple[Key, Watches], list[Item]] = {}
        self.empty: dict[tuple[Key, Watches], set[Watches]] = {}
        self.complete = False
        self.is_start = False


#: What may not follow: (number of a ``NotFollowedBy``, state of its automaton).
Watches = frozenset[tuple[int, int]]
NO_WATCH: Watches = frozenset()
Item = tuple[Key, State, ItemSet, Watches, Watches]


# -- machines ---------------------------------------------------------------------------------------------------


class _Machine:
    """One node: states are any hashable values."""

    start: State = 0
    body_is_nullable = False
    can_write: Collection[Key] = ()  # the productive machines, once they are known

    def may_return(self, state: State) -> bool:
        raise NotImplementedError

    def calls(self, state: State) -> Iterable[tuple[Key, State]]:
        return ()

    def read(self, state: State, byte: int) -> Iterable[State]:
        return ()

    def read_id(self, state: State, token: int) -> Iterable[State]:
        return ()

    def callees(self) -> Iterable[Key]:
        return ()

    def productive(self, done: set[Key]) -> bool:
        raise NotImplementedError

    def nullable(self, done: set[Key]) -> bool:
        return self.may_return(self.start)


class _Chain(_Machine):
    """Calls one machine after the other. The state counts them."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys

    def may_return(self, state: State) -> bool:
        return bool(state == len(self.keys))

    def calls(self, state: State) -> Iterable[tuple[Key, State]]:
        assert isinstance(state, int)
        return [(self.keys[state], state + 1)] if state < len(self.keys) else []

    def callees(self) -> Iterable[Key]:
        return self.keys

    def productive(self, done: set[Key]) -> bool:
        return all(key in done for key in self.keys)

    def nullable(self, done: set[Key]) -> bool:
        return all(key in done for key in self.keys)


class _Branch(_Machine):
    """Calls one of several machines."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        self.keys = keys

    def may_return(self, state: State) -> bool:
        return bool(state == 1)

    def calls(self, state: State) -> Iterable[tuple[Key, State]]:
        return [(key, 1) for key in self.keys] if state == 0 else []

    def callees(self) -> Iterable[Key]:
        return self.keys

    def productive(self, done: set[Key]) -> bool:
        return any(key in done for key in self.keys)

    def nullable(self, done: set[Key]) -> bool:
        return any(key in done for key in self.keys)


class _Counter(_Machine):
    """Calls its body again and again; the state is how often it did, or ``minimum`` for "often enough" where
    there is no maximum. Where the body may be empty, empty rounds can fill up any minimum: it is 0 then."""

    def __init__(self, body: Key, minimum: int, maximum: int | None) -> None:
        self.body, self.minimum, self.maximum = body, minimum, maximum

    def may_return(self, state: State) -> bool:
        assert isinstance(state, int)
        return self.body_is_nullable or state >= self.minimum

    def calls(self, state: State) -> Iterable[tuple[Key, State]]:
        assert isinstance(state, int)
        if self.maximum is None:
            return [(self.body, min(state + 1, self.minimum))]
        return [(self.body, state + 1)] if state < self.maximum else []

    def callees(self) -> Iterable[Key]:
        return (self.body,)

    def productive(self, done: set[Key]) -> bool:
        return self.minimum == 0 or self.body in done

    def nullable(self, done: set[Key]) -> bool:
        return self.minimum == 0 or self.body in done


class _Group(_Machine):
    """Items in any order, or in their own, where what is passed over counts as used.

    The state is (items used, how many were written, whether a separator is open).
    """

    start: State = (frozenset(), 0, False)

    def __init__(self, node: Unordered) -> None:
        self.items, self.free = [id(item) for item in node.items], None if node.free is None else id(node.free)
        self.separator = id(node.separator)
        self.required, self.minimum, self.maximum = node.required, node.minimum, node.maximum
        self.cap = max(node.minimum, node.maximum or 0, len(node.items) + 1)
        self.in_order = node.in_order

    def may_return(self, state: State) -> bool:
        used, count, open_ = state
        return not open_ and self.required <= used and self._enough(count)

    def _enough(self, count: int) -> bool:
        return count >= self.minimum

    def _completes(self, used: frozenset[int], count: int, can_write: Collection[Key]) -> bool:
        """Whether ``count`` things with the items ``used`` among them can become a whole group."""
        missing = self.required - used
        if self.maximum is not None and self.minimum > self.maximum:
            return False
        if any(self.items[i] not in can_write for i in missing):
            return False
        if self.maximum is not None and count + len(missing) > self.maximum:
            return False
        left = sum(1 for i, key in enumerate(self.items) if i not in used and key in can_write)
        unlimited = self.free is not None and self.free in can_write
        more_needed = bool(missing) or not self._enough(count)
        if more_needed and count > 0 and self.separator not in can_write:
            return False
        return unlimited or count + left >= self.minimum

    def _choices(self, state: State, can_write: Collection[Key]) -> list[tuple[Key, State]]:
        used, count, _ = state
        if self.maximum is not None and count >= self.maximum:
            return []
        after = min(count + 1, self.cap)
        if self.in_order:
            found = self._next(len(used), after)
            return [(key, to) for key, to in found if key in can_write and self._completes(to[0], to[1], can_write)]
        found: list[tuple[Key, State]] = [(key, (used | {i}, after, False))
                                          for i, key in enumerate(self.items) if i not in used]
        if self.free is not None:
            found.append((self.free, (used, after, False)))
        return [(key, to) for key, to in found if key in can_write and self._completes(to[0], to[1], can_write)]

    def _next(self, first: int, after: int) -> list[tuple[Key, State]]:
        """The items from ``first`` up to one that must be written, or the free one."""
        found: list[tuple[Key, State]] = []
        for i in range(first, len(self.items)):
            found.append((self.items[i], (frozenset(range(i + 1)), after, False)))
            if i in self.required:
                return found
        if self.free is not None:
            found.append((self.free, (frozenset(range(len(self.items))), after, False)))
        return found

    def calls(self, state: State) -> Iterable[tuple[Key, State]]:
        used, count, open_ = state
        choices = self._choices(state, self.can_write)
        if count == 0 or open_:
            return choices
        return [(self.separator, (used, count, True))] if choices else []

    def callees(self) -> Iterable[Key]:
        return [*self.items, self.separator, *([] if self.free is None else [self.free])]

    def productive(self, done: set[Key]) -> bool:
        if not self.required and self.minimum == 0:
            return True
        return any(self._completes(to[0], to[1], done) for _, to in self._choices(self.start, done))

    def nullable(self, done: set[Key]) -> bool:
        return not self.required and self.minimum == 0


class _Watch(_Machine):
    """Reads nothing: state 1 is reached by taking on the watch of this number."""

    def __init__(self, index: int) -> None:
        self.index = index

    def may_return(self, state: State) -> bool:
        return bool(state == 1)

    def productive(self, done: set[Key]) -> bool:
        return True

    def nullable(self, done: set[Key]) -> bool:
        return True


class _Bytes(_Machine):
    """One of several paths of byte ranges. A state is (path, position), the start is None."""

    start: State = None

    def __init__(self, paths: list[list[tuple[int, int]]], alphabet: frozenset[int]) -> None:
        spell = [[frozenset(range(low, high + 1)) & alphabet for low, high in path] for path in paths]
        self.paths = [path for path in spell if all(path)]

    def may_return(self, state: State) -> bool:
        if state is None:
            return [] in self.paths
        path, position = state
        return bool(position == len(self.paths[path]))

    def read(self, state: State, byte: int) -> Iterable[State]:
        places = [(i, 0) for i in range(len(self.paths))] if state is None else [state]
        return [(i, k + 1) for i, k in places
                if k < len(self.paths[i]) and byte in self.paths[i][k]]

    def productive(self, done: set[Key]) -> bool:
        return bool(self.paths)


class _Token(_Machine):
    """One token out of a set of ids; possible without a vocabulary too."""

    def __init__(self, ids: frozenset[int], resolved: bool) -> None:
        self.ids, self.resolved = ids, resolved

    def may_return(self, state: State) -> bool:
        return bool(state == 1)

    def read_id(self, state: State, token: int) -> Iterable[State]:
        return [1] if state == 0 and token in self.ids else []

    def productive(self, done: set[Key]) -> bool:
        return bool(self.ids) or not self.resolved


class _Until(_Machine):
    """UTF-8 text up to the first occurrence of a stop. A state is (bytes of the unfinished character, the end of
    the text as far as a stop may reach back, characters begun), or "stop"."""

    start: State = (b"", b"", 0)

    def __init__(self, node: AnyTextUntil, alphabet: frozenset[int]) -> None:
        self.stops, self.consume, self.alphabet = node.stops, node.consume, alphabet
        self.excludes, self.most = node.excludes, node.max_chars
        self.reach = max((len(stop) for stop in (*node.stops, *node.excludes)), default=0)

    def may_return(self, state: State) -> bool:
        if self.consume:
            return state == "stop" or b"" in self.stops
        return b"" not in (*self.stops, *self.excludes) and state != "stop" and state[0] == b""

    def read(self, state: State, byte: int) -> Iterable[State]:
        if state == "stop" or byte not in self.alphabet or b"" in (*self.stops, *self.excludes):
            return []
        character, end, count = state
        if not character:
            count += 1
            if self.most is None:
                count = 0
            elif count > self.most:
                return []
        character += bytes((byte,))
        if not is_character_start(character):
            return []
        end = (end + bytes((byte,)))[-self.reach :] if self.reach else b""
        if any(end.endswith(stop) for stop in self.stops):
            return ["stop"] if self.consume else []
        if any(end.endswith(text) for text in self.excludes):
            return []
        return [(b"" if is_character(character) else character, end, count)]

    def productive(self, done: set[Key]) -> bool:
        if not self.consume:
            return b"" not in self.stops
        return any(set(stop) <= self.alphabet for stop in self.stops)


class _Dfa(_Machine):
    """A byte automaton without the states from which it can never accept."""

    def __init__(self, node: ByteDfa, alphabet: frozenset[int]) -> None:
        self.accepting = node.accepting
        self.edges = [[(set(range(a, b + 1)) & alphabet, t) for a, b, t in row] for row in node.transitions]
        self.live = set(node.accepting)
        changed = True
        while changed:
            before = len(self.live)
            self.live |= {s for s, row in enumerate(self.edges) if any(read and t in self.live for read, t in row)}
            changed = len(self.live) > before

    def may_return(self, state: State) -> bool:
        return state in self.accepting

    def read(self, state: State, byte: int) -> Iterable[State]:
        return [t for read, t in self.edges[state] if byte in read and t in self.live]

    def productive(self, done: set[Key]) -> bool:
        return 0 in self.live


# -- UTF-8 ------------------------------------------------------------------------------------------------------


def is_character(data: bytes) -> bool:
    """Whether ``data`` is the UTF-8 of exactly one code point."""
    try:
        return len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def is_character_start(data: bytes) -> bool:
    """Whether ``data`` begins the UTF-8 of some code point (RFC 3629, section 4)."""
    if is_character(data):
        return True
    first = data[0]
    length = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4 if 0xF0 <= first <= 0xF4 else 0
    if len(data) >= length:
        return False
    return any(is_character(data + bytes(tail)) for tail in _tails(length - len(data)))


def _tails(count: int) -> list[tuple[int, ...]]:
    # The second byte of a character is the only one with bounds of its own, and they are at 0x80, 0x90, 0xA0, 0xBF.
    tails: list[tuple[int, ...]] = [()]
    for _ in range(count):
        tails = [(*tail, byte) for tail in tails for byte in (0x80, 0x90, 0xA0, 0xBF)]
    return tails


def utf8_paths(first: int, last: int) -> list[list[tuple[int, int]]]:
    """The code points of a range as paths of byte ranges: cut until all bytes but the cut one are full."""
    paths = []
    stack = [(first, last)]
    while stack:
        low, high = stack.pop()
        cut = next((c for c in (0x7F, 0x7FF, 0xFFFF) if low <= c < high), None)
        if cut is None and low < 0xD800 <= high:
            cut = 0xD7FF
        if cut is None and low <= 0xDFFF < high:
            cut = 0xDFFF
        if cut is not None:
            stack += [(low, cut), (cut + 1, high)]
            continue
        if 0xD800 <= low <= 0xDFFF:
            continue
        a, b = chr(low).encode(), chr(high).encode()
        for i in range(len(a) - 1):
            span = 1 << (6 * (len(a) - 1 - i))  # code points below byte i
            if a[i] != b[i]:
                if low % span:
                    cut = low - low % span + span - 1
                elif (high + 1) % span:
                    cut = high - high % span - 1
                break
        if cut is not None:
            stack += [(low, cut), (cut + 1, high)]
        else:
            paths.append(list(zip(a, b, strict=True)))
    return paths
