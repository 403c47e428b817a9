"""A stand-in for a ``tiktoken.Encoding``, for code that expects such an object."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fst.bridge.from_live import compiled
from fst.core.lazy import Lazy
from fst.errors import TextError, UnsupportedError
from fst.machines.bpe.table import BpeTable
from fst.runtime.compat.tiktoken.arguments import need, need_sequence, need_strings, need_threads, number_of, refusal
from fst.runtime.compat.tiktoken.unstable import Completions, with_spaces
from fst.runtime.decoder import ByteDecoder, IdsLike
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer, decoder_of
from fst.runtime.rows.batch import Batch
from fst.runtime.workspace import Ids

Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str]
NO_TOKENS: AbstractSet[str] = frozenset()
END_OF_TEXT = "<|endoftext|>"


class Encoding:
    """A stand-in for a ``tiktoken.Encoding``, and for the functions of ``tiktoken`` that return an encoding by name.

    The stand-in has the methods and properties of ``tiktoken`` 0.14.0, with the same results and the same errors. All added tokens of the
    table are special tokens, and no special tokens are added around a text. The stand-in can be pickled. Only `get_encoding` and the other
    functions that look up names need ``tiktoken``. Use ``_pat_str``, ``_mergeable_ranks`` and ``_special_tokens`` to extend an encoding as
    in ``tiktoken``'s README.

    Args:
        tokenizer: a tokenizer of byte-level BPE in any form that `fst.Tokenizer` takes, such as a ``tiktoken.Encoding`` or a file.
        name: the name of the encoding; None: the name of the ``tiktoken.Encoding``, or "fst" for other forms, because tables have no name.

    Attributes:
        name: the name of the encoding.
        fst: the tokenizer that encodes, and that finds all special tokens.

    Raises:
        TypeError: the argument is not a tokenizer.
        UnsupportedError: the tokenizer has another kind of table; or it has a normalizer, ``add_prefix_space``, or added tokens with flags.

    Example::

        enc = fst.tiktoken(fst.load("cl100k.npz"), name="cl100k_base")
        enc.encode("hello world")  # → [15339, 1917]
        enc.encode("<|endoftext|>", allowed_special="all")  # → [100257]
    """

    def __init__(self, tokenizer: Any, name: str | None = None) -> None:
        found = compiled(tokenizer, "fst.tiktoken")
        if not isinstance(found, BpeTokenizer):
            kind = getattr(getattr(found, "_table", None), "kind", type(found).__name__)
            raise UnsupportedError(f"fst.tiktoken stands in for byte-level BPE; this is a tokenizer of kind {kind!r}")
        if found._metadata.text.normalizer:
            raise UnsupportedError("fst.tiktoken stands in for encodings that do not rewrite texts; this vocabulary does")
        self.fst, self.name = found, getattr(tokenizer, "name", "fst") if name is None else name
        self._table: BpeTable = found._table
        self._specials = dict(self._table.metadata.added_tokens.specials)

    @staticmethod
    def get_encoding(encoding_name: str) -> Encoding:
        """Return the encoding of this name in the installed ``tiktoken``; each process compiles it once.

        Raises:
            ImportError: ``tiktoken`` is not installed.
            ValueError: the name is unknown to ``tiktoken``.
        """
        theirs = _library().get_encoding(encoding_name)
        if encoding_name not in _BY_NAME:
            _BY_NAME[encoding_name] = Encoding(theirs)
        return _BY_NAME[encoding_name]

    @staticmethod
    def encoding_for_model(model_name: str) -> Encoding:
        """Return the encoding of an OpenAI model, see `get_encoding`.

        Raises:
            ImportError: ``tiktoken`` is not installed.
            KeyError: the model is unknown to ``tiktoken``.
        """
        return Encoding.get_encoding(Encoding.encoding_name_for_model(model_name))

    @staticmethod
    def encoding_name_for_model(model_name: str) -> str:
        """Return the name of a model's encoding.

        Raises:
            ImportError, KeyError: as in `encoding_for_model`.
        """
        return str(_library().encoding_name_for_model(model_name))

    @staticmethod
    def list_encoding_names() -> list[str]:
        """List the names that `get_encoding` accepts.

        Raises:
            ImportError: ``tiktoken`` is not installed.
        """
        return [*_library().list_encoding_names()]

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name of an encoding from `get_encoding`, as ``tiktoken`` does; pickle the tokenizer of any other encoding."""
        names = (name for name, encoding in _BY_NAME.items() if encoding is self)
        return next(((Encoding.get_encoding, (name,)) for name in names), (Encoding, (self.fst, self.name)))

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        return _listed(self._encoded(text, NO_TOKENS))

    def encode(self, text: str, *, allowed_special: Allowed = NO_TOKENS, disallowed_special: Disallowed = "all") -> list[int]:
        """Encode a text.

        Args:
            text: the text. Lone surrogates become U+FFFD, and a pair of surrogates becomes the character that it encodes.
            allowed_special: the special tokens to find in the text, or "all". All other special tokens are ordinary text.
            disallowed_special: strings that the text must not contain; "all": all special tokens except `allowed_special`.

        Raises:
            ValueError: the text contains a disallowed string.
        """
        return _listed(self._checked(text, *self._sets(allowed_special, disallowed_special)))

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = NO_TOKENS, disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """Encode a text like `encode`, into a read-only array.

        Raises:
            ValueError: as in `encode`.
            UnicodeEncodeError: the text has a surrogate.
        """
        ids = self._checked(text, *self._sets(allowed_special, disallowed_special), mends=False).view(np.uint32)
        ids.flags.writeable = False
        return ids

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int | None = 8) -> list[list[int]]:
        """Encode texts, each like `encode_ordinary`."""
        return self._rows(text, NO_TOKENS, frozenset(), num_threads)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = NO_TOKENS,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode texts, each like `encode`."""
        return self._rows(text, *self._sets(allowed_special, disallowed_special), num_threads)

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = NO_TOKENS, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text into stable ids, which later text cannot change, and completions: rows of ids that may follow the stable ids.

        Returns:
            The stable ids; and the completions, sorted. The stable ids and any completion, decoded together, begin with the text. As in
            ``tiktoken``, some completions may be missing.

        Raises:
            ValueError: as in `encode`.
            UnicodeEncodeError: the text has a surrogate.
        """
        allowed, disallowed = self._sets(allowed_special, disallowed_special)
        ids = _listed(self._checked(text, allowed, disallowed, mends=False))
        count = self._last_piece(text, allowed)
        if not count:
            return ids, []
        contents = [None if number in self._special_ids else self._contents[number] for number in ids]
        place = len(ids) - with_spaces(contents, count)
        unstable = b"".join(self._contents[number] for number in ids[place:])
        return ids[:place], [*map(list, sorted(self._completions.of(unstable)))]

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, which may be a special token.

        Raises:
            KeyError: the token does not exist.
        """
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        need(token, bytes)
        number = self._ranks.get(token, self._special_contents.get(token))
        if number is None:
            raise KeyError(token)
        return number

    def decode_bytes(self, tokens: IdsLike) -> bytes:
        """Decode ids to bytes.

        Raises:
            KeyError: an id has no token.
        """
        return bytes(self._decoded(tokens))

    def decode(self, tokens: IdsLike, errors: str = "replace") -> str:
        """Decode ids to a text; `errors` is as in ``bytes.decode``.

        Raises:
            KeyError: as in `decode_bytes`.
        """
        return str(self._decoded(tokens), "utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id.

        Raises:
            KeyError: the id has no token.
        """
        number = number_of(token)
        content = self._contents.get(number)
        if content is None:
            raise KeyError(str(number))
        return content

    def decode_tokens_bytes(self, tokens: IdsLike) -> list[bytes]:
        """Decode each id to bytes; return a list.

        Raises:
            KeyError: as in `decode_single_token_bytes`.
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: IdsLike) -> tuple[str, list[int]]:
        """Decode ids to a text; return also, for each token, the index of the character in which the token begins.

        Raises:
            KeyError: as in `decode_single_token_bytes`.
            UnicodeDecodeError: the bytes of the ids are not UTF-8.
        """
        contents, offsets, characters = self.decode_tokens_bytes(tokens), list[int](), 0
        for content in contents:
            offsets.append(max(0, characters - _continues(content[0])))
            characters += sum(not _continues(byte) for byte in content)
        return b"".join(contents).decode(), offsets

    def decode_batch(self, batch: Iterable[IdsLike], *, errors: str = "replace", num_threads: int | None = 8) -> list[str]:
        """Decode rows of ids to texts, each like `decode`."""
        need_threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Iterable[IdsLike], *, num_threads: int | None = 8) -> list[bytes]:
        """Decode rows of ids to bytes, each like `decode_bytes`."""
        need_threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens except special tokens, sorted."""
        return sorted(self._ranks)

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``.

        Raises:
            KeyError: the token does not exist.
        """
        return self._specials[END_OF_TEXT]

    @Lazy
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._specials)

    def is_special_token(self, token: int) -> bool:
        """Whether an id belongs to a special token."""
        assert isinstance(token, int)
        return token in self._special_ids

    @Lazy
    def max_token_value(self) -> int:
        """The highest id."""
        return int(self._table.token_ids.max())

    @property
    def n_vocab(self) -> int:
        """One more than the highest id."""
        return self.max_token_value + 1

    def _sets(self, allowed: Any, disallowed: Any) -> tuple[AbstractSet[str], frozenset[str]]:
        """Return the allowed special tokens, and the disallowed strings."""
        if allowed is NO_TOKENS and isinstance(disallowed, str) and disallowed == "all":
            return allowed, self._all_specials  # most calls need no new set
        allowed = self.special_tokens_set if isinstance(allowed, str) and allowed == "all" else allowed
        if isinstance(disallowed, str) and disallowed == "all":
            disallowed = self.special_tokens_set - allowed
        return allowed, frozenset(disallowed or ())

    def _checked(self, text: Any, allowed: AbstractSet[str], disallowed: frozenset[str], mends: bool = True) -> Ids:
        """Encode a text, with the result of `_sets`. If `mends`, surrogates are replaced; otherwise, a surrogate raises a
        UnicodeEncodeError.
        """
        if disallowed <= self._all_specials and allowed is not self.special_tokens_set:
            ids = self._ids_without_specials(text)
            if ids is not None:
                need_strings(allowed)
                return ids
        if disallowed and (found := _one_of(disallowed).search(text)):
            raise ValueError(refusal(found.group()))
        if not mends and isinstance(text, str):
            text.encode()  # raises an error if the text has a surrogate
        return self._encoded(text, allowed)

    def _ids_without_specials(self, text: Any) -> Ids | None:
        """Encode a text without special tokens; return None if the text is not a str, or contains a special token or a surrogate."""
        if not isinstance(text, str):
            return None
        try:
            ids = self.fst.encode(text, add_special_tokens=False)
        except TextError:
            return None
        return None if np.count_nonzero(self._is_special.take(ids)) else ids  # for a sentence, 4× as fast as `any`

    def _encoded(self, text: Any, allowed: AbstractSet[str]) -> Ids:
        """Encode a text, and find only the allowed special tokens."""
        need(text, str)
        need_strings(allowed)
        found = frozenset(allowed & self._specials.keys())
        try:
            return self._encoded_valid(text, found)
        except TextError:  # replace surrogates, as in ``tiktoken``
            return self._encoded_valid(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), found)

    def _encoded_valid(self, text: str, found: frozenset[str]) -> Ids:
        """Encode a text without surrogates."""
        if len(found) == len(self._specials):
            return self.fst.encode(text, add_special_tokens=False)
        if not found:
            return self._ordinary.encode(text, add_special_tokens=False)
        stretches = _one_of(found).split(text)  # parts with odd indices are special tokens
        ids: list[Ids] = [self._ordinary.encode(stretch, add_special_tokens=False) for stretch in stretches[::2]]
        numbers = [np.array([self._specials[token]], np.int32) for token in stretches[1::2]]
        return np.concatenate([ids[0], *(part for two in zip(numbers, ids[1:], strict=True) for part in two)])

    def _last_piece(self, text: str, allowed: AbstractSet[str]) -> int:
        """In the text after the last special token, count the ids of the last pre-token."""
        found = frozenset(allowed & self._specials.keys())
        stretch = _one_of(found).split(text)[-1] if found else text
        words = self._ordinary(stretch, add_special_tokens=False).word_ids(0)
        return words.count(words[-1]) if words else 0

    def _rows(self, text: Iterable[str], allowed: AbstractSet[str], disallowed: frozenset[str], threads: int | None) -> list[list[int]]:
        """Encode texts: all texts together if possible, and then, one by one, the texts that may contain special tokens or disallowed
        strings.
        """
        need_threads(threads)
        texts = list(text)
        batch = self._batch_of(texts, threads)
        if batch is None:
            return [_listed(self._checked(one, allowed, disallowed)) for one in texts]
        with_special = np.searchsorted(batch.row_splits, np.flatnonzero(self._is_special[batch.ids]), "right") - 1
        again = set(with_special.tolist()) if disallowed <= self._all_specials else set(range(len(texts)))
        return [_listed(self._checked(one, allowed, disallowed) if row in again else batch[row]) for row, one in enumerate(texts)]

    def _batch_of(self, texts: list[Any], threads: int | None) -> Batch | None:
        """Encode texts, and find all special tokens; return None if a text has a surrogate or is not a str."""
        if not all(isinstance(one, str) for one in texts):
            return None
        try:
            return self.fst.encode_batch(texts, add_special_tokens=False, threads=threads)
        except TextError:
            return None

    def _decoded(self, tokens: Any) -> memoryview:
        """Decode ids to bytes."""
        need_sequence(tokens)
        try:
            decoded = self._decoder.bytes_of(tokens)
        except (TypeError, OverflowError):
            for token in tokens:
                number_of(token)  # raises an error for the first wrong id
            raise
        if decoded.empty:
            self._need_tokens(tokens)
        return decoded.data

    def _need_tokens(self, tokens: IdsLike) -> None:
        for token in tokens:
            if int(token) not in self._contents:
                raise KeyError(f"Invalid token for decoding: {token}")

    @Lazy
    def _ordinary(self) -> BpeTokenizer:
        """The tokenizer that finds no special tokens. This tokenizer's table shares the arrays of the original table, which `Table.prove`
        has already checked.
        """
        metadata = self._table.metadata
        header = replace(metadata, added_tokens=replace(metadata.added_tokens, specials={}, normalized=())).to_json()
        return BpeTokenizer(replace(self._table, header=header))

    @Lazy
    def _completions(self) -> Completions:
        ordinary = self._ordinary
        return Completions(self._ranks, lambda texts: map(_listed, ordinary.encode_batch(texts, add_special_tokens=False)))

    @property
    def _pat_str(self) -> str:
        """The pattern, in the form of the argument ``pat_str`` of ``tiktoken``'s constructor."""
        return _tiktoken_pattern(self._table)

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """The mapping from token to rank, in the form of the argument ``mergeable_ranks`` of ``tiktoken``'s constructor."""
        _tiktoken_pattern(self._table)  # raises an error for tables with merges, whose ids are not ranks
        return dict(sorted(self._ranks.items(), key=itemgetter(1)))

    @property
    def _special_tokens(self) -> dict[str, int]:
        """The mapping from special token to id."""
        return dict(self._specials)

    @Lazy
    def _decoder(self) -> ByteDecoder:
        return decoder_of(self._table, spell=False)

    @Lazy
    def _contents(self) -> dict[int, bytes]:
        return dict(zip(self._table.token_ids.tolist(), self._table.contents, strict=True))

    @Lazy
    def _ranks(self) -> dict[bytes, int]:
        known = self._table.metadata.model.model_tokens
        rows = enumerate(zip(self._table.contents, self._table.token_ids.tolist(), strict=True))
        mergeable = (token for row, token in rows if row < known or not token[0])  # the model does not contain the empty token
        return {content: number for content, number in mergeable if number not in self._special_ids}

    @Lazy
    def _all_specials(self) -> frozenset[str]:
        return frozenset(self._specials)

    @Lazy
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self._specials.values())

    @Lazy
    def _special_contents(self) -> dict[bytes, int]:
        return {token.encode(): number for token, number in self._specials.items()}

    @Lazy
    def _is_special(self) -> NDArray[np.bool_]:
        """For each id, whether it belongs to a special token."""
        is_special = np.zeros(self.n_vocab, np.bool_)
        is_special[list(self._special_ids)] = True
        return is_special


_BY_NAME: dict[str, Encoding] = {}


def _library() -> Any:
    try:
        return import_module("tiktoken")
    except ImportError as error:
        what = "pip install tiktoken, or compile its file of ranks, and load the table"
        raise ImportError(f"encodings by name are those of tiktoken, which is not installed: {what}") from error


def _tiktoken_pattern(table: BpeTable) -> str:
    """Return the pattern of a table, if the table's ids are ranks of ``tiktoken``."""
    part = (table.metadata.text.pre_tokenizers or ({},))[0]
    if "dialect" not in part:
        raise UnsupportedError("the table is not from ranks of tiktoken; to extend its vocabulary, add tokens to its source")
    return str(part["pattern"]["Regex"])


def _listed(ids: Ids) -> list[int]:
    numbers: list[int] = ids.tolist()
    return numbers


@lru_cache(maxsize=128)
def _one_of(strings: frozenset[str]) -> re.Pattern[str]:
    """Make a pattern that matches the longest of several strings at each position."""
    return re.compile(f"({'|'.join(map(re.escape, sorted(strings, key=len, reverse=True)))})")


def _continues(byte: int) -> bool:
    """Whether a byte of UTF-8 continues a character."""
    return 0x80 <= byte < 0xC0
