"""The tokenizer of byte-level BPE tables."""

from __future__ import annotations

from collections.abc import Sequence

from fst.lazy import Lazy
from fst.machines.bpe import BpeTables
from fst.machines.byte_letters import bytes_of
from fst.runtime.tokenizer import Tokenizer


class BpeTokenizer(Tokenizer):
    """A tokenizer over a byte-level BPE table."""

    _table: BpeTables

    def token_bytes(self, number: int) -> bytes | None:
        """The bytes of the token of an id; None if no token has this id."""
        return self._contents.get(number)

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes of ids, special tokens included. A text may end inside a character."""
        return b"".join(map(self._contents.__getitem__, ids))

    def _joined(self, ids: Sequence[int]) -> str:
        return self.decode_bytes(ids).decode(errors="replace")

    @Lazy
    def _contents(self) -> dict[int, bytes]:
        table = self._table
        known = table.metadata.model.model_tokens
        # The reference takes an added token for the spelling of bytes, too, if it can be one.
        others = (bytes_of(token) or token.encode() for token in table.tokens[known:])
        return dict(zip(table.token_ids.tolist(), (*table.contents[:known], *others), strict=True))
