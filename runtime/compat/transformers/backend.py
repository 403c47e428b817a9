"""A stand-in for a ``tokenizers.Tokenizer``, for code that expects such an object; `fst.hf` uses it, too.

`Backend` has a subclass for each machine, see `BACKENDS`.
"""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fst.bridge.changes import with_post_processor
from fst.bridge.from_live import compiled
from fst.core.threads import thread_count
from fst.errors import TextError, UnsupportedError, counted, quoted
from fst.pretokens.table import PretokenTable
from fst.runtime.compat.transformers.bpe_document import post_processor
from fst.runtime.compat.transformers.document import Json, decoder, template_processing
from fst.runtime.model_inputs.encoding import Encoding
from fst.runtime.model_inputs.inputs import gathered, is_text, sample_of, singles
from fst.runtime.model_inputs.settings import Padding, Truncation
from fst.runtime.rows.texts import listed
from fst.runtime.text.decoder import decoded
from fst.runtime.tokenizer import Tokenizer

PARTS = ("model", "normalizer", "pre_tokenizer", "decoder")
COMPILED = "a table cannot change; change the tokenizer.json or the tokenizer object, and compile it again"


def tokenizers(tokenizer: Any, *, threads: int | None = None) -> Backend:
    """Make a stand-in for a ``tokenizers.Tokenizer``.

    The stand-in has the methods of ``tokenizers`` 0.23.3 that encode and decode, with the same results. At first, truncation and padding
    have the settings of the vocabulary's source; methods such as ``no_padding`` change these settings. The `fst.Tokenizer` inside never
    changes, so other objects may share it: ``add_tokens`` replaces it by a new `fst.Tokenizer`. The stand-in can be pickled.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes, such as an object of ``tokenizers`` or a folder.
        threads: the number of threads for a batch, see `fst.Tokenizer.encode_batch`.

    Raises:
        TypeError: the argument is not a tokenizer.
        UnsupportedError: the table's machine has no backend, or this version cannot compile the tokenizer object.
        ValueError: `threads` is not a whole number of at least 1.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> tok = fst.tokenizers(fst.Tokenizer(wordpiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able", "fit"])))
        >>> tok.enable_padding()
        >>> [(row.ids, row.tokens, row.attention_mask) for row in tok.encode_batch(["unable", "fit"])][1]
        ([2, 6, 3, 0], ['[CLS]', 'fit', '[SEP]', '[PAD]'], [1, 1, 1, 0])
    """
    if isinstance(tokenizer, Backend) and threads is None:
        return tokenizer
    return backend_of(compiled(tokenizer, "fst.tokenizers"), "fst.tokenizers", threads)


def backend_of(tokenizer: Tokenizer, asker: str = "fst.hf", threads: int | None = None) -> Backend:
    """Make the backend of a tokenizer.

    Args:
        tokenizer: the tokenizer.
        asker: the name of the calling function, for the error message.
        threads: see `tokenizers`.
    """
    table = tokenizer._table
    module = table.companion(f"{__package__}.{{}}")
    if module is None:
        is_stand_in = asker in ("fst.hf", "fst.tokenizers")
        remedy = "use tok(...), which has the same arguments" if is_stand_in else "name a tokenizer of another kind"
        raise UnsupportedError(f"{asker} is not available for {table.kind} tables; {remedy}")
    name = type(table).__name__.replace("Table", "Backend")  # for example, `BpeBackend` for `BpeTable`
    return cast(Backend, getattr(module, name)(tokenizer, threads))


class Backend:
    """The members of ``tokenizers.Tokenizer``, implemented with a table.

    Rows are objects of this package with the members of ``tokenizers.Encoding``. For a batch, only ids are computed immediately. Each other
    member of a row is computed at its first use; for spans and words, the texts are encoded again.

    Args:
        fst: the tokenizer.
        threads: as in `fst.tokenizers`.

    Attributes:
        fst: the tokenizer.
        threads: the number of threads, or None.
        files: the names of vocabulary files, in the form of ``vocab_files_names`` in ``transformers``.
        keeps_spaces: whether decoding keeps all spaces by default, which is true for BPE.
        fixed: the settings of ``transformers`` that cannot be changed, because the table determines them.
        model: the model. Pipelines for token classification read ``continuing_subword_prefix`` from it, to decide whether a word can have
            several tokens.
    """

    files: ClassVar[Mapping[str, str]]
    keeps_spaces: ClassVar[bool]

    def __init__(self, fst: Tokenizer, threads: int | None = None) -> None:
        self.fst = fst
        self.threads = None if threads is None else thread_count(threads)
        self._truncation, self._padding = Truncation.read(fst.truncation), Padding.read(fst.padding)
        self._framed: Json | None = {}  # the post-processor of the last assignment, so that equal assignments take no time

    def __repr__(self) -> str:
        return f"<fst.tokenizers {self.fst.header['kind']}, {counted(len(self.fst), 'token')}>"

    def encode(self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True) -> Encoding:
        """Encode a text, or a pair of texts.

        Args:
            sequence: a str; with `is_pretokenized` a list of words.
            pair: the second text, in the same form as `sequence`; None: no second text.
            is_pretokenized: whether texts are already split into words.
            add_special_tokens: add [CLS] and [SEP], or the vocabulary's equivalents, before, between and after the texts.

        Raises:
            TextError: an argument is not text.
            ValueError: the text cannot be truncated as requested.
        """
        sequence, pair = _of_array(sequence), _of_array(pair)
        for text in (sequence,) if pair is None else (sequence, pair):
            if not is_text(text, is_pretokenized):
                expected = "a list of words" if is_pretokenized else "a str"
                raise TextError(f"the text is {type(text).__name__}, {quoted(text)}; expected {expected}")
        sample = (sequence, pair) if pair is not None or is_pretokenized else sequence
        return self._encodings([sample], is_pretokenized, add_special_tokens, located=True)[0]

    def encode_batch(self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True) -> list[Encoding]:
        """Encode texts or pairs of texts.

        Args:
            input: the texts, or pairs of texts, in the form that `encode` accepts: a list, or an array of NumPy.
            is_pretokenized, add_special_tokens: as in `encode`.

        Returns:
            A row for each text, or for each pair.

        Raises:
            TextError: an item is not text; the message contains the row's number.
            ValueError: a text cannot be truncated as requested.
        """
        return self._batch(input, is_pretokenized, add_special_tokens, located=True)

    async def async_encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Encoding:
        """Encode a text, or a pair of texts, like `encode`, in another thread."""
        return await to_thread(self.encode, sequence, pair, is_pretokenized, add_special_tokens)

    async def async_encode_batch(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Encode texts or pairs of texts, like `encode_batch`, in another thread."""
        return await to_thread(self.encode_batch, input, is_pretokenized, add_special_tokens)

    async def async_encode_batch_fast(
        self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Encode texts or pairs of texts, like `encode_batch_fast`, in another thread."""
        return await to_thread(self.encode_batch_fast, input, is_pretokenized, add_special_tokens)

    async def async_decode_batch(self, sequences: Iterable[Any], skip_special_tokens: bool = True) -> list[str]:
        """Decode each row of ids, like `decode_batch`, in another thread."""
        return await to_thread(self.decode_batch, sequences, skip_special_tokens)

    def encode_batch_fast(self, input: Iterable[Any], is_pretokenized: bool = False, add_special_tokens: bool = True) -> list[Encoding]:
        """Encode texts like `encode_batch`, but the rows contain no offsets and no words, and only special tokens around texts have names,
        as in ``tokenizers``.
        """
        return self._batch(input, is_pretokenized, add_special_tokens, located=False)

    def _batch(self, given: Iterable[Any], words: bool, special: bool, *, located: bool) -> list[Encoding]:
        given = listed([*map(_of_array, _of_array(given))] if isinstance(given, np.ndarray) else given)
        if not words and set(map(type, given)) == {str}:
            return self._encodings(given, words, special, located=located)
        samples = [sample_of(row, sample, words) for row, sample in enumerate(given)]
        return self._encodings(samples, words, special, located=located) if samples else []

    def _encodings(self, given: Sequence[Any], words: bool, special: bool, *, located: bool) -> list[Encoding]:
        """Make a row for each text, or for each sample in the form that `gathered` accepts."""
        inputs = singles([*given]) if isinstance(given[0], str) else gathered(given, words, alone=False)
        caller = self.fst._caller
        options = caller.settled(bool(special), self._truncation, self._padding, bool(words))
        return caller.encodings(self.fst, inputs, options, self.threads, located=located)

    def decode(self, ids: Sequence[int] | NDArray[Any], skip_special_tokens: bool = True) -> str:
        """Decode a row of ids to a text, see `fst.Tokenizer.decode`."""
        return self.fst.decode(ids, skip_special_tokens=skip_special_tokens)

    def decode_batch(self, sequences: Iterable[Sequence[int] | NDArray[Any]], skip_special_tokens: bool = True) -> list[str]:
        """Decode each row of ids to a text."""
        return self.fst.decode_batch(sequences, skip_special_tokens)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token; None if the vocabulary does not contain the token."""
        return self.fst.token_to_id(token)

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id; None if no token has this id."""
        return self.fst.id_to_token(id)

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return a mapping from token to id, with or without added tokens."""
        return self.fst.get_vocab() if with_added_tokens else self._own_vocab()

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens, with or without added tokens."""
        tokens: int = self.fst._metadata.model.model_tokens
        return len(self.fst) if with_added_tokens else tokens

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """Return a mapping from id to added token, an ``AddedToken`` of ``tokenizers``."""
        from tokenizers import AddedToken

        listed = self.fst._metadata.added_tokens.listed()
        return {token["id"]: AddedToken(**{name: value for name, value in token.items() if name != "id"}) for token in listed}

    def post_process(self, encoding: Any, pair: Any = None, add_special_tokens: bool = True) -> Any:
        """Truncate a row, add special tokens, and pad the row, as the present settings state.

        Args:
            encoding: a row without special tokens, from `encode` or from ``tokenizers``.
            pair: the row of a second text.
            add_special_tokens: as in `encode`.

        Returns:
            A ``tokenizers.Encoding``.
        """
        made = _with(
            post_processor=self._post_processor(),
            truncation=self._truncation and self._truncation.document(),
            padding=self._padding and self._padding.document(),
        )
        return made.post_process(_reference_row(encoding), pair and _reference_row(pair), add_special_tokens)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return the number of special tokens around a text, or around a pair of texts."""
        templates = self.fst._metadata.templates
        template = templates.pair if is_pair else templates.single
        return sum(len(content) for content, _ in template if not isinstance(content, str))

    @property
    def truncation(self) -> dict[str, Any] | None:
        """The present arguments of `enable_truncation`; None if rows are not truncated."""
        return None if self._truncation is None else self._truncation._asdict()

    def enable_truncation(self, max_length: int, stride: int = 0, strategy: str = "longest_first", direction: str = "right") -> None:
        """Truncate rows in all later calls. The property ``overflowing`` of a row contains the rows that are cut off.

        Args:
            max_length: the maximum number of ids in a row, special tokens included. As in ``tokenizers``, rows are not truncated if this
                number is less than the number of special tokens.
            stride: the number of ids that consecutive windows share.
            strategy: "longest_first", "only_first" or "only_second".
            direction: the side where ids are cut off, "right" or "left".

        Raises:
            ValueError: an argument has an invalid value, or `stride` is so large that a window would contain no new ids.
        """
        asked = Truncation(max_length, stride, strategy, direction).check()
        left = max_length - self.num_special_tokens_to_add(is_pair=False)
        if 0 <= left < stride:
            raise ValueError(f"stride is {stride}; expected at most {left}, the number of ids of a text in a row of {max_length}")
        self._truncation = asked

    def no_truncation(self) -> None:
        """Do not truncate rows in later calls."""
        self._truncation = None

    @property
    def padding(self) -> dict[str, Any] | None:
        """The present arguments of `enable_padding`; None if rows are not padded."""
        return None if self._padding is None else self._padding._asdict()

    def enable_padding(
        self,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
        pad_to_multiple_of: int | None = None,
    ) -> None:
        """Pad rows in all later calls.

        Args:
            direction: the side where padding is added, "right" or "left".
            pad_id, pad_type_id, pad_token: the id, the type id and the name of the padding token.
            length: the number of tokens in padded rows; None: the number of tokens in the longest row of a batch.
            pad_to_multiple_of: round the length of padded rows up to a multiple of this number.

        Raises:
            ValueError: an argument has an unknown value.
        """
        self._padding = Padding(length, pad_to_multiple_of, pad_id, pad_token, pad_type_id, direction).check()

    def no_padding(self) -> None:
        """Do not pad rows in later calls."""
        self._padding = None

    @property
    def encode_special_tokens(self) -> bool:
        """Always False, which means that special tokens in a text are found. An assignment of True raises an error."""
        return False

    def add_tokens(self, tokens: Sequence[Any]) -> int:
        """Add tokens; see `fst.Tokenizer.with_added_tokens`. A new `fst.Tokenizer` replaces the `fst.Tokenizer` inside, which does not
        change.

        Args:
            tokens: a list of str, or of ``tokenizers.AddedToken``.

        Returns:
            The number of tokens that are new or have new flags.

        Raises:
            UnsupportedError: as in `fst.Tokenizer.with_added_tokens`.
        """
        return self._add(tokens, "add_tokens")

    def add_special_tokens(self, tokens: Sequence[Any]) -> int:
        """Add special tokens, which decoding can skip; otherwise like `add_tokens`."""
        return self._add(tokens, "add_special_tokens")

    def _add(self, tokens: Sequence[Any], method: str) -> int:
        """Add tokens. An empty tokenizer of ``tokenizers`` with the same added tokens determines the flags of the new tokens."""
        from tokenizers import Tokenizer, models

        flags = Tokenizer(models.WordLevel({}, ""))
        flags.add_tokens([*self.get_added_tokens_decoder().values()])
        changed: int = getattr(flags, method)([*tokens])
        if changed:
            self.fst = self.fst.with_added_tokens(flags.get_added_tokens_decoder().values())
        return changed

    def to_str(self, pretty: bool = False) -> str:
        """Return this tokenizer as a ``tokenizer.json``; `pretty`: whether the JSON is indented.

        Raises:
            UnsupportedError: no ``tokenizer.json`` can express the table.
        """
        stated = {
            **self.document(),
            "truncation": None if self._truncation is None else self._truncation.document(),
            "padding": None if self._padding is None else self._padding.document(),
        }
        return json.dumps(stated, ensure_ascii=False, **({"indent": 2} if pretty else {"separators": (",", ":")}))

    def save(self, path: str, pretty: bool = True) -> None:
        """Write the result of `to_str` to a file.

        Raises:
            UnsupportedError: as in `to_str`.
        """
        Path(path).write_text(self.to_str(pretty), "utf-8")

    def _post_processor(self) -> Json | None:
        table = self.fst._table
        return post_processor(table) if isinstance(table, PretokenTable) else template_processing(table)

    @property
    def fixed(self) -> Mapping[str, Any]:  # noqa: D102
        raise NotImplementedError

    @property
    def model(self) -> SimpleNamespace:  # noqa: D102
        return SimpleNamespace(continuing_subword_prefix=None, end_of_word_suffix=None)

    @property
    def normalizer(self) -> Any:
        """The normalizer of ``tokenizers`` with the table's settings; None for a table without a normalizer."""
        return _with(normalizer=self._shared_parts()["normalizer"]).normalizer

    @property
    def pre_tokenizer(self) -> Any:
        """The pre-tokenizer of ``tokenizers`` with the table's settings; None for a table that does not split texts."""
        return _with(pre_tokenizer=self._shared_parts()["pre_tokenizer"]).pre_tokenizer

    @property
    def decoder(self) -> Any:
        """The decoder of ``tokenizers`` with the table's settings; None for a table without a decoder."""
        return _with(decoder=decoder(self.fst._metadata.settings.decoder)).decoder

    @property
    def post_processor(self) -> Any:
        """The post-processor of ``tokenizers`` that adds the table's special ids. An assignment replaces the `fst.Tokenizer` inside by a
        tokenizer with other special ids around texts.
        """
        return _with(post_processor=self._post_processor()).post_processor

    @post_processor.setter
    def post_processor(self, value: Any) -> None:
        part = None if value is None else json.loads(value.__getstate__())
        if part != self._framed:
            self.fst = with_post_processor(self.fst, part)
            self._framed = part

    def joined(self, tokens: Sequence[str]) -> str:
        """Join tokens into a text."""
        return decoded(tokens, self.fst._metadata.settings.decoder)

    def save_vocabulary(self, folder: Path, prefix: str) -> tuple[str, ...]:  # noqa: ARG002
        """Write the vocabulary files, whose names begin with `prefix`; return their paths. By default, the ``tokenizer.json`` is enough.

        Raises:
            UnsupportedError: vocabulary files cannot represent the vocabulary.
        """
        return ()

    def document(self) -> Json:
        """Return a ``tokenizer.json`` that compiles to the table.

        Raises:
            UnsupportedError: no ``tokenizer.json`` can express the table.
        """
        raise NotImplementedError

    def _shared_parts(self) -> Json:
        """Return all members of `document` except the model, which would take most of the time.

        Raises:
            UnsupportedError: no ``tokenizer.json`` can express the table.
        """
        raise NotImplementedError

    def _own_vocab(self) -> dict[str, int]:
        """Return a mapping from token to id, without added tokens."""
        known = self.get_vocab_size(with_added_tokens=False)
        return dict([*self.fst._ids_by_token.items()][:known])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PARTS or (name == "encode_special_tokens" and value):
            raise UnsupportedError(f"{name} = {type(value).__name__}: {COMPILED}")
        if name != "encode_special_tokens":
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        what = "save(path) writes a tokenizer.json, which tokenizers.Tokenizer.from_file reads"
        raise AttributeError(f"{name!r}: fst.tokenizers has no such member; {what}")


def _with(**parts: Json | None) -> Any:
    """A tokenizer of ``tokenizers`` with components in the form of a ``tokenizer.json``, and without a vocabulary."""
    from tokenizers import Tokenizer, models

    return Tokenizer.from_str(json.dumps({**json.loads(Tokenizer(models.BPE()).to_str()), **parts}))


def _of_array(given: Any) -> Any:
    """Return a list; convert an array of NumPy."""
    return given.tolist() if isinstance(given, np.ndarray) else given


def _reference_row(row: Any) -> Any:
    """Return an ``Encoding`` of ``tokenizers`` with the content of a row."""
    from tokenizers import Encoding as Reference

    if isinstance(row, Reference):
        return row
    made, sequences = Reference(), row.sequence_ids
    places = {text: [place for place, one in enumerate(sequences) if one == text] for text in {*sequences} - {None}}
    made.__setstate__(json.dumps({
        **{name: getattr(row, name) for name in ("ids", "type_ids", "tokens", "offsets", "special_tokens_mask", "attention_mask")},
        "words": row.word_ids,
        "overflowing": [json.loads(_reference_row(other).__getstate__()) for other in row.overflowing],
        "sequence_ranges": {text: {"start": found[0], "end": found[-1] + 1} for text, found in places.items()},
    }).encode())  # fmt: skip
    return made
