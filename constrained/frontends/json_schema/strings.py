"""Sets of strings as a schema describes them, and the JSON texts of their members.

A ``StringShape`` is a conjunction: a length in code points, regular languages (patterns and formats, negated or
not), and strings left out; or it is a finite set of values. Lone surrogates are in no shape but a finite one.

A ``Language`` is interned: one object for each pattern or format, with its tree, and its automaton once it is
needed. Most shapes never need it: a length alone is a counted repetition of one character, a pattern alone is its
tree with spelled characters, and a length beside a pattern usually moves into the bounds of the pattern's only
repetition. Where it does not, the pattern's automaton stands beside a counter, and only patterns beside others are
multiplied out, within ``Limits.max_dfa_states``.

Cost: a shape seen before 1 us; a new length 5 us; a new pattern what its tree takes, 0.2 us a character; an
automaton 10 us a state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from constrained.errors import GrammarLimitError
from constrained.frontends.json_schema.counted_patterns import counted_graph
from constrained.frontends.json_schema.free_keys import other_keys
from constrained.frontends.json_schema.lengths import lengths_ahead, with_lengths, without_far_counts
from constrained.frontends.json_schema.policy import TextPolicy
from constrained.frontends.json_schema.refusal import NotEnforced
from constrained.frontends.json_schema.spelling import (
    canonical_spellings,
    joined_surrogates,
    spelled_class,
    spelled_dfa,
    spelled_leaf,
)
from constrained.frontends.regex import pattern_tree, plain_expression, tree_expression
from constrained.grammar.counted import CountedDfa
from constrained.grammar.ir import Choice, Expr, Literal, Repeat, Sequence
from constrained.limits import Limits
from constrained.regex import dfa as automata
from constrained.regex.builder import alternation
from constrained.regex.charset import ANY as ANY_CHARACTER
from constrained.regex.charset import complement as other_characters
from constrained.regex.charset import of_text
from constrained.regex.determinise import determinise
from constrained.regex.dfa import Dfa, minimise
from constrained.regex.rewrite import has_assertions, is_any_text, is_nothing
from constrained.regex.subsets import PlainPattern, compiled_tree
from constrained.regex.syntax import CharSet, Node
from constrained.regex.syntax import Repeat as TreeRepeat

if TYPE_CHECKING:
    from constrained.frontends.json_schema.formats_more import More

__all__ = ["ANY_STRING", "NOTHING", "Language", "StringShape", "both_of", "either", "named_format", "pattern_language"]

#: What matches no text.
NOTHING = Choice(())

_QUOTE = Literal(b'"')
_DEFAULT_LIMITS = Limits()
#: Automata up to this many states times classes are minimised: about 2 us for each.
_MINIMISED = 20_000
#: Texts of which a language remembers whether it has them.
_ANSWERS = 1_000
#: Texts after which an automaton is made to look at more, if it has few states.
_MANY, _SMALL = 16, 256
#: Characters of a pattern that do not stand for themselves.
_SIGNS = frozenset("\\^$.|?*+()[]{}")


class Language:
    """A regular set of strings with an identity. ``tree``: its full matches; None where only an automaton says it.

    ``more``, of a format: strings beyond the tree or automaton that a grammar can write and a text can be asked for,
    and an automaton of all of these and perhaps others (``formats.More``).
    """

    __slots__ = ("_accepted", "_dfa", "_is_compiled", "_opposite", "_plain", "_program", "more", "name", "tree")

    def __init__(self, name: str, tree: Node | None, dfa: Dfa | None = None, opposite: Language | None = None,
                 more: More | None = None, plain: tuple[str, bool, bool] | None = None) -> None:
        self.name = name
        self._plain = plain
        self.tree = tree
        self.more = more
        self._dfa = dfa
        self._opposite = opposite
        #: What reads single texts: None, once it is compiled, where the pattern looks around.
        self._program: PlainPattern | None = None
        self._is_compiled = False
        self._accepted: dict[str, bool] = {}

    def accepts(self, text: str, limits: Limits) -> bool:
        """Whether ``text`` is in the language; answers are kept. Raises GrammarLimitError."""
        known = self._accepted.get(text)
        if known is None:
            known = (self.more is not None and self.more.accepts(text)) or self._accepts(text, limits)
            if len(self._accepted) < _ANSWERS:
                self._accepted[text] = known
        return known

    def _accepts(self, text: str, limits: Limits) -> bool:
        """Patterns without assertions are stepped through as they are: an automaton may be large, and few texts are
        asked. Where there are more, a small automaton is faster. A pattern that is a text is looked for as one."""
        if self._plain is not None:
            looked_for, first, last = self._plain
            if first:
                return text == looked_for if last else text.startswith(looked_for)
            return text.endswith(looked_for) if last else looked_for in text
        if self._dfa is None and self.tree is not None and len(self._accepted) == _MANY:
            with suppress(GrammarLimitError):
                self.dfa(replace(limits, max_dfa_states=min(limits.max_dfa_states, _SMALL)))
        if self._dfa is not None:
            return self._dfa.accepts(text)
        if self.tree is None:
            assert self._opposite is not None
            return not self._opposite.accepts(text, limits)
        if not self._is_compiled:
            self._program, self._is_compiled = compiled_tree(self.tree, limits), True
        return self.dfa(limits).accepts(text) if self._program is None else self._program.accepts(text)

    def dfa(self, limits: Limits) -> Dfa:
        """The automaton. Raises GrammarLimitError."""
        if self._dfa is None:
            if self.tree is None:
                assert self._opposite is not None
                self._dfa = automata.complement(self._opposite.widest(limits))  # as small as that one is
                return self._dfa
            found = (determinise(self.tree, limits, self.name) if self._program is None
                     else self._program.automaton(limits))
            self._dfa = minimise(found) if found.states * len(found.classes) <= _MINIMISED else found
        return self._dfa

    def part(self, limits: Limits) -> tuple[Dfa, bool]:
        """For ``dfa.intersection_of``: the automaton, or that of the opposite and ``True``; or GrammarLimitError."""
        if self._dfa is None and self.tree is None and self._opposite is not None:
            return self._opposite.widest(limits), True
        return self.dfa(limits), False

    def widest(self, limits: Limits) -> Dfa:
        """An automaton of all of the language, and of more where ``more`` cannot be told apart."""
        return self.dfa(limits) if self.more is None or self.more.beyond is None else self.more.beyond()

    def opposite(self) -> Language:
        """All strings that are not in this language. The opposite of the opposite is this object.

        Raises NotEnforced where the language is not known exactly.
        """
        if self._opposite is None:
            if self.more is not None and self.more.beyond is None:
                raise NotEnforced(f"which strings are not of the {self.name} is not known exactly",
                                  "negate a pattern of your own instead")
            self._opposite = Language(f"not {self.name}", None, opposite=self)
        return self._opposite

    def __repr__(self) -> str:
        return f"<Language {self.name[:60]!r}>"


@lru_cache(maxsize=4096)
def pattern_language(pattern: str, limits: Limits = _DEFAULT_LIMITS) -> Language:
    """The strings in which the ECMA-262 ``pattern`` is found. Raises RegexError, GrammarLimitError."""
    return Language(pattern, pattern_tree(pattern, dialect="ecma", limits=limits), plain=plain_pattern(pattern))


def plain_pattern(pattern: str) -> tuple[str, bool, bool] | None:
    """The text that a pattern is, and whether it must stand at the beginning and at the end; None where it is more."""
    first, last = pattern.startswith("^"), pattern.endswith("$")
    text = pattern[first:len(pattern) - last]
    return None if not text.isascii() or not _SIGNS.isdisjoint(text) else (text, first, last)


def either(a: StringShape, b: StringShape) -> StringShape | None:
    """The strings of either, where both are of one pattern without assertions and nothing else; else None."""
    for one in (a, b):
        if one.values is not None or one.minimum or one.maximum is not None or one.excluded or len(one.languages) != 1:
            return None
        tree = one.languages[0].tree
        if tree is None or one.languages[0].more is not None or has_assertions(tree):
            return None
    return StringShape(languages=(_either(a.languages[0], b.languages[0]),))


@lru_cache(maxsize=1024)
def _either(a: Language, b: Language) -> Language:
    assert a.tree is not None
    assert b.tree is not None
    return Language(f"{a.name} or {b.name}", alternation([a.tree, b.tree]))


@lru_cache(maxsize=256)
def named_format(name: str, draft: str = "2020-12") -> Language | None:
    """The strings of a format; None where the format is unknown or says nothing of strings.

    Drafts that mean the same share the language.
    """
    from constrained.frontends.json_schema.formats import format_language, latest_alike, more  # many tables

    latest = latest_alike(name, draft)
    if latest != draft:
        return named_format(name, latest)
    tree, dfa = format_language(name, draft)
    return None if tree is None and dfa is None else Language(f"format {name}", tree, dfa, more=more(name, draft))


def _format_lengths(name: str) -> tuple[int, int | None]:
    from constrained.frontends.json_schema.formats import LENGTHS  # as above

    return LENGTHS.get(name, (0, None))


@lru_cache(maxsize=1024)
def _beside(one: Language, other: Language, limits: Limits) -> Language:
    """The strings of both; the names of cells are made of the same beginnings. Raises GrammarLimitError."""
    return Language("both", None, automata.intersection_of((one.part(limits), other.part(limits)), limits))


def _common(languages: tuple[Language, ...], limits: Limits) -> Dfa:
    """The strings of all of these (one or more). Raises GrammarLimitError."""
    found = languages[0]
    for one in languages[1:]:
        found = _beside(found, one, limits)
    return found.dfa(limits)


def _near(languages: tuple[Language, ...], most: int | None) -> tuple[Language, ...]:
    """Languages that have the same strings of at most ``most`` characters, without counts that these do not reach."""
    return languages if most is None else tuple([_nearer(one, most) for one in languages])


@lru_cache(maxsize=1024)
def _nearer(language: Language, most: int) -> Language:
    """See ``_near``."""
    if language.tree is None:
        opposite = language._opposite
        if opposite is None or opposite.tree is None or opposite.more is not None:
            return language
        nearer = _nearer(opposite, most)
        return language if nearer is opposite else nearer.opposite()
    if language.more is not None:
        return language
    tree = without_far_counts(language.tree, most)
    return language if tree is language.tree else Language(f"{language.name} of at most {most}", tree)


@lru_cache(maxsize=1024)
def _is_endless(languages: tuple[Language, ...], limits: Limits) -> bool:
    return automata.is_endless(automata.trimmed(_common(languages, limits)))


@dataclass(slots=True)
class StringShape:
    """The strings of ``minimum`` to ``maximum`` code points in all ``languages`` but ``excluded``.

    ``values``, where not None, holds all members, in order and once each; the other fields then say nothing.
    A value: it is not changed once it is made, which is not enforced, for speed.
    """

    minimum: int = 0
    maximum: int | None = None
    languages: tuple[Language, ...] = ()
    excluded: frozenset[str] = frozenset()
    values: tuple[str, ...] | None = None
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Kept: tables are asked for the same shapes again and again."""
        if self._hash == 0:
            self._hash = hash((self.minimum, self.maximum, self.languages, self.excluded, self.values)) or 1
        return self._hash

    @staticmethod
    def of_values(values: Iterable[str]) -> StringShape:
        """Just these. Pairs of surrogates are the character they mean."""
        return StringShape(values=tuple(dict.fromkeys(map(joined_surrogates, values))))

    @staticmethod
    def of_lengths(minimum: int = 0, maximum: int | None = None) -> StringShape:
        """Strings of so many code points."""
        return StringShape(minimum, maximum)

    @staticmethod
    def from_pattern(pattern: str, limits: Limits | None = None) -> StringShape:
        """Strings in which the ECMA-262 ``pattern`` is found. Raises RegexError, GrammarLimitError."""
        return _pattern_shape(pattern, limits or _DEFAULT_LIMITS)

    @staticmethod
    def from_format(name: str, limits: Limits | None = None, *, draft: str = "2020-12") -> StringShape | None:
        """Strings of a format as ``draft`` means it; None where the format is unknown or says nothing of strings.

        ``formats.RESTRICTED`` and ``formats.RELAXED`` name what is not exact.
        """
        found = named_format(name, draft)
        return None if found is None else StringShape(*_format_lengths(name), (found,))

    def exclude_values(self, values: Iterable[str]) -> StringShape:
        """The same without ``values``."""
        out = frozenset(values)
        if not "".join(out).isascii():
            out = frozenset(map(joined_surrogates, out))
        if self.values is not None:
            return StringShape(values=tuple(value for value in self.values if value not in out))
        if out <= self.excluded:
            return self
        return StringShape(self.minimum, self.maximum, self.languages, self.excluded | out if self.excluded else out)

    def intersect(self, other: StringShape) -> StringShape | None:
        """What is in both; None where that is surely nothing (patterns are not looked into)."""
        if self is other or other is ANY_STRING:
            return self
        if self is ANY_STRING:
            return other
        if self.values is not None or other.values is not None:
            mine, theirs = (self, other) if self.values is not None else (other, self)
            assert mine.values is not None
            kept = theirs.kept_of(mine.values)
            return StringShape(values=kept) if kept else None
        maximum = self.maximum if other.maximum is None else (
            other.maximum if self.maximum is None else min(self.maximum, other.maximum))
        minimum = max(self.minimum, other.minimum)
        if maximum is not None and minimum > maximum:
            return None
        languages = self.languages + tuple(one for one in other.languages if one not in self.languages)
        if any(one.opposite() in languages for one in languages if one._opposite is not None):
            return None
        return StringShape(minimum, maximum, languages, self.excluded | other.excluded)

    def complement(self) -> list[StringShape]:
        """Shapes that together are all strings but these; they may overlap."""
        if self.values is not None:
            return [ANY_STRING.exclude_values(self.values)]
        found = [StringShape(languages=(one.opposite(),)) for one in self.languages]
        if self.minimum > 0:
            found.append(StringShape(0, self.minimum - 1))
        if self.maximum is not None:
            found.append(StringShape(self.maximum + 1, None))
        if self.excluded:
            found.append(StringShape.of_values(sorted(self.excluded)))
        return found

    def contains(self, text: str, limits: Limits = _DEFAULT_LIMITS) -> bool:
        """Whether ``text`` is a member. Raises GrammarLimitError where a language has no small automaton."""
        text = joined_surrogates(text)
        if self.values is not None:
            return text in self.values
        if len(text) < self.minimum or (self.maximum is not None and len(text) > self.maximum):
            return False
        return text not in self.excluded and all(one.accepts(text, limits) for one in self.languages)

    def any_of(self, texts: Iterable[str], limits: Limits = _DEFAULT_LIMITS) -> bool:
        """Whether any of ``texts`` is a member. Raises as ``contains``."""
        if len(self.languages) == 1 and self.minimum == 0 and self.maximum is None and not self.excluded:
            accepts = self.languages[0].accepts
            return any(accepts(joined_surrogates(text), limits) for text in texts)
        return any(self.contains(text, limits) for text in texts)

    def kept_of(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Which of the ``values`` of another shape are members. Raises as ``contains``."""
        if self.values is not None:
            mine = frozenset(self.values)
            return tuple([text for text in texts if text in mine])
        if self.minimum > 0 or self.maximum is not None:  # the texts of a shape are of joined surrogates
            least, most = self.minimum, sys.maxsize if self.maximum is None else self.maximum
            texts = tuple([text for text in texts if least <= len(text) <= most])
        if self.excluded:
            texts = tuple([text for text in texts if text not in self.excluded])
        for one in self.languages:
            accepts = one.accepts
            texts = tuple([text for text in texts if accepts(text, _DEFAULT_LIMITS)])
        return texts

    def is_finite(self) -> bool:
        """Whether the members are at hand as ``values``."""
        return self.values is not None

    def is_any(self) -> bool:
        """Whether nothing is asked."""
        return (self.values is None and not self.languages and not self.excluded and self.minimum == 0
                and self.maximum is None)

    def is_empty(self, limits: Limits = _DEFAULT_LIMITS) -> bool:
        """Whether there is no member, exactly. May build an automaton."""
        if self.values is not None:
            return not self.values
        if self.maximum is not None and self.minimum > self.maximum:
            return True
        if self._is_endless(limits):
            return False
        return bool(self.languages or self.excluded) and _is_empty(self, limits)

    def _is_endless(self, limits: Limits) -> bool:
        """Whether it is plain that there is no end of members, so that those left out do not count."""
        return self.minimum == 0 and self.maximum is None and self.values is None and (
            not self.languages or _is_endless(self.languages, limits))

    def is_plainly_empty(self, limits: Limits = _DEFAULT_LIMITS) -> bool:
        """The same; False, too, where the automaton is too large."""
        try:
            return self.is_empty(limits)
        except GrammarLimitError:
            return False

    def enumerated(self, most: int, limits: Limits = _DEFAULT_LIMITS) -> tuple[str, ...] | None:
        """All members if they are at most ``most``, shorter ones first; else None. May build an automaton."""
        if self.values is not None:
            return self.values if len(self.values) <= most else None
        if (not self.languages and (self.maximum is None or self.maximum > 0)) or self._is_endless(limits):
            return None
        found = automata.enumerated(self.dfa(limits), most)
        return None if found is None else tuple(found)

    def dfa(self, limits: Limits = _DEFAULT_LIMITS) -> Dfa:
        """All of it as one automaton. Raises GrammarLimitError."""
        if self.values is not None:
            return automata.of_texts([text for text in self.values if not _has_surrogate(text)])
        parts: list[tuple[Dfa, bool]] = []
        if self.languages:
            parts.append((_common(_near(self.languages, self.maximum), limits), False))
        if self.minimum > 0 or self.maximum is not None:
            parts.append((automata.of_lengths(self.minimum, self.maximum, limits), False))
        if self.excluded:
            parts.append((automata.of_texts(text for text in self.excluded if not _has_surrogate(text)), True))
        if not parts:
            return automata.any_text()
        found = automata.intersection_of(parts, limits)
        return minimise(found) if found.states * len(found.classes) <= _MINIMISED else found

    def to_expr(self, policy: TextPolicy, limits: Limits = _DEFAULT_LIMITS) -> Expr:
        """The JSON texts of the members, quotation marks included. ``NOTHING`` where there surely is none.

        Only where nothing but a length is asked does ``policy.string_escapes`` count: whatever looks at characters
        takes the canonical spelling, whose automaton is a sixth as large.

        Raises GrammarLimitError (``max_dfa_states``) where patterns and lengths do not go together cheaply.
        """
        return _expression(self, "canonical" if self.languages or self.excluded else policy.string_escapes, limits)

    def to_key_expr(self, policy: TextPolicy, limits: Limits = _DEFAULT_LIMITS) -> Expr:
        """The same as keys of an object: in canonical spelling only."""
        if self.excluded and not self.languages and self.minimum == 0 and self.maximum is None and self.values is None:
            return Sequence((_QUOTE, other_keys(self.excluded)))  # large, and hardly ever asked for again
        return _expression(self, "canonical", limits)


ANY_STRING = StringShape()


def both_of(some: list[StringShape], others: list[StringShape]) -> list[StringShape]:
    """The strings in one of ``some`` and in one of ``others``, in few shapes: one within another is left out."""
    found = [both for a in some for b in others if (both := a.intersect(b)) is not None]
    if len(found) < 3:
        return found
    kept: list[StringShape] = []
    seen: list[frozenset[Language]] = []
    for shape in sorted(found, key=lambda one: len(one.languages)):
        said = frozenset(shape.languages)
        if not any(known <= said and _within(shape, other) for other, known in zip(kept, seen, strict=True)):
            kept.append(shape)
            seen.append(said)
    return kept


def _within(shape: StringShape, other: StringShape) -> bool:
    """Whether a shape of languages that ``other`` has, too, is in it by all else."""
    if shape.values is not None or other.values is not None:
        return shape.values == other.values
    return shape.minimum >= other.minimum and shape.excluded >= other.excluded and (
        other.maximum is None or (shape.maximum is not None and shape.maximum <= other.maximum))


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


@lru_cache(maxsize=4096)
def _pattern_shape(pattern: str, limits: Limits) -> StringShape:
    language = pattern_language(pattern, limits)
    assert language.tree is not None
    if is_any_text(language.tree):
        return ANY_STRING
    ahead = lengths_ahead(language.tree)
    if ahead is None:
        return StringShape(languages=(language,))
    tree, minimum, maximum, passing = ahead
    if maximum is not None and minimum > maximum:
        return StringShape.of_values(())
    languages = [Language(f"{pattern} without its lengths", tree)]
    if passing != ANY_CHARACTER:
        languages.append(Language(f"the characters of {pattern}", TreeRepeat(CharSet(passing), 0, None)))
    return StringShape(minimum, maximum, tuple(languages))


@lru_cache(maxsize=2048)
def _is_empty(shape: StringShape, limits: Limits) -> bool:
    return automata.is_empty(shape.dfa(limits))


@lru_cache(maxsize=2048)
def _expression(shape: StringShape, escapes: str, limits: Limits) -> Expr:
    if shape.values is not None:
        options = [Literal(data) for value in shape.values for data in canonical_spellings(value)]
        return options[0] if len(options) == 1 else Choice(tuple(options))
    if shape.languages:
        if shape.excluded:  # most of what a schema leaves out, names beside a pattern, is in no language anyway
            shape = replace(shape, excluded=frozenset([
                text for text in shape.excluded if all(one.accepts(text, limits) for one in shape.languages)]))
        body = _of_languages(shape, escapes, limits)
        more = _beyond_automata(shape)
        if more is not None:
            return Sequence((_QUOTE, more if body is None else Choice((Sequence((body, _QUOTE)), more))))
    elif not shape.excluded:
        body = _of_length(shape.minimum, shape.maximum, escapes)
    elif shape.minimum == 0 and shape.maximum is None:
        return Sequence((_QUOTE, other_keys(shape.excluded)))
    else:
        body = _all_but(shape, escapes)
    return NOTHING if body is None else Sequence((_QUOTE, body, _QUOTE))


def _beyond_automata(shape: StringShape) -> Expr | None:
    """What no automaton has of the one format that a shape is, and the closing quote."""
    more = shape.languages[0].more
    if more is None or len(shape.languages) > 1 or shape.minimum > 1 or any(map(more.accepts, shape.excluded)):
        return None
    return more.written(1 << 20 if shape.maximum is None else shape.maximum)


def _of_length(minimum: int, maximum: int | None, escapes: str) -> Expr | None:
    if maximum is not None and minimum > maximum:
        return None
    return Repeat(spelled_class(ANY_CHARACTER, escapes), minimum, maximum)


def _of_languages(shape: StringShape, escapes: str, limits: Limits) -> Expr | None:
    """The body of a string in some languages: by the tree of the one there is, or by the automaton of all."""
    tree = shape.languages[0].tree
    if len(shape.languages) == 1 and not shape.excluded and tree is not None:
        if is_nothing(tree):
            return None
        if shape.minimum == 0 and shape.maximum is None:
            return tree_expression(tree, limits, shape.languages[0].name, spelled_leaf(escapes),
                                   lambda dfa, limits: spelled_dfa(dfa, escapes, limits))
        if not has_assertions(tree):
            fitted = with_lengths(tree, shape.minimum, shape.maximum)
            if fitted is not None:
                return None if is_nothing(fitted) else plain_expression(fitted, spelled_leaf(escapes))
    try:
        if shape.minimum > 0 or shape.maximum is not None:
            return _counted(shape, escapes, limits)
        dfa = shape.dfa(limits)
        return spelled_dfa(dfa, escapes, limits) if dfa.accepting else None
    except GrammarLimitError as error:
        names = ", ".join(one.name[:40] for one in shape.languages[:3])
        raise GrammarLimitError(
            error.limit, error.value, f"the string constraints ({names}, lengths {shape.minimum} to {shape.maximum}) "
            "have no small automaton together") from None


def _counted(shape: StringShape, escapes: str, limits: Limits) -> Expr | None:
    """Languages beside lengths: an automaton with a counter, whose product the engine makes where a text comes by; or,
    where the automaton over bytes is too large, the product over characters (``counted_patterns``). Raises
    GrammarLimitError.
    """
    dfa = replace(shape, minimum=0, maximum=None, languages=_near(shape.languages, shape.maximum)).dfa(limits)
    if not dfa.accepting:
        return None
    try:
        return CountedDfa(spelled_dfa(dfa, escapes, limits), dfa.states, shape.minimum, shape.maximum)
    except GrammarLimitError:  # every state takes a hundred over bytes (\p{L})
        return counted_graph(dfa, shape.minimum, shape.maximum, escapes, limits)


def _all_but(shape: StringShape, escapes: str) -> Expr | None:
    """Any string of the lengths but the excluded: at some character it leaves each of them, or it ends early.

    One option for each prefix of an excluded string, so that what follows is a count and no copy of it.
    """
    if shape.maximum is not None and shape.minimum > shape.maximum:
        return None
    excluded = [text for text in sorted(shape.excluded) if not _has_surrogate(text)]
    following: dict[str, set[str]] = {"": set()}
    for text in excluded:
        for end in range(len(text)):
            following.setdefault(text[:end], set()).add(text[end])
        following.setdefault(text, set())
    options: list[Expr] = []
    for prefix, after in following.items():
        done = len(prefix)
        start: tuple[Expr, ...] = tuple(spelled_class(of_text(char), escapes) for char in prefix)
        if prefix not in shape.excluded and shape.minimum <= done and (shape.maximum is None or done <= shape.maximum):
            options.append(Sequence(start))
        if shape.maximum is None or shape.maximum > done:
            rest = _of_length(max(0, shape.minimum - done - 1),
                              None if shape.maximum is None else shape.maximum - done - 1, escapes)
            assert rest is not None
            others = other_characters(of_text("".join(after)))
            options.append(Sequence((*start, spelled_class(others, escapes), rest)))
    return Choice(tuple(options)) if options else None
