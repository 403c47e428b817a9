"""Measure the best path through taggers of text normalizers beside pynini and kaldifst, and print a table.

    pip install pynini kaldifst
    python tests/bench/best_path.py [FOLDER] [--texts N]

``peers.py`` describes FOLDER. Each library runs in a process of its own, on one thread, and rewrites the same texts: the texts of the
oracles, and the first lines of a document. Figures are texts per second of processor time: the median of the rounds, in which the libraries
take turns.
"fst, first pass" is a new rewriter in each round, which makes all layers of states; "fst, again" repeats the texts. The number of equal
outputs is compared with pynini; paths with equal weights may differ.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from subprocess import run

from rows import FOLDER
from turns import in_turns, processor_time

MORPHOLOGY = Path("oracles") / "morphology"
TAGGERS = {"zh_tn_tagger": "docs_zh.md", "zh_itn_tagger": "docs_zh.md", "en_tn_tagger": "wikitext2_test.txt"}
ROUNDS, REPEATS = 3, 20  # rounds; repeats of a pass of `fst`, which is short
PEERS = ("pynini", "kaldifst", "fst, first pass", "fst, again")

Rewrite = Callable[[Sequence[str]], list[str]]


def main() -> None:
    """Print the table, or measure one library in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    parser.add_argument("--texts", type=int, default=200, metavar="N", help="number of lines of a document")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        peer, machine, texts = arguments.peer
        print(json.dumps(measured(peer, machine, json.loads(Path(texts).read_text(encoding="utf-8")))))
        return
    print(f"{'tagger':16}{'texts':24}" + "".join(f"{peer:>18}" for peer in PEERS) + f"{'equal':>12}")
    for name, document in TAGGERS.items():
        for label, texts in texts_of(arguments.folder, name, document, arguments.texts).items():
            print(f"{name:16}{f'{label} ({len(texts)})':24}" + row(arguments.folder / MORPHOLOGY / f"{name}.fst.gz", texts), flush=True)


def texts_of(folder: Path, name: str, document: str, count: int) -> dict[str, list[str]]:
    """The texts of the oracles, and lines of a document."""
    with gzip.open(folder / MORPHOLOGY / "wetext.jsonl.gz", "rt", encoding="utf-8") as lines:
        known = [case["text"] for case in map(json.loads, lines) if case["fst"] == f"{name}.fst"]
    text = (folder / "corpora" / document).read_text(encoding="utf-8")
    return {"oracles": known, document: [line.strip() for line in text.splitlines() if line.strip()][:count]}


def row(packed: Path, texts: list[str]) -> str:
    """The figures of all libraries."""
    with tempfile.TemporaryDirectory() as folder:
        machine, given = Path(folder) / "machine.fst", Path(folder) / "texts.json"
        machine.write_bytes(gzip.decompress(packed.read_bytes()))
        given.write_text(json.dumps(texts), encoding="utf-8")
        found = in_turns({peer: partial(asked, peer, str(machine), str(given)) for peer in PEERS}, ROUNDS)
    speeds = {peer: len(texts) / median(seconds for seconds, _ in runs) for peer, runs in found.items()}
    equal = sum(map(str.__eq__, found["fst, again"][0][1], found["pynini"][0][1]))
    figures = (f"{speeds[peer]:,.0f} ({speeds[peer] / speeds['pynini']:,.1f} x)" for peer in PEERS)
    return "".join(f"{figure:>18}" for figure in figures) + f"{f'{equal}/{len(texts)}':>12}"


def asked(peer: str, machine: str, texts: str) -> tuple[float, list[str]]:
    """The result of `measured` in a process of its own."""
    done = run([sys.executable, __file__, "--peer", peer, machine, texts], check=True, capture_output=True, text=True)
    spent, new = json.loads(done.stdout)
    return spent, new


def measured(peer: str, machine: str, texts: list[str]) -> tuple[float, list[str]]:
    """The seconds for all texts, and the new texts."""
    if peer.startswith("fst"):
        return of_fst(machine, texts, is_new=peer == "fst, first pass")
    rewrite = {"pynini": with_pynini, "kaldifst": with_kaldifst}[peer](machine)
    return processor_time(partial(rewrite, texts))


def of_fst(machine: str, texts: list[str], *, is_new: bool) -> tuple[float, list[str]]:
    """The seconds and the new texts of this package; without layers of earlier texts if `is_new`."""
    import fst
    from fst.compile import best_path

    table = best_path(machine, unknown="copy")
    rewriter = fst.Rewriter(table)
    new, times = rewriter.apply_batch(texts, threads=1), []
    for _ in range(REPEATS):
        rewriter = fst.Rewriter(table) if is_new else rewriter
        spent, new = processor_time(partial(rewriter.apply_batch, texts, threads=1))
        times.append(spent)
    return median(times), new


def with_pynini(machine: str) -> Rewrite:
    """Compose each text with the machine; a text without a path is copied."""
    import pynini
    import pywrapfst

    tagger = pynini.Fst.read(machine)

    def one(text: str) -> str:
        try:
            return str(pynini.shortestpath(pynini.escape(text) @ tagger).string())
        except pywrapfst.FstOpError:
            return text

    return lambda texts: [*map(one, texts)]


def with_kaldifst(machine: str) -> Rewrite:
    """The normalizer that WeTextProcessing uses at run time."""
    import kaldifst

    normalizer = kaldifst.TextNormalizer(machine)
    return lambda texts: [*map(normalizer, texts)]


if __name__ == "__main__":
    main()
