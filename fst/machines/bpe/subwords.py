"""Subwords: the strings that merges work on, if names of tokens in a vocabulary differ from these strings.

With an ``end_of_word_suffix``, a merge list has the strings ``new`` and ``new</w>``. Vocabularies of fastBPE and subword-nmt name the same
tokens ``new@@`` and ``new``, and contain only frequent tokens; any other string that merges make becomes the ``unk_token``. So several
subwords may become the same id, and a table stores them apart from the names: the *number* of a subword in ``merges`` and in ``words`` is
its place, plus 1, plus the highest id of the table. Kernels merge numbers, locate spans by the lengths of numbers, and at last replace each
number by the id that it becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fst.automata.rows import Array


class Subwords(NamedTuple):
    """The strings that merges work on.

    Attributes:
        contents: the bytes of each string, with affixes.
        numbers: the number of each string in merges: an id, unless the table stores subwords.
    """

    contents: Sequence[bytes]
    numbers: Array
