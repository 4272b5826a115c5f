"""Chat templates: messages to the text that a model was trained on, by the Jinja template of its checkpoint.

Idea: a template is somebody else's program, so it runs in Jinja's immutable sandbox and sees plain JSON values only
(messages, tools and extra values are written as JSON and read back). It gets what the field's templates rely on:
``raise_exception``, ``strftime_now``, ``tojson`` without HTML escapes, loop controls, ``namespace`` and the
``generation`` block; ``trim_blocks`` and ``lstrip_blocks`` are on. Rendering equals that of transformers'
``apply_chat_template(..., tokenize=False)``.

``encode_chat`` goes on to token ids. Control tokens that the *template* writes become control tokens; those that stand
in the *messages* stay ordinary text, so what a user writes cannot end a turn or begin one.

Cost: compiling a template 1-20 ms, once a ``ChatTemplate``; rendering well under a millisecond for a short chat.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from constrained.errors import ConstrainedError, echo

if TYPE_CHECKING:
    from constrained.vocabulary import TokenizerInfo

__all__ = ["ChatTemplate", "ChatTemplateError", "encode_chat", "encode_prompt_text"]

GUARD = "\ufdd0"
"""A noncharacter (Unicode 23.7: never in interchanged text) that splits a control token's text in a message."""

REASONING_NAMES = ("reasoning_content", "thinking", "reasoning")
"""Under which names a message's reasoning is handed over; templates read the first, those of gpt-oss the second."""


class ChatTemplateError(ConstrainedError):
    """A chat template cannot be read, refuses the messages, or Jinja is not installed."""


class ChatTemplate:
    """A compiled chat template. Immutable; may be used from several threads.

    Args:
        source: Jinja text: ``tokenizer.chat_template`` of a GGUF file, ``chat_template.jinja``, or the entry of
            ``tokenizer_config.json``.
        bos_token, eos_token: written forms, None where the model has none (the template then sees no such name).
        special_tokens: further names that the template may use (``pad_token``, ...).

    Raises:
        ChatTemplateError: the template is no Jinja, or jinja2 is not installed.
    """

    __slots__ = ("_template", "source", "special_tokens")

    def __init__(self, source: str, *, bos_token: str | None = None, eos_token: str | None = None,
                 special_tokens: Mapping[str, str] | None = None) -> None:
        if not isinstance(source, str):
            raise ChatTemplateError(f"a chat template is Jinja text, not {type(source).__name__}")
        self.source = source
        named = {"bos_token": bos_token, "eos_token": eos_token, **(special_tokens or {})}
        self.special_tokens = {name: text for name, text in named.items() if text is not None}
        self._template = _compiled(source)

    def render(self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Any] | None = None,
               add_generation_prompt: bool = True, documents: Sequence[Any] | None = None, **extra: Any) -> str:
        """The chat as text. ``tools`` in OpenAI's form; ``extra`` is seen by the template (``enable_thinking=False``).

        Raises :class:`ChatTemplateError` where the template refuses the messages, with its own words.
        """
        from jinja2 import TemplateError

        chat = [_message(message) for message in messages]
        try:
            text: str = self._template.render(
                messages=_plain(chat), tools=_plain(tools), documents=_plain(documents),
                add_generation_prompt=add_generation_prompt, **{**self.special_tokens, **_plain(extra)})
        except TemplateError as error:
            raise ChatTemplateError(f"the model's chat template refuses these messages: {echo(str(error))}") from None
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
            raise ChatTemplateError(f"the model's chat template fails on these messages: {type(error).__name__}: "
                                    f"{echo(str(error))}", hint="see which fields of a message it reads") from None
        return text

    def __repr__(self) -> str:
        return f"<ChatTemplate of {len(self.source)} characters>"


def encode_chat(template: ChatTemplate, info: TokenizerInfo, messages: Sequence[Mapping[str, Any]], *,
                tools: Sequence[Any] | None = None, add_generation_prompt: bool = True, **extra: Any) -> list[int]:
    """Token ids of a chat. Raises :class:`ChatTemplateError` as ``render``, and where the text cannot be encoded."""
    pattern = _control_tokens(info)
    text = template.render(_guarded(list(messages), pattern), tools=_guarded(tools, pattern),
                           add_generation_prompt=add_generation_prompt, **extra)
    return encode_prompt_text(info, text)


def encode_prompt_text(info: TokenizerInfo, text: str) -> list[int]:
    """Token ids of rendered text: written control and added tokens become their ids, the rest is encoded between them.

    Raises :class:`ChatTemplateError` where the tokenizer cannot encode a part exactly.
    """
    pattern = _token_texts(info)
    ids: list[int] = []
    here = 0
    for found in pattern.finditer(text) if pattern is not None else ():
        ids += _encoded(info, text[here : found.start()])
        ids.append(info.token_ids_by_text[found.group()][0])
        here = found.end()
    return ids + _encoded(info, text[here:])


def _encoded(info: TokenizerInfo, text: str) -> list[int]:
    text = text.replace(GUARD, "")
    if not text:
        return []
    ids = info.encode(text)
    if ids is None:
        raise ChatTemplateError(f"the tokenizer cannot encode {echo(text)} exactly",
                                hint="it has no encoder (pip install tokenizers), or lacks a byte of the text")
    return ids


# -- what the template sees ---------------------------------------------------------------------------------


def _message(message: Any) -> dict[str, Any]:
    """A message as a dict without empty entries, its reasoning under every name that templates read."""
    if not isinstance(message, Mapping):
        dump = getattr(message, "model_dump", None)
        message = dump() if callable(dump) else message
    if not isinstance(message, Mapping):
        raise ChatTemplateError(f"a message is a dict with role and content, not {type(message).__name__}")
    kept = {key: value for key, value in message.items() if value is not None}
    reasoning = next((kept[name] for name in REASONING_NAMES if name in kept), None)
    return kept if reasoning is None else {"thinking": reasoning, **kept, "reasoning_content": reasoning}


def _plain(value: Any) -> Any:
    """``value`` as JSON has it: a template cannot reach methods of the caller's objects."""
    try:
        return json.loads(json.dumps(value, default=_as_json))
    except (TypeError, ValueError, RecursionError) as error:
        raise ChatTemplateError(f"messages and tools must be JSON values: {type(error).__name__}: "
                                f"{echo(str(error))}") from None


def _as_json(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return f"<{type(value).__name__}>"


# -- control tokens in text ---------------------------------------------------------------------------------


def _alternatives(texts: Iterable[str]) -> re.Pattern[str] | None:
    ordered = sorted((text for text in texts if text), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _token_texts(info: TokenizerInfo) -> re.Pattern[str] | None:
    """The written forms of control and added tokens, longest first."""
    return _alternatives(info.token_ids_by_text)


def _control_tokens(info: TokenizerInfo) -> re.Pattern[str] | None:
    special = info.special_token_ids
    return _alternatives(text for text, ids in info.token_ids_by_text.items()
                         if len(text) > 1 and any(i in special for i in ids))


def _guarded(value: Any, pattern: re.Pattern[str] | None) -> Any:
    """``value`` with every control token's text in it split by the guard."""
    if pattern is None or value is None:
        return value
    try:
        text = json.dumps(value, default=_as_json, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return value  # refused, with words, when it is rendered
    if not pattern.search(text):
        return value
    return _map_strings(json.loads(text), lambda s: pattern.sub(lambda m: m.group()[0] + GUARD + m.group()[1:], s))


def _map_strings(root: Any, change: Any) -> Any:
    """``root`` with every string value (not key) changed, with a stack of its own."""
    holder = [root]
    stack: list[Any] = [holder]
    while stack:
        node = stack.pop()
        for key in range(len(node)) if isinstance(node, list) else list(node):
            child = node[key]
            if isinstance(child, str):
                node[key] = change(child)
            elif isinstance(child, (list, dict)):
                stack.append(child)
    return holder[0]


# -- Jinja --------------------------------------------------------------------------------------------------


def _compiled(source: str) -> Any:
    try:
        import jinja2
        from jinja2.ext import Extension
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ChatTemplateError("chat templates need the package jinja2",
                                hint="pip install 'constrained[chat]'") from None

    class GenerationBlock(Extension):
        """``{% generation %}``: marks what the model wrote; here it only renders its body."""

        tags = {"generation"}  # noqa: RUF012 - the name and type that Jinja asks for

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.Scope(body).set_lineno(line)

    def check_name(name: str) -> None:
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace cannot hold {name!r}")

    class PlainNamespace(jinja2.utils.Namespace):
        """``namespace(...)`` whose names do not begin with an underscore: no way to Python's internals."""

        def __init__(self, /, *args: Any, **values: Any) -> None:
            held = dict(*args, **values)
            for name in held:
                check_name(name)
            super().__init__(held)

        def __setitem__(self, name: str, value: Any) -> None:
            check_name(name)
            super().__setitem__(name, value)

    def raise_exception(message: str) -> None:
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value: Any, ensure_ascii: bool = False, indent: int | None = None,
               separators: tuple[str, str] | None = None, sort_keys: bool = False) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=[GenerationBlock, "jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    environment.globals["namespace"] = PlainNamespace
    try:
        return environment.from_string(source)
    except jinja2.TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        raise ChatTemplateError(f"the chat template cannot be read{place}: {echo(str(error))}") from None
    except RecursionError:
        raise ChatTemplateError("the chat template is nested too deeply") from None
