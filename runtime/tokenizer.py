"""The tokenizer: texts in, token ids out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst import file
from fst.errors import TextError
from fst.runtime.decoder import decoded
from fst.runtime.texts import IDS_PER_UNIT, Ints, Texts, check, gather, lengths
from fst.tables import Tables

Ids = NDArray[np.int32]
SLACK = 2  # ids that a kernel may write past the last one that it counts
BLOCK = 1 << 17  # characters that are gathered and encoded at a time; they and their ids stay in a core's own cache


def load(path: str | Path) -> Tokenizer:
    """Load a table file.

    The file is mapped, so that processes share its memory, and proven whole and safe before anything else is done with it.

    Args:
        path: what ``fst compile`` or `fst.tables.Tables.save` wrote.

    Raises:
        TableError: it is not such a file, or not of this version, or damaged, or made to harm; the message says which and where.
        OSError: it cannot be read.

    Example:
        >>> from fst.compile import wordpiece
        >>> wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"]).save("tiny.npz")
        >>> load("tiny.npz").encode("Unable!")
        array([1, 3, 4, 0, 2], dtype=int32)
    """
    return Tokenizer(file.load(path))


@dataclass(frozen=True, eq=False)
class Batch:
    """The ids of texts, one after the other.

    Attributes:
        ids: int32[n].
        row_splits: int64[rows + 1]; the ids of row r are ``ids[row_splits[r]:row_splits[r + 1]]``, which is also ``batch[r]``.
    """

    ids: Ids
    row_splits: Ints

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> Ids:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.ids[self.row_splits[row] : self.row_splits[row + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[row] for row in range(len(self)))


class Tokenizer:
    """Tables that encode and decode. Immutable: one tokenizer serves any number of threads, without a lock.

    Args:
        tables: from `fst.compile.wordpiece`; for a file use `fst.load`.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        about = tables.about
        self._prefix, self._suffix = np.array(about["prefix"], np.int32), np.array(about["suffix"], np.int32)
        self._none = np.empty(0, np.int32)
        records = tuple(np.ascontiguousarray(tables.classes[first::2]) for first in (0, 1))
        for array in records:
            array.flags.writeable = False
        arrays = (tables.pages, tables.blocks, *records, tables.symbols, tables.entries, tables.pool, tables.specials)
        numbers = (about["dead"], about["unk_id"], about["max_input_chars_per_word"])
        self._machine = (*arrays, *map(np.uint64, numbers))

    def __repr__(self) -> str:
        return f"<fst.Tokenizer {self.about['kind']}, {self.vocab_size} tokens, {self.about['layout']}>"

    @property
    def about(self) -> Mapping[str, Any]:
        """What the tables say of themselves: kind, layout, options, special tokens."""
        return self._tables.about

    @property
    def truncation(self) -> Mapping[str, Any] | None:
        """What the vocabulary's source asks for; nothing is truncated unless a call says so."""
        asked: Mapping[str, Any] | None = self.about.get("truncation")
        return asked

    @property
    def padding(self) -> Mapping[str, Any] | None:
        """What the vocabulary's source asks for; nothing is padded unless a call says so."""
        asked: Mapping[str, Any] | None = self.about.get("padding")
        return asked

    def encode(self, text: str | bytes, *, add_special_tokens: bool = True, errors: str = "strict") -> Ids:
        """The ids of one text.

        Args:
            text: str, or bytes of UTF-8.
            add_special_tokens: put [CLS] and [SEP], or whatever the vocabulary has instead, around it.
            errors: "strict", or "replace": what is not text (lone surrogates, bytes that are not UTF-8) becomes U+FFFD.

        Returns:
            int32[n].

        Raises:
            TextError: it is not text.

        Example:
            >>> from fst.compile import wordpiece
            >>> Tokenizer(wordpiece(["[UNK]", "un", "##able"])).encode("unable unfit")
            array([1, 2, 0], dtype=int32)
        """
        if not isinstance(text, str | bytes):
            raise TextError(f"a text is str or bytes, not {type(text).__name__}")
        one: Any = [text]
        return self.encode_batch(one, add_special_tokens=add_special_tokens, threads=1, errors=errors).ids

    def encode_batch(
        self,
        texts: Texts,
        *,
        add_special_tokens: bool = True,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Batch:
        """The ids of many texts.

        Args:
            texts: a list or tuple, all str or all bytes of UTF-8.
            add_special_tokens: as in `encode`.
            threads: how many may work at it; None: as many as this process may use. The ids do not depend on it.
            errors: as in `encode`.

        Raises:
            TextError: a row is not text; the message names it.
            ValueError: `threads` is less than 1.

        Example:
            >>> from fst.compile import wordpiece
            >>> batch = Tokenizer(wordpiece(["[UNK]", "un", "##able"])).encode_batch(["unable", "", "un un"])
            >>> batch.ids, batch.row_splits
            (array([1, 2, 1, 1], dtype=int32), array([0, 2, 2, 4]))
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads={threads}: there is at least one")
        check(texts, errors)
        starts = np.concatenate([[0], np.cumsum(lengths(texts))])
        blocks = _blocks(starts)
        threads = min(threads or _usable_cores(), len(blocks))
        if threads <= 1:
            ids, ends = self._encode_blocks(texts, starts, blocks, add_special_tokens, errors)
            return Batch(ids, np.concatenate([[0], ends]))
        shares = [blocks[len(blocks) * n // threads : len(blocks) * (n + 1) // threads] for n in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            jobs = [pool.submit(self._encode_blocks, texts, starts, share, add_special_tokens, errors) for share in shares]
            parts = [job.result() for job in jobs]
        counts = np.cumsum([0, *(len(ids) for ids, _ in parts)])
        row_splits = np.concatenate([[0], *(ends + count for (_, ends), count in zip(parts, counts, strict=False))])
        return Batch(np.concatenate([ids for ids, _ in parts]), row_splits)

    def _encode_blocks(
        self, texts: Texts, char_starts: Ints, blocks: Sequence[tuple[int, int]], add_special_tokens: bool, errors: str
    ) -> tuple[Ids, Ints]:
        """The ids of the rows of some blocks, and where the ids of each row end."""
        from fst.runtime.kernels import encode_rows

        prefix, suffix = (self._prefix, self._suffix) if add_special_tokens else (self._none, self._none)
        around = len(prefix) + len(suffix)
        begin, end = (blocks[0][0], blocks[-1][1]) if blocks else (0, 0)
        row_ends = np.empty(end - begin, np.int64)
        # Most text has an id for two characters or more. Memory that is not written is not taken.
        ids, count = np.empty(int(char_starts[end] - char_starts[begin]) // 2, np.int32), 0
        kind = bytes if texts and isinstance(texts[0], bytes) else str
        buffer = self._none  # of one block: it stays in a core's own cache
        for first, last in blocks:
            text, starts = gather(texts[first:last], kind, first, char_starts[first : last + 1] - char_starts[first], errors)
            ids_per_unit = IDS_PER_UNIT[text.itemsize]
            middle = int(np.searchsorted(starts, len(text) // 2))
            half = int(starts[middle]) * ids_per_unit + middle * around + SLACK
            room = len(text) * ids_per_unit + (last - first) * around + 2 * SLACK
            if len(buffer) < room:
                buffer = np.empty(room, np.int32)
            ends = row_ends[first - begin : last - begin]
            arguments = (text, starts, np.uint64(middle), np.uint64(half), prefix, suffix, *self._machine, buffer, ends)
            encode_rows(*arguments)
            found = int(ends[-1])
            ends += count
            if len(ids) < count + found:
                ids = np.concatenate([ids[:count], np.empty(max(found, len(ids)), np.int32)])
            ids[count : count + found] = buffer[:found]
            count += found
        return ids[:count], row_ends

    def tokenize(self, text: str | bytes, *, errors: str = "strict") -> list[str]:
        """The tokens of one text, without special tokens around it.

        Example:
            >>> from fst.compile import wordpiece
            >>> Tokenizer(wordpiece(["[UNK]", "un", "##able"])).tokenize("Unable")
            ['un', '##able']
        """
        names = self._tokens_by_id
        return [names[number] for number in self.encode(text, add_special_tokens=False, errors=errors).tolist()]

    def decode(self, ids: Sequence[int] | NDArray[Any], *, skip_special_tokens: bool = True) -> str:
        """A text from ids, as the vocabulary's own decoder makes it. Ids that no token has are left out.

        Example:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "!"]))
            >>> tok.decode([1, 3, 4, 5, 2])
            'unable!'
        """
        skipped = self._skipped if skip_special_tokens else frozenset[int]()
        names = self._tokens_by_id
        kept = (int(number) for number in ids)
        return decoded([names[number] for number in kept if number in names and number not in skipped], self.about["decoder"])

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, or None."""
        return self._ids_by_token.get(token)

    def id_to_token(self, number: int) -> str | None:
        """The token of an id, or None."""
        return self._tokens_by_id.get(number)

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, added ones included."""
        return len(self._tables.token_ids)

    @cached_property
    def _ids_by_token(self) -> dict[str, int]:
        return dict(zip(self._tables.tokens, self._tables.token_ids.tolist(), strict=True))

    @cached_property
    def _tokens_by_id(self) -> dict[int, str]:
        return {number: token for token, number in self._ids_by_token.items()}

    @cached_property
    def _skipped(self) -> frozenset[int]:
        return frozenset(self.about["skipped"])


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _blocks(starts: Ints) -> list[tuple[int, int]]:
    """First and last row of blocks of about `BLOCK` characters; `starts` is as in `gather`, for all rows."""
    rows = len(starts) - 1
    if not rows:
        return []
    cuts = np.unique([0, *np.searchsorted(starts[1:], np.arange(BLOCK, int(starts[-1]), BLOCK)), rows])
    return list(pairwise(cuts.tolist()))
