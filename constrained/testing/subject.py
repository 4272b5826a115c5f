"""The checks of one schema, type, pattern or grammar. Each returns the subject, so that they can be chained."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constrained.api.compiler import GrammarCompiler
from constrained.api.grammar import Grammar
from constrained.engine.compiled import CompiledGrammar
from constrained.engine.matcher import GrammarMatcher
from constrained.errors import ConstrainedError
from constrained.frontends.json_schema.coverage import coverage
from constrained.testing.judges import Judge, judge_of
from constrained.testing.snapshots import compare
from constrained.testing.walks import byte_vocabulary, random_text, random_tokens

__all__ = ["Fuzzed", "Subject"]

SHOWN = 300
"""Characters of a text in a message."""


class Subject:
    """What is tested. Made by the fixture ``constrain``, or by hand.

    Args:
        what: a type, a Pydantic model, a JSON Schema (dict, bool or text), a compiled ``re`` pattern, or a ``Grammar``.
        recording: the file of its coverage, if there is one; ``update``: write it.
        options: as ``Grammar.from_json_schema`` and ``Grammar.from_type`` take them.

    Raises:
        ConstrainedError: it cannot be compiled; see the front ends.
    """

    def __init__(self, what: Any, *, recording: Path | None = None, update: bool = False, **options: Any) -> None:
        self.what = what
        self.options = options
        self.judge: Judge | None = judge_of(what)
        self._recording = recording
        self._update = update
        self.compiled: CompiledGrammar = _compile(what, options)

    def accepts(self, *texts: Any) -> Subject:
        """Each text (or value, written with ``json.dumps``) is a whole text of the grammar."""
        __tracebackhide__ = True
        for given in texts:
            text = _text(given)
            wrong = self._refusal(text)
            if wrong is not None:
                raise AssertionError(f"not accepted: {text!r:.{SHOWN}}: {wrong}{self._second_opinion(text)}")
        return self

    def rejects(self, *texts: Any) -> Subject:
        """No text (or value) is a whole text of the grammar."""
        __tracebackhide__ = True
        for given in texts:
            text = _text(given)
            if self._refusal(text) is None:
                raise AssertionError(f"accepted: {text!r:.{SHOWN}}{self._second_opinion(text)}")
        return self

    def tokenizations_agree(self, *texts: Any, tries: int = 20, seed: int = 0) -> Subject:
        """However a text is cut into tokens, it is accepted or not alike, and each token is in the mask before it."""
        __tracebackhide__ = True
        rng = random.Random(seed)
        for given in texts:
            text = _text(given)
            expected = self._refusal(text) is None
            for _ in range(tries):
                tokens = random_tokens(text.encode(), rng)
                matcher = GrammarMatcher(self.compiled)
                taken = 0
                for token in tokens:
                    allowed = token in matcher.allowed_token_ids()
                    if matcher.accept_token(token) != allowed:
                        raise AssertionError(f"mask and matcher disagree on token {taken} of {tokens}")
                    if not allowed:
                        break
                    taken += 1
                if (taken == len(tokens) and matcher.is_completed()) != expected:
                    raise AssertionError(f"{text!r:.{SHOWN}} is accepted by some tokens only: not by {tokens}")
        return self

    def fuzz(self, n: int = 100, *, seed: int = 0, longest: int = 400) -> Fuzzed:
        """``n`` random texts of the grammar, about ``longest`` bytes at most; equal seeds give equal texts."""
        rng = random.Random(seed)
        return Fuzzed(self, [random_text(self.compiled, rng, longest=longest) for _ in range(n)])

    def coverage_is_exact(self) -> Subject:
        """Everything the schema or type says is enforced."""
        __tracebackhide__ = True
        report = self._coverage()
        if not report.exact:
            lines = [f"  {entry.pointer or '/'}: {entry.status}: {entry.reason}" for entry in report.entries
                     if entry.status != "enforced"]
            raise AssertionError("not everything is enforced:\n" + "\n".join(lines[:20]))
        return self

    def coverage_is_as_recorded(self) -> Subject:
        """What is enforced, relaxed and unsupported is what the recorded file says (``pytest --update-coverage``)."""
        __tracebackhide__ = True
        if self._recording is None:
            raise ConstrainedError("coverage is recorded beside a test: use the fixture `constrain`")
        compare(self._coverage(), self._recording, update=self._update)
        return self

    def _coverage(self) -> Any:
        if isinstance(self.what, (Grammar, re.Pattern)):
            raise ConstrainedError("coverage is a matter of schemas and types",
                                   hint="a grammar is enforced as it stands")
        return coverage(json.loads(self.what) if isinstance(self.what, (str, bytes)) else self.what, **self.options)

    def _refusal(self, text: str) -> str | None:
        matcher = GrammarMatcher(self.compiled)
        data = text.encode()
        for i in range(len(data)):
            if not matcher.accept_string(data[i : i + 1]):
                return f"nothing goes on after {data[:i].decode('utf-8', 'replace')[-60:]!r} with {chr(data[i])!r}"
        return None if matcher.is_completed() else "it is not complete"

    def _second_opinion(self, text: str) -> str:
        if self.judge is None:
            return ""
        wrong = self.judge(text)
        return "\n(the validator says it is valid)" if wrong is None else f"\n(the validator says: {wrong:.{SHOWN}})"


@dataclass(frozen=True)
class Fuzzed:
    """Random texts of a subject's grammar."""

    subject: Subject
    texts: list[bytes] = field(repr=False)

    def all_valid(self) -> Subject:
        """Each text is UTF-8, and valid in the eyes of Pydantic, jsonschema or ``re``.

        Raises ``ConstrainedError`` for a ``Grammar``, which nobody else can judge: use ``all`` with a function.
        """
        __tracebackhide__ = True
        if self.subject.judge is None:
            raise ConstrainedError("nobody but the grammar itself can judge its texts", hint="use .all(function)")
        return self.all(self.subject.judge)

    def all(self, judge: Judge) -> Subject:
        """``judge(text)`` gives None for each text; what it says otherwise is the message."""
        __tracebackhide__ = True
        for text in self.texts:
            wrong = judge(text.decode("utf-8"))
            if wrong is not None:
                raise AssertionError(
                    f"accepted by the grammar but not valid: {text.decode()!r:.{SHOWN}}: {wrong:.{SHOWN}}")
        return self.subject


def _compile(what: Any, options: dict[str, Any]) -> CompiledGrammar:
    compiler = GrammarCompiler(byte_vocabulary())
    if isinstance(what, Grammar):
        return compiler.compile_grammar(what)
    if isinstance(what, re.Pattern):
        return compiler.compile_regex(what.pattern)
    return compiler.compile_json_schema(what, **options)


def _text(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, bytes):
        return given.decode("utf-8")
    return json.dumps(given, ensure_ascii=False)
