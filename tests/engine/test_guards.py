"""``NotFollowedBy`` against its definition: every text of a few letters, matched with the whole text in hand."""

from __future__ import annotations

import itertools
import random

import pytest

import constrained as cd
from constrained.api.grammar import Grammar
from constrained.errors import GrammarError, UnsatisfiableGrammarError
from constrained.grammar.ir import (
    ByteDfa,
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
    children,
)
from tests.engine.worlds import sized, stepped_mask, walk_states, wide_vocabulary

TOKENS = [b"a", b"b", b"c", b"ab", b"ba", b"aa", b"bb", b"aba", b"bca", b"abc", b"cc", b"</s>"]
STOP = len(TOKENS) - 1
INFO = cd.TokenizerInfo.from_bytes(TOKENS, stop_token_ids=STOP)


class Matcher:
    """Which parts of one text each expression spells: a table of ends, filled until nothing is added."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.nodes: list[Expr] = []
        seen: set[int] = set()
        stack = list(rules.rules.values())
        while stack:
            node = stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                self.nodes.append(node)
                stack.extend(children(node))
        self.nodes.reverse()

    def accepts(self, text: bytes) -> bool:
        n = len(text)
        ends: dict[tuple[int, int], set[int]] = {(id(node), i): set() for node in self.nodes for i in range(n + 1)}
        changed = True
        while changed:
            changed = False
            for node in self.nodes:
                for i in range(n + 1):
                    found = self.ends(node, i, text, ends)
                    if not found <= ends[id(node), i]:
                        ends[id(node), i] |= found
                        changed = True
        return n in ends[id(self.rules.rules[self.rules.root]), 0]

    def ends(self, node: Expr, i: int, text: bytes, ends: dict[tuple[int, int], set[int]]) -> set[int]:
        if isinstance(node, Literal):
            return {i + len(node.data)} if text.startswith(node.data, i) else set()
        if isinstance(node, CharClass):
            return {i + 1} if i < len(text) and any(lo <= text[i] <= hi for lo, hi in node.ranges) else set()
        if isinstance(node, Reference):
            return set(ends[id(self.rules.rules[node.name]), i])
        if isinstance(node, Choice):
            return set().union(*(ends[id(option), i] for option in node.options))
        if isinstance(node, NotFollowedBy):
            states = [run(node.dfa, text[i:j]) for j in range(i, len(text) + 1)]
            return set() if node.dfa.accepting.intersection(states) or states[-1] in node.at_end else {i}
        if isinstance(node, Sequence):
            here = {i}
            for item in node.items:
                here = set().union(*(ends[id(item), j] for j in here))
            return here
        assert isinstance(node, Repeat)
        here, count, found = {i}, 0, {i} if node.minimum == 0 else set()
        while here and (node.maximum is None or count < node.maximum) and count <= len(text) + node.minimum:
            here = set().union(*(ends[id(node.body), j] for j in here))
            count += 1
            if count >= node.minimum:
                found |= here
        return found


def run(dfa: ByteDfa, text: bytes) -> int:
    """The state after ``text``, -1 if there is none."""
    state = 0
    for byte in text:
        for lo, hi, to in dfa.transitions[state]:
            if lo <= byte <= hi:
                state = to
                break
        else:
            return -1
    return state


def words(*texts: bytes) -> ByteDfa:
    """The automaton of a few words."""
    rows: list[dict[int, int]] = [{}]
    accepting = set()
    for word in texts:
        here = 0
        for byte in word:
            if byte not in rows[here]:
                rows[here][byte] = len(rows)
                rows.append({})
            here = rows[here][byte]
        accepting.add(here)
    return ByteDfa(tuple(tuple((b, b, to) for b, to in sorted(row.items())) for row in rows), frozenset(accepting))


STAR_THEN_C = ByteDfa((((97, 98, 0), (99, 99, 1)), ()), frozenset([1]))
"""``[ab]*c``: it may watch for ever."""


def random_rules(rng: random.Random) -> RuleSet:
    names = ["root", "x", "y"][: rng.randint(1, 3)]

    def guard() -> NotFollowedBy:
        watched = dfa()
        states = range(len(watched.transitions))
        return NotFollowedBy(watched, frozenset(rng.sample(states, 1)) if rng.random() < 0.3 else frozenset())

    def dfa() -> ByteDfa:
        return rng.choice([words(b"a"), words(b"b"), words(b"ab"), words(b"a", b"b"), words(b"ba", b"c"),
                           words(b"aab"), STAR_THEN_C, words(b"c"), words(b"cc", b"a")])

    def expr(depth: int) -> Expr:
        kind = rng.random()
        if depth == 0 or kind < 0.25:
            return rng.choice([Literal(b"a"), Literal(b"b"), Literal(b"c"), Literal(b"ab"), CharClass(((97, 98),)),
                               Reference(rng.choice(names))])
        if kind < 0.5:
            return Sequence((solid(depth - 1), guard()))
        if kind < 0.7:
            return Sequence(tuple(expr(depth - 1) for _ in range(rng.randint(2, 3))))
        if kind < 0.85:
            return Choice(tuple(expr(depth - 1) for _ in range(rng.randint(2, 3))))
        least = rng.randint(0, 2)
        return Repeat(expr(depth - 1), least, rng.choice([None, least + rng.randint(0, 2) or 1]))

    def solid(depth: int) -> Expr:
        """Something that reads at least one byte of its own at the end."""
        if depth == 0:
            return Literal(b"a")
        return rng.choice([Repeat(CharClass(((97, 98),)), 1, None), Literal(b"a"), Literal(b"ab"),
                           Sequence((expr(depth), Literal(rng.choice([b"a", b"b", b"c"]))))])

    rules: dict[str, Expr] = {name: expr(3) for name in names}
    rules["root"] = Choice((rules["root"], Sequence((Literal(b"a"), NotFollowedBy(words(b"b")), Literal(b"ca")))))
    return RuleSet(rules, "root")


@pytest.mark.parametrize("block", range(4))
def test_random_grammars(block: int) -> None:
    """Language, prefixes, shortest ends and masks of small grammars; 320 seeds have been run once."""
    texts = [bytes(t) for n in range(6) for t in itertools.product(b"abc", repeat=n)]
    count, tried = sized(16, 2), 0
    for seed in range(count * block, count * block + count):
        rules = random_rules(random.Random(seed))
        try:
            compiled = cd.GrammarCompiler(INFO).compile_grammar(Grammar(rules))
        except (UnsatisfiableGrammarError, GrammarError) as error:
            if isinstance(error, UnsatisfiableGrammarError):
                matcher = Matcher(rules)
                assert not any(matcher.accepts(text) for text in texts if len(text) < 5)
            continue
        tried += 1
        oracle = Matcher(rules)
        language = {text for text in texts if oracle.accepts(text)}
        prefixes = {text[:i] for text in language for i in range(len(text) + 1)}
        for text in texts:
            if len(text) > 4:
                continue
            matcher = cd.GrammarMatcher(compiled)
            alive = matcher.accept_string(text)
            assert (alive and matcher.is_completed()) == (text in language), (seed, text)
            if text in prefixes:
                assert alive, (seed, text)
            if not alive:
                continue
            rest = matcher.shortest_completion()
            assert oracle.accepts(text + rest), (seed, text, rest)
            known = [len(other) for other in language if other.startswith(text)]
            if known:
                assert len(text) + len(rest) == min(known), (seed, text, rest)
            allowed = set(matcher.allowed_token_ids())
            assert allowed, (seed, text)
            for token, data in enumerate(TOKENS[:STOP]):
                fork = matcher.fork()
                assert fork.accept_string(data) == (token in allowed), (seed, text, data)
            assert (STOP in allowed) == (text in language)
    assert tried


LETTER = CharClass(((65, 90), (97, 122), (0xE9, 0xE9), (0x6F22, 0x6F22)))
LETTERS = CharClass(((48, 57), (65, 90), (97, 122)))
WORD = ByteDfa((((48, 57, 1), (65, 90, 1), (97, 122, 1)), ()), frozenset([1]))
POINT = ByteDfa((((46, 46, 1), (49, 49, 2)), ((49, 49, 2),), ()), frozenset([2]))
"""A 1, or a point and a 1."""


def statements() -> RuleSet:
    """Names, keywords and numbers as a lexer reads them, in a left-recursive list of sums."""
    gap = Repeat(CharClass(((10, 10), (32, 32))), 0, None)
    name = Sequence((LETTER, Repeat(LETTERS, 0, None), NotFollowedBy(WORD)))
    number = Choice((
        Sequence((Repeat(Literal(b"1"), 1, None), NotFollowedBy(POINT))),
        Sequence((Repeat(Literal(b"1"), 1, None), Literal(b".1"), NotFollowedBy(words(b"1")))),
    ))
    return RuleSet({
        "root": Choice((Reference("one"), Sequence((Reference("root"), Literal(b","), gap, Reference("one"))))),
        "one": Choice((Sequence((Literal(b"ax"), NotFollowedBy(WORD), gap, Reference("one"))), Reference("name"),
                       Sequence((number, gap)), Sequence((Reference("name"), Literal(b"-"), gap, Reference("one"))))),
        "name": Sequence((name, gap)),
    }, "root")


def test_masks_of_a_lexer() -> None:
    """Loops over many bytes that end in a guard, on a vocabulary that is wide enough for class tries."""
    info = wide_vocabulary(3, 2000)
    compiled = cd.GrammarCompiler(info).compile_grammar(Grammar(statements()))
    rng = random.Random(5)
    for _ in range(sized(6, 1)):
        for text, state in walk_states(compiled, rng, 12):
            assert compiled.automaton.allowed_ids(state) == stepped_mask(compiled, state), text
    for text, good in [(b"abc", True), (b"ax b", True), (b"axb", True), (b"ax", True), (b"ax1.1", False),
                       (b"ax 1.1", True), (b"11.1,a-b", True), (b"1.1.1", False), (b"1 .1", False), (b"1a", False),
                       (b"a1", True)]:
        matcher = cd.GrammarMatcher(compiled)
        assert (matcher.accept_string(text) and matcher.is_completed()) == good, text


SIGNS = CharClass(((32, 33), (35, 38), (40, 58), (60, 126)))
WORDS = CharClass(((65, 90), (97, 122)))
NO_SEMICOLON = NotFollowedBy(words(b";"))


@pytest.mark.parametrize("name", ["a part of a loop", "a way out", "a counted loop"])
@pytest.mark.parametrize("both", [False, True])
def test_masks_where_a_guard_lets_only_one_way_live(name: str, both: bool) -> None:
    """What stands below decides whether a loop over many bytes may end: of two loops read at once one is dead."""
    ways: dict[str, Expr] = {
        "a part of a loop": Choice((Sequence((Repeat(SIGNS, 1, None), NO_SEMICOLON)),
                                    Sequence((Repeat(WORDS, 1, None), Literal(b"!"))))),
        "a way out": Sequence((Repeat(SIGNS, 0, None),
                               Choice((Sequence((Literal(b'"'), NO_SEMICOLON)), Literal(b"'"))))),
        "a counted loop": Choice((Sequence((Repeat(SIGNS, 1, 90), NO_SEMICOLON)),
                                  Sequence((Repeat(WORDS, 1, 50), Literal(b"!"))))),
    }
    rules = {"a": ways[name], "one": Sequence((Reference("a"), Literal(b";"))),
             "root": Reference("one") if not both else
             Choice((Reference("one"), Sequence((Literal(b"a"), Reference("a"), Literal(b",")))))}
    compiled = cd.GrammarCompiler(wide_vocabulary(3, 2000)).compile_grammar(Grammar(RuleSet(rules, "root")))
    for text in (b"", b"a", b"ab", b"1", b"a1"):
        state = compiled.advance(compiled.start_state, text)
        if state:
            assert compiled.automaton.allowed_ids(state) == stepped_mask(compiled, state), text


def test_masks_over_many_stacks() -> None:
    """The same text between brackets that differ in what they let follow it: one thing found out serves them all."""
    rules = statements()
    inner = Sequence((Reference("root"), Choice((Literal(b")"), Literal(b"1)"), Literal(b"x]")))))
    rules = RuleSet({**rules.rules, "one": Choice((rules.rules["one"], Sequence((Literal(b"("), inner)),
                                                   Sequence((Literal(b"["), Reference("root"), Literal(b" x]")))))},
                    "root")
    compiled = cd.GrammarCompiler(wide_vocabulary(3, 2000)).compile_grammar(Grammar(rules))
    rng = random.Random(9)
    for _ in range(sized(6, 1)):
        for text, state in walk_states(compiled, rng, 14):
            assert compiled.automaton.allowed_ids(state) == stepped_mask(compiled, state), text
    for text in (b"(a", b"((ax a", b"([a,", b"[(1.1", b"(1", b"((11.1 ", b"[ax"):
        state = compiled.advance(compiled.start_state, text)
        assert state and compiled.automaton.allowed_ids(state) == stepped_mask(compiled, state), text


def test_forced_bytes_pass_guards() -> None:
    """A way that a guard kills is no alternative."""
    rules = RuleSet({"root": Sequence((Literal(b"a"), NotFollowedBy(words(b"b")),
                                       Choice((Literal(b"bb"), Literal(b"ca"), Literal(b"cb")))))}, "root")
    matcher = cd.GrammarMatcher(cd.GrammarCompiler(INFO).compile_grammar(Grammar(rules)))
    assert matcher.accept_string("a")
    assert matcher.find_jump_forward_string() == "c"


def test_a_named_token_is_not_text() -> None:
    info = cd.TokenizerInfo.from_bytes([b"a", b"b", b"<t>", b"</s>"], stop_token_ids=3, special_token_ids=[2, 3])
    rules = RuleSet({"root": Sequence((Literal(b"a"), NotFollowedBy(words(b"b")),
                                       Choice((TokenReference(("<t>",)), Literal(b"b"))), Literal(b"b")))}, "root")
    matcher = cd.GrammarMatcher(cd.GrammarCompiler(info).compile_grammar(Grammar(rules)))
    assert matcher.accept_tokens([0]) == 1
    assert matcher.allowed_token_ids() == [2]
    assert matcher.accept_tokens([2, 1, 3]) == 3


@pytest.mark.parametrize(("body", "message"), [
    (Sequence((NotFollowedBy(words(b"a")), Literal(b"b"))), "at the beginning of rule 'root'"),
    (Repeat(Choice((Sequence((Literal(b"aaaaaaaa"), NotFollowedBy(words(b"a")))),
                    Sequence((Literal(b"b" * 9), NotFollowedBy(words(b"c")))))), 3, 9),
     "a counted repetition in rule 'root'"),
    (Sequence((Literal(b"b"), Repeat(NotFollowedBy(words(b"a")), 1, None))), "repeated without anything between"),
])
def test_refused(body: Expr, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        cd.GrammarCompiler(INFO).compile_grammar(Grammar(RuleSet({"root": body}, "root")))


@pytest.mark.parametrize("body", [
    Sequence((Literal(b"a"), NotFollowedBy(words(b"b")), Literal(b"ba"))),
    Sequence((Literal(b"a"), NotFollowedBy(words(b"")), Literal(b"ba"))),
    Sequence((Literal(b"a"), NotFollowedBy(words(b"b"), frozenset([0])))),
    Sequence((Literal(b"a"), NotFollowedBy(STAR_THEN_C), Repeat(Literal(b"b"), 3, None), Literal(b"c"))),
])
def test_nothing_survives(body: Expr) -> None:
    with pytest.raises(UnsatisfiableGrammarError):
        cd.GrammarCompiler(INFO).compile_grammar(Grammar(RuleSet({"root": body}, "root")))


def test_budget() -> None:
    options = [Sequence((Literal(b"abc"[i : i + 1]), NotFollowedBy(words(b"abcabcabc"[i:])))) for i in range(3)]
    grammar = Grammar(RuleSet({"root": Repeat(Choice(tuple(options)), 1, None)}, "root"))
    with pytest.raises(cd.GrammarLimitError, match="max_guard_sets = 5"):
        cd.GrammarCompiler(INFO, limits=cd.Limits(max_guard_sets=5)).compile_grammar(grammar)
    assert cd.GrammarCompiler(INFO).compile_grammar(grammar)


def test_written_and_read_again() -> None:
    rules = statements()
    ends = Sequence((rules.rules["root"], NotFollowedBy(words(b"ab"), frozenset([1]))))
    once = str(Grammar.from_ebnf(str(Grammar(RuleSet({**rules.rules, "root": ends}, "root")))))
    assert str(Grammar.from_ebnf(once)) == once
    assert once.count("NotFollowedBy") == 5 and once.count("at_end=(1)") == 1
