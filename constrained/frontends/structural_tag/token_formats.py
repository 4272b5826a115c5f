"""Formats by token: one, one but these, any number, and tokens that begin tags or call for formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from constrained.errors import StructuralTagError
from constrained.frontends.structural_tag.fields import Ends, Handler, join, plain
from constrained.frontends.structural_tag.free_formats import FreeFormats
from constrained.grammar import combinators as make
from constrained.grammar.ir import Expr

__all__ = ["TokenFormats"]


class TokenFormats(FreeFormats):
    """See the module docstring."""

    def token(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One token."""
        yield from ()
        return self.token_of(node["token"], join(pointer, "token"))

    def exclude_token(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """One token but these."""
        yield from ()
        return self.other_tokens(node.get("exclude_tokens") or [], join(pointer, "exclude_tokens"))

    def any_tokens(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Any number of tokens but these, and the token that ends the tag."""
        yield from ()
        tokens = list(node.get("exclude_tokens") or [])
        if ends is not None and ends.token is not None:
            tokens += ends.token.tokens
        body = self.other_tokens(tokens, join(pointer, "exclude_tokens"))
        most = self.budget(node, "max_tokens", pointer)
        return make.repeat(body, 0, most, limits=self.limits)

    def token_triggered_tags(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tokens, among which some begin tags."""
        where = join(pointer, "trigger_tokens")
        triggers = node["trigger_tokens"]
        if not isinstance(triggers, Sequence) or isinstance(triggers, str) or not triggers:
            raise StructuralTagError("trigger_tokens is a list of tokens, not empty", pointer=where)
        for number, token in enumerate(triggers):
            self.token_of(token, join(where, number))
        at_least_one = self.flag(node, "at_least_one", pointer)
        stop_after_first = self.flag(node, "stop_after_first", pointer)
        tags = []
        for one, at in self.items(node["tags"], join(pointer, "tags")):
            begin = plain(self.tag_node(one, at)["begin"])
            if not isinstance(begin, Mapping) or begin.get("type") != "token" or "token" not in begin:
                raise StructuralTagError("a tag that a token triggers begins with a token", pointer=join(at, "begin"),
                                         hint='"begin": {"type": "token", "token": ...}')
            mine = self.same_token(begin["token"], triggers)
            if not mine:
                raise StructuralTagError(f"the token {begin['token']!r:.60} is no trigger", pointer=join(at, "begin"),
                                         hint="list it in trigger_tokens")
            tags.append((yield {"type": "tag", **one}, at, None))
        first = make.choice(*tags)
        excluded = [*triggers, *(node.get("exclude_tokens") or [])]
        if ends is not None and ends.token is not None:
            excluded += ends.token.tokens
        other = make.repeat(self.other_tokens(excluded, join(pointer, "exclude_tokens")), 0)
        closed: Expr = self.end(ends) if ends is not None else make.empty()
        if stop_after_first:
            return make.sequence(first, closed) if at_least_one else make.choice(
                make.sequence(other, first, closed), make.sequence(other, closed))
        rest = make.sequence(other, make.repeat(make.sequence(first, other), 0), closed)
        return make.sequence(first, rest) if at_least_one else rest

    def token_dispatch(self, node: Any, pointer: str, ends: Ends | None) -> Handler:
        """Tokens, among which some call for formats."""
        rules = node["rules"]
        where = join(pointer, "rules")
        if not isinstance(rules, Sequence) or isinstance(rules, str) or not rules:
            raise StructuralTagError("rules is a list of pairs (token, format), not empty", pointer=where)
        again = self.flag(node, "loop", pointer, default=True)
        options = []
        excluded = list(node.get("exclude_tokens") or [])
        for number, rule in enumerate(rules):
            if not isinstance(rule, Sequence) or isinstance(rule, str) or len(rule) != 2:
                raise StructuralTagError("a rule is a pair (token, format)", pointer=join(where, number))
            token = self.token_of(rule[0], f"{where}/{number}/0")
            content = yield rule[1], f"{where}/{number}/1", None
            options.append(make.sequence(token, content))
            excluded.append(rule[0])
        if ends is not None and ends.token is not None:
            excluded += ends.token.tokens
        other = make.repeat(self.other_tokens(excluded, join(pointer, "exclude_tokens")), 0)
        if not again:
            return make.sequence(other, make.optional(make.choice(*options)))
        return make.sequence(other, make.repeat(make.sequence(make.choice(*options), other), 0))
