"""The tables that all grammars of one vocabulary share: its trie and class tries.

Made once for a fingerprint and kept as long as something that was compiled with it lives. Cost for 128,000
tokens: 40 ms and 15 MB, class tries for the common partitions of the bytes included.
"""

from __future__ import annotations

import threading
import weakref

from constrained.engine.distinct.texts import VocabularyTexts
from constrained.errors import GrammarError
from constrained.grammar.ir import TokenReference
from constrained.kernel.region_tables import prepare
from constrained.kernel.shared_grammar import SharedTables
from constrained.kernel.token_trie import TokenTrie
from constrained.vocabulary import TokenizerInfo

__all__ = ["VocabularyTrie", "trie_of"]


class VocabularyTrie(SharedTables):
    """A ``TokenTrie`` with the vocabulary it was made from. ``info`` is immutable, the trie grows class tries."""

    __slots__ = ("_nameable", "texts")

    info: TokenizerInfo

    def __init__(self, info: TokenizerInfo) -> None:
        super().__init__(info, TokenTrie(info.token_data, info.token_offsets))
        self._nameable: frozenset[int] | None = None
        prepare(self.trie)
        #: What grammars with ``Distinct`` ask of the tokens.
        self.texts = VocabularyTexts(info, self.trie)

    def resolve(self, reference: TokenReference) -> frozenset[int]:
        """The ids a token reference means. Raises ``GrammarError`` for a token that the vocabulary lacks."""
        ids: set[int] = set()
        info = self.info
        for token in reference.tokens:
            if isinstance(token, str):
                found = info.token_ids_by_text.get(token)
                if found is None:
                    raise GrammarError(
                        f"the vocabulary has no control or added token {token!r:.100}",
                        hint="name a token by its exact text, or by id as <[123]>",
                    )
                ids.update(found)
            elif 0 <= token < info.vocab_size:
                ids.add(token)
            else:
                raise GrammarError(f"token id {token} is out of range: the vocabulary has {info.vocab_size} ids")
        if not reference.exclude:
            return frozenset(ids)
        if self._nameable is None:
            offsets = info.token_offsets
            text = set((offsets[1:] != offsets[:-1]).nonzero()[0].tolist())
            self._nameable = frozenset((text | info.special_token_ids) - set(info.stop_token_ids))
        return self._nameable - ids


_known: weakref.WeakValueDictionary[str, VocabularyTrie] = weakref.WeakValueDictionary()
_guard = threading.Lock()


def trie_of(info: TokenizerInfo) -> VocabularyTrie:
    """The shared tables of a vocabulary, built on first use."""
    found = _known.get(info.fingerprint)
    if found is None:
        built = VocabularyTrie(info)
        with _guard:
            found = _known.setdefault(info.fingerprint, built)
    return found
