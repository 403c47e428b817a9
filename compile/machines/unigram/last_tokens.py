"""The last-token automaton of a Unigram table whose words begin with spaces, such as the table of T5."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from fst.automata.last_tokens import NOWHERE, LastTokens, characters_of, classes_by, unchanged
from fst.automata.rows import Array
from fst.errors import UnsupportedError, listed
from fst.machines.unigram import viterbi
from fst.machines.unigram.table import UnigramTable
from fst.tables.decoder_steps import plan
from fst.tables.header import StepsDecoder
from fst.text.normalizer import Normalizer
from fst.text.whitespace import ALWAYS, FIRST

SPACE, LETTER, LONGER, OTHER = range(4)  # classes: a space, a character with a token, a character only inside longer tokens, all others
# The states: the beginning of a text, the space that decoding removes from it, inside a word, and the space before another word.
BEGIN, FIRST_SPACE, INSIDE, LATER_SPACE = range(4)


def last_tokens(table: UnigramTable) -> LastTokens:
    """The last-token automaton of a table."""
    by = table.metadata.text.normalizer
    if table.has_text_scope or table.restarts != viterbi.BEFORE_SPACE or by is None:
        raise UnsupportedError("canonical masks cover Unigram if words begin with spaces and are segmented one by one; use canonical=False")
    space = by.whitespace
    if not space.symbol or space.keeps_symbol or space.prefix not in (ALWAYS, FIRST):
        raise UnsupportedError("canonical masks cover Unigram if each text begins with the symbol for a space; use canonical=False")
    known = table.metadata.model.model_tokens
    names = [table.content(token).decode().replace(space.symbol, " ") for token in range(known)]
    _need_plain_decoder(table, names)
    kept = _fixed({*"".join(names)} - {" "}, by)
    marks = [char for char in kept if unicodedata.combining(char) or "\u1160" <= char <= "\u11ff"]
    if marks:
        raise UnsupportedError(f"the tokens contain characters that compose with others: {listed(sorted(marks))}; use canonical=False")
    alone = kept & {*names}
    classes = classes_by([" ", "".join(alone), "".join(kept - alone)], OTHER)
    sizes = np.array([len(name.encode()) for name in names], np.int32)
    own = table.trie, table.scores.astype(np.float64), float(table.unknown)
    cuts, ends = _cuts(table)
    risky = np.array([0, 0, 1, 0], np.uint8)
    automaton = np.empty(0, np.uint32), np.empty(0, np.int32)
    arrays = characters_of(classes), cuts, ends, risky, *unchanged(len(risky)), *automaton
    return LastTokens(*arrays, 0, sizes, *own, begins_with_space=True)


def _cuts(table: UnigramTable) -> tuple[Array, Array]:
    keeps_runs, keeps_end = ("".join(part for part, _ in table.parts(text)) == f" {text}" for text in ("a  a", "a "))
    cuts = np.full((4, 2, 4), NOWHERE, np.int16)
    cuts[BEGIN, 1, SPACE] = FIRST_SPACE
    cuts[INSIDE, 1, SPACE] = LATER_SPACE
    cuts[LATER_SPACE, 1, SPACE] = LATER_SPACE if keeps_runs else NOWHERE
    cuts[[[FIRST_SPACE], [INSIDE], [LATER_SPACE]], 0, [LETTER, LONGER]] = INSIDE
    return cuts, np.array([1, 0, 1, keeps_end], np.uint8)


def _need_plain_decoder(table: UnigramTable, names: Sequence[str]) -> None:
    """Refuse a decoder that changes more than the symbols for spaces."""
    decoder = table.metadata.settings.decoder
    by = plan(decoder.steps) if isinstance(decoder, StepsDecoder) else None
    if by is None or any(by.content(token) != name.encode() for token, name in zip(table.tokens, names, strict=False)):
        raise UnsupportedError("canonical masks cover Unigram if decoding changes only the symbols for spaces; use canonical=False")


def _fixed(chars: set[str], by: Normalizer) -> set[str]:
    """The characters that the normalizer does not change."""
    return {char for char in chars if by.normalized(f"a{char}a")[0].strip() == f"a{char}a"}
