"""Formats with free text in them: any text, tags, triggers, patterns that call for formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constrained.errors import GrammarLimitError, StructuralTagError, echo
from constrained.frontends.structural_tag.contents import Contents
from constrained.frontends.structural_tag.fields import Ends, Fields, Handler, check_fields, join, plain
from constrained.frontends.structural_tag.free_text import Stop, free_text
from constrained.grammar import combinators as make
from constrained.grammar.ir import AnyTextUntil, Expr, Literal, Reference, TokenReference
from constrained.limits import Limits

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["FreeFormats"]

TAG_FIELDS = ("begin", "content", "end")


class FreeFormats(Fields):
    """See the module docstring. ``inside`` is the begin of the tag that is being read, for errors in what it holds."""

    def __init__(self, info: TokenizerInfo | None, limits: Limits, strict: bool) -> None:
        super().__init__(info, limits)
        self.contents = Contents(limits, strict=strict, delimiters=self.delimiters)
        self.inside = ""
        self._ends_written: dict[Ends, Expr] = {}

    def end(self, ends: Ends) -> Expr:
        """One of the ends of a tag."""
        known = self._ends_written.get(ends)
        if known is None:
            options = [self.delimiters.expression(text) for text in ends.texts]
            known = make.choice(*options, *([ends.token] if ends.token is not None else []))
            self._ends_written[ends] = known
        return known

    def closing(self, ends: Ends | None) -> tuple[list[Stop], bool]:
        """The same for free text: as stops, and whether the text may just end."""
        if ends is None:
            return [], True
        stops: list[Stop] = [(text, [(text, make.empty())]) for text in ends.texts if text]
        return stops, "" in ends.texts

    def any_text(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text up to the ends."""
        yield from ()
        excludes = self.excludes(node, pointer)
        stops, may_end = self.closing(ends)
        most_tokens, most_chars = self.budget(node, "max_tokens", pointer), self.budget(node, "max_chars", pointer)
        if most_tokens is not None:
            self.check_stops([text for text, _ in stops], excludes, pointer)
            return self.token_budget(most_tokens, most_chars, excludes, ends, pointer)
        if most_chars is not None:
            return make.sequence(self.char_budget(most_chars, excludes, stops, pointer),
                                 self.end(ends) if ends is not None else make.empty())
        begun = [text for text, _ in stops if any(one in self.delimiters.spelled(text) for one in excludes)]
        if begun and b"" not in excludes:  # an end is no part of the text, so that what is excluded may begin it
            others = [stop for stop in stops if stop[0] not in begun]
            assert ends is not None
            return make.sequence(AnyTextUntil(self.forbidden(others, excludes), consume=False), self.end(ends))
        self.check_stops([text for text, _ in stops], excludes, pointer)
        expr = free_text(self.delimiters, stops, excludes, may_end=may_end)
        if ends is not None and ends.token is not None:
            by_token = make.sequence(AnyTextUntil(self.forbidden(stops, excludes), consume=False), ends.token)
            return by_token if not stops and not may_end else make.choice(expr, by_token)
        return expr

    def forbidden(self, stops: list[Stop], excludes: list[bytes]) -> tuple[bytes, ...]:
        return tuple(dict.fromkeys([*(self.delimiters.spelled(text) for text, _ in stops), *excludes]))

    def token_budget(self, most: int, most_chars: int | None, excludes: list[bytes], ends: Ends | None,
                     pointer: str) -> Expr:
        """Text that ``most`` tokens may hold something of, then an end; the automaton counts. See ``TokenBudget``.

        An end that is spelled in ordinary tokens is part of the counted text, so that the first place where it is
        complete ends the text; an end by token stands behind the text.
        """
        closed = self.end(ends) if ends is not None else make.empty()
        if most == 0:
            return closed
        stops, may_end = self.closing(ends)
        heads = tuple(dict.fromkeys(self.delimiters.spelled(text) for text, _ in stops))
        forbidden = self.forbidden(stops, excludes)
        most = min(most, make.MAX_TOKENS - 1)
        if most_chars is not None:
            if forbidden:
                self.char_budget(most_chars, excludes, stops, pointer)  # raises where that is too large
            text = AnyTextUntil(forbidden, consume=False, max_chars=most_chars)
            return make.sequence(make.token_budget(text, most), closed)
        # an end whose own end is another one is complete together with it
        heads = tuple(head for head in heads if not any(head != other and head.endswith(other) for other in heads))
        options: list[Expr] = []
        for head in heads:  # each counts by itself, so that any of them may follow when the budget is used up
            others = tuple(other for other in (*heads, *excludes) if other != head)
            options.append(make.token_budget(AnyTextUntil((head,), consume=True, excludes=others), most))
        text = AnyTextUntil(forbidden, consume=False)
        behind: list[Expr] = [make.empty()] if may_end else []
        for whole, _ in stops:
            for at, char in enumerate(whole):
                if self.delimiters.is_token(char):
                    before = Literal(self.delimiters.spelled(whole[:at]))
                    rest = self.delimiters.expression(whole[at + 1 :])
                    behind.append(make.sequence(before, self.delimiters.token(char), rest))
        if ends is not None and ends.token is not None:
            behind.append(ends.token)
        if behind:
            options.append(make.sequence(make.token_budget(text, most), make.choice(*behind)))
        return make.choice(*options)

    def char_budget(self, most: int, excludes: list[bytes], stops: list[Stop], pointer: str) -> Expr:
        """At most so many code points of text."""
        forbidden = self.forbidden(stops, excludes)
        if not forbidden:
            return make.repeat(make.any_char(), 0, most, limits=self.limits)
        if (most + 1) * sum(map(len, forbidden)) > self.limits.max_dfa_states:
            raise GrammarLimitError(
                "max_dfa_states", self.limits.max_dfa_states,
                f"at {echo(join(pointer, 'max_chars'))}: text of at most {most} characters without what ends it takes "
                "too many states")
        return AnyTextUntil(forbidden, consume=False, max_chars=most)

    def triggered_tags(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text in which triggers begin tags."""
        triggers = self.texts(node["triggers"], join(pointer, "triggers"), least=1)
        excludes = self.excludes(node, pointer)
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        encoded = [self.delimiters.encode(trigger) for trigger in triggers]
        self.check_triggers(triggers, join(pointer, "triggers"))
        tags = self.items(node["tags"], join(pointer, "tags"))
        options: list[list[tuple[str, Expr]]] = [[] for _ in triggers]
        for one, where in tags:
            begin = plain(self.tag_node(one, where)["begin"])
            if not isinstance(begin, str):
                raise StructuralTagError("a triggered tag begins with a text", pointer=join(where, "begin"),
                                         hint="token_triggered_tags is for tags that begin with a token")
            matching = [i for i, trigger in enumerate(triggers) if begin.startswith(trigger)]
            if not matching:
                raise StructuralTagError(f"the begin {echo(begin, 60)} does not start with a trigger",
                                         pointer=join(where, "begin"),
                                         hint="triggers are " + ", ".join(echo(t, 30) for t in triggers[:5]))
            text = self.encoded(begin, join(where, "begin"))
            self.check_spellable(text, join(where, "begin"), "begin")
            options[matching[0]].append((text, (yield from self.tag_body(one, where))))
        for trigger, found, number in zip(triggers, options, range(len(triggers)), strict=True):
            if not found:
                raise StructuralTagError(f"no tag begins with the trigger {echo(trigger, 60)}",
                                         pointer=join(join(pointer, "triggers"), number),
                                         hint="remove it, or list it in excludes")
        stops, may_end = self.closing(ends)
        self.check_stops([*encoded, *(text for text, _ in stops)], excludes, pointer)
        token = None if ends is None else ends.token
        closed = self.end(ends) if ends is not None else make.empty()
        first: Expr = make.empty()
        if at_least_one:
            first = self.delimiters.dispatch([option for found in options for option in found])
        if stop_after_first:
            if at_least_one:
                return make.sequence(first, closed)
            triggered: list[Stop] = [(e, [(text, make.sequence(then, closed)) for text, then in found])
                                     for e, found in zip(encoded, options, strict=True)]
            return self.text_or(triggered, stops, excludes, may_end, token)
        loop = self.contents.name("tags")
        self.contents.rules[loop] = make.empty()  # the name is taken
        again = Reference(loop)
        triggered = [(e, [(text, make.sequence(then, again)) for text, then in found])
                     for e, found in zip(encoded, options, strict=True)]
        self.contents.rules[loop] = self.text_or(triggered, stops, excludes, may_end, token)
        return make.sequence(first, again) if at_least_one else again

    def text_or(self, triggered: list[Stop], stops: list[Stop], excludes: list[bytes], may_end: bool,
                token: TokenReference | None) -> Expr:
        """Free text, then a triggered tag, an end, or nothing more."""
        expr = free_text(self.delimiters, [*triggered, *stops], excludes, may_end=may_end)
        if token is None:
            return expr
        text = AnyTextUntil(self.forbidden([*triggered, *stops], excludes), consume=False)
        return make.choice(expr, make.sequence(text, token))

    def dispatch(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Free text in which patterns call for formats. The ends of the tag around it do not end it."""
        rules = node["rules"]
        where = join(pointer, "rules")
        if not isinstance(rules, Sequence) or isinstance(rules, str) or not rules:
            raise StructuralTagError("rules is a list of pairs (pattern, format), not empty", pointer=where)
        excludes = self.excludes(node, pointer)
        again = self.flag(node, "loop", pointer, default=True)
        patterns = []
        for number, rule in enumerate(rules):
            if not isinstance(rule, Sequence) or isinstance(rule, str) or len(rule) != 2:
                raise StructuralTagError("a rule is a pair (pattern, format)", pointer=join(where, number))
            patterns.append(self.text(rule[0], f"{where}/{number}/0", empty=False))
        self.check_triggers(patterns, where)
        encoded = [self.delimiters.encode(pattern) for pattern in patterns]
        self.check_stops(encoded, excludes, pointer)
        contents = []
        for number, rule in enumerate(rules):
            contents.append((yield rule[1], f"{where}/{number}/1", None))
        name = self.contents.name("dispatch")
        self.contents.rules[name] = make.empty()
        then: Expr = Reference(name) if again else make.empty()
        triggered: list[Stop] = [(e, [(e, make.sequence(content, then))])
                                 for e, content in zip(encoded, contents, strict=True)]
        self.contents.rules[name] = free_text(self.delimiters, triggered, excludes, may_end=True)
        return Reference(name)

    def tag(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """begin content end."""
        begin = plain(node["begin"])
        if isinstance(begin, str):
            text = self.encoded(begin, join(pointer, "begin"))
            self.check_spellable(text, join(pointer, "begin"), "begin")
            start = self.delimiters.expression(text)
        else:
            start = self.token_format(begin, join(pointer, "begin"))
        return make.sequence(start, (yield from self.tag_body(node, pointer)))

    def tag_body(self, node: Any, pointer: str) -> Handler:
        """What a tag has behind its begin. Errors in it name the tag."""
        outer = self.inside
        begin = node["begin"]
        if isinstance(begin, str) and begin:
            self.inside = begin
        own = self.ends_of(plain(node["end"]), join(pointer, "end"))
        content = yield node["content"], join(pointer, "content"), own
        self.inside = outer
        return content

    def tag_node(self, node: Any, pointer: str) -> Mapping[str, Any]:
        """A tag where only tags may stand; its type may be left out."""
        if (type(node) is not dict and not isinstance(node, Mapping)) or node.get("type", "tag") != "tag":
            raise StructuralTagError("a tag is expected", pointer=pointer, hint='{"type": "tag", "begin": ..., ...}')
        check_fields(node, "tag", TAG_FIELDS, (), pointer)
        return node

    def tags_with_separator(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tags and nothing else, a separator between two."""
        separator = self.encoded(node["separator"], join(pointer, "separator"))
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        options: list[tuple[str, Expr]] = []
        others: list[Expr] = []
        for one, where in self.items(node["tags"], join(pointer, "tags")):
            begin = plain(self.tag_node(one, where)["begin"])
            body = yield from self.tag_body(one, where)
            if isinstance(begin, str):
                text = self.encoded(begin, join(where, "begin"))
                self.check_spellable(text, join(where, "begin"), "begin")
                options.append((text, body))
            else:
                others.append(make.sequence(self.token_format(begin, join(where, "begin")), body))
        one_tag = make.choice(*([self.delimiters.dispatch(options)] if options else []), *others)
        if not stop_after_first:
            name = self.contents.name("tag")
            self.contents.rules[name] = one_tag
            one_tag = Reference(name)
            rest = make.sequence(self.delimiters.expression(separator), one_tag)
            one_tag = make.sequence(one_tag, make.repeat(rest, 0))
        return one_tag if at_least_one else make.optional(one_tag)
