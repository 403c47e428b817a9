"""Compare two exports of one table, such as those of two checkouts: speed and memory, in C and in Node.js.

    python tests/bench/export_pairs.py OLD NEW TEXTS.txt

OLD and NEW have the folders c and wasm, which `fst export` has written. Texts are parts of the file's first megabyte. The exports
take turns, and their order alternates. A ratio is the median of the old processor time divided by the new one, with its quartiles.
Memory is what a text of a megabyte with offsets takes beyond a text of one character, for each character: at its peak in C, where
Linux reports it, and of the module in Node.js.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
KINDS = {"1 kB": 1_000, "30 kB": 30_000, "1 MB": 1_000_000}
ROUNDS, PASSES = 11, 9


def main() -> None:
    """Measure everything, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("old", "new", "texts"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    folders, text = (given.old, given.new), given.texts.read_text(encoding="utf-8")[: KINDS["1 MB"]]
    kinds = {kind: [text[at : at + size] for at in range(0, len(text), size)] for kind, size in KINDS.items()}
    with TemporaryDirectory() as name:
        home = Path(name)
        for folder in folders:
            shutil.copy(HERE / "export.c", folder / "c")
            subprocess.run(["cc", "-O2", "export.c", "fst.c", "fst.o", "-o", "export"], cwd=folder / "c", check=True)
        print(f"old / new | {' | '.join(kinds)}")
        print("C |", " | ".join(quartiles(in_c(home, folders, rows)) for rows in kinds.values()))
        (home / "kinds.json").write_text(json.dumps(kinds))
        speeds = asked("speed", home / "kinds.json", ROUNDS, *(folder.resolve() / "wasm" for folder in folders))
        print("Node.js |", " | ".join(quartiles(speeds[kind]) for kind in kinds))
        for host, memory in (("C", memory_in_c), ("Node.js", memory_in_node)):
            before, after = ((memory(home, folder, text) - memory(home, folder, "a")) / len(text) for folder in folders)
            print(f"bytes for each character in {host} | {before:.0f} | {after:.0f}")


def quartiles(pairs: list[Any]) -> str:
    """The median of the ratios of pairs, and their quartiles."""
    low, middle, high = quantiles([old / new for old, new in pairs], n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def in_c(home: Path, folders: tuple[Path, ...], rows: list[str]) -> list[Any]:
    """The least seconds of a pass in each round, for each folder."""
    (home / "texts").write_bytes(b"".join(text.encode() + b"\0" for text in rows))
    found = []
    for turn in range(ROUNDS):
        times = {folder: passes(home, folder, PASSES) for folder in folders[:: 1 if turn % 2 else -1]}
        found.append([times[folder] for folder in folders])
    return found


def passes(home: Path, folder: Path, count: int) -> float:
    """The least seconds of a pass over the texts."""
    command = [str(path) for path in (folder / "c" / "export", folder / "c" / "table.fst", home / "texts", count)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return min(float(line.split()[0]) for line in lines)


def memory_in_c(home: Path, folder: Path, text: str) -> int:
    """The most bytes of memory of a program that encodes a text with offsets."""
    (home / "texts").write_bytes(text.encode() + b"\0")
    command = [str(path) for path in (folder / "c" / "export", folder / "c" / "table.fst", home / "texts", 0)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def memory_in_node(home: Path, folder: Path, text: str) -> Any:
    """The bytes of a module's memory after a text with offsets."""
    (home / "texts.json").write_text(json.dumps([text]))
    return asked("memory", home / "texts.json", folder.resolve() / "wasm")


def asked(*words: object) -> Any:
    """The answer of `export_pairs.mjs`."""
    return json.loads(subprocess.run(["node", HERE / "export_pairs.mjs", *map(str, words)], check=True, capture_output=True).stdout)


if __name__ == "__main__":
    main()
