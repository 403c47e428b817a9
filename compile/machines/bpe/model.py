"""BPE models over bytes or over characters, in the form that the compiler needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from fst.compile.pretokens import metaspace
from fst.compile.pretokens.splits import BYTES
from fst.compile.text.components import field_of, mapping, only, sequence
from fst.compile.text.source import TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.bpe.affixes import NO_AFFIXES, Affixes
from fst.machines.bpe.automaton import UTF8_BYTES
from fst.pretokens.byte_letters import spelled
from fst.pretokens.token_letters import BYTE_LETTERS, Letters, byte_of
from fst.tables.header import AddedTokens
from fst.text.whitespace import SPACE

Merge = tuple[bytes, bytes]

UTF8_LENGTH = 4  # maximum number of bytes of a character

COMMENT = "#version"  # `tokenizers` ignores the lines of ``merges.txt`` that begin with this string
FIELDS = "type vocab merges dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges"


@dataclass(frozen=True)
class BpeModel:
    """A BPE model over bytes or characters. Fields that also exist in `tokenizers` have the same names.

    In byte-level BPE, symbols are bytes; otherwise, symbols are characters. A character that is not a token becomes the fallback tokens of
    its bytes if all of these tokens exist, else the `unk_token`.

    Attributes:
        vocabulary: the bytes of each token → id. The last entries are the bytes whose only token is a fallback such as ``<0x0A>``.
        merges: pairs of tokens, the lowest rank first. None: as in `tiktoken`, a pair is merged if its concatenation is a token, and the id
            of this token is the rank.
        ignore_merges: whether a pre-token that equals a token becomes this token, regardless of merges; always true for `tiktoken`.
        names: the name of each token, as users see it → id. `names` includes tokens that do not occur in texts, for example special tokens.
        unk_token: the unknown token of the source. `unk_token` replaces symbols without a token, which are rare in byte-level BPE.
        fuse_unk: whether one `unk_token` replaces a whole run of symbols without a token.
        byte_fallback: whether tokens like ``<0x0A>`` replace the bytes of symbols without a token.
        affixes: ``continuing_subword_prefix`` and ``end_of_word_suffix``, as bytes. The tokens in `vocabulary` and `merges` include these
            affixes.
        dropout: the source's probability of skipping a merge. The table contains the probability, but encoding ignores it.
        letters: the letters that represent bytes in the names of tokens; this also determines whether symbols are bytes.
        fallbacks: the number of bytes in `vocabulary` whose only token is a fallback.
        longest_match: whether texts become the longest tokens from left to right, instead of the results of merges.
        subword_ids: the id that each entry of `vocabulary` becomes, if the entries are subwords (`fst.machines.bpe.subwords`) and not the
            tokens of `names`; otherwise empty. `assemble` numbers the entries.
    """

    kind: ClassVar[str] = "BPE"
    compiler: ClassVar[str] = "fst.compile.machines.bpe.compiler"
    vocabulary: Mapping[bytes, int]
    merges: Sequence[Merge] | None
    ignore_merges: bool
    names: Mapping[str, int]
    unk_token: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    affixes: Affixes = NO_AFFIXES
    dropout: float = 0.0
    letters: Letters = BYTE_LETTERS
    fallbacks: int = 0
    longest_match: bool = False
    subword_ids: Sequence[int] = ()

    @classmethod
    def of_json(cls, model: Mapping[str, Any], letters: Letters = BYTE_LETTERS) -> BpeModel:
        """Return the model of a ``tokenizer.json``."""
        only(model, "model", FIELDS)
        _refuse(model)
        names = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
        _need_ids(names)
        prefix, suffix = _affix(model, "continuing_subword_prefix", letters), _affix(model, "end_of_word_suffix", letters)
        merges = _known(_pairs(sequence(field_of(model, "merges", "model"), "merges of the model")), names, prefix)
        affixes = Affixes(letters.bytes_of(prefix) or b"", letters.bytes_of(suffix) or b"")
        fallbacks = _fallbacks(names) if _flag(model, "byte_fallback") and not letters.are_bytes else {}
        spellings = ((letters.bytes_of(name), number) for name, number in names.items() if name not in fallbacks)
        vocabulary = {token: number for token, number in spellings if token}
        alone = {byte: names[name] for name, byte in fallbacks.items() if byte not in vocabulary}
        _need_apart(merges, fallbacks)
        return cls(
            vocabulary={**vocabulary, **alone},
            merges=_ranked(merges, affixes, letters),
            ignore_merges=_flag(model, "ignore_merges"),
            names=names,
            unk_token=model.get("unk_token"),
            fuse_unk=_flag(model, "fuse_unk"),
            byte_fallback=_flag(model, "byte_fallback"),
            affixes=affixes,
            dropout=_dropout(model),
            letters=letters,
            fallbacks=len(alone),
        )

    @classmethod
    def of_ranks(cls, ranks: Mapping[bytes, int], others: Mapping[str, int]) -> BpeModel:
        """Create a model from the ranks of `tiktoken`, which are also ids, and from tokens that do not occur in texts."""
        names = {spelled(token): number for token, number in ranks.items()}
        vocabulary = {token: number for token, number in ranks.items() if token}  # no text contains the empty token
        return cls(vocabulary, merges=None, ignore_merges=True, names={**names, **others})

    @classmethod
    def of_longest_match(cls, vocabulary: Mapping[bytes, int]) -> BpeModel:
        """Create a model of a greedy longest match over bytes from its tokens and their ids."""
        names = {spelled(token): number for token, number in vocabulary.items()}
        return cls(vocabulary, merges=(), ignore_merges=False, names=names, longest_match=True)

    @property
    def tokens(self) -> Mapping[str, int]:
        """Token → id, see `fst.compile.text.source.Model`."""
        return self.names

    @property
    def made(self) -> Iterator[str]:
        """The tokens that are results of merges; only for a model over characters without affixes."""
        return ((left + right).decode() for left, right in self.merges or ())

    @property
    def characters(self) -> set[str]:
        """The characters that are tokens; only for a model over characters without affixes."""
        texts = [*self.vocabulary][: len(self.vocabulary) - self.fallbacks]
        return {char for token in texts if len(token) <= UTF8_LENGTH and len(char := token.decode()) == 1}

    @property
    def may_be_cut(self) -> bool:
        """Whether a pre-token may be cut between two characters that are not adjacent in any token.

        Cuts could change ids in three cases: if ids depend on the position in a pre-token; if the deletion of an unknown character makes
        its neighbours adjacent; if unknown characters can be fused or change their order. No pre-token is cut between two unknown
        characters, except at spaces.
        """
        is_told = not self.missing or (self.unk_token is not None and b" " in self.vocabulary and not self.fallbacks)
        return is_told and not self.ignore_merges and not self.affixes

    def spells(self, name: str, number: int) -> bool:
        """Whether a name is the spelling of a token in `vocabulary` with this id."""
        if self.subword_ids:
            return False
        byte = byte_of(name) if self.fallbacks else None
        token = self.letters.bytes_of(name) if byte is None else bytes([byte])
        return token is not None and self.vocabulary.get(token) == number

    @property
    def symbols(self) -> Iterable[bytes]:
        """The bytes of each symbol that can occur in texts. If symbols are characters, characters that cannot be tokens are left out."""
        if self.letters.are_bytes:
            return (bytes([byte]) for byte in UTF8_BYTES)
        prefix, suffix = map(len, self.affixes)
        bodies = (name[begin : len(name) - end] for name in self.vocabulary for begin in (0, prefix) for end in (0, suffix))
        return {body for body in bodies if len(body) <= UTF8_LENGTH and len(body.decode(errors="replace")) == 1}

    def check(self, where: str) -> None:
        """Raise an error, with a message that begins with `where`, if the model cannot be compiled."""
        if self.missing:
            count = len(self.missing)
            self._check_unknown(f"{where} has no tokens for {count} of the bytes that text may have, such as {self.missing[0]:#04x}")
        holders: dict[int, str] = {}
        for name, number in self.names.items():
            if holders.setdefault(number, name) != name:
                raise VocabularyError(f"{where}: tokens {quoted(holders[number])} and {quoted(name)} have one id, {number}")

    @cached_property
    def missing(self) -> Sequence[int]:
        """The bytes that can occur in UTF-8 text but have no token for some position in a pre-token; for a longest match, all bytes without
        a token.
        """
        possible = range(256) if self.longest_match else UTF8_BYTES
        names = ((byte, map(self.affixes.name, self.affixes.places(byte))) for byte in possible)
        return [byte for byte, places in names if any(name not in self.vocabulary for name in places)]

    def spoken(self, added: AddedTokens, *, keeps_text: bool) -> BpeModel:
        """The model without added tokens that no text contains, if whole pre-tokens would otherwise be tokens with missing bytes.

        Args:
            added: the added tokens. Those of raw text are cut out before the model reads a text.
            keeps_text: whether no normalizer could make such a token again.
        """
        if not (self.ignore_merges and self.missing and self.letters.are_bytes):
            return self
        raw = [content for content, token in added.contextual.items() if not (token.normalized or token.single_word)]
        cut = {self.letters.bytes_of(content) for content in (*added.specials, *raw)} if keeps_text else set[bytes | None]()
        kept = {token: number for token, number in self.vocabulary.items() if token not in cut or len(token) == 1}
        holding = next((token for token in kept if not {*self.missing}.isdisjoint(token)), None)
        if holding:
            what = f"with ignore_merges, a text may be the token {quoted(self.letters.spelled(holding))}, which has a byte without a token"
            raise UnsupportedError(f"{what}; add the byte to the vocabulary")
        return replace(self, vocabulary=kept)

    def _check_unknown(self, lacking: str) -> None:
        """Raise an error if the model's handling of symbols without tokens cannot be compiled; its message begins with `lacking`."""
        if self.letters.are_bytes:
            self._check_missing_bytes(lacking)
        if self.fallbacks and self.affixes:
            raise UnsupportedError(f"{lacking}: with byte_fallback and affixes, they must all be tokens")
        if self.unk_token is None:
            return
        if self.unk_token not in self.names:
            raise VocabularyError(f"{lacking}, and unk_token {quoted(self.unk_token)} is not a token either")
        unknown = self.letters.bytes_of(self.unk_token)
        prefix = len(self.affixes.prefix)
        merges = ((left, right, left + right[prefix:]) for left, right in self.merges or ())
        if unknown and (self._is_symbol(unknown) or any(unknown in tokens for tokens in merges)):
            raise UnsupportedError(f"{lacking}, and their unk_token {quoted(self.unk_token)} is a {self._symbol} or part of a merge")
        if self.ignore_merges:
            raise UnsupportedError(f"{lacking}, and with ignore_merges their unk_token {quoted(self.unk_token)} may also be a whole piece")

    def _check_missing_bytes(self, lacking: str) -> None:
        """Raise an error, with a message that begins with `lacking`, if the model does not allow bytes without a token."""
        flags = {"byte_fallback": self.byte_fallback, "longest match": self.longest_match}
        hindering = [name for name, flag in flags.items() if flag]
        if self.merges is None or hindering:
            raise UnsupportedError(f"{lacking}: with {' and '.join(hindering) or 'ranks alone'}, they must all be tokens")

    def _is_symbol(self, name: bytes) -> bool:
        """Whether a token is a single symbol, given the bytes of its name."""
        body = self.affixes.part(name).body
        return len(body if self.letters.are_bytes else body.decode()) == 1

    @property
    def _symbol(self) -> str:
        return "byte" if self.letters.are_bytes else "character"


def _refuse(model: Mapping[str, Any]) -> None:
    """Refuse unsupported settings that change ids."""
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) and model.get("ignore_merges"):
            raise UnsupportedError(f"model BPE with ignore_merges and {name} {quoted(model[name])}")
    if not isinstance(model.get("unk_token"), str | None):
        raise ValueError(f"unk_token is {quoted(model['unk_token'])}; it is a string or null")


def _dropout(model: Mapping[str, Any]) -> float:
    """The probability of skipping a merge; 0 without dropout."""
    dropout = model.get("dropout")
    if dropout is not None and not (type(dropout) in (int, float) and 0 <= dropout <= 1):
        raise ValueError(f"dropout is {quoted(dropout)}; it is a number from 0 to 1, or null")
    return float(dropout or 0)


def _affix(model: Mapping[str, Any], name: str, letters: Letters) -> str:
    """A prefix or suffix; "" if the model has none."""
    affix = model.get(name)
    if not isinstance(affix, str | None):
        raise ValueError(f"{name} is {quoted(affix)}; it is a string or null")
    if affix and letters.bytes_of(affix) is None:
        raise UnsupportedError(f"model BPE with {name} {quoted(affix)}, which has letters of no byte")
    return affix or ""


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
    """Convert merges, which are strings or lists in a file, to pairs."""
    if all(isinstance(merge, str) for merge in merges):
        return pairs(merges)
    for rank, merge in enumerate(merges, 1):
        if not (isinstance(merge, list) and len(merge) == 2 and all(isinstance(part, str) for part in merge)):
            raise ValueError(f"merge {rank} is {quoted(merge)}; merges are all strings, or all lists of two tokens")
    return [(first, second) for first, second in merges]


def _known(merges: Sequence[tuple[str, str]], names: Mapping[str, int], prefix: str) -> Sequence[tuple[str, str]]:
    """Check that the parts and the results of merges are tokens, and return the merges. The result lacks the second part's prefix."""
    for rank, (first, second) in enumerate(merges, 1):
        rest = second.encode()[len(prefix.encode()) :].decode(errors="replace") if prefix else second
        for token in (first, second, first + rest):
            if token not in names:
                pair = f"{quoted(first)} and {quoted(second)}"
                raise ValueError(f"merge {rank}, {pair}, needs the token {quoted(token)}, and the vocabulary does not have it")
    return merges


def _fallbacks(names: Iterable[str]) -> dict[str, bytes]:
    """Map the name of each fallback token to its byte."""
    return {name: bytes([byte]) for name in names if (byte := byte_of(name)) is not None}


def _need_apart(merges: Sequence[tuple[str, str]], fallbacks: Mapping[str, bytes]) -> None:
    """Refuse merges with fallback tokens as parts or results, because each token must be either a byte or text."""
    for rank, (first, second) in enumerate(merges, 1):
        if fallbacks and not fallbacks.keys().isdisjoint((first, second, first + second)):
            raise UnsupportedError(f"merge {rank}, {quoted(first)} and {quoted(second)}, with byte_fallback: one of its tokens is a byte")


def _ranked(merges: Iterable[tuple[str, str]], affixes: Affixes, letters: Letters) -> list[Merge]:
    """Convert merges to bytes, the lowest rank first. If a merge is listed twice, its last rank counts.

    Merges that are never applied, because their tokens match no text or cannot be adjacent, are omitted.
    """
    ranks: dict[Merge, int] = {}
    for rank, (first, second) in enumerate(merges):
        left, right = letters.bytes_of(first), letters.bytes_of(second)
        if left and right and (not affixes or affixes.joined(affixes.part(left), affixes.part(right))):
            ranks[left, right] = rank
    return sorted(ranks, key=ranks.__getitem__)


def pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Parse merges from lines: two tokens, separated by one space.

    Examples:
        >>> pairs(["#version: 0.2", "Ġ t", "h e"])
        [('Ġ', 't'), ('h', 'e')]
    """
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(COMMENT):
            continue
        first, middle, second = line.partition(" ")
        if not middle or " " in second:
            raise ValueError(f"merge {len(found) + 1}, {quoted(line)}, is not two tokens with one space between them")
        found.append((first, second))
    return found


def model_of_json(model: Mapping[str, Any], text: TextPipeline) -> BpeModel:
    """Read the model of a ``tokenizer.json``. The text pipeline determines whether symbols are bytes or characters."""
    if BYTES in text.pre_tokenizers:
        return BpeModel.of_json(model)
    symbol = metaspace.pipeline(text.normalizers, text.pre_tokenizers).whitespace.symbol
    falls_back = model.get("byte_fallback") and symbol not in mapping(field_of(model, "vocab", "model"), "vocab of the model")
    return BpeModel.of_json(model, Letters(are_bytes=False, symbol=symbol if symbol != SPACE and not falls_back else ""))
