"""Explain the tokens of WordPiece step by step, as in Table 2 of Song et al. 2021, *Fast WordPiece Tokenization*."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fst.cli.terminal import table, visible
from fst.errors import counted

if TYPE_CHECKING:
    from fst.compile.machines.wordpiece.model import WordPieceModel
    from fst.compile.text.source import Source

END_OF_WORD = "(end)"  # shown in place of a character at the end of a word
START = "(root)"  # the node of the empty string


class Explanation:
    """Explanations of texts by the automaton of a vocabulary; states and symbols have readable names."""

    def __init__(self, source: Source[WordPieceModel]) -> None:
        from fst.compile.machines.wordpiece.compiler import automaton

        self._model, self._added = source.model, source.added
        self._alphabet, self._transducer = automaton(source)
        self._failure, self._trie = self._transducer.failure, self._transducer.trie
        self._readable = self._alphabet.readable()
        self._names = {number: token for token, number in [*source.model.tokens.items(), *source.added.specials.items()]}

    def lines(self, text: str) -> Iterator[str]:
        """Yield the lines that explain a text: its special tokens and words, in order."""
        if self._added.contextual:
            yield f"not shown: {len(self._added.contextual)} added tokens that depend on normalized text or on the text next to them"
            yield ""
        for place, piece in enumerate(self._alphabet.run(text)):
            if place:
                yield ""
            if isinstance(piece, int):
                yield f"{visible(self._names[piece])}: a special token, id {piece}"
            else:
                yield from self._word(piece)

    def _word(self, word: str) -> Iterator[str]:
        yield f"{visible(word)}: a word of {counted(len(word), 'character')}"
        limit = self._model.max_input_chars_per_word
        if len(word) > limit:
            yield f"more than {counted(limit, 'character')} (max_input_chars_per_word): an unknown word"
            yield self._result(None)
        elif self._stands_alone(word):
            yield "a single character that is always a word: one look-up"
            yield self._result([self._model.tokens[word]] if word in self._model.tokens else None)
        else:
            yield from self._segmented(word)

    def _stands_alone(self, word: str) -> bool:
        """Whether a word is a single isolated symbol, such as a punctuation mark. The id of such a word is in the classes, not in the
        trie.
        """
        return len(word) == 1 and not self._readable[ord(word)]

    def _segmented(self, word: str) -> Iterator[str]:
        found = self._failure.run(word)
        yield "LinMaxMatch: each step follows an edge of the trie, or else a failure link, which pops tokens"
        yield from table(("step", "char", "move", "from -> to", "pops", "tokens so far"), list(self._steps(word)))
        if found is None and word == self._model.continuing_subword_prefix:
            yield "the word is the suffix indicator itself: nothing was matched"
        yield self._result(found)
        yield "folded into a transducer: one transition for each character"
        yield from table(("char", "state", "output"), list(self._transitions(word)))
        yield self._result(self._transducer.run(word))

    def _steps(self, word: str) -> Iterator[tuple[str, ...]]:
        so_far: list[int] = []
        for number, step in enumerate(self._failure.steps(word), 1):
            so_far.extend(step.pops)
            move = "failure" if step.failure else "goto"
            link = f"{self._node(step.source)} -> {self._node(step.target)}"
            yield str(number), character(step.char), move, link, self._tokens(step.pops), self._tokens(so_far)

    def _transitions(self, word: str) -> Iterator[tuple[str, ...]]:
        state = 0
        for char in word:
            state, output = self._transducer.step(state, char)
            yield character(char), self._node(state), self._tokens(output)
            if state < 0:
                return
        if self._failure.whole[state]:
            yield END_OF_WORD, START, self._tokens(self._failure.all_pops(state))
        else:
            yield END_OF_WORD, "null", ""

    def _result(self, ids: list[int] | None) -> str:
        return "= " + (visible(self._model.unk_token) if ids is None else self._tokens(ids))

    def _node(self, node: int) -> str:
        if node < 0:
            return "null"
        return visible(self._trie.name(node)) if node else START

    def _tokens(self, ids: Sequence[int]) -> str:
        return " ".join(visible(self._names[number]) for number in ids)


def character(char: str) -> str:
    """A character as the output shows it; the empty string means the end of a word."""
    if not char:
        return END_OF_WORD
    return f"U+{ord(char):04X}" if char.isspace() or unicodedata.combining(char) else visible(char)
