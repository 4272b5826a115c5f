"""A reader of JSON that remembers what must not come again.

Idea
    Where a ``Distinct`` node begins, a reader sets out beside the grammar's automaton and reads the array or object to
    its closing bracket. It kills the text where an item (or a name) closes that was seen before. What lies inside is
    one reader's too: a ``Distinct`` in it marks the frame that opens next.

Data
    A state is an int: an interned pair of frame and *lexeme*, the token that is being read. A frame is interned, too:
    kind, the frame around it, whether its items must differ, whether its own value is needed by a frame around it,
    the set of what it has seen, its value so far. Text that nobody needs is not recorded, so inside of it the state
    stays the same. The grammar sees to it that the text is JSON; nothing is checked here.

    0: nothing is watched (any more). DEAD: something came twice.

``outlook`` tells where trouble can come from: which seen values the unfinished item may still turn out to equal.

Cost: about 1 us a byte on first visit, then one look-up.
"""

from __future__ import annotations

from dataclasses import dataclass

from constrained.engine.distinct.values import Chains, Sets, Values, number_key, plain_text

__all__ = ["BLANKS", "DEAD", "Outlook", "Reader"]

DEAD = -1
START, FIRST, ITEM, AFTER, FIRST_NAME, NAME, COLON, VALUE, STRING, NUMBER, WORD = range(11)
"""Lexemes: where a value may begin (START, FIRST, ITEM, VALUE), between tokens, and inside of one."""

ARRAY, OBJECT = range(2)
BLANKS = frozenset(b" \t\n\r")
_NUMBER_BYTES = frozenset(b"0123456789+-.eE")
_DIGITS = frozenset(b"0123456789")
_ENDS = BLANKS | frozenset(b",]}")
_ESCAPES = frozenset(b'"\\/bfnrtu0123456789abcdefABCDEF')
_SHORT = {0x22: '"', 0x5C: "\\", 0x2F: "/", 0x62: "\b", 0x66: "\f", 0x6E: "\n", 0x72: "\r", 0x74: "\t"}
_WORDS = {0x74: b"true", 0x66: b"false", 0x6E: b"null"}

Lexeme = tuple[object, ...]
_EMPTY: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Frame:
    """An array or object that is being read; see the module docstring."""

    kind: int
    around: int
    distinct: bool
    needed: bool
    seen: int = 0
    chain: int = 0
    members: tuple[tuple[str, int], ...] = ()
    name: str | None = None

    @property
    def needs_values(self) -> bool:
        """Whether the values inside are compared by someone."""
        return self.needed or (self.distinct and self.kind == ARRAY)

    @property
    def needs_names(self) -> bool:
        return self.needed or (self.distinct and self.kind == OBJECT)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a reader's state can still run into.

    free: no seen value is an unfinished item's any more, so that whatever completes the text is allowed
    calm: nor will one be before another item begins
    bytes: those behind which that is not so; blanks among them where they change nothing
    """

    free: bool
    calm: bool
    bytes: frozenset[int]


_QUIET = Outlook(True, True, _EMPTY)


class Reader:
    """All states of the readers of one grammar. See the module docstring."""

    def __init__(self) -> None:
        self.values = Values()
        self.sets = Sets()
        self.chains = Chains()
        self.frames: list[Frame] = [Frame(ARRAY, 0, False, False)]
        self.frame_ids: dict[Frame, int] = {}
        self.states: list[tuple[int, Lexeme]] = [(0, (AFTER,))]
        self.ids: dict[tuple[int, Lexeme], int] = {}
        self.steps: dict[int, int] = {}
        self.outlooks: dict[int, Outlook] = {0: _QUIET}
        self.byte_sets: dict[frozenset[int], frozenset[int]] = {}  # few different ones for many states
        self.start = self._state(0, (START, True))

    def memory(self) -> int:
        """About how many bytes are held."""
        return 400 * len(self.states) + 200 * len(self.steps) + 300 * len(self.sets.nodes) + 200 * len(self.values.keys)

    # ---- steps ---------------------------------------------------------------------------------------

    def marked(self, state: int) -> int:
        """``state`` at the beginning of a value, with a ``Distinct`` there."""
        if state == 0:
            return self.start
        frame, lexeme = self.states[state]
        return self._state(frame, (lexeme[0], True))

    def feed(self, state: int, data: bytes) -> int:
        """The state after ``data``; 0 as soon as the watched brackets are closed."""
        steps = self.steps
        for byte in data:
            if state <= 0:
                break
            after = steps.get(state << 8 | byte)
            if after is None:
                after = steps[state << 8 | byte] = self._step(state, byte)
            state = after
        return state

    def in_string(self, state: int) -> bool:
        """Whether a string is open."""
        return self.states[state][1][0] == STRING

    def in_number(self, state: int) -> bool:
        """Whether a number is being read: whatever is no part of it ends it."""
        return self.states[state][1][0] == NUMBER

    def _state(self, frame: int, lexeme: Lexeme) -> int:
        key = (frame, lexeme)
        known = self.ids.get(key)
        if known is None:
            known = self.ids[key] = len(self.states)
            self.states.append(key)
        return known

    def _frame(self, frame: Frame) -> int:
        known = self.frame_ids.get(frame)
        if known is None:
            known = self.frame_ids[frame] = len(self.frames)
            self.frames.append(frame)
        return known

    def _step(self, state: int, byte: int) -> int:
        frame, lexeme = self.states[state]
        kind = lexeme[0]
        if kind == STRING:
            return self._in_string(frame, lexeme, byte)
        if kind == NUMBER:
            digits = lexeme[1]
            assert digits is None or isinstance(digits, bytes)
            if byte in _NUMBER_BYTES:
                if digits is None:
                    return state
                if _is_zero_for_good(digits) or (byte in b"eE" and _is_zero(digits)):
                    here = self.frames[frame]
                    zero = self.values.ids.get(number_key(b"0"))
                    if here.kind == ARRAY and here.distinct and zero and self.sets.contains(here.seen, zero):
                        return DEAD  # whatever the exponent is
                    return self._state(frame, (NUMBER, b"0e"))
                return self._state(frame, (NUMBER, digits + bytes((byte,))))
            frame = self._close(frame, 0 if digits is None else self.values.intern(number_key(digits)))
            if frame < 0:
                return DEAD
            kind = AFTER
        elif kind == WORD:
            word, read = lexeme[1], lexeme[2]
            assert isinstance(word, bytes) and isinstance(read, int)
            if read + 1 < len(word):
                return self._state(frame, (WORD, word, read + 1))
            frame = self._close(frame, self.values.intern(("l", word)))
            return DEAD if frame < 0 else self._state(frame, (AFTER,))
        if byte in BLANKS:
            return self._state(frame, (AFTER,)) if kind == AFTER else state
        if byte == 0x22:
            is_name = kind in (FIRST_NAME, NAME)
            here = self.frames[frame]
            recorded = here.needs_names if is_name else here.needs_values
            return self._state(frame, (STRING, is_name, "" if recorded else None, b""))
        if byte in (0x5B, 0x7B):
            array = byte == 0x5B
            needed = frame != 0 and self.frames[frame].needs_values
            inner = self._frame(Frame(ARRAY if array else OBJECT, frame, bool(lexeme[1]), needed))
            return self._state(inner, (FIRST, False) if array else (FIRST_NAME,))
        if byte in (0x5D, 0x7D):
            here = self.frames[frame]
            if here.around == 0:
                return 0
            value = 0
            if here.needed:
                value = self.values.intern(("[", here.chain) if here.kind == ARRAY else ("{", here.members))
            frame = self._close(here.around, value)
            return DEAD if frame < 0 else self._state(frame, (AFTER,))
        if byte == 0x2C:
            return self._state(frame, (ITEM, False) if self.frames[frame].kind == ARRAY else (NAME,))
        if byte == 0x3A:
            return self._state(frame, (VALUE, False))
        recorded = self.frames[frame].needs_values
        if byte in _WORDS:
            return self._state(frame, (WORD, _WORDS[byte], 1))
        return self._state(frame, (NUMBER, bytes((byte,)) if recorded else None))

    def _close(self, number: int, value: int) -> int:
        """Frame ``number`` with ``value`` as its next item or as the value of its name; DEAD if it came before."""
        frame = self.frames[number]
        if not frame.needs_values:
            return number
        seen, chain, members = frame.seen, frame.chain, frame.members
        if frame.kind == ARRAY:
            if frame.distinct:
                if self.sets.contains(seen, value):
                    return DEAD
                seen = self.sets.add(seen, value)
            if frame.needed:
                chain = self.chains.add(chain, value)
        else:
            assert frame.name is not None
            members = tuple(sorted([(n, v) for n, v in members if n != frame.name] + [(frame.name, value)]))
        return self._frame(Frame(frame.kind, frame.around, frame.distinct, frame.needed, seen, chain, members))

    def _close_name(self, number: int, name: str) -> int:
        frame = self.frames[number]
        seen = frame.seen
        if frame.distinct:
            value = self.values.intern(("s", name))
            if self.sets.contains(seen, value):
                return DEAD
            seen = self.sets.add(seen, value)
        return self._frame(Frame(frame.kind, frame.around, frame.distinct, frame.needed, seen, frame.chain,
                                 frame.members, name if frame.needed else None))

    def _in_string(self, frame: int, lexeme: Lexeme, byte: int) -> int:
        _, is_name, text, pending = lexeme
        assert isinstance(pending, bytes)
        if text is None:
            if pending:
                return self._state(frame, (STRING, is_name, None, b""))
            if byte == 0x5C:
                return self._state(frame, (STRING, is_name, None, b"\\"))
            if byte != 0x22:
                return self._state(frame, lexeme)
        assert text is None or isinstance(text, str)
        if not pending and byte == 0x22:
            if is_name:
                if text is not None:
                    frame = self._close_name(frame, text)
                return DEAD if frame < 0 else self._state(frame, (COLON,))
            frame = self._close(frame, 0 if text is None else self.values.intern(("s", text)))
            return DEAD if frame < 0 else self._state(frame, (AFTER,))
        assert text is not None
        if not pending and byte < 0x80 and byte != 0x5C:
            return self._state(frame, (STRING, is_name, text + chr(byte), b""))
        raw = pending + bytes((byte,))
        char = _character(raw)
        if char is None:
            return self._state(frame, (STRING, is_name, text, raw))
        if "\udc00" <= char <= "\udfff" and text and "\ud800" <= text[-1] <= "\udbff":
            char = chr(0x10000 + ((ord(text[-1]) - 0xD800) << 10) + (ord(char) - 0xDC00))
            text = text[:-1]
        return self._state(frame, (STRING, is_name, text + char, b""))

    # ---- outlook -------------------------------------------------------------------------------------

    def outlook(self, state: int) -> Outlook:
        """What the unfinished items of ``state`` can still equal."""
        known = self.outlooks.get(state)
        if known is None:
            known = self.outlooks[state] = self._look(state)
        return known

    def _look(self, state: int) -> Outlook:
        frame, lexeme = self.states[state]
        kind = lexeme[0]
        path: list[Frame] = []
        while frame:
            path.append(self.frames[frame])
            frame = path[-1].around
        path.reverse()
        free = calm = True
        trouble: set[int] = set()
        last = len(path) - 1
        for i, level in enumerate(path):
            if not level.distinct or not level.seen:
                continue
            if level.kind == OBJECT:
                if i == last and (kind == NAME or (kind == STRING and lexeme[1])):
                    for seen in self.sets.items(level.seen):
                        found = self._match(self.values.keys[seen], lexeme)
                        if found is not None:
                            free, calm = free and kind == NAME, False
                            trouble |= found[1]
                continue
            if i == last and kind == AFTER:
                continue
            for seen in self.sets.items(level.seen):
                found = self._within(seen, path[i + 1 :], lexeme)
                if found is not None:
                    # before an item begins there is always another one: compiling saw to that
                    free = free and (not found[0] or (i == last and kind == ITEM))
                    calm = False
                    trouble |= found[1]
        if calm:
            return _QUIET
        found_bytes = frozenset(trouble)
        return Outlook(free, False, self.byte_sets.setdefault(found_bytes, found_bytes))

    def _within(self, value: int, path: list[Frame], lexeme: Lexeme) -> tuple[bool, frozenset[int]] | None:
        """Whether the item read so far (frames and a lexeme) may become ``value``, and by which bytes; None: no.

        The first of the pair: whether it is likely enough not to be called free.
        """
        kind = lexeme[0]
        for j, frame in enumerate(path):
            key = self.values.keys[value]
            inner = j == len(path) - 1
            if frame.kind == ARRAY:
                if key[0] != "[":
                    return None
                beginnings, items = self.chains.written(key[1])  # type: ignore[arg-type]
                k = self.chains.length(frame.chain)
                if k >= len(beginnings) or beginnings[k] != frame.chain:
                    return None
                if inner and kind == AFTER:
                    return True, BLANKS | {0x5D if k == len(items) else 0x2C}
                if inner and kind == FIRST and not items:
                    return True, BLANKS | {0x5D}
                if k >= len(items):
                    return None
                value = items[k]
            else:
                if key[0] != "{":
                    return None
                members: tuple[tuple[str, int], ...] = key[1]  # type: ignore[assignment]
                if not set(frame.members) <= set(members):
                    return None
                if inner and kind == AFTER:  # behind a comma a name that is there already may be written again
                    return True, BLANKS | ({0x2C, 0x7D} if len(members) == len(frame.members) else {0x2C})
                if inner and kind in (FIRST_NAME, NAME):
                    if kind == FIRST_NAME and not members:
                        return True, BLANKS | {0x7D}
                    return True, BLANKS | {0x22}
                if inner and kind == STRING and lexeme[1]:
                    found = [match for name, _ in members
                             if (match := self._match(("s", name), lexeme)) is not None]
                    return (True, frozenset().union(*(one[1] for one in found))) if found else None
                wanted = [v for name, v in members if name == frame.name]
                if not wanted:
                    return None
                if inner and kind == COLON:
                    return True, BLANKS | {0x3A}
                value = wanted[0]
        return self._match(self.values.keys[value], lexeme)

    def _match(self, key: tuple[object, ...], lexeme: Lexeme) -> tuple[bool, frozenset[int]] | None:
        """The same for a lexeme alone."""
        kind = lexeme[0]
        tag = key[0]
        if kind == STRING:
            if tag != "s":
                return None
            return _match_text(str(key[1]), str(lexeme[2]), lexeme[3])  # type: ignore[arg-type]
        if kind == NUMBER:
            return None if tag != "#" else _match_number(key, lexeme[1].decode())  # type: ignore[attr-defined]
        if kind == WORD:
            if tag != "l" or key[1] != lexeme[1]:
                return None
            return True, frozenset((lexeme[1][lexeme[2]],))  # type: ignore[index]
        if kind == NAME or tag == "s":
            return True, BLANKS | {0x22}
        if tag == "#":
            return True, BLANKS | _DIGITS | {0x2D}
        if tag == "l":
            return True, BLANKS | {key[1][0]}  # type: ignore[index]
        return True, BLANKS | {0x5B if tag == "[" else 0x7B}


def _is_zero(digits: bytes) -> bool:
    """Whether what was read of a number is zero so far."""
    return not digits.strip(b"-0.")


def _is_zero_for_good(digits: bytes) -> bool:
    """Whether it stays zero: its exponent has begun. All such texts are one state's, ``0e``."""
    return digits == b"0e"


def _character(raw: bytes) -> str | None:
    """The character that an escape or some UTF-8 bytes spell; None while it is not whole."""
    if raw[0] != 0x5C:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return None
    if len(raw) == 2:
        return _SHORT.get(raw[1])
    return chr(int(raw[2:], 16)) if len(raw) == 6 else None


def _match_text(value: str, text: str, pending: bytes) -> tuple[bool, frozenset[int]] | None:
    if not value.startswith(text):
        # the first half of a pair may stand at the end
        if not text or not "\ud800" <= text[-1] <= "\udbff" or not value.startswith(text[:-1]):
            return None
        return True, frozenset((0x5C,)) if not pending else _ESCAPES
    if pending[:1] == b"\\":
        return True, _ESCAPES
    if len(value) == len(text):
        return None if pending else (True, frozenset((0x22,)))
    spelled = value[len(text)].encode("utf-8", "surrogatepass")
    if pending:
        return (True, frozenset((spelled[len(pending)],))) if spelled.startswith(pending) else None
    return True, frozenset((spelled[0], 0x5C))


def _match_number(key: tuple[object, ...], text: str) -> tuple[bool, frozenset[int]]:
    plain = plain_text(key)
    zero = plain == "0"
    if "e" in text or "E" in text:
        return (zero == (text == "0e")), _NUMBER_BYTES | _ENDS
    if plain is None:
        return True, _NUMBER_BYTES | _ENDS
    shown = text.lstrip("-") if zero else text
    padded = plain if "." in plain else plain + "."
    if len(shown) > len(padded):
        padded += "0" * (len(shown) - len(padded))
    if not padded.startswith(shown):
        return False, frozenset(b"eE")
    following = set(b"eE")
    if len(shown) < len(padded):
        following.add(ord(padded[len(shown)]))
    else:
        following.add(0x30)
    if shown.rstrip(".") == plain or len(shown) >= len(plain):
        following |= _ENDS
    if zero:
        following.add(0x30)
    return True, frozenset(following)
