"""Compile byte-level BPE: the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fst.compile.sources.byte_level import bytes_of, spelled
from fst.compile.sources.merges_txt import pairs
from fst.compile.sources.source import Source
from fst.compile.text.components import field_of, mapping, only, sequence
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.table import Table

Merge = tuple[bytes, bytes]

FIELDS = "type vocab merges dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges"
# UTF-8 has no other bytes.
BYTES_OF_TEXT = (*range(0x80), *range(0x80, 0xC0), *range(0xC2, 0xF5))


@dataclass(frozen=True)
class BpeModel:
    """A BPE model over bytes, named as in Hugging Face's ``tokenizers``.

    Attributes:
        vocabulary: the bytes of each token → id. A piece is a string of bytes.
        merges: pairs of tokens, the lowest rank first. None: each pair may merge whose bytes are a token, and the id of that token is the
            rank, as in tiktoken.
        ignore_merges: whether a whole piece that is a token is that token, whatever the merges say; always so in tiktoken.
        names: tokens as users see them → id. This includes tokens that no text has, such as special ones.
        unk_token: the token that the source names as unknown. No text has it: every byte is a token.
    """

    kind: ClassVar[str] = "BPE"
    vocabulary: Mapping[bytes, int]
    merges: Sequence[Merge] | None
    ignore_merges: bool
    names: Mapping[str, int]
    unk_token: str | None = None

    @classmethod
    def of_json(cls, model: Mapping[str, Any]) -> BpeModel:
        """The model of a ``tokenizer.json``.

        Raises:
            UnsupportedError: it has a field that is not known, or asks for something that changes ids and is not supported.
            ValueError: it is not laid out as a model.
        """
        only(model, "model", FIELDS)
        _refuse(model)
        names = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
        _need_ids(names)
        merges = _known(_pairs(sequence(field_of(model, "merges", "model"), "merges of the model")), names)
        spellings = ((bytes_of(name), number) for name, number in names.items())
        return cls(
            vocabulary={token: number for token, number in spellings if token},
            merges=_ranked(merges),
            ignore_merges=_flag(model, "ignore_merges"),
            names=names,
            unk_token=model.get("unk_token"),
        )

    @classmethod
    def of_ranks(cls, ranks: Mapping[bytes, int], others: Mapping[str, int]) -> BpeModel:
        """The model of tiktoken's ranks, which are ids too.

        Args:
            ranks: the bytes of each token → id.
            others: tokens that no text has, and their ids.
        """
        names = {spelled(token): number for token, number in ranks.items()}
        return cls(vocabulary=ranks, merges=None, ignore_merges=True, names={**names, **others})

    @property
    def tokens(self) -> Mapping[str, int]:
        """Token → id, as `fst.compile.sources.source.Model` has it."""
        return self.names

    def check(self, where: str) -> None:
        """Raise an error if the model cannot be compiled; `where` begins the message."""
        missing = [byte for byte in BYTES_OF_TEXT if bytes([byte]) not in self.vocabulary]
        if missing:
            lacking = f"{len(missing)} of the bytes that text may have, such as {missing[0]:#04x}"
            raise UnsupportedError(f"{where} has no tokens for {lacking}: only a BPE vocabulary that has them all can be compiled")
        holders: dict[int, str] = {}
        for name, number in self.names.items():
            if holders.setdefault(number, name) != name:
                raise VocabularyError(f"{where}: tokens {quoted(holders[number])} and {quoted(name)} have one id, {number}")


def assemble(source: Source[BpeModel], layout: str) -> Table:  # noqa: ARG001
    """The table of a source."""
    raise UnsupportedError("BPE tables are not made yet")


def _refuse(model: Mapping[str, Any]) -> None:
    """Refuse what changes ids and is not supported. A vocabulary with all bytes knows no unknown text, so the rest has no effect."""
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            raise UnsupportedError(f"model BPE with {name} {quoted(model[name])}: only byte-level BPE without one can be compiled")
    if model.get("dropout"):
        raise UnsupportedError(f"model BPE with dropout {quoted(model['dropout'])}, by which ids are random: set it to null")
    for name in ("fuse_unk", "byte_fallback"):
        _flag(model, name)
    if not isinstance(model.get("unk_token"), str | None):
        raise ValueError(f"unk_token is {quoted(model['unk_token'])}; it is a string or null")


def _flag(model: Mapping[str, Any], name: str) -> bool:
    flag = model.get(name, False)
    if not isinstance(flag, bool):
        raise ValueError(f"{name} is {quoted(flag)}; it is true or false")
    return flag


def _need_ids(names: Mapping[str, Any]) -> None:
    for name, number in names.items():
        if type(number) is not int:
            raise ValueError(f"token {quoted(name)} has the id {quoted(number)}; ids are whole numbers")


def _pairs(merges: Sequence[Any]) -> Sequence[tuple[str, str]]:
    """Merges as pairs. A file has strings or lists, not both."""
    if all(isinstance(merge, str) for merge in merges):
        return pairs(merges)
    for rank, merge in enumerate(merges, 1):
        if not (isinstance(merge, list) and len(merge) == 2 and all(isinstance(part, str) for part in merge)):
            raise ValueError(f"merge {rank} is {quoted(merge)}; merges are all strings, or all lists of two tokens")
    return [(first, second) for first, second in merges]


def _known(merges: Sequence[tuple[str, str]], names: Mapping[str, int]) -> Sequence[tuple[str, str]]:
    """Merges, if the vocabulary has the tokens that they join and make."""
    for rank, (first, second) in enumerate(merges, 1):
        for token in (first, second, first + second):
            if token not in names:
                pair = f"{quoted(first)} and {quoted(second)}"
                raise ValueError(f"merge {rank}, {pair}, needs the token {quoted(token)}, and the vocabulary does not have it")
    return merges


def _ranked(merges: Iterable[tuple[str, str]]) -> list[Merge]:
    """Merges of bytes, the lowest rank first. A merge that is listed twice has its last rank; one of other letters never applies."""
    ranks: dict[Merge, int] = {}
    for rank, (first, second) in enumerate(merges):
        left, right = bytes_of(first), bytes_of(second)
        if left and right:
            ranks[left, right] = rank
    return sorted(ranks, key=ranks.__getitem__)
