"""The bytes that each token adds to the decoded text.

The decoded text of ids is the concatenation of these bytes. The first token may write other bytes than the same token at a later position:
WordPiece writes a space before each word except the first, and SentencePiece removes the space of the first token.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fst.errors import UnsupportedError
from fst.tables.cleanup import first_piece_of, piece_of
from fst.tables.decoder_steps import ALL, METASPACE, PIECES, SUFFIX, plan
from fst.tables.header import ByteLevelDecoder, StepsDecoder
from fst.tables.table import Table

END_NAMES = ("<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "<|im_end|>", "[SEP]")


class Written(NamedTuple):
    """The bytes of all tokens.

    Attributes:
        later: the bytes of the token with each id, at any position but the first; empty for a number that is no id, and for special tokens
            and unknown tokens, which write no text.
        first: the bytes of each token at the first position; equal to `later` if tokens write the same bytes there.
        keeps_first: whether the token after a first token that writes nothing is again a first token.
    """

    later: list[bytes]
    first: list[bytes]
    keeps_first: bool


def written_by(table: Table) -> Written:
    """The bytes that decoding the tokens of a table writes, as `fst.Tokenizer.decode` does.

    Raises:
        UnsupportedError: the bytes of a token depend on the tokens after it, or on more than one token before it.
    """
    metadata: Any = getattr(table, "metadata", None)
    if not table.has_tokens:
        raise UnsupportedError(f"the table is of kind {table.kind!r}; expected that of a tokenizer; call fst.compile.tokenizer")
    names, decoder = _names(table, metadata), metadata.settings.decoder
    size = int(table.token_ids.max()) + 1  # type: ignore[attr-defined]
    if isinstance(decoder, ByteLevelDecoder) and hasattr(table, "decoded_differently"):
        later = first = _byte_level(table)
    elif isinstance(decoder, StepsDecoder):
        return _by_steps(names, decoder, size)
    else:
        later = {number: piece_of(name, decoder).encode() for number, name in names.items()}
        first = {number: first_piece_of(name, decoder).encode() for number, name in names.items()}
    rows = [[found.get(number, b"") if number in names else b"" for number in range(size)] for found in (later, first)]
    return Written(rows[0], rows[1], keeps_first=False)


def end_of(table: Table) -> int | None:
    """The id of the token that ends a text: the token that the vocabulary's source names ``eos_token``; else the first of `END_NAMES` that
    is a special token; None if there is none.
    """
    metadata: Any = table.metadata  # type: ignore[attr-defined]
    named = metadata.settings.named_tokens.get("eos_token")
    special = {*metadata.added_tokens.skipped}
    ids = dict(zip(table.tokens, table.token_ids.tolist(), strict=True))  # type: ignore[attr-defined]
    if named in ids:
        return int(ids[named])
    return next((int(ids[name]) for name in END_NAMES if ids.get(name) in special), None)


def _names(table: Any, metadata: Any) -> dict[int, str]:
    """The tokens by id, without special tokens and unknown tokens."""
    named = dict(zip(table.token_ids.tolist(), table.tokens, strict=True))
    named |= {token.id: token.decoded for token in metadata.added_tokens.contextual.values()}
    model = metadata.model
    for number in {*metadata.added_tokens.skipped, model.unk_id}:
        named.pop(number, None)
    return {number: name for number, name in named.items() if name != model.unk_token}


def _byte_level(table: Any) -> dict[int, bytes]:
    contents = [*table.contents]
    for place, data in table.decoded_differently().items():
        contents[place] = data
    return dict(zip(table.token_ids.tolist(), contents, strict=True))


def _by_steps(names: dict[int, str], decoder: StepsDecoder, size: int) -> Written:
    by = plan(decoder.steps)
    if by is None or any(step["type"] == SUFFIX for step in by.alone) or not by.drops_at_most_one:
        kinds = ", ".join(step["type"] for step in decoder.steps)
        raise UnsupportedError(f"the decoder has the steps {kinds}, by which a token writes text that depends on the tokens after it")
    later = [by.content(names[number]) if number in names else b"" for number in range(size)]
    if not by.tail and not any(_has_first(step) for step in by.alone):
        return Written(later, later, keeps_first=False)
    first = [by.first(names[number]) if number in names else b"" for number in range(size)]
    keeps_first = any(step["type"] == PIECES and step["leading"] == ALL for step in by.alone)
    return Written(later, first, keeps_first)


def _has_first(step: Any) -> bool:
    return step["type"] in (PIECES, METASPACE)
