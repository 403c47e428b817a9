"""The methods of a ``SentencePieceProcessor`` about pieces and their properties."""

from __future__ import annotations

from typing import Any, TypeVar

from fst.bridge.from_live import compiled
from fst.core.lazy import Lazy
from fst.runtime.compat.sentencepiece.answers import Answers
from fst.runtime.compat.sentencepiece.arguments import is_sequence, piece_of
from fst.runtime.compat.sentencepiece.pieces import Pieces, pieces_of
from fst.runtime.tokenizer import Tokenizer

BOTH = ("get_piece_size", "piece_to_id")  # methods with a name in ``_id`` or ``_size`` that has two spellings
Class = TypeVar("Class", bound=type[Any])


class Vocabulary:
    """The methods of ``sentencepiece.SentencePieceProcessor`` about pieces and their ids.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes.

    Attributes:
        fst: the tokenizer that encodes.

    Raises:
        TypeError: `tokenizer` is not a tokenizer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.fst: Tokenizer = compiled(tokenizer, "fst.sentencepiece")

    def get_piece_size(self) -> int:
        """Return the number of pieces."""
        return len(self._pieces)

    piece_size = vocab_size = __len__ = get_piece_size

    def piece_to_id(self, piece: Any) -> Any:
        """Return the id of a piece, or of each piece of a list. A str that is not a piece of the model gets the id of the unknown piece.

        Raises:
            TypeError: a piece is neither str nor bytes.
        """
        if type(piece) is str and piece in self._pieces.ids:
            return self._pieces.ids[piece]
        if isinstance(piece, str | bytes):
            return self._answers.id_of(piece_of(piece))
        if not is_sequence(piece):
            raise TypeError(f"PieceToId(): incompatible function arguments: {type(piece).__name__} is not a str, bytes or a list of them")
        return [self._answers.id_of(piece_of(one)) for one in piece]

    __getitem__ = piece_to_id

    def id_to_piece(self, id: Any) -> Any:
        """Return the piece of an id, or of each id of a list.

        Raises:
            IndexError: an id has no piece.
            TypeError: an id is not a whole number.
        """
        return self._answers.of_ids(id, self._pieces.names.__getitem__)

    def get_score(self, id: Any) -> Any:
        """Return the score of an id's piece, or of each id of a list.

        Raises:
            IndexError, TypeError: as in `id_to_piece`.
            UnsupportedError: the table was not compiled from a ``.model`` file.
        """
        return self._answers.of_ids(id, self._pieces.score_list().item)

    def is_unknown(self, id: Any) -> Any:
        """Whether an id, or each id of a list, belongs to the unknown piece.

        Raises:
            IndexError, TypeError: as in `id_to_piece`.
        """
        return self._answers.of_ids(id, self._pieces.unk_id.__eq__)

    def is_control(self, id: Any) -> Any:
        """Whether an id, or each id of a list, belongs to a control piece, such as ``<s>``.

        Raises:
            IndexError, TypeError: as in `id_to_piece`.
        """
        return self._answers.of_ids(id, self._pieces.control.__contains__)

    def is_unused(self, id: Any) -> Any:
        """Whether an id, or each id of a list, belongs to an unused piece.

        Raises:
            IndexError, TypeError: as in `id_to_piece`.
        """
        return self._answers.of_ids(id, self._pieces.unused.__contains__)

    def is_byte(self, id: Any) -> Any:
        """Whether an id, or each id of a list, belongs to a byte piece, such as ``<0x0A>``.

        Raises:
            IndexError, TypeError: as in `id_to_piece`.
        """
        return self._answers.of_ids(id, self._pieces.byte.__contains__)

    def unk_id(self) -> int:
        """Return the id of the unknown piece; -1 if the model does not have this piece."""
        return self._pieces.unk_id

    def bos_id(self) -> int:
        """Return the id of the piece that begins texts; -1 if the model does not have this piece."""
        return self._pieces.bos_id

    def eos_id(self) -> int:
        """Return the id of the piece that ends texts; -1 if the model does not have this piece."""
        return self._pieces.eos_id

    def pad_id(self) -> int:
        """Return the id of the padding piece; -1 if the model does not have this piece."""
        return self._pieces.pad_id

    @Lazy
    def _pieces(self) -> Pieces:
        return pieces_of(self.fst)

    @Lazy
    def _answers(self) -> Answers:
        return Answers(self._pieces)


def in_both_spellings(processor: Class) -> Class:
    """Add a second name in CamelCase to each method of a class, as in ``sentencepiece``."""
    for name, method in [*vars(Vocabulary).items(), *vars(processor).items()]:
        if name in BOTH or not (name.startswith("_") or name.endswith(("_id", "_size"))):
            setattr(processor, name.title().replace("_", "").replace("Nbest", "NBest"), method)
    return processor
