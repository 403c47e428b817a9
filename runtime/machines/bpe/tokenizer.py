"""The tokenizer of byte-level BPE tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import WHITE_SPACE
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.bpe.arguments import POWERS, DropoutArguments, MergeArguments, merge_arguments
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.merge_list import SCRATCH
from fst.machines.bpe.table import BpeTable
from fst.pretokens.decoding import SIZE_BITS, STEP
from fst.runtime.decoder import ByteDecoder, ByteStream, DecodeStream, IdsLike, text_of, texts_of
from fst.runtime.machines.bpe.certain import MOST, CertainTokens, Pretokens, before_border
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.texts import Ints
from fst.runtime.run import Kernel, Runner
from fst.runtime.workspace import Ids, Workspaces
from fst.tables.header import ByteLevelDecoder


class BpeTokenizer(PretokenTokenizer):
    r"""A tokenizer with a byte-level BPE table, which also decodes ids to bytes; made by `fst.load` or ``fst.Tokenizer(table)``.

    Examples:
        >>> from base64 import b64encode
        >>> from pathlib import Path
        >>> from fst.compile import bpe
        >>> tokens = [*(bytes([byte]) for byte in range(256)), b"ca", b" ca", b"caf"]
        >>> lines = [f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
        >>> _ = Path("coffee.tiktoken").write_text("".join(lines))
        >>> tok = BpeTokenizer(bpe("coffee.tiktoken", pattern=r"\w+|\W+", special={}))
        >>> ids = tok.encode("café")
        >>> ids
        array([258, 195, 169], dtype=int32)
        >>> tok.decode(ids), tok.decode_bytes(ids[:2]), tok.token_bytes(257)
        ('café', b'caf\xc3', b' ca')
        >>> stream = tok.decode_stream()
        >>> [stream.write([number]) for number in ids.tolist()]
        ['caf', '', 'é']
    """

    _kinds_of_randomness = (Dropout,)
    _table: BpeTable

    @property
    def dropout(self) -> float:
        """The probability of dropout in the vocabulary's source, or 0. Merges are skipped only in calls that request dropout."""
        return self._table.metadata.model.dropout

    def token_bytes(self, number: int) -> bytes | None:
        """Return the bytes of the token with an id; None if no token has this id."""
        return self._decoder_of_all.bytes_of_one(number) if number in self._tokens_by_id else None

    def decode_bytes(self, ids: IdsLike, *, skip_special_tokens: bool = True) -> bytes:
        """Decode a row of ids to bytes. The row may begin or end inside a character.

        Args:
            ids, skip_special_tokens: as in `fst.Tokenizer.decode`.

        Returns:
            The bytes of all tokens, concatenated.

        Raises:
            TypeError, OverflowError: as in `fst.Tokenizer.decode`.
        """
        return bytes(self._decoder(skip_special_tokens).bytes_of(ids).data)

    def _stream_of(self, skip_special_tokens: bool) -> DecodeStream:
        if not self._joins_bytes:
            return super()._stream_of(skip_special_tokens)
        decoder = self._decoder(skip_special_tokens)
        return ByteStream(lambda ids: bytes(decoder.bytes_of(ids).data))

    def _decoded(self, ids: Any, skip_special_tokens: bool) -> str:
        if not self._joins_bytes:
            return super()._decoded(ids, skip_special_tokens)
        return text_of(self._decoder(skip_special_tokens).bytes_of(ids).data)

    def _decoded_rows(self, sequences: Iterable[Any], skip_special_tokens: bool) -> list[str]:
        if not self._joins_bytes:
            return super()._decoded_rows(sequences, skip_special_tokens)
        return texts_of(self._decoder(skip_special_tokens).bytes_of_rows(sequences))

    @property
    def _joins_bytes(self) -> bool:
        return isinstance(self._metadata.settings.decoder, ByteLevelDecoder)

    def _decoder(self, skip_special_tokens: bool) -> ByteDecoder:
        return self._decoder_of_text if skip_special_tokens else self._decoder_of_all

    @Lazy
    def _decoder_of_all(self) -> ByteDecoder:
        return decoder_of(self._table)

    @Lazy
    def _decoder_of_text(self) -> ByteDecoder:
        return self._decoder_of_all.skipping(self._skipped)

    def _certain_in(self, text: str, ids: Ids) -> int:
        by, normalizer, front_end = self._certain_tokens, self._table.metadata.text.normalizer, self._ids_runner.front_end
        if by is None or normalizer is None or front_end is None or len(text) > MOST:
            return by.count(text, ids) if by else 0
        known = before_border(text, front_end)
        ids_of_known = self.encode(known, add_special_tokens=False)
        found = by.count(normalizer.normalized(known)[0], ids_of_known)
        return found if np.array_equal(ids_of_known[:found], ids[:found]) else 0

    def _last_begin(self, text: str) -> int:
        return Pretokens(self._table).last_begin(text)

    @Lazy
    def _certain_tokens(self) -> CertainTokens | None:
        return CertainTokens(self._table) if CertainTokens.can_read(self._table) else None

    def _random_runner(self, randomness: Dropout, with_spans: bool) -> Runner:
        if not randomness.probability:
            return self._spans_runner if with_spans else self._ids_runner
        if self._table.metadata.model.longest_match:
            raise UnsupportedError("dropout is a probability of skipping merges; the table takes the longest tokens: leave dropout out")
        if len(self._table.byte_kinds):
            raise UnsupportedError("dropout with a pre_tokenizer Digits after ByteLevel: its merges would be skipped as in whole pieces")
        if with_spans:
            self._need_spans()
        return self._dropping_runners.runner(randomness, with_spans=with_spans)

    def _need_spans(self) -> None:
        """Raise an error if ids do not determine spans, because characters without tokens are lost or reordered."""
        if self._table.lost:
            count, lost = self._table.metadata.model.missing_bytes, self._table.lost
            raise UnsupportedError(f"offsets: {count} bytes have no token and {lost}; ids do not determine their positions")

    @Lazy
    def _dropping_runners(self) -> DroppingRunners:
        return DroppingRunners(self._table, self._ids_runner, self._workspaces)

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:
        super()._trim(ids, offsets, firsts)
        keeps_first = self._table.metadata.text.trimming  # whether the span of a text's first token includes a single space
        if keeps_first is None:
            return
        leading, trailing = (whitespace[ids] for whitespace in self._spaces)
        begins, ends = offsets[:, 0].copy(), offsets[:, 1].copy()
        may_keep = begins == 0
        may_keep[firsts] = True
        leading = leading * ~(keeps_first & may_keep & (leading == 1))
        offsets[:, 0] = np.minimum(begins + leading, ends)
        offsets[:, 1] = np.where(ends >= trailing, np.maximum(ends - trailing, offsets[:, 0]), ends)

    @Lazy
    def _spaces(self) -> tuple[Ids, Ids]:
        """The number of spaces at the start, and at the end, of each id's token. For added tokens, all whitespace characters count."""
        counts = np.zeros((2, int(self._table.token_ids.max()) + 1), np.int32)
        for number, content in zip(self._table.token_ids.tolist(), self._table.contents, strict=True):
            counts[:, number] = len(content) - len(content.lstrip(b" ")), len(content) - len(content.rstrip(b" "))
        added = self._metadata.added_tokens
        late = {token.id: token.decoded for token in added.contextual.values() if token.normalized}
        for content, number in ((late.get(number, content), number) for content, number in added.ids.items()):
            counts[:, number] = len(content) - len(content.lstrip(WHITE_SPACE)), len(content) - len(content.rstrip(WHITE_SPACE))
        return counts[0], counts[1]


def decoder_of(table: BpeTable, spell: bool = True) -> ByteDecoder:
    """Make a table's decoder, which converts ids to bytes.

    Args:
        table: the table.
        spell: whether an added token that consists of GPT-2's letters for bytes decodes to these bytes, as in ``tokenizers``, instead of to
            its characters. All other names decode to their characters, except byte fallbacks.
    """
    begins, sizes = np.concatenate([[0], table.token_ends[:-1]]), np.diff(table.token_ends, prepend=0)
    contents, size = [table.token_bytes.tobytes()], len(table.token_bytes)
    for place, data in table.decoded_differently(spell).items():
        begins[place], sizes[place] = size, len(data)
        contents.append(data)
        size += len(data)
    spans = np.zeros(int(table.token_ids.max()) + 2, np.uint64)
    spans[table.token_ids] = begins.astype(np.uint64) << np.uint64(SIZE_BITS) | sizes.astype(np.uint64)  # of equal ids, the last is used
    return ByteDecoder(np.frombuffer(b"".join([*contents, bytes(STEP)]), np.uint8), spans)


class DroppingRunners:
    """A factory that makes a runner for each call with dropout.

    Args:
        table: the table.
        plain: the runner without dropout.
        workspaces: the pool of workspaces for the kernel.
    """

    def __init__(self, table: BpeTable, plain: Runner, workspaces: Workspaces) -> None:
        own = plain.arguments
        self._merging: MergeArguments = own if isinstance(own, MergeArguments) else merge_arguments(table, own.shared)
        self._kernel = Kernel("bpe with dropout", table.unit, "fst.runtime.machines.bpe.kernels.dropout", table.expansion_bound * SCRATCH)
        self._front_end: Any = plain.front_end
        self._workspaces = workspaces

    def runner(self, dropout: Dropout, *, with_spans: bool) -> Runner:
        """Make the runner for a call."""
        powers, seed = _powers(dropout.probability), np.array([dropout.seed], np.uint64)
        front_end = None
        if self._front_end:
            merging = self._merging._replace(shared=self._front_end.arguments.shared)
            front_end = self._front_end.reading_by(DropoutArguments(merging, powers, seed))
        arguments = DropoutArguments(self._merging, powers, seed)
        return Runner(self._kernel, arguments, self._workspaces, with_spans=with_spans, front_end=front_end, first_row=dropout.first_row)


def _powers(probability: float) -> NDArray[np.float64]:
    """Compute a probability to the powers 1, 2, 4, 8 …. Each power is the square of the previous power, so that rounding is the same on
    every computer.
    """
    powers = [probability]
    for _ in range(POWERS - 1):
        powers.append(powers[-1] * powers[-1])
    return np.array(powers)
