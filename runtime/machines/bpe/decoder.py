"""The decoder of byte-level BPE: ids to the bytes of their tokens."""

from __future__ import annotations

import numpy as np

from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import bytes_of
from fst.pretokens.decoding import SIZE_BITS, STEP
from fst.pretokens.token_letters import byte_of
from fst.runtime.decoder import ByteDecoder


def decoder_of(table: BpeTable, spell: bool = True) -> ByteDecoder:
    """The decoder of a table.

    Args:
        table: the table.
        spell: whether an added token spelled in GPT-2's letters for bytes decodes to these bytes, as in the reference, and not to its own
            characters. Names in other letters are text, but for fallbacks.
    """
    begins, sizes = np.concatenate([[0], table.token_ends[:-1]]), np.diff(table.token_ends, prepend=0)
    contents, size = [table.token_bytes.tobytes()], len(table.token_bytes)
    model = table.metadata.model
    known, spelled = model.model_tokens, bytes_of if model.letters.are_bytes else fallback_of
    changed = {token.id: token.decoded for token in table.metadata.added_tokens.contextual.values()}
    of_model = np.flatnonzero(np.isin(table.token_ids[:known], [*changed])).tolist()  # an added token may have a name of the model's
    for place in (*of_model, *range(known, len(table.token_ids))):
        content, number = table.contents[place], int(table.token_ids[place])
        name = changed[number] if number in changed else content.decode()
        data = (spell and spelled(name)) or name.encode()
        if data != content:
            begins[place], sizes[place] = size, len(data)
            contents.append(data)
            size += len(data)
    spans = np.zeros(int(table.token_ids.max()) + 2, np.uint64)
    spans[table.token_ids] = begins.astype(np.uint64) << np.uint64(SIZE_BITS) | sizes.astype(np.uint64)  # of equal ids the last counts
    return ByteDecoder(np.frombuffer(b"".join([*contents, bytes(STEP)]), np.uint8), spans)


def fallback_of(name: str) -> bytes | None:
    """The byte of a fallback; None for another name."""
    byte = byte_of(name)
    return None if byte is None else bytes([byte])
