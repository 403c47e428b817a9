"""Compare the speed of encoding an Arrow column, a list of bytes, and a list of str.

    python tests/bench/columns.py [FOLDER]

``figures.py`` describes FOLDER. The output is a table. The ids are compared first. Then all variants take turns with one thread, and a
ratio is the median over the rounds.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from features import ratio
from rows import BOOKS, CASED, FOLDER, SENTENCES, UNCASED, documents

import fst
from fst.compile import wordpiece


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print("| speed against that of `list[str]` | column of Arrow | `list[bytes]` |\n| --- | --- | --- |")
    for name, vocabulary, texts in (
        ("English books, uncased", UNCASED, documents(folder / "corpora" / BOOKS)),
        ("109 languages, multilingual", CASED, documents(folder / "corpora" / SENTENCES)),
    ):
        tok = fst.Tokenizer(wordpiece(folder / "vocab" / vocabulary / "tokenizer.json"))
        column, data = pa.array(texts), [text.encode() for text in texts]
        strings = partial(tok.encode_batch, texts, threads=1)
        ways = partial(tok.encode_arrow, column, threads=1), partial(tok.encode_batch, data, threads=1)
        right = strings().ids
        assert all(np.array_equal(ids, right) for ids in (ways[0]().values.to_numpy(), ways[1]().ids))
        print(f"| {name} | " + " | ".join(f"{ratio(strings, way):.2f}" for way in ways) + " |", flush=True)


if __name__ == "__main__":
    main()
