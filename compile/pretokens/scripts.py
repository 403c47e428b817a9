"""The pre-tokenizer ``UnicodeScripts``, which cuts where the script of characters changes.

A space, and each other character without a script, belongs to the pre-token before it; at the beginning of a text, such characters are
dropped. There are more scripts than a splitter has classes, so two splits in sequence have the same effect as the pre-tokenizer. With
`SIDE` × `SIDE` numbers for scripts, the first split cuts where the row of the number changes, the second where its column changes::

    text      "ab, αβ"     scripts of a, comma, α: 0, 13, 14     rows 0, 1, 1     columns 0, 1, 2
    first     "ab" ", αβ"
    second    "ab" ", " "αβ"

After the first split, no text begins with a character without a script. So the second split may do anything there: it joins such characters
with the script after them, which lets later splits cut before them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.text.characters import reference
from fst.compile.text.pre_tokenizers import SCRIPTS
from fst.text.splitter import DEAD, START, Splitter

SIDE = 12  # at most SIDE * SIDE scripts
ROWS: dict[str, Any] = {"type": SCRIPTS, "half": 0}
COLUMNS: dict[str, Any] = {"type": SCRIPTS, "half": 1}


@cache
def split_of_scripts(half: int) -> Splitter:
    """The splitter of `ROWS` or `COLUMNS`.

    Examples:
        >>> rows, columns = map(split_of_scripts, (0, 1))
        >>> rows.pretokens(" ab"), [[*rows.pretokens(text), *columns.pretokens(text)] for text in ("a1", "aα")]
        ([(1, 3)], [[(0, 2), (0, 1), (1, 2)], [(0, 2), (0, 1), (1, 2)]])
    """
    runs = reference.properties()["script"]
    numbers = {value: number for number, value in enumerate(dict.fromkeys(value for _, _, value in runs))}
    classes = np.zeros(CODE_POINTS, np.uint8)
    for first, last, value in runs:
        classes[first : last + 1] = 1 + divmod(numbers[value], SIDE)[half]
    begun = START + 1 + np.arange(SIDE + 1)  # the state after a first character of each class; class 0: no script
    moves = np.full((START + 2 + SIDE, SIDE + 2), DEAD << 1 | 1)
    moves[DEAD] = 0
    moves[START] = [*begun << 1, DEAD]
    moves[begun, np.arange(SIDE + 1)] = moves[begun, 0] = begun << 1
    if half:
        moves[begun[0], :-1] = begun << 1
    else:
        moves[START, 0] = DEAD
    return Splitter(classes, moves.astype(np.uint16), behavior="removed", invert=True)
