"""Streams refuse invalid input, and then continue or are closed, as documented."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from support.machines.documents import TOKENS, compiled
from support.runtime.streams import NOT_TEXT, Piece, cut, hostile, made, whole

import fst


@pytest.mark.mostly_slow
@pytest.mark.parametrize("wrong", NOT_TEXT, ids=repr)
@pytest.mark.parametrize("before", ["", "un a ", "é世\U0001f600", "x" * 200])
def test_where_bytes_are_not_text(before: str, wrong: bytes) -> None:
    """The message about invalid bytes contains their position in the stream, with any cuts, and the stream is closed."""
    data = before.encode() + wrong + b" b"
    with pytest.raises(UnicodeDecodeError) as expected:
        data.decode()
    for place in range(len(data) + 1):
        check_refused(cut(data, [place]), f"position {expected.value.start} of the stream: not UTF-8")
    check_refused(cut(data, range(1, len(data))), f"position {expected.value.start} of the stream: not UTF-8")


@pytest.mark.parametrize("wrong", [chr(0xD83D), chr(0xDE00), "\ud83d\ude00"], ids=ascii)
@pytest.mark.parametrize("before", ["", "un a ", "é世\U0001f600", "x" * 200, "[MAS", "\u302e\u302e"])
def test_where_a_surrogate_is_alone(before: str, wrong: str) -> None:
    """For a lone surrogate, the message contains the position in the stream, and the stream is closed."""
    text = before + wrong + " b"
    for place in range(len(text) + 1):
        check_refused(cut(text, [place]), f"position {len(before)} of the stream: a lone surrogate")


def check_refused(pieces: Sequence[Piece], message: str) -> None:
    """Check that a stream refuses the parts, and is then closed."""
    stream = made("as BERT").stream()

    def feed() -> None:
        for piece in pieces:
            stream.write(piece)
            stream.read()
        stream.close()

    with pytest.raises(fst.TextError, match=message):
        feed()
    with pytest.raises(ValueError, match="the stream is closed"):
        stream.read()


def test_a_character_that_is_never_finished() -> None:
    """A stream that ends inside a character is refused."""
    stream = made("as BERT").stream()
    stream.write("un é".encode()[:-1])
    assert stream.read().ids.tolist() == [TOKENS.index("[CLS]"), TOKENS.index("un")]
    with pytest.raises(fst.TextError, match="position 3 of the stream: not UTF-8"):
        stream.close()


@pytest.mark.parametrize(("first", "second"), [("un ", b"a"), (b"un ", "a"), ("un ", 1), (b"un ", bytearray(b"a"))], ids=repr)
def test_pieces_of_two_kinds(first: Piece, second: Any) -> None:
    """A part of another type than the first part is refused, and the stream continues without the refused part."""
    stream = made("as BERT").stream(add_special_tokens=False)
    stream.write(first)
    with pytest.raises(fst.TextError, match=type(second).__name__):
        stream.write(second)
    stream.write(first)
    assert stream.close().ids.tolist() == 2 * [TOKENS.index("un")]


def test_a_first_piece_that_is_no_text() -> None:
    """A first part that is neither str nor bytes is refused, and the next part may be of either type."""
    stream = made("as BERT").stream()
    with pytest.raises(fst.TextError, match="a piece is list"):
        stream.write(["un"])  # type: ignore[arg-type]
    stream.write(b"un")
    assert len(stream.close().ids) == 3


def test_a_closed_stream() -> None:
    """After `close`, every call of a stream is a ValueError."""
    stream = made("as BERT").stream()
    stream.write("un")
    stream.close()
    for call in (stream.read, stream.close, lambda: stream.write("a"), lambda: stream.write(b"a")):
        with pytest.raises(ValueError, match="the stream is closed"):
            call()


@pytest.mark.parametrize("options", [{"errors": "ignore"}, {"offsets": "bytes"}], ids=str)
def test_options(options: dict[str, Any]) -> None:
    """An unknown value of an option is a ValueError."""
    with pytest.raises(ValueError, match=r"expected 'strict' or 'replace'|expected False or True"):
        made("as BERT").stream(**options)


def test_streams_beside_each_other() -> None:
    """Streams of one tokenizer do not affect each other, and neither do other calls between them."""
    tok = made("as BERT")
    texts = [hostile(seed) for seed in range(21, 26)]
    opened = [(tok.stream(offsets=True), iter(cut(text, range(11, 2000, 11))), []) for text in texts]  # type: ignore[var-annotated]
    for _ in range(2000 // 11 + 1):
        for stream, pieces, parts in opened:
            stream.write(next(pieces, ""))
            parts.append(stream.read())
        assert tok.encode("un a")[1] == TOKENS.index("un")
    for text, (stream, _, parts) in zip(texts, opened, strict=True):
        ids, offsets, words = whole(tok, text)
        parts.append(stream.close())
        assert np.concatenate([part.ids for part in parts]).tolist() == ids
        assert np.concatenate([part.offsets for part in parts]).tolist() == offsets
        assert np.concatenate([part.words for part in parts]).tolist() == words


def test_a_closed_stream_gives_its_memory_back() -> None:
    """A new stream reuses the memory of a closed stream, but not its state, also after an error."""
    tok = fst.Tokenizer(compiled())
    for pieces in (["un aff"], ["un aff\ud800"]):
        stream = tok.stream()
        stream.write(pieces[0])
        with suppress(fst.TextError):
            stream.close()
        again = tok.stream()
        assert again._workspace is stream._workspace
        again.write("a")
        assert again.close().ids.tolist() == tok.encode("a").tolist()
