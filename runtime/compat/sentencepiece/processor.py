"""A stand-in for a ``sentencepiece.SentencePieceProcessor``, for code that expects such an object."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from fst.errors import TextError, UnsupportedError
from fst.machines.unigram.sampling import Sampling
from fst.runtime.compat.sentencepiece.arguments import (
    NO_BUFFERS,
    Form,
    counts_bytes,
    is_sequence,
    need_no_offsets,
    one_type,
    text_in_list,
)
from fst.runtime.compat.sentencepiece.vocabulary import Vocabulary, in_both_spellings
from fst.tables.sentencepiece_info import BPE, UNIGRAM

DECODED_TYPES = (str, bytes, "offset_mapping")
NOT_GIVEN = (None,) * 10  # arguments that are omitted
MOST_NBEST, MOST_THREADS = 512, 1024
NO_SAMPLING = (
    'When enable_sampling is True, We must specify "nbest_size > 1" or "nbest_size = -1", and "alpha". "nbest_size" is enabled only on '
    'unigram mode ignored in BPE-dropout. when "nbest_size = -1" , this method samples from all candidates on the lattice instead of '
    "nbest segmentations."
)
COMPILE = "compile the .model file, and call fst.sentencepiece with the tokenizer of its table"
REFUSED = {  # methods that a stand-in does not have, and their replacements
    **dict.fromkeys(("load", "load_from_file", "load_from_serialized_proto", "from_file", "from_proto"), COMPILE),
    "serialized_model_proto": "a table does not keep the .model file; keep the file, or pickle this object",
    "set_encode_extra_options": "pass add_bos, add_eos, reverse and emit_unk_piece to fst.sentencepiece or to encode",
    "set_decode_extra_options": "reverse the ids before decode",
    "set_vocabulary": "a table has the pieces of its model; compile a model with others of type UNUSED",
    "reset_vocabulary": "a table has the pieces of its model",
    "load_vocabulary": "a table has the pieces of its model",
    "calculate_entropy": "tok.nbest(text, n) gives segmentations with their scores",
    "sample_encode_and_score": "sample_encode_as_ids samples, and tok.nbest(text, n) gives scores",
    "override_normalizer_spec": "change the model's normalizer_spec and compile it",
}


@in_both_spellings
class SentencePieceProcessor(Vocabulary):
    """Make a stand-in for a ``sentencepiece.SentencePieceProcessor``.

    The stand-in has the methods of ``sentencepiece`` 0.2.3, with names in snake_case and in CamelCase, and works without ``sentencepiece``.
    If the table was compiled from a ``.model`` file, the results equal those of ``sentencepiece``, with three exceptions: the results of
    `parallel_encode` and of `nbest_encode` (see their docstrings), and the random numbers of sampling. With a table from another source,
    results contain the ids, pieces and texts of this source, but methods that need data of a model raise an error.

    Methods with a text as an argument also accept a list of texts, and methods with an id also accept a list of ids. Methods that load
    models or return protocol buffers are absent; the error message contains a replacement, such as ``return_type="offset_mapping"``.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes, such as a ``.model`` file or a processor of ``sentencepiece``.
        return_type, out_type, add_bos, add_eos, reverse, emit_unk_piece, enable_sampling, nbest_size, alpha, num_threads: the defaults of
            the methods' arguments. None: the defaults of the processor `tokenizer`, or else of ``sentencepiece``.

    Attributes:
        fst: the tokenizer that encodes.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> import fst
        >>> from fst.compile import tokenizer
        >>> vocab = [["<unk>", 0], ["▁", -2], ["▁c", -3], ["af", -4], ["é", -5]]
        >>> spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
        >>> parts = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}, "pre_tokenizer": spaces, "decoder": spaces}
        >>> _ = Path("coffee.json").write_text(json.dumps(parts))
        >>> sp = fst.sentencepiece(fst.Tokenizer(tokenizer("coffee.json")))
        >>> sp.encode("café"), sp.encode("café", out_type=str), sp.decode(["▁c", "af", "é"]), sp.piece_to_id("▁c")
        ([2, 3, 4], ['▁c', 'af', 'é'], 'café', 2)
    """

    def __init__(
        self,
        tokenizer: Any,
        return_type: Any = None,
        out_type: Any = None,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
    ) -> None:
        super().__init__(tokenizer)

        def setting(given: Any, name: str, default: Any) -> Any:
            return getattr(tokenizer, name, default) if given is None else given

        self._return_type = one_type(return_type, out_type, getattr(tokenizer, "_return_type", int))
        self._add_bos = setting(add_bos, "_add_bos", False)
        self._add_eos = setting(add_eos, "_add_eos", False)
        self._reverse = setting(reverse, "_reverse", False)
        self._emit_unk_piece = setting(emit_unk_piece, "_emit_unk_piece", False)
        self._enable_sampling = setting(enable_sampling, "_enable_sampling", False)
        self._nbest_size = setting(nbest_size, "_nbest_size", -1)
        self._alpha = setting(alpha, "_alpha", 0.1)
        self._num_threads = setting(num_threads, "_num_threads", -1)
        is_changed = self._add_bos or self._add_eos or self._reverse or self._emit_unk_piece or self._enable_sampling
        self._is_plain = not is_changed and isinstance(self._num_threads, int)

    def __reduce__(self) -> tuple[Any, ...]:
        around = (self._add_bos, self._add_eos, self._reverse, self._emit_unk_piece)
        drawn = (self._enable_sampling, self._nbest_size, self._alpha, self._num_threads)
        return SentencePieceProcessor, (self.fst, self._return_type, None, *around, *drawn)

    def encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        enable_sampling: bool | None = None,
        nbest_size: int | None = None,
        alpha: float | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Encode a text, or each text of a list, into ids or pieces.

        Args:
            input: str or bytes, or a list of str or bytes. Each malformed byte is read as U+FFFD.
            add_bos, add_eos: whether to add the begin piece, or the end piece.
            reverse: whether to reverse the order of the pieces.
            emit_unk_piece: whether the piece for unknown text is the name of the unknown piece, such as ``<unk>``, instead of the text.
            enable_sampling: whether to draw a Unigram segmentation at random.
            nbest_size: -1: draw from all segmentations; n: draw from the n best.
            alpha: the weight of scores in a random draw.
            num_threads: the maximum number of threads for a list; if it is negative, one thread for each core.
            thread_pool: a thread pool of ``sentencepiece``, or None; the number of threads in the pool replaces `num_threads`.
            return_type, out_type: int: ids; str, bytes: the pieces; "numpy": ids in a read-only array; "offset_mapping": a dictionary of
                ids, pieces, and offsets in characters.
            return_bytes: for "offset_mapping", whether pieces are bytes and offsets count bytes; None: true if the input is bytes.

        Raises:
            TypeError: the input is neither str nor bytes, or `num_threads` is not an int.
            RuntimeError: the text has a lone surrogate, or the model does not support this sampling.
            ValueError: an argument has an invalid value, or the model has no piece for `add_bos` or `add_eos`.
            UnsupportedError: the table does not contain the required data of a model.
        """
        if self._is_plain and type(input) is str and (return_type is None or out_type is None):
            flags = add_bos, add_eos, reverse, emit_unk_piece, enable_sampling, nbest_size, alpha, num_threads, thread_pool, return_bytes
            kind = self._return_type if return_type is out_type else out_type if return_type is None else return_type
            if flags == NOT_GIVEN and (kind is int or kind is str):
                return self._row(input) if kind is int else self._pieces.spelled(input, self._row(input))
        form = self._form(return_type, out_type, add_bos, add_eos, reverse, emit_unk_piece)
        if return_bytes is not None and form.kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        sampling = self._sampling(enable_sampling, nbest_size, alpha)
        threads = self._threads(num_threads, thread_pool)
        return self._encoded(input, form._replace(in_bytes=counts_bytes(input, return_bytes)), threads, sampling)

    tokenize = encode

    def encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Encode a text, or each text of a list, into ids; `options` are other arguments of `encode`."""
        return self.encode(input, return_type=int, **options)

    def encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Encode a text, or each text of a list, into pieces; `options` are other arguments of `encode`."""
        return self.encode(input, return_type=str, **options)

    def encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Encode a text, or each text of a list, into an array of ids; `options` are other arguments of `encode`."""
        return self.encode(input, return_type="numpy", **options)

    def encode_as_offset_mapping(self, input: Any, **options: Any) -> Any:
        """Encode a text, or each text of a list, into ids and pieces with offsets; `options` are other arguments of `encode`."""
        return self.encode(input, return_type="offset_mapping", **options)

    def sample_encode_as_ids(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any) -> Any:
        """Encode into ids like `encode_as_ids`, by a random segmentation."""
        return self.encode_as_ids(input, nbest_size=nbest_size, alpha=alpha, enable_sampling=True, **options)

    def sample_encode_as_pieces(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any) -> Any:
        """Encode into pieces like `encode_as_pieces`, by a random segmentation."""
        return self.encode_as_pieces(input, nbest_size=nbest_size, alpha=alpha, enable_sampling=True, **options)

    def sample_encode_as_numpy(self, input: Any, nbest_size: int | None = None, alpha: float | None = None, **options: Any) -> Any:
        """Encode into arrays like `encode_as_numpy`, by a random segmentation."""
        return self.encode_as_numpy(input, nbest_size=nbest_size, alpha=alpha, enable_sampling=True, **options)

    def nbest_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        nbest_size: int | None = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Find the best Unigram segmentations of a text, or of each text of a list.

        This method adds scores in float64, but ``sentencepiece`` adds them in float32. So segmentations with nearly equal scores may be in
        a different order.

        Args:
            input, add_bos, add_eos, reverse, emit_unk_piece, return_type, out_type: as in `encode`, but "offset_mapping" is not supported.
            nbest_size: the maximum number of segmentations, at most 512.

        Raises:
            TypeError, RuntimeError, ValueError, UnsupportedError: as in `encode`.
        """
        form = self._form(return_type, out_type, add_bos, add_eos, reverse, emit_unk_piece)
        need_no_offsets(form)
        count = max(self._nbest_size if nbest_size is None else nbest_size, 1)
        _need_few(count)
        if isinstance(input, list):
            return [self._best(one, count, form) for one in input]
        return self._best(input, count, form)

    def nbest_encode_as_ids(self, input: Any, nbest_size: int | None = None, **options: Any) -> Any:
        """Find the best segmentations like `nbest_encode`; return ids."""
        return self.nbest_encode(input, nbest_size=nbest_size, return_type=int, **options)

    def nbest_encode_as_pieces(self, input: Any, nbest_size: int | None = None, **options: Any) -> Any:
        """Find the best segmentations like `nbest_encode`; return pieces."""
        return self.nbest_encode(input, nbest_size=nbest_size, return_type=str, **options)

    def nbest_encode_as_numpy(self, input: Any, nbest_size: int | None = None, **options: Any) -> Any:
        """Find the best segmentations like `nbest_encode`; return arrays of ids."""
        return self.nbest_encode(input, nbest_size=nbest_size, return_type="numpy", **options)

    def parallel_encode(
        self,
        input: Any,
        add_bos: bool | None = None,
        add_eos: bool | None = None,
        reverse: bool | None = None,
        emit_unk_piece: bool | None = None,
        chunk_len: int | None = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_type: Any = None,
        out_type: Any = None,
    ) -> Any:
        """Encode texts like `encode`; `chunk_len` does not change the result. In ``sentencepiece``, pieces may be lost where a text is cut
        into chunks.

        Args:
            input, add_bos, add_eos, reverse, emit_unk_piece, num_threads, thread_pool: as in `encode`.
            chunk_len: any int above 0.
            return_type, out_type: as in `encode`, but "offset_mapping" is not supported.

        Raises:
            TypeError, RuntimeError, ValueError, UnsupportedError: as in `encode`.
        """
        form = self._form(return_type, out_type, add_bos, add_eos, reverse, emit_unk_piece)
        self._threads(num_threads, thread_pool)
        if not isinstance(chunk_len, int) or chunk_len <= 0:
            raise ValueError("chunk_len must be positive.")
        need_no_offsets(form)
        if isinstance(input, list):
            return [self._encoded_text(one, form, {}) for one in input]
        return self._encoded_text(input, form, {})

    def parallel_encode_as_ids(self, input: Any, **options: Any) -> Any:
        """Encode texts like `parallel_encode`; return ids."""
        return self.parallel_encode(input, return_type=int, **options)

    def parallel_encode_as_pieces(self, input: Any, **options: Any) -> Any:
        """Encode texts like `parallel_encode`; return pieces."""
        return self.parallel_encode(input, return_type=str, **options)

    def parallel_encode_as_numpy(self, input: Any, **options: Any) -> Any:
        """Encode texts like `parallel_encode`; return arrays of ids."""
        return self.parallel_encode(input, return_type="numpy", **options)

    def decode(
        self,
        input: Any,
        return_type: Any = None,
        out_type: Any = None,
        num_threads: int | None = None,
        thread_pool: Any = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Decode ids or pieces to a text, or each row of a list to a text.

        Args:
            input: an id; a piece; a list, tuple or array of ids; a list or tuple of pieces, which are str or bytes; or a list of these
                rows.
            return_type, out_type: str or bytes: return the text; "offset_mapping": return a dictionary of the text, ids, pieces, and
                offsets in the text. If pieces are bytes, the text is bytes, too.
            num_threads, thread_pool: checked, but not used.
            return_bytes: for "offset_mapping", whether pieces and text are bytes and offsets count bytes.

        Raises:
            TypeError: the input has another type.
            IndexError: an id has no piece.
            ValueError, UnsupportedError: as in `encode`.
        """
        if type(input) is list and (return_type, out_type, num_threads, thread_pool, return_bytes) == NOT_GIVEN[:5]:
            text = self._pieces.quick_text(input)
            if text is not None:
                return text
        kind = one_type(return_type, out_type, str)
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        self._threads(num_threads, thread_pool)
        input = [] if input is None or (isinstance(input, str | bytes) and not input) else input
        input = input if is_sequence(input) else [input]
        is_batch = input.ndim > 1 if hasattr(input, "ndim") else len(input) > 0 and is_sequence(input[0])
        first = next((row for row in input if is_sequence(row) and len(row)), []) if is_batch else input
        are_pieces = len(first) > 0 and not hasattr(first, "dtype") and isinstance(first[0], str | bytes)
        if kind not in DECODED_TYPES:
            raise ValueError(f"unknown return_type={kind} or input type")
        rows = input if is_batch else [input]
        in_bytes = bool(return_bytes) or kind is bytes or (are_pieces and isinstance(first[0], bytes))
        found = self._answers.texts_of_pieces(rows, kind, in_bytes) if are_pieces else self._answers.texts_of_ids(rows, kind, in_bytes)
        return found if is_batch else found[0]

    detokenize = decode

    def decode_ids(self, input: Any, return_type: Any = None, **options: Any) -> Any:
        """Decode ids or pieces like `decode`."""
        return self.decode(input, return_type=return_type, **options)

    def decode_pieces(self, input: Any, return_type: Any = None, **options: Any) -> Any:
        """Decode ids or pieces like `decode`."""
        return self.decode(input, return_type=return_type, **options)

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalize a text, or each text of a list.

        Args:
            input: as in `encode`.
            with_offsets: whether to return also the offset in `input` of each normalized character, or of each normalized byte if `input`
                is bytes; the last offset is the end of `input`.

        Raises:
            TypeError, RuntimeError: as in `encode`.
            UnsupportedError: the table was not compiled from a ``.model`` file.
        """
        if isinstance(input, list):
            return [self._answers.normalized(one, with_offsets) for one in input]
        return self._answers.normalized(input, with_offsets)

    def __getattr__(self, name: str) -> Any:
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        remedy = NO_BUFFERS if re.search("_as_(serialized_|immutable_)?proto$", snake) else REFUSED.get(snake)
        raise AttributeError(f"'SentencePieceProcessor' object has no attribute {name!r}" + (f": {remedy}" if remedy else ""))

    def _form(self, return_type: Any, out_type: Any, *flags: bool | None) -> Form:
        """Determine the form of results from the arguments and their defaults."""
        kind = one_type(return_type, out_type, self._return_type)
        own = (self._add_bos, self._add_eos, self._reverse, self._emit_unk_piece)
        form = Form(kind, *(default if given is None else given for given, default in zip(flags, own, strict=True)))
        if kind == "offset_mapping" and any(form[1:]):
            raise RuntimeError("UNIMPLEMENTED: add_bos, add_eos, reverse, and emit_unk_piece is not supported in proto API")
        return form

    def _threads(self, num_threads: Any, thread_pool: Any) -> int | None:
        """Determine the maximum number of threads; None means one thread for each core."""
        num_threads = self._num_threads if num_threads is None else num_threads
        if not isinstance(num_threads, int):
            raise TypeError("num_threads must be int")
        if thread_pool is not None:
            num_threads = thread_pool.num_threads()
        return None if num_threads < 0 else min(max(num_threads, 1), MOST_THREADS)

    def _sampling(self, enable: Any, nbest_size: Any, alpha: Any) -> dict[str, Any]:
        """Make the tokenizer's arguments for sampling."""
        enable = self._enable_sampling if enable is None else enable
        nbest_size = self._nbest_size if nbest_size is None else nbest_size
        alpha = self._alpha if alpha is None else alpha
        if enable is True and (nbest_size in (None, 0, 1) or alpha is None):
            raise ValueError(NO_SAMPLING)
        if not enable:
            return {}
        _need_few(nbest_size)
        if self._pieces.kind == BPE:
            instead = "tok.encode(text, randomness=fst.Dropout(alpha)), where a merge that was skipped may come again"
            raise UnsupportedError(f"enable_sampling with BPE, where sentencepiece skips a merge once and for all: take {instead}")
        if self._pieces.kind not in ("", UNIGRAM):
            raise RuntimeError("INTERNAL: SampleEncode is not available for the current model.")
        return {"randomness": Sampling(alpha, nbest_size=nbest_size)}

    def _encoded(self, input: Any, form: Form, threads: int | None, sampling: dict[str, Any]) -> Any:
        """Make the result for a text, or for each text of a list."""
        if not isinstance(input, list):
            return self._encoded_text(input, form, sampling)
        rows = self._rows(input, threads, sampling)
        if form.kind is int and not any(form[1:]):
            return rows
        answers, texts = self._answers, [self._answers.read(one, text_in_list) for one in input]
        if form.is_placed and not sampling:
            located = self._pieces.located_rows(texts, rows, threads)
            each = zip(texts, rows, located, input, strict=True)
            return [answers.placed(text, ids, pieces, form, one) for text, ids, pieces, one in each]
        return [answers.formed(text, ids, form, one) for text, ids, one in zip(texts, rows, input, strict=True)]

    def _encoded_text(self, input: Any, form: Form, sampling: dict[str, Any]) -> Any:
        """Make the result for a text."""
        text = self._answers.read(input)
        ids = self._row(text, **sampling)
        if form.is_placed and not sampling:
            (located,) = self._pieces.located_rows([text], [ids], threads=1)
            return self._answers.placed(text, ids, located, form, input)
        return self._answers.formed(text, ids, form, input)

    def _row(self, text: str, **sampling: Any) -> list[int]:
        """Encode a text into ids."""
        try:
            ids: list[int] = self.fst.encode(text, add_special_tokens=False, **sampling).tolist()
        except TextError as error:
            raise RuntimeError(str(error)) from None
        return ids

    def _rows(self, texts: list[Any], threads: int | None, sampling: dict[str, Any]) -> list[list[int]]:
        """Encode texts into rows of ids."""
        try:
            batch = self.fst.encode_batch(texts, add_special_tokens=False, threads=threads, **sampling)
        except TextError:
            mended = [self._answers.read(one, text_in_list) for one in texts]
            batch = self.fst.encode_batch(mended, add_special_tokens=False, threads=threads, **sampling)
        ids = batch.ids.tolist()
        return [ids[start:end] for start, end in pairwise(batch.row_splits.tolist())]

    def _best(self, input: Any, count: int, form: Form) -> Any:
        """Find the best segmentations of a text."""
        text = self._answers.read(input)
        if self._pieces.kind not in ("", UNIGRAM):
            raise RuntimeError("INTERNAL: NBestEncode is not available for the current model.")
        nbest = getattr(self.fst, "nbest", None)
        if nbest is None:
            raise UnsupportedError(f"nbest_encode of {self.fst._table.kind} tables: only Unigram has several segmentations of a text")
        return [self._answers.formed(text, list(map(int, ids)), form, input) for ids, _ in nbest(text, count)]


def _need_few(nbest_size: int) -> None:
    if nbest_size > MOST_NBEST:
        raise RuntimeError(f"INTERNAL: nbest_size must be nbest_size <= {MOST_NBEST}")
