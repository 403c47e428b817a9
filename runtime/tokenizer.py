"""The tokenizer: texts in, token ids out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.cores import thread_count
from fst.errors import TextError, UnsupportedError
from fst.lazy import Lazy
from fst.machines import load as load_table
from fst.machines.wordpiece import Tables
from fst.runtime.batch import NO_MORE, SLACK, Batch, Ids, Task, of_ids
from fst.runtime.decoder import decoded
from fst.runtime.fallback import SecondReader
from fst.runtime.fallback_added_tokens import Added
from fst.runtime.fallback_composition import Before
from fst.runtime.machine import Machine, Workspaces, ids_per_unit, locating, machine
from fst.runtime.safe_cuts import blanks
from fst.runtime.stream import Stream
from fst.runtime.templates import frame
from fst.runtime.texts import Ints, Source, Texts, check, lay_out, rows_of
from fst.runtime.transformers.call import Caller
from fst.runtime.transformers.encoding import BatchEncoding
from fst.runtime.trim import cut, in_bytes

OFFSETS = (False, True, "chars", "bytes")
MAX_ID = (1 << 32) - 1  # in the reference
SHORT = 1 << 13  # characters in a text that `encode` takes the short way


def load(path: str | Path) -> Tokenizer:
    """Load a table file.

    The file is mapped, so that processes share its memory, and proven whole and safe before anything else is done with it.

    Args:
        path: what ``fst compile`` or `fst.machines.wordpiece.Tables.save` wrote.

    Raises:
        TableError: it is not such a file, or not of this version, or damaged, or made to harm; the message says which and where.
        OSError: it cannot be read.

    Example:
        >>> from fst.compile import wordpiece
        >>> wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"]).save("tiny.npz")
        >>> load("tiny.npz").encode("Unable!")
        array([1, 3, 4, 0, 2], dtype=int32)
    """
    return Tokenizer(load_table(path))


class Tokenizer:
    """Tables that encode and decode. Immutable: one tokenizer serves any number of threads, without a lock.

    Args:
        tables: from `fst.compile.wordpiece`; for a file use `fst.load`.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._metadata = tables.metadata
        self._frame = frame(self._metadata.templates.single)
        self._no_frame = np.empty(0, np.int32), np.empty(0, np.int32)
        self._machine = machine(tables)
        self._second: SecondReader | None = None
        if self._metadata.normalizer.composition:
            self._second = Before(tables, self._metadata.normalizer.composition)
        if self._metadata.added_tokens.contextual:
            self._second = added = Added(tables, self._machine)
            self._machine = added.machine()
        self._blanks = "" if self._second else blanks(tables)
        around = sum(map(len, self._frame))
        per_unit = ids_per_unit(tables)
        self._workspaces = Workspaces(self._metadata.model.max_input_chars_per_word, per_unit * SHORT + around + SLACK, per_unit)

    def __repr__(self) -> str:
        return f"<fst.Tokenizer {self._tables.kind}, {self.vocab_size} tokens, {self._metadata.automaton.layout}>"

    @property
    def about(self) -> Mapping[str, Any]:
        """What the tables say of themselves.

        ``kind``, ``layout``, ``states``, ``columns``, ``dead``
            the automaton
        ``unk_id``, ``unk_token``, ``model_tokens``, ``continuing_subword_prefix``, ``max_input_chars_per_word``
            the model, and how many tokens it has without added ones
        ``lowercase``, ``strip_accents``, ``clean_text``, ``handle_chinese_chars``, ``normalizer_parts``, ``composition``, ``placing``
            the normalizer; its parts, where it is not BERT's
        ``pre_tokenizer``, ``pre_tokenizer_parts``
            the pre-tokenizer
        ``specials``, ``late``, ``context``, ``skipped``
            added tokens found in raw text and in normalised text, and the ids that `decode` skips
        ``single``, ``pair``
            what is put around one text and around two: [ids, type id] or ["A" or "B", type id]
        ``decoder``, ``clean_up_tokenization_spaces``
            how `decode` joins tokens
        ``named_tokens``, ``extra_special_tokens``, ``model_max_length``, ``model_input_names``
            what the vocabulary's source says of the model
        ``truncation``, ``truncation_side``, ``padding``, ``padding_side``
            what it says of calls; only the sides count unasked
        """
        return self._tables.about

    @property
    def truncation(self) -> Mapping[str, Any] | None:
        """What the vocabulary's source asks for; nothing is truncated unless a call says so."""
        return self._metadata.settings.truncation

    @property
    def padding(self) -> Mapping[str, Any] | None:
        """What the vocabulary's source asks for; nothing is padded unless a call says so."""
        return self._metadata.settings.padding

    def __call__(
        self,
        text: Any,
        text_pair: Any = None,
        *,
        add_special_tokens: bool = True,
        padding: Any = False,
        truncation: Any = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        threads: int | None = None,
    ) -> BatchEncoding:
        """What a model is fed, from texts: the arguments and the result are those of ``transformers.PreTrainedTokenizerFast.__call__``.

        Args:
            text: a str, or a list of str, a batch; in a batch a pair of texts may stand for a text. With `is_split_into_words` a list of
                words is a text.
            text_pair: the second text, or a list of them, one for each first text.
            add_special_tokens: put [CLS] and [SEP], or whatever the vocabulary has instead, around texts.
            padding: True or "longest": fill rows up to the longest; "max_length": up to `max_length`; False or "do_not_pad".
            truncation: True or "longest_first", "only_first", "only_second": make rows no longer than `max_length`; False or
                "do_not_truncate". None: True where there is a `max_length` and no padding, else False.
            max_length: special tokens included; None: the longest that the model takes. Where nothing says what that is, nothing is
                truncated.
            stride: how many ids a window shares with the one before it.
            is_split_into_words: texts come as lists of words.
            pad_to_multiple_of: the length of padded rows is a multiple of it.
            padding_side, truncation_side: "right" or "left"; None: what the vocabulary's source says, or "right".
            return_tensors: "np" or "pt": arrays of int64; None: lists.
            return_token_type_ids, return_attention_mask, return_special_tokens_mask, return_offsets_mapping, return_length: which members
                there are beside "input_ids"; None: those that the model takes.
            return_overflowing_tokens: what is cut off becomes rows too, windows that overlap by `stride`; the member
                "overflow_to_sample_mapping" has the number of each row's text.
            threads: as in `encode_batch`.

        Returns:
            A dictionary of the members, which also says which token stands for which characters and words.

        Raises:
            TextError: something is not text; the message says which row.
            ValueError: an argument has no such value, or a text cannot be truncated so.
            ImportError: PyTorch is not installed, for "pt".

        Example:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able", "fit"]))
            >>> tok(["unable", "fit"], padding=True, return_tensors="np")["input_ids"]
            array([[2, 4, 5, 3],
                   [2, 6, 3, 0]])
            >>> tok("unable", "unfit", truncation="only_first", max_length=5, return_token_type_ids=False)
            {'input_ids': [2, 4, 3, 1, 3], 'attention_mask': [1, 1, 1, 1, 1]}
        """
        options = self._caller.resolve(
            add_special_tokens,
            padding,
            truncation,
            max_length,
            stride,
            is_split_into_words,
            pad_to_multiple_of,
            padding_side,
            truncation_side,
            return_tensors,
            return_token_type_ids,
            return_attention_mask,
            return_overflowing_tokens,
            return_special_tokens_mask,
            return_offsets_mapping,
            return_length,
        )
        return self._caller.run(self, text, text_pair, options, threads)

    @Lazy
    def _caller(self) -> Caller:
        return Caller(self._metadata, self._ids_by_token)

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
        if type(text) is str and len(text) <= SHORT and errors == "strict" and not self._second:
            ids = self._encode_short(text, add_special_tokens)
            if ids is not None:
                return ids
        if not isinstance(text, str | bytes):
            raise TextError(f"a text is str or bytes, not {type(text).__name__}")
        one: Any = [text]
        return self.encode_batch(one, add_special_tokens=add_special_tokens, threads=1, errors=errors).ids

    def encode_batch(
        self,
        texts: Texts,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        offsets: bool | str = False,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Batch:
        """The ids of many texts.

        Args:
            texts: a list or tuple, all str or all bytes of UTF-8.
            add_special_tokens: as in `encode`.
            max_length: how many ids a row may have, special tokens included; the others at its end are left out. What they are made of is
                not read, or not much of it: a long text takes no longer than a short one, and whether all of it is text is not known.
            offsets: also say which characters each id stands for (True or "chars"), or which bytes of UTF-8 ("bytes"), and which word it
                belongs to. Where `errors` is "replace", U+FFFD counts as one character, and as the bytes that it stands for.
            threads: how many threads may work on it. None: the number in the environment variable ``FST_NUM_THREADS``, which is read at
                each use; without that, the number of cores that this process may use, by affinity and control groups. The number does not
                change the ids.
            errors: as in `encode`.

        Returns:
            The ids of all texts, where each row begins, and with `offsets` the characters or bytes that each id stands for.

        Raises:
            TextError: a row is not text; the message names it.
            UnsupportedError: `offsets`, and two tokens of different lengths have one id.
            ValueError: `threads` or ``FST_NUM_THREADS`` is not a whole number of at least 1, `max_length` is less than the special tokens
                around a text, or `offsets` is something else.

        Example:
            >>> from fst.compile import wordpiece
            >>> batch = Tokenizer(wordpiece(["[UNK]", "un", "##able"])).encode_batch(["unable", "", "un un"])
            >>> batch.ids, batch.row_splits
            (array([1, 2, 1, 1], dtype=int32), array([0, 2, 2, 4]))
        """
        if offsets not in OFFSETS:
            raise ValueError(f"offsets={offsets!r}: there are False, True or 'chars', and 'bytes'")
        before, after = self._frame if add_special_tokens else self._no_frame
        most = None if max_length is None else _most(max_length, len(before) + len(after))
        batch = self._encode(rows_of(texts), framed=add_special_tokens, located=bool(offsets), most=most, threads=threads, errors=errors)
        if most is not None:
            batch = cut(batch, most, after)
        return in_bytes(batch, texts, errors) if offsets == "bytes" else batch

    def encode_arrow(
        self,
        column: Any,
        *,
        add_special_tokens: bool = True,
        max_length: int | None = None,
        padding: bool = False,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Any:
        """The ids of a column of texts, as a column. Neither texts nor ids are copied. It takes pyarrow.

        Args:
            column: an Array or ChunkedArray of pyarrow, or what gives one by Arrow's PyCapsule interface, as columns of polars, pandas and
                DuckDB do. Its values are ``string``, ``large_string``, ``binary`` or ``large_binary``, of UTF-8, and read where they are;
                or ``string_view``, ``binary_view``, or a ``dictionary`` of any of these.
            add_special_tokens, max_length, threads, errors: as in `encode_batch`.
            padding: fill rows up to `max_length`.

        Returns:
            ``list<int32>``, or with `padding` ``fixed_size_list<int32>[max_length]``, null where the text is: an Array for an Array, else a
            ChunkedArray with the same chunks.

        Raises:
            TextError: a row is not text, or the column is none of texts; the message names the row, or the type.
            ValueError: as in `encode_batch`; or `padding` without `max_length`, or without a token for it.
            ImportError: pyarrow is not installed.

        Example:
            >>> import pyarrow as pa
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "un", "##able"]))
            >>> tok.encode_arrow(pa.array(["unable", None, "un un"])).to_pylist()
            [[1, 2], None, [1, 1]]
        """
        from fst.runtime.arrow import Filling, encoded

        if padding and max_length is None:
            raise ValueError("padding=True: rows of a column are filled up to max_length, and there is none")
        before, after = self._frame if add_special_tokens else self._no_frame
        most = None if max_length is None else _most(max_length, len(before) + len(after))

        def encode_rows(rows: Source) -> Batch:
            batch = self._encode(rows, framed=add_special_tokens, most=most, threads=threads, errors=errors)
            return batch if most is None else cut(batch, most, after)

        filling = Filling(most, self._caller.filler(padding), self._caller.pad_side) if padding and most is not None else None
        return encoded(column, encode_rows, filling)

    def count_tokens(self, texts: Texts, *, add_special_tokens: bool = True, threads: int | None = None, errors: str = "strict") -> Ints:
        """How many ids each text has. They are not kept, so that memory does not grow with the texts.

        Args:
            texts, add_special_tokens, threads, errors: as in `encode_batch`.

        Returns:
            int64[rows].

        Raises:
            TextError, ValueError: as in `encode_batch`.

        Example:
            >>> from fst.compile import wordpiece
            >>> Tokenizer(wordpiece(["[UNK]", "un", "##able"])).count_tokens(["unable", "", "un un"])
            array([2, 0, 2])
        """
        counted = self._encode(rows_of(texts), framed=add_special_tokens, threads=threads, errors=errors, counted=True)
        return np.diff(counted.row_splits)

    def _encode(
        self,
        source: Source,
        *,
        framed: bool,
        located: bool = False,
        most: int | None = None,
        counted: bool = False,
        threads: int | None = None,
        errors: str = "strict",
    ) -> Batch:
        """The ids of rows; `most`, `located` and `counted` are those of `Task`."""
        if threads is not None:
            thread_count(threads)
        check(errors)
        frame = self._frame if framed else self._no_frame
        machine, second = (self._locating, self._second_locating) if located else (self._machine, self._second)
        cut_at = "" if second else self._blanks
        return Task(source, frame, errors, machine, self._workspaces, located, most, counted, second, cut_at).run(threads)

    def _encode_short(self, text: str, add_special_tokens: bool) -> Ids | None:
        """The ids of one short text, without the steps that a batch needs; None where it is no text."""
        frame = self._frame if add_special_tokens else self._no_frame
        work = self._workspaces.take()
        ids = None
        if lay_out(text, work.text, work.short_starts):
            target = (*frame, work.short_ids, work.short_ends)
            of_ids.rows.call(work.text, work.short_starts, NO_MORE, self._machine, target, work.arrays)
            ids = work.short_ids[: work.short_ends.item()].copy()
        self._workspaces.give_back(work)
        return ids

    def stream(self, *, add_special_tokens: bool = True, offsets: bool = False, errors: str = "strict") -> Stream:
        """Encode one text that comes in pieces: its ids are those that `encode` has for all of it, and each is there once it is certain.

        Args:
            add_special_tokens: as in `encode`.
            offsets: also say which characters of the whole each id stands for, and which word it belongs to.
            errors: as in `encode`.

        Returns:
            A stream with `write`, `read` and `close`; it is not to be used by several threads at a time. It takes as much memory however
            long the text is; see `fst.runtime.stream`. Ids that nobody reads pile up.

        Raises:
            UnsupportedError: the vocabulary has added tokens that are found in normalised text, or depend on what stands around them, or
                its normalisation composes characters, with `offsets` also if it orders marks in several steps. Or `offsets`, and two
                tokens of different lengths have one id.
            ValueError: `errors` is unknown, or `offsets` neither True nor False.

        Example:
            >>> from fst.compile import wordpiece
            >>> stream = Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "fit"])).stream()
            >>> stream.write("una")
            >>> stream.write("ble fi")
            >>> stream.read().ids
            array([1, 3, 4], dtype=int32)
            >>> stream.write("t")
            >>> stream.close().ids
            array([5, 2], dtype=int32)
        """
        check(errors)
        if offsets not in (False, True):
            raise ValueError(f"offsets={offsets!r}: a stream has False and True")
        if self._second_locating if offsets else self._second:
            raise UnsupportedError(f"streams with {self._needs_whole_texts}: encode the whole text at once")
        frame = self._frame if add_special_tokens else self._no_frame
        return Stream(self._tables, self._locating if offsets else self._machine, self._workspaces, frame, bool(offsets), errors)

    def tokenize(self, text: str | bytes, *, errors: str = "strict") -> list[str]:
        """The tokens of one text, without special tokens around it.

        Args:
            text, errors: as in `encode`.

        Returns:
            A token for each id of ``encode(text, add_special_tokens=False)``.

        Raises:
            TextError: it is not text.

        Example:
            >>> from fst.compile import wordpiece
            >>> Tokenizer(wordpiece(["[UNK]", "un", "##able"])).tokenize("Unable")
            ['un', '##able']
        """
        names = self._tokens_by_id
        return [names[number] for number in self.encode(text, add_special_tokens=False, errors=errors).tolist()]

    def decode(self, ids: Sequence[int] | NDArray[Any], *, skip_special_tokens: bool = True) -> str:
        """A text from ids, as the vocabulary's own decoder makes it.

        Args:
            ids: a row of whole numbers: an array, a list or a tuple. Numbers that no token has are left out, as by the reference.
            skip_special_tokens: leave out [CLS], [SEP] and the like.

        Returns:
            The text. Changes by normalisation stay, and unknown words are the unknown token.

        Raises:
            TypeError: `ids` is not a row of whole numbers.
            OverflowError: a number is below 0 or takes more than 32 bits, such as the -100 of labels.

        Example:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "!"]))
            >>> tok.decode([1, 3, 4, 5, 2])
            'unable!'
        """
        skipped = self._skipped if skip_special_tokens else frozenset[int]()
        names, decoder = self._tokens_by_id, self._metadata.settings.decoder
        return decoded([names[number] for number in _row(ids) if number in names and number not in skipped], decoder)

    def decode_batch(self, sequences: Iterable[Sequence[int] | NDArray[Any]], skip_special_tokens: bool = True) -> list[str]:
        """A text from each row of ids.

        Args:
            sequences: a `Batch`, or rows as in `decode`.
            skip_special_tokens: as in `decode`.

        Returns:
            A text for each row.

        Raises:
            TypeError, OverflowError: as in `decode`.

        Example:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "un", "##able", "!"]))
            >>> tok.decode_batch(tok.encode_batch(["unable!", "un"]))
            ['unable!', 'un']
        """
        return [self.decode(ids, skip_special_tokens=skip_special_tokens) for ids in sequences]

    def token_to_id(self, token: str) -> int | None:
        """The id of a token, or None where there is no such token."""
        return self._ids_by_token.get(token)

    def id_to_token(self, number: int) -> str | None:
        """The token of an id, or None where no token has it."""
        return self._tokens_by_id.get(number)

    def get_vocab(self) -> dict[str, int]:
        """Token → id, added tokens included; a copy."""
        return dict(self._ids_by_token)

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def vocab_size(self) -> int:
        """The number of tokens, added ones included; ``len(tok)`` is the same."""
        return len(self._tables.token_ids)

    @Lazy
    def _locating(self) -> Machine:
        return locating(self._tables, self._machine)

    @Lazy
    def _second_locating(self) -> SecondReader | None:
        normalizer = self._metadata.normalizer
        if not normalizer.placing:
            return self._second
        if self._metadata.added_tokens.contextual:
            return Added(self._tables, self._machine, normalizer.placing)
        return Before(self._tables, normalizer.composition, normalizer.placing)

    @property
    def _needs_whole_texts(self) -> str:
        """Why streams are refused."""
        if self._metadata.added_tokens.contextual:
            return "added tokens in normalised text"
        composes = self._metadata.normalizer.composition is not None
        return f"normalisation that {'composes characters' if composes else 'orders marks in several steps'}"

    @Lazy
    def _ids_by_token(self) -> dict[str, int]:
        return dict(zip(self._tables.tokens, self._tables.token_ids.tolist(), strict=True))

    @Lazy
    def _tokens_by_id(self) -> dict[int, str]:
        names = {number: token for token, number in self._ids_by_token.items()}
        return names | {token.id: token.decoded for token in self._metadata.added_tokens.contextual.values()}

    @Lazy
    def _skipped(self) -> frozenset[int]:
        # The reference goes by spellings: a special token that is found in normalised text, and spelled so, is left out only if that is
        # how a special token is written.
        added = self._metadata.added_tokens
        written = {content for content, number in added.ids.items() if number in added.skipped}
        return frozenset(number for number in added.skipped if self._tokens_by_id.get(number) in written)

    def __reduce__(self) -> tuple[Any, ...]:
        """As its tables: equal ones pickle to equal bytes, and are proven again where they are unpickled."""
        return type(self), (self._tables,)

    def __copy__(self) -> Tokenizer:
        """Itself: nothing of it changes."""
        return self

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        return self


def _row(ids: Any) -> list[int]:
    """A row of ids as Python's own numbers."""
    try:
        numbers = list(map(index, ids.tolist() if isinstance(ids, np.ndarray) else ids))
    except TypeError as error:
        what = "a row of ids is whole numbers; token_to_id gives a token's, and decode_batch takes several rows"
        raise TypeError(f"decode: {error}; {what}") from None
    if numbers and not 0 <= min(numbers) <= max(numbers) <= MAX_ID:
        wrong = next(number for number in numbers if not 0 <= number <= MAX_ID)
        raise OverflowError(f"decode: {wrong} is no id: ids are 0 to {MAX_ID}; leave out numbers of no token, such as -100 in labels")
    return numbers


def _most(max_length: Any, around: int) -> int:
    """How many ids a row may have, of which some are put around its text."""
    try:
        most = index(max_length)
    except TypeError:
        raise ValueError(f"max_length={max_length!r} is no whole number") from None
    if most < around:
        raise ValueError(f"max_length={most}: a row has {around} special tokens, and at least as many ids")
    return most
