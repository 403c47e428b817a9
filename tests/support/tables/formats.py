"""Stored tables of every format version that this package reads, and their results at the time.

The folder ``formats/N`` contains the tables of version N, compressed, and the file `ANSWERS`. A release has written them, so they never
change. A new format version needs a new folder, with a table for each kind that has changed::

    cd tests && python -m support.tables.formats
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of, texts_of, walked

import fst
from fst.tables.npz import FORMAT

FOLDER, ANSWERS = Path(__file__).with_name("formats"), "answers.json"
STORED = (
    *("wordpiece compact", "wordpiece linked", "bpe automaton", "bpe automaton tuned", "bpe queue", "unigram", "keywords folded"),
    *("keywords overlapping", "lookup flags", "maxmatch", "jieba", "mecab", "best path over bytes", "guide of words", "rules in a cascade"),
    *("speller of compounds", "speller of lexicon 1", "mecab wordpiece in lower case"),
)


class Stored(NamedTuple):
    """A stored table.

    Attributes:
        version: the format version of the file.
        name: the name of the file without its ending.
        kind: the kind of the table.
        answers: the result of the table for each text: what its walk returns.
        allowed: the ids that a guide allows in each state; empty for other kinds.
    """

    version: int
    name: str
    kind: str
    answers: Mapping[str, list[int]]
    allowed: list[list[int]]

    @property
    def data(self) -> bytes:
        """The bytes of the table."""
        return lzma.decompress((FOLDER / str(self.version) / f"{self.name}.npz.xz").read_bytes())


def stored() -> Iterator[Stored]:
    """All stored tables of all format versions."""
    for folder in sorted(FOLDER.iterdir(), key=lambda path: int(path.name)):
        for name, found in json.loads((folder / ANSWERS).read_text(encoding="utf-8")).items():
            yield Stored(int(folder.name), name, **found)


def allowed(guide: fst.Guide) -> list[list[int]]:
    """The ids that a guide allows in each state, in the order in which the states are reached."""
    states, found = [guide.start], list[list[int]]()
    for state in states:
        found.append(guide.allowed(state).tolist())
        states += sorted({guide.step(state, number) for number in found[-1]} - {*states})
    return found


def write() -> None:
    """Write the tables of the current format version; they must not be there yet."""
    folder, found = FOLDER / str(FORMAT), dict[str, Any]()
    folder.mkdir(parents=True)
    for sample in STORED:
        table, name = table_of(sample), sample.replace(" ", "-")
        texts = texts_of(SAMPLES[sample], random.Random(sample), 12, 10)
        answers = {text: [*map(int, walked(table, text))] for text in texts}
        found[name] = {"kind": table.kind, "answers": answers, "allowed": allowed(fst.Guide(table)) if table.kind == "guide" else []}
        (folder / f"{name}.npz.xz").write_bytes(lzma.compress(table.dumps(), preset=9))
    lines = [f'"{name}": {json.dumps(kept, separators=(",", ":"))}' for name, kept in found.items()]
    (folder / ANSWERS).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write()
