"""Token masks by their definition: every token is tried after every path, and the text is compared with all texts of a finite set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import fst
from fst.tables.decoder_steps import byte_of
from fst.tables.header import ByteLevelDecoder, Decoder, StepsDecoder

Path = tuple[int, ...]
CLEANED = (" .", " ?", " !", " ,")


class Writer:
    """The bytes that a tokenizer writes for a row of ids, by the definition of its decoder, token by token.

    Args:
        tok: the tokenizer.
    """

    def __init__(self, tok: fst.Tokenizer) -> None:
        metadata: Any = tok._table.metadata
        self._decoder = metadata.settings.decoder
        self._joins_bytes = isinstance(tok, fst.BpeTokenizer) and isinstance(self._decoder, ByteLevelDecoder)
        unknown = {metadata.model.unk_id, tok.token_to_id(metadata.model.unk_token or "")}
        self.silent = {number for number in (*metadata.added_tokens.skipped, *unknown) if number is not None}
        self._tok = tok
        self.ids = [number for number in sorted(tok._tokens_by_id) if number not in self.silent]

    def __call__(self, path: Path) -> bytes:
        """The bytes of a row of ids without special tokens. Byte tokens are returned as bytes, which may be a part of a character."""
        if self._joins_bytes:
            assert isinstance(self._tok, fst.BpeTokenizer)
            return self._tok.decode_bytes(path, skip_special_tokens=False)
        names = [self._tok._tokens_by_id[number] for number in path]
        if isinstance(self._decoder, StepsDecoder):
            return self._by_steps(names)
        return self._joined(names)

    def _joined(self, names: Sequence[str]) -> bytes:
        decoder: Decoder | None = self._decoder
        found = ""
        for place, name in enumerate(names):
            continues = decoder is not None and name.startswith(decoder.prefix)
            piece = name if not place else name.removeprefix(decoder.prefix) if decoder and continues else f" {name}"
            if decoder and decoder.cleanup and piece in CLEANED:
                piece = piece[1:]
            found += piece
        return found.encode()

    def _by_steps(self, names: Sequence[str]) -> bytes:
        kinds = [step["type"] for step in self._decoder.steps]
        symbol, data = "▁", b""
        for place, name in enumerate(names):
            byte = byte_of(name) if "ByteFallback" in kinds or self._decoder.steps[0].get("has_bytes") else None
            text = name.replace(symbol, " ") if byte is None else ""
            if not place and byte is None and kinds[0] == "Metaspace" and self._decoder.steps[0]["prepend_scheme"] != "never":
                text = name.replace(symbol, "")
            data += text.encode() if byte is None else bytes([byte])
            leading = self._decoder.steps[0].get("leading") if kinds[0] == "SentencePiece" else None
            if leading in ("first", "all") and byte is None and name.startswith(symbol):
                is_first = not place or (leading == "all" and all(other == symbol for other in names[:place]))
                data = data[:-len(text.encode())] + text[1:].encode() if is_first else data
        strip = next((step for step in self._decoder.steps if step["type"] == "Strip"), None)
        return data.removeprefix(strip["content"].encode()) if strip and strip["start"] == 1 else data


def allowed(write: Writer, texts: Collection[str], path: Path, end_id: int | None) -> list[int]:
    """The ids after which a path is still the beginning of one of the texts; and the end, if the path is one of the texts.

    A token that never writes anything is not allowed.
    """
    data = [text.encode() for text in texts]
    found = []
    for number in write.ids:
        written = write((*path, number))
        if write((write.ids[0], number)) != write((write.ids[0],)) and any(text.startswith(written) for text in data):
            found.append(number)
    if end_id is not None and write(path) in data:
        found.append(end_id)
    return sorted(found)
