"""The tokenizer of byte-level BPE tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fst.automata.rows import WHITE_SPACE
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.table import BpeTable
from fst.runtime.decoder import ByteDecoder, ByteStream, DecodeStream, IdsLike, text_of, texts_of
from fst.runtime.machines.bpe.decoder import decoder_of
from fst.runtime.machines.bpe.dropout import DroppingRunners
from fst.runtime.pretokens.tokenizer import PretokenTokenizer
from fst.runtime.rows.texts import Ints
from fst.runtime.run import Runner
from fst.runtime.workspace import Ids
from fst.tables.header import ByteLevelDecoder


class BpeTokenizer(PretokenTokenizer):
    r"""A tokenizer over a byte-level BPE table, as `fst.load` returns it: a `fst.Tokenizer` that also decodes to bytes.

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
        """The dropout in the vocabulary's source, for information; 0 if there is none. Merges are only skipped if a call requests it."""
        return self._table.metadata.model.dropout

    def token_bytes(self, number: int) -> bytes | None:
        """The bytes of the token of an id; None if no token has this id."""
        return bytes(self._decoder_of_all.bytes_of([number]).data) if number in self._tokens_by_id else None

    def decode_bytes(self, ids: IdsLike, *, skip_special_tokens: bool = True) -> bytes:
        """Decode a row of ids into bytes. A row may begin or end inside a character.

        Args:
            ids, skip_special_tokens: as in `fst.Tokenizer.decode`.

        Returns:
            The bytes of the tokens, one after the other.

        Raises:
            TypeError, OverflowError: as by `fst.Tokenizer.decode`.
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

    def _random_runner(self, randomness: Dropout, with_spans: bool) -> Runner:
        if not randomness.probability:
            return self._spans_runner if with_spans else self._ids_runner
        if len(self._table.byte_kinds):
            raise UnsupportedError("dropout with a pre_tokenizer Digits after ByteLevel: its merges would be skipped as in whole pieces")
        if with_spans:
            self._need_spans()
        return self._dropping_runners.runner(randomness, with_spans=with_spans)

    def _need_spans(self) -> None:
        """Refuse spans if bytes vanish. The reference then gives those of other characters."""
        if self._table.lost:
            count, lost = self._table.metadata.model.missing_bytes, self._table.lost
            raise UnsupportedError(f"offsets: {count} bytes are no tokens and {lost}; ids do not tell where they stood")

    @Lazy
    def _dropping_runners(self) -> DroppingRunners:
        return DroppingRunners(self._table, self._ids_runner, self._workspaces)

    def _trim(self, ids: Ids, offsets: Ids | Ints, firsts: Ints) -> None:
        super()._trim(ids, offsets, firsts)
        keeps_first = self._table.metadata.text.trimming  # whether a single space at the start of a text stays in its span
        if keeps_first is None:
            return
        leading, trailing = (blanks[ids] for blanks in self._blanks)
        begins, ends = offsets[:, 0].copy(), offsets[:, 1].copy()
        may_keep = begins == 0
        may_keep[firsts] = True
        leading = leading * ~(keeps_first & may_keep & (leading == 1))
        offsets[:, 0] = np.minimum(begins + leading, ends)
        offsets[:, 1] = np.where(ends >= trailing, np.maximum(ends - trailing, offsets[:, 0]), ends)

    @Lazy
    def _blanks(self) -> tuple[Ids, Ids]:
        """By id, the number of spaces at the start and at the end of each token; of whitespace characters for added tokens."""
        counts = np.zeros((2, int(self._table.token_ids.max()) + 1), np.int32)
        for number, content in zip(self._table.token_ids.tolist(), self._table.contents, strict=True):
            counts[:, number] = len(content) - len(content.lstrip(b" ")), len(content) - len(content.rstrip(b" "))
        added = self._metadata.added_tokens
        late = {token.id: token.decoded for token in added.contextual.values() if token.normalized}
        for content, number in ((late.get(number, content), number) for content, number in added.ids.items()):
            counts[:, number] = len(content) - len(content.lstrip(WHITE_SPACE)), len(content) - len(content.rstrip(WHITE_SPACE))
        return counts[0], counts[1]
