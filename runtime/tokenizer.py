"""The tokenizer: texts in, token ids out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.composition import Placing
from fst.errors import UnsupportedError
from fst.lazy import Lazy
from fst.machines.reading_arguments import reader
from fst.machines.wordpiece import Tables
from fst.runtime.decoder import decoded
from fst.runtime.encoder import Encoder
from fst.runtime.fallback import Fallback
from fst.runtime.fallback_added_tokens import ContextualTokens
from fst.runtime.fallback_composition import CompositionFallback
from fst.runtime.run import Runner
from fst.runtime.safe_cuts import blanks
from fst.runtime.stream import Runs
from fst.runtime.templates import frame
from fst.runtime.transformers.call import Caller
from fst.runtime.transformers.encoding import BatchEncoding

MAX_ID = (1 << 32) - 1  # in the reference


class Tokenizer(Encoder):
    """Tables that encode and decode. Immutable: one tokenizer serves any number of threads, without a lock.

    Args:
        tables: from `fst.compile.wordpiece`; for a file use `fst.load`.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self._tables = tables
        self._metadata = tables.metadata
        self._frame = frame(self._metadata.templates.single)
        self._safe_cuts = blanks(tables)
        _ = self._ids_runner  # made now, so that forked processes share it

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
    def _ids_runner(self) -> Runner:
        arguments, fallback = self._tables.arguments(), self._fallback(None)
        if isinstance(fallback, ContextualTokens):
            arguments = fallback.arguments(arguments)
        return Runner(self._tables, arguments, self._workspaces, fallback=fallback)

    @Lazy
    def _spans_runner(self) -> Runner:
        ids, placing = self._ids_runner, self._metadata.normalizer.placing
        fallback = self._fallback(placing) if placing else ids.fallback
        arguments = ids.arguments._replace(token_lengths=self._tables.token_lengths())
        return Runner(self._tables, arguments, self._workspaces, with_spans=True, fallback=fallback)

    def _fallback(self, placing: Placing | None) -> Fallback | None:
        """What reads the texts that kernels cannot, if there may be any."""
        composition = self._metadata.normalizer.composition
        if self._metadata.added_tokens.contextual:
            return ContextualTokens(self._tables, reader(self._tables), placing)
        return CompositionFallback(self._tables, composition, placing) if composition or placing else None

    def _streaming_runner(self, with_spans: bool) -> Runner:
        runner = super()._streaming_runner(with_spans)
        if runner.fallback:
            raise UnsupportedError(f"streams with {self._needs_whole_texts}: encode the whole text at once")
        return runner

    @property
    def _needs_whole_texts(self) -> str:
        """Why streams are refused."""
        if self._metadata.added_tokens.contextual:
            return "added tokens in normalised text"
        composes = self._metadata.normalizer.composition is not None
        return f"normalisation that {'composes characters' if composes else 'orders marks in several steps'}"

    def _runs(self, with_spans: bool) -> Runs:
        return Runs(self._tables, with_spans)

    def _padding(self) -> tuple[int, str]:
        return self._caller.filler(True), self._caller.pad_side

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
