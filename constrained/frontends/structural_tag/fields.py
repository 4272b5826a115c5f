"""The fields of formats, read and checked: each wrong one a ``StructuralTagError`` with its JSON Pointer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constrained.errors import StructuralTagError, echo
from constrained.frontends.structural_tag.delimiters import Delimiters
from constrained.frontends.structural_tag.free_text import hidden_stop, joined_stops
from constrained.frontends.structural_tag.spellable import can_be_within
from constrained.grammar.ir import Expr, TokenReference
from constrained.limits import Limits

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["Child", "Ends", "Fields", "Handler", "check_fields", "join", "plain"]

MAX_BUDGET = 2_147_483_647
_ESCAPED = re.compile("[~/]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Ends:
    """What ends the tag around a format: encoded texts (``""``: it may just end) and tokens."""

    texts: tuple[str, ...] = ()
    token: TokenReference | None = None


Child = tuple[Any, str, Ends | None]
"""A sub-format, its JSON Pointer, and the ends that it must write itself."""
Handler = Generator[Child, Expr, Expr]


def join(pointer: str, field: str | int) -> str:
    if isinstance(field, int) or not _ESCAPED.search(field):
        return f"{pointer}/{field}"
    return f"{pointer}/{field.replace('~', '~0').replace('/', '~1')}"


def plain(node: Any) -> Any:
    if type(node) is dict or type(node) is str:
        return node
    return node.model_dump(by_alias=True) if hasattr(node, "model_dump") else node


def check_fields(node: Mapping[str, Any], kind: str, required: tuple[str, ...], optional: tuple[str, ...],
                  pointer: str) -> None:
    for field in required:
        if field not in node:
            raise StructuralTagError(f"{kind} needs the field {field}", pointer=pointer)
    for field in node:
        if field != "type" and field not in required and field not in optional:
            raise StructuralTagError(f"{kind} has no field {field!r:.60}", pointer=join(pointer, field),
                                     hint="it has " + ", ".join((*required, *optional)))


class Fields:
    """What reads fields, for one vocabulary (None: token formats are resolved when the grammar is compiled)."""

    def __init__(self, info: TokenizerInfo | None, limits: Limits) -> None:
        self.info = info
        self.limits = limits
        self.delimiters = Delimiters(info)
        self._ends: dict[str, Ends] = {}

    def ends_of(self, end: Any, pointer: str) -> Ends:
        """The ends of a tag: a text, several, or a token."""
        if isinstance(end, Mapping):
            return Ends(token=self.token_format(end, pointer))
        if isinstance(end, str):
            known = self._ends.get(end)
            if known is not None:
                return known
            texts = [self.encoded(end, pointer)]
        else:
            texts = [self.delimiters.encode(text) for text in self.texts(end, pointer, least=1, empty=True)]
        for text in texts:
            self.check_spellable(text, pointer, "end")
        found = Ends(tuple(dict.fromkeys(texts)))
        if isinstance(end, str):
            self._ends[end] = found
        return found

    def check_spellable(self, encoded: str, pointer: str, what: str) -> None:
        """Refuse a delimiter that the tokens of the vocabulary cannot write."""
        if self.info is None or (self.info.closed and not self.info.unspellable_bytes):
            return
        reason = ""
        for char in encoded:
            if not self.delimiters.is_token(char) and not self.info.unspellable_bytes.isdisjoint(char.encode()):
                reason = f"no token of the vocabulary has {echo(char)}"
        spelled = not self.info.closed and not any(map(self.delimiters.is_token, encoded))
        if not reason and spelled and not can_be_within(encoded.encode(), self.info):
            reason = "no tokens of the vocabulary, one after the other, have it within them"
        if reason:
            raise StructuralTagError(f"the {what} {echo(self.delimiters.spelled(encoded), 60)} can never be written: "
                                     f"{reason}", pointer=pointer, hint=f"choose another {what}, or name a token")

    def token_format(self, node: Any, pointer: str) -> TokenReference:
        if not isinstance(node, Mapping) or node.get("type", "token") != "token" or "token" not in node:
            raise StructuralTagError('a text or {"type": "token", "token": ...} is expected', pointer=pointer)
        for field in node:
            if field not in ("type", "token"):
                raise StructuralTagError(f"token has no field {field!r:.60}", pointer=join(pointer, field))
        return self.token_of(node["token"], join(pointer, "token"))

    def token_of(self, token: Any, pointer: str) -> TokenReference:
        """A token by id or text, checked where the vocabulary is known."""
        if isinstance(token, bool) or not isinstance(token, (int, str)) or token == "":
            raise StructuralTagError(f"a token is an id or a text, not {token!r:.60}", pointer=pointer)
        if self.info is not None:
            if isinstance(token, str) and token not in self.info.token_ids_by_text:
                raise StructuralTagError(f"the vocabulary has no control or added token {token!r:.60}", pointer=pointer,
                                         hint="name a token by its exact text, or by its id")
            if isinstance(token, int) and not 0 <= token < self.info.vocab_size:
                raise StructuralTagError(f"token id {token} is out of range: there are {self.info.vocab_size}",
                                         pointer=pointer)
        elif isinstance(token, int) and not 0 <= token < 1 << 31:
            raise StructuralTagError(f"token id {token} is out of range", pointer=pointer)
        return TokenReference((token,))

    def other_tokens(self, tokens: Sequence[Any], pointer: str) -> TokenReference:
        if not isinstance(tokens, Sequence) or isinstance(tokens, str):
            raise StructuralTagError("a list of tokens is expected", pointer=pointer)
        for number, token in enumerate(tokens):
            self.token_of(token, join(pointer, number))
        return TokenReference(tuple(dict.fromkeys(tokens)), exclude=True)

    def same_token(self, token: Any, others: Sequence[Any]) -> bool:
        if token in others:
            return True
        if self.info is None:
            return False
        ids = {i for one in others for i in self.ids_of(one)}
        return not ids.isdisjoint(self.ids_of(token))

    def ids_of(self, token: Any) -> tuple[int, ...]:
        if isinstance(token, int):
            return (token,)
        assert self.info is not None
        return self.info.token_ids_by_text.get(token, ()) if isinstance(token, str) else ()

    def items(self, value: Any, pointer: str) -> list[tuple[Any, str]]:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
            raise StructuralTagError("a list that is not empty is expected", pointer=pointer)
        return [(plain(one), join(pointer, number)) for number, one in enumerate(value)]

    def text(self, value: Any, pointer: str, *, empty: bool = True) -> str:
        if not isinstance(value, str):
            raise StructuralTagError(f"a text is expected, not {type(value).__name__}", pointer=pointer)
        if not value and not empty:
            raise StructuralTagError("the text must not be empty", pointer=pointer)
        found = None if value.isascii() else _SURROGATE.search(value)
        if found is not None:
            raise StructuralTagError(f"a lone surrogate at position {found.start()} is no character", pointer=pointer)
        return value

    def encoded(self, value: Any, pointer: str) -> str:
        return self.delimiters.encode(self.text(value, pointer))

    def texts(self, value: Any, pointer: str, *, least: int = 0, empty: bool = False) -> list[str]:
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or len(value) < least:
            raise StructuralTagError("a list of texts is expected" + (", not empty" if least else ""), pointer=pointer)
        return [self.text(text, join(pointer, number), empty=empty) for number, text in enumerate(value)]

    def excludes(self, node: Any, pointer: str) -> list[bytes]:
        found = self.texts(node.get("excludes") or [], join(pointer, "excludes"))
        return [text.encode() for text in found]

    def flag(self, node: Any, field: str, pointer: str, *, default: bool = False) -> bool:
        value = node.get(field, default)
        if not isinstance(value, bool):
            raise StructuralTagError(f"{field} is true or false, not {value!r:.60}", pointer=join(pointer, field))
        return value

    def budget(self, node: Any, field: str, pointer: str) -> int | None:
        value = node.get(field)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_BUDGET:
            raise StructuralTagError(f"{field} is a count, not {value!r:.60}", pointer=join(pointer, field))
        return min(value, self.limits.max_repeat)

    def check_triggers(self, triggers: list[str], pointer: str) -> None:
        """No trigger may be the beginning of another: it would always come first."""
        ordered = sorted(triggers)
        for one, other in itertools.pairwise(ordered):
            if other.startswith(one):
                number = triggers.index(one) if one != other else len(triggers) - 1 - triggers[::-1].index(one)
                reason = "stands twice" if one == other else f"is the beginning of {echo(other, 60)}"
                raise StructuralTagError(f"the trigger {echo(one, 60)} {reason}", pointer=join(pointer, number),
                                         hint="keep the shorter one: tags are told apart by their begin")

    def check_stops(self, stops: list[str], excludes: list[bytes], pointer: str) -> None:
        heads = [self.delimiters.spelled(text) for text in stops]
        if b"" in excludes:
            raise StructuralTagError("an excluded text is not empty", pointer=join(pointer, "excludes"))
        hidden = hidden_stop(heads, excludes)
        if hidden is not None:
            raise StructuralTagError(f"{echo(hidden[0], 60)} can never come about: {echo(hidden[1], 60)} is within it "
                                     "and comes first", pointer=pointer, hint="change one of the two")
        both = joined_stops(heads, excludes)
        if both is not None:
            raise StructuralTagError(f"{echo(both[0], 60)} and {echo(both[1], 60)} are complete at the same place, and "
                                     "another one may begin within them", pointer=pointer,
                                     hint="change one of the two")
