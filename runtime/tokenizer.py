"""The tokenizer encodes texts into token ids, and decodes ids to texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import NDArray

from fst.core.lazy import Lazy
from fst.errors import UnsupportedError, counted
from fst.runtime.decoder import DecodeStream, row_of
from fst.runtime.model_inputs.call import Caller
from fst.runtime.model_inputs.encoding import BatchEncoding, Ints
from fst.runtime.public_class import PublicClass
from fst.runtime.sessions.encoder import SessionEncoder
from fst.runtime.text.decoder import JoinedStream, decoded
from fst.runtime.text.decoder_steps import StepDecoder
from fst.runtime.text.templates import special_ids
from fst.tables.decoder_steps import PIECES
from fst.tables.header import Settings, StepsDecoder
from fst.tables.table import Table
from fst.tables.words_decoder import WordsDecoder

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from fst.runtime.model_inputs.options import CallArguments

FRAMED = ("_caller", "_short_texts")  # lazy parts of a tokenizer that depend on the templates


class Tokenizer(PublicClass, SessionEncoder):
    """A tokenizer encodes texts and decodes ids. A tokenizer is immutable, so that threads can share it without a lock.

    ``fst.Tokenizer(table)`` returns an object of the subclass for the table's kind. Some methods belong to one subclass, such as ``nbest``.
    For type checkers, name this subclass: ``fst.UnigramTokenizer(table)`` or ``fst.BpeTokenizer.load(path)``.

    Args:
        table: a result of `fst.compile.wordpiece`, `fst.compile.bpe`, `fst.compile.unigram` or `fst.compile.tokenizer`. Or a tokenizer in
            another form, whose table is loaded or compiled: the path or the URL of a table; a vocabulary, a folder or the name of a model,
            see `from_pretrained`; a live tokenizer of ``tokenizers``, ``transformers``, ``tiktoken`` or ``sentencepiece``; a stand-in for
            such a tokenizer; a trained vocabulary.

    Raises:
        TypeError: the argument is not a tokenizer.
        UnsupportedError: the table does not belong to a tokenizer, or the vocabulary needs an unsupported feature, which the message names.
        VocabularyError: the vocabulary cannot be compiled.
        TableError, OSError: as in `fst.load`.
    """

    def __new__(cls, table: Any) -> Self:
        """Make a tokenizer of the class of the table, which is first loaded or compiled if necessary."""
        if not isinstance(table, Table):
            from fst.bridge.from_live import table_for

            table = table_for(table, f"fst.{cls.__name__}")
        return super().__new__(cls, table)

    def __init__(self, table: Any) -> None:  # noqa: ARG002 - `__new__` makes the table of it
        super().__init__(self._table)
        self._metadata = self._table.metadata
        self._settings: Settings = self._metadata.settings
        self._special_ids = special_ids(self._metadata.templates.single)
        _ = self._ids_runner  # make the runner now, so that forked processes share its memory

    @classmethod
    def from_pretrained(cls, source: str | Path) -> Self:
        r"""Compile a vocabulary, and make a tokenizer, like ``AutoTokenizer.from_pretrained`` of ``transformers``.

        The compiled table is kept in the cache of the user, so later processes load it.

        Args:
            source: a folder, a file, or the name of a model on the Hugging Face Hub, as in `fst.compile.tokenizer`; or a table file.

        Raises:
            VocabularyError: the source is not a vocabulary, or the Hub lacks the model or cannot be reached.
            UnsupportedError: the source needs an unsupported feature, which the message names, or huggingface_hub is not installed.
            TableError, OSError: the source cannot be read.

        Examples:
            >>> from pathlib import Path
            >>> _ = Path("vocab.txt").write_text("\n".join(["[UNK]", "un", "##able"]))
            >>> Tokenizer.from_pretrained("vocab.txt").tokenize("unable")
            ['un', '##able']
        """
        return cls(source)

    def __repr__(self) -> str:
        return f"<fst.Tokenizer {self._table.kind}, {counted(self.vocab_size, 'token')}>"

    @property
    def header(self) -> Mapping[str, Any]:
        """The metadata of the table, as stored in its file.

        ``kind``, ``layout``, ``states``, ``columns``, ``dead``
            the automaton
        ``unk_id``, ``unk_token``, ``model_tokens``, ``continuing_subword_prefix``, ``max_input_chars_per_word``
            the model; ``model_tokens`` is the number of tokens without added tokens
        ``lowercase``, ``strip_accents``, ``clean_text``, ``handle_chinese_chars``, ``normalizer_parts``, ``composition``, ``placing``
            the normalizer; ``normalizer_parts`` lists its steps unless it is BERT's normalizer
        ``pre_tokenizer``, ``pre_tokenizer_parts``
            the pre-tokenizer
        ``specials``, ``late``, ``context``, ``skipped``, ``normalized_specials``
            the added tokens that are found in raw text; contextual added tokens and their context; the ids that `decode` skips; and the ids
            of those ``specials`` that are normalized in the vocabulary's source
        ``single``, ``pair``
            the templates of one text and of a pair of texts: rows of [ids, type id] or ["A" or "B", type id]
        ``decoder``, ``clean_up_tokenization_spaces``
            how `decode` joins tokens
        ``named_tokens``, ``extra_special_tokens``, ``model_max_length``, ``model_input_names``
            settings of the model, from the vocabulary's source
        ``tokenizer_class``
            the class of ``transformers`` with members of its own, its attributes and its options, for `fst.hf`; absent for other classes
        ``chat_templates``
            the chat templates of the source by name; only `fst.hf` runs them, in the sandbox of ``transformers``
        ``truncation``, ``truncation_side``, ``padding``, ``padding_side``
            settings from the vocabulary's source. A call uses only the two sides, unless its arguments request truncation or padding.
        """
        header: Mapping[str, Any] = self._table.header
        return header

    @property
    def truncation(self) -> Mapping[str, Any] | None:
        """The truncation settings in the vocabulary's source. Texts are truncated only if a call requests truncation."""
        return self._settings.truncation

    @property
    def padding(self) -> Mapping[str, Any] | None:
        """The padding settings in the vocabulary's source. Rows are padded only if a call requests padding."""
        return self._settings.padding

    @overload
    def __call__(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        is_split_into_words: Literal[False] = False,
        return_tensors: None = None,
        return_overflowing_tokens: Literal[False] = False,
        **arguments: Unpack[CallArguments],
    ) -> BatchEncoding[list[int]]: ...

    @overload
    def __call__(
        self,
        text: list[Any] | tuple[Any, ...],
        text_pair: list[Any] | tuple[Any, ...] | None = None,
        *,
        is_split_into_words: Literal[False] = False,
        return_tensors: None = None,
        return_overflowing_tokens: bool = False,
        **arguments: Unpack[CallArguments],
    ) -> BatchEncoding[list[list[int]]]: ...

    @overload
    def __call__(
        self,
        text: Any,
        text_pair: Any = None,
        *,
        is_split_into_words: bool = False,
        return_tensors: Literal["np"],
        return_overflowing_tokens: bool = False,
        **arguments: Unpack[CallArguments],
    ) -> BatchEncoding[Ints]: ...

    @overload
    def __call__(
        self,
        text: Any,
        text_pair: Any = None,
        *,
        is_split_into_words: bool = False,
        return_tensors: Any = None,
        return_overflowing_tokens: bool = False,
        **arguments: Unpack[CallArguments],
    ) -> BatchEncoding[Any]: ...

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
    ) -> BatchEncoding[Any]:
        """Convert texts to the inputs of a model. Arguments and result follow ``transformers.PreTrainedTokenizerFast.__call__``.

        Args:
            text: a str, or a batch: a list of str or of pairs of str. With `is_split_into_words`, pass a list of words instead of each str.
            text_pair: the second text of a pair; for a batch, the list of the second texts.
            add_special_tokens: add [CLS] and [SEP], or the vocabulary's equivalents, before, between and after the texts.
            padding: True or "longest": pad each row to the length of the longest row; "max_length": pad each row to `max_length`; False or
                "do_not_pad": no padding.
            truncation: True or "longest_first", "only_first", "only_second": truncate rows to `max_length`; False or "do_not_truncate": no
                truncation. None: True if `max_length` is given and `padding` is False, otherwise False.
            max_length: the maximum number of ids in a row, special tokens included. None: the maximum of the model; without this maximum,
                rows are not truncated.
            stride: the number of ids that consecutive windows share.
            is_split_into_words: whether each text is a list of words.
            pad_to_multiple_of: round the length of padded rows up to a multiple of this number.
            padding_side, truncation_side: "right" or "left"; None: the side in the vocabulary's source, by default "right".
            return_tensors: "np" or "pt": arrays of int64; None: lists.
            return_token_type_ids, return_attention_mask, return_special_tokens_mask, return_offsets_mapping, return_length: whether the
                result contains "token_type_ids", "attention_mask", "special_tokens_mask", "offset_mapping", "length"; None: include the
                member if it is an input of the model.
            return_overflowing_tokens: split a text that is too long into windows that overlap by `stride` ids. Each window becomes a row,
                and the member "overflow_to_sample_mapping" contains the index of the row's text.
            threads: as in `encode_batch`.

        Returns:
            A dictionary with "input_ids" and the members above. The methods of the dictionary convert positions of tokens to positions of
            characters and words, and back. For type checkers, the type of ``["input_ids"]`` depends on `return_tensors` and the type of
            `text`.

        Raises:
            TextError: an item is not text; the message contains the row's number.
            ValueError: an argument has an unknown value, or a text cannot be truncated as requested.
            ImportError: "pt" needs PyTorch, which is not installed.

        Examples:
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

    def tokenize(self, text: str | bytes, *, errors: str = "strict") -> list[str]:
        """Encode one text into tokens, without special tokens before and after the text.

        Args:
            text, errors: as in `encode`.

        Returns:
            A token for each id of ``encode(text, add_special_tokens=False)``.

        Raises:
            TextError: the argument is not text.

        Examples:
            >>> from fst.compile import wordpiece
            >>> Tokenizer(wordpiece(["[UNK]", "un", "##able"])).tokenize("Unable")
            ['un', '##able']
        """
        names = self._tokens_by_id
        return [names[number] for number in self.encode(text, add_special_tokens=False, errors=errors).tolist()]

    def decode(self, ids: Sequence[int] | NDArray[Any], *, skip_special_tokens: bool = True) -> str:
        """Decode a row of ids into a text, with the vocabulary's decoder.

        Args:
            ids: whole numbers in an array, a list or a tuple. Numbers that are not ids are skipped, as in ``tokenizers``.
            skip_special_tokens: skip special tokens, such as [CLS] and [SEP].

        Returns:
            The text, which is normalized, and contains the unknown token in place of each unknown word.

        Raises:
            TypeError: `ids` is not a row of whole numbers.
            OverflowError: a number is negative, such as the label -100, or needs more than 32 bits.

        Examples:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "!"]))
            >>> tok.decode([1, 3, 4, 5, 2])
            'unable!'
        """
        return self._decoded(ids, skip_special_tokens)

    def decode_batch(self, sequences: Iterable[Sequence[int] | NDArray[Any]], skip_special_tokens: bool = True) -> list[str]:
        """Decode rows of ids into texts.

        Args:
            sequences: a `Batch`, or rows as in `decode`.
            skip_special_tokens: as in `decode`.

        Returns:
            A text for each row.

        Raises:
            TypeError, OverflowError: as in `decode`.

        Examples:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "un", "##able", "!"]))
            >>> tok.decode_batch(tok.encode_batch(["unable!", "un"]))
            ['unable!', 'un']
        """
        return self._decoded_rows(sequences, skip_special_tokens)

    def decode_stream(self, *, skip_special_tokens: bool = True) -> DecodeStream:
        """Make a stream that decodes ids while a model generates them.

        Args:
            skip_special_tokens: as in `decode`.

        Returns:
            A stream with the methods `write` and `close`; it returns each character as soon as the character's bytes are complete.

        Raises:
            UnsupportedError: the decoder changes the text as a whole, for example a `Replace` after `Fuse`, or the text of a token depends
                on the next tokens.
        """
        return self._stream_of(skip_special_tokens)

    def _stream_of(self, skip_special_tokens: bool) -> DecodeStream:
        if self._by_steps:
            return self._by_steps[skip_special_tokens].stream()
        decoder = self._metadata.settings.decoder
        assert not isinstance(decoder, StepsDecoder)
        if isinstance(decoder, WordsDecoder):
            raise UnsupportedError("decode_stream: the text of a token depends on the next tokens; decode all ids at once")
        return JoinedStream(self._names(skip_special_tokens), decoder)

    @property
    def _has_control(self) -> bool:
        """Whether the special tokens are control pieces of ``sentencepiece``."""
        decoder = self._settings.decoder
        return isinstance(decoder, StepsDecoder) and any(step["type"] == PIECES for step in decoder.steps)

    @Lazy
    def _by_steps(self) -> tuple[StepDecoder, StepDecoder] | None:
        """The decoder of all ids, and the decoder that skips special tokens; None for a vocabulary whose decoder has no steps."""
        if not isinstance(self._settings.decoder, StepsDecoder):
            return None
        whole = StepDecoder(self._tokens_by_id, self._settings.decoder.steps)
        return whole, whole.skipping(self._skipped)

    def _decoded(self, ids: Any, skip_special_tokens: bool) -> str:
        if self._by_steps:
            return self._by_steps[skip_special_tokens].text(ids)
        names = self._names(skip_special_tokens)
        tokens = [names[number] for number in row_of(ids) if number in names]
        return decoded(tokens, self._metadata.settings.decoder)

    def _names(self, skip_special_tokens: bool) -> Mapping[int, str]:
        """The token of each id that is decoded."""
        return self._spoken if skip_special_tokens else self._tokens_by_id

    @Lazy
    def _spoken(self) -> Mapping[int, str]:
        """The token of each id, without the ids of special tokens."""
        return {number: name for number, name in self._tokens_by_id.items() if number not in self._skipped}

    def _decoded_rows(self, sequences: Iterable[Any], skip_special_tokens: bool) -> list[str]:
        if self._by_steps:
            return self._by_steps[skip_special_tokens].texts(sequences)
        return [self._decoded(ids, skip_special_tokens) for ids in sequences]

    def with_added_tokens(self, tokens: Iterable[Any]) -> Tokenizer:
        """Return a new tokenizer with more added tokens, which are cut out of a text before the model encodes the rest. The present
        tokenizer does not change.

        The ids equal those of ``tokenizers`` after ``add_tokens`` with the same tokens: existing tokens keep their ids, and the first new
        id is the number of tokens. The model is not compiled again.

        Args:
            tokens: strings; or mappings or objects, such as ``tokenizers.AddedToken``, with the content of the token and the flags
                single_word, lstrip, rstrip, special and normalized. By default, normalized is the opposite of special. An existing added
                token gets the new flags. A new token with a usual name gets the role of this name if no other token has this role: for
                example, [PAD] or <pad> becomes the padding token.

        Returns:
            A new tokenizer, or the present tokenizer if it already has these tokens.

        Raises:
            TypeError: an item is not a token.
            VocabularyError: a token has a lone surrogate.
            UnsupportedError: no table can find the token exactly as ``tokenizers`` does, for example because the normalizer removes it; or
                a new id is already in use; or the table encodes as ``sentencepiece`` does, which has no added tokens.

        Examples:
            >>> from fst.compile import wordpiece
            >>> tok = Tokenizer(wordpiece(["[UNK]", "un", "##able"]))
            >>> more = tok.with_added_tokens(["<|user|>", {"content": "[PAD]", "special": True}])
            >>> more.tokenize("<|user|>unable"), len(tok), len(more)
            (['<|user|>', 'un', '##able'], 3, 5)
        """
        from fst.bridge.changes import with_added_tokens

        return with_added_tokens(self, tokens)

    def _framed(self, table: Any) -> Tokenizer:
        """Make the tokenizer of a table that differs from the present table only in the templates, and perhaps in the trimming of offsets.

        If the numbers of special ids and the trimming are the same, the new tokenizer shares all parts that do not depend on the templates.
        """
        metadata, ids = table.metadata, self._ids_by_token
        made = type(self).__new__(type(self), table)
        frames = [special_ids(one.templates.single) for one in (self._metadata, metadata)]
        are_as_long = len({tuple(map(len, frame)) for frame in frames}) == 1  # the sizes of workspaces depend on these numbers
        if are_as_long and replace(self._metadata, templates=metadata.templates) == metadata:
            shared = {name: value for name, value in vars(self).items() if isinstance(getattr(type(self), name, None), Lazy)}
            vars(made).update({name: value for name, value in shared.items() if name not in FRAMED})
            vars(made)["_caller"] = self._caller.framed(metadata, ids)
        made.__init__(table)  # type: ignore[misc]
        return made

    def save(self, path: str | Path) -> None:
        """Write the table, added tokens included, to a file for `fst.load`.

        Raises:
            OSError: `path` cannot be written.
        """
        self._table.save(path)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token; None if the vocabulary does not contain the token."""
        return self._ids_by_token.get(token)

    def id_to_token(self, number: int) -> str | None:
        """Return the token of an id; None if no token has this id."""
        return self._tokens_by_id.get(number)

    def get_vocab(self) -> dict[str, int]:
        """Return a new dictionary from all tokens, added tokens included, to their ids."""
        return dict(self._ids_by_token)

    def __len__(self) -> int:
        return self.vocab_size

    @property
    def vocab_size(self) -> int:
        """The number of tokens, added tokens included; equal to ``len(tok)``."""
        return len(self._table.token_ids)

    def _padding(self) -> tuple[int, str]:
        return self._caller.filler(True), self._caller.pad_side

    @Lazy
    def _ids_by_token(self) -> dict[str, int]:
        return dict(zip(self._table.tokens, self._table.token_ids.tolist(), strict=True))

    @Lazy
    def _tokens_by_id(self) -> dict[int, str]:
        named = dict(zip(self._table.token_ids.tolist(), self._table.tokens, strict=True))
        return named | {token.id: token.decoded for token in self._metadata.added_tokens.contextual.values()}

    @Lazy
    def _skipped(self) -> frozenset[int]:
        # ``tokenizers`` compares strings, so an added token that was found in normalized text is skipped only if the decoded token equals
        # the content of a special token. Control pieces of ``sentencepiece`` occur in no text, so their ids suffice.
        added = self._metadata.added_tokens
        if self._has_control:
            return frozenset(added.skipped)
        skipped = {*added.skipped}
        written = {content for content, number in added.ids.items() if number in skipped}
        possible = skipped.union(token.id for token in added.contextual.values())
        return frozenset(number for number in possible if self._tokens_by_id.get(number) in written)
