"""Make the source of a BPE whose vocabulary names tokens by their place in a word, as ``new@@`` and ``new``.

A word is merged as with an ``end_of_word_suffix``: its characters are the first subwords, and the last of them has the suffix ``</w>``.
Then each subword becomes the id of its name, or of the unknown token, see `fst.machines.bpe.subwords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.sources.codes.files import END_OF_WORD, Pair
from fst.machines.bpe.affixes import Affixes
from fst.pretokens.token_letters import Letters

SEPARATOR = "@@"
LETTERS = Letters(are_bytes=False, symbol="")
AFFIXES = Affixes(suffix=END_OF_WORD.encode())

Naming = Callable[[str, bool], str]  # a function from a subword without suffix, and whether it ends a word, to a name


def with_separator(subword: str, is_last: bool) -> str:
    """The name of a subword of fastBPE and subword-nmt: the separator marks that the word goes on.

    Examples:
        >>> with_separator("new", False), with_separator("new", True)
        ('new@@', 'new')
    """
    return subword if is_last else subword + SEPARATOR


def with_suffix(subword: str, is_last: bool) -> str:
    """The name of a subword of XLM: the suffix marks the end of the word."""
    return subword + END_OF_WORD if is_last else subword


def model_of(merges: Sequence[Pair], names: Mapping[str, int], unk_token: str, name: Naming) -> BpeModel:
    """The model of merges and of a vocabulary that contains `unk_token`. `name` makes the names of subwords."""
    ids: dict[bytes, int] = {}
    for subword in _subwords(merges, names, name):
        part = AFFIXES.part(subword)
        ids[subword] = names.get(name(part.body.decode(), part.is_last), names[unk_token])
    pairs = ((left.encode(), right.encode()) for left, right in merges)
    return BpeModel(
        vocabulary=dict(zip(ids, range(len(ids)), strict=True)),
        merges=[pair for pair in pairs if AFFIXES.joined(*map(AFFIXES.part, pair))],
        ignore_merges=False,
        names=names,
        unk_token=unk_token,
        affixes=AFFIXES,
        letters=LETTERS,
        subword_ids=[*ids.values()],
    )


def _subwords(merges: Sequence[Pair], names: Iterable[str], name: Naming) -> Iterator[bytes]:
    """The strings of merges, and the characters that have a name, all with the suffix of their place."""
    for left, right in merges:
        yield from (subword.encode() for subword in (left, right, left + right))
    lengths = {is_last: len(name("", is_last)) for is_last in (False, True)}
    for is_last, more in lengths.items():
        for token in names:
            if len(token) == 1 + more and name(token[0], is_last) == token:
                yield token[0].encode() + AFFIXES.suffix * is_last


def split(pattern: str, *, inverts: bool) -> dict[str, Any]:
    """A split whose pre-tokens are the matches of a pattern, or if not `inverts`, the parts between them."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": inverts}
