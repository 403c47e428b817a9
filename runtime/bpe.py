"""The tokenizer of byte-level BPE tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.errors import UnsupportedError
from fst.lazy import Lazy
from fst.machines.bpe import BpeTables
from fst.machines.byte_letters import bytes_of
from fst.runtime.batch import Batch
from fst.runtime.run import Runner
from fst.runtime.texts import Source
from fst.runtime.tokenizer import Tokenizer
from fst.runtime.workspace import Ids


class BpeTokenizer(Tokenizer):
    """A tokenizer over a byte-level BPE table."""

    _table: BpeTables

    def token_bytes(self, number: int) -> bytes | None:
        """The bytes of the token of an id; None if no token has this id."""
        return self._contents.get(number)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of ids, special tokens included. A text may end inside a character."""
        return b"".join(map(self._contents.__getitem__, ids))

    @Lazy
    def _spans_runner(self) -> Runner:
        return Runner(self._table, self._ids_runner.arguments, self._workspaces, with_spans=True)

    def _streaming_runner(self, with_spans: bool) -> Runner:
        if with_spans:
            raise UnsupportedError("offsets of streams with byte-level BPE: encode the whole text at once")
        return super()._streaming_runner(with_spans)

    def _encode(self, source: Source, *, with_spans: bool = False, **options: Any) -> Batch:
        batch = super()._encode(source, with_spans=with_spans, **options)
        if batch.offsets is not None and self._table.metadata.text.trimming is not None:
            self._trim(batch.ids, batch.offsets, keeps_first=self._table.metadata.text.trimming)
        return batch

    def _trim(self, ids: Ids, offsets: Ids, *, keeps_first: bool) -> None:
        """Leave the blanks at the ends of tokens out of their spans, as the reference does."""
        leading, trailing = (blanks[ids] for blanks in self._blanks)
        begins, ends = offsets[:, 0].copy(), offsets[:, 1].copy()
        leading = leading - (keeps_first & (begins == 0) & (leading > 0))
        offsets[:, 0] = np.minimum(begins + leading, ends)
        offsets[:, 1] = np.where(ends >= trailing, np.maximum(ends - trailing, offsets[:, 0]), ends)

    @Lazy
    def _blanks(self) -> tuple[Ids, Ids]:
        """The number of blanks at the begin and at the end of each token, by its id."""
        counts = np.zeros((2, int(self._table.token_ids.max()) + 1), np.int32)
        for number, content in self._contents.items():
            counts[:, number] = len(content) - len(content.lstrip(b" ")), len(content) - len(content.rstrip(b" "))
        return counts[0], counts[1]

    def _joined(self, ids: Sequence[int]) -> str:
        return self.decode_bytes(ids).decode(errors="replace")

    @Lazy
    def _contents(self) -> dict[int, bytes]:
        table = self._table
        known = table.metadata.model.model_tokens
        # The reference takes an added token for the spelling of bytes, too, if it can be one.
        others = (bytes_of(token) or token.encode() for token in table.tokens[known:])
        return dict(zip(table.token_ids.tolist(), (*table.contents[:known], *others), strict=True))
