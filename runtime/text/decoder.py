"""Join tokens into a text, like the decoders of ``tokenizers``, all at once or in a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fst.runtime.decoder import DecodeStream, IdsLike, row_of
from fst.tables.cleanup import first_piece_of, piece_of
from fst.tables.decoder_steps import joined
from fst.tables.header import AnyDecoder, Decoder, StepsDecoder
from fst.tables.words_decoder import WordsDecoder


def decoded(tokens: Sequence[str], decoder: AnyDecoder | None) -> str:
    """Join tokens into a text.

    Args:
        tokens: the tokens.
        decoder: the settings of the decoder; None: join the tokens with spaces.

    Examples:
        >>> from fst.tables.header import Decoder
        >>> decoded(["un", "##able", "!"], Decoder(prefix="##", cleanup=True))
        'unable!'
    """
    if isinstance(decoder, StepsDecoder):
        return joined(decoder.steps, tokens)
    if isinstance(decoder, WordsDecoder):
        return decoder.joined(tokens)
    first = [first_piece_of(token, decoder) for token in tokens[:1]]
    return "".join(first + [piece_of(token, decoder) for token in tokens[1:]])


class JoinedStream(DecodeStream):
    """A stream of tokens that a decoder of WordPiece joins, or spaces without a decoder: only the first token is written differently.

    Args:
        names: the token of each id; other ids are skipped.
        decoder: as in `decoded`.
    """

    def __init__(self, names: Mapping[int, str], decoder: Decoder | None) -> None:
        super().__init__()
        self._names, self._decoder, self._is_first = names, decoder, True

    def _added(self, ids: IdsLike) -> str:
        return "".join(self._piece(self._names[number]) for number in row_of(ids) if number in self._names)

    def _rest(self) -> str:
        return ""

    def _piece(self, token: str) -> str:
        was_first, self._is_first = self._is_first, False
        return (first_piece_of if was_first else piece_of)(token, self._decoder)
