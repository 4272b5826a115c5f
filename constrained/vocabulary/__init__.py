"""Vocabularies: the bytes of every token, which tokens are control tokens, which of them end a text.

``TokenizerInfo`` is the one type; its ``from_*`` class methods read one kind of source each, in the module
named after it (optional packages are imported there, and only when called).
"""

from constrained.vocabulary.tokenizer_info import TokenizerInfo, VocabType

__all__ = ["TokenizerInfo", "VocabType"]
