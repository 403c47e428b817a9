"""Compare exported segmenters, rewriters, look-up and guides in Node.js with Python, and print a table.

    python tests/bench/export_machines.py [FOLDER]

FOLDER is the shared data. A speed is the best of several rounds, in which Python and Node.js take turns, by processor time, one text in
each call; Node.js repeats the texts for a second. If results differ, the program stops. Sizes are those by gzip: of the module, and of all
files that a page downloads.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rows import BOOKS, FOLDER
from rules import SPANISH, bracket
from turns import in_turns, processor_time

import fst
from fst.cli.commands.export.command import exported
from fst.compile import best_path, cascade, guide, lattice, lookup, rewrite, tokenizer

ROUNDS, LINES = 5, 2_000
PATTERN = r"(?:[A-Za-z ,.;:'\n]|[0-9]{1,4})*"
NODE = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [folder, name, method, texts] = process.argv.slice(2), rows = JSON.parse(readFileSync(texts));
const file = (each) => pathToFileURL(`${folder}/${each}`), { load } = await import(file(`${name}.js`));
const machine = await load(file("table.fst"), { wasm: file("fst.wasm") });
const follow = (ids) => ids.reduce((state, id) => (machine.mask(state), machine.step(state, id)), machine.start);
const call = name === "guide" ? follow : (text) => machine[method](text);
const time = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
let best = Infinity, found;
for (const end = time() + 1; time() < end;) {
  const begin = time();
  found = rows.map(call);
  best = Math.min(best, time() - begin);
}
console.log(JSON.stringify([best, found]));
"""


class Subject(NamedTuple):
    """A table to measure: its name, the module and the method of its export, Python's call, and the texts or rows of ids of calls."""

    name: str
    table: Any
    module: str
    method: str
    call: Callable[[Any], Any]
    texts: list[Any]


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    print("machine | texts | Python, µs a text | Node.js, µs a text | ratio | module, kB | download, kB")
    for subject in subjects(folder):
        with TemporaryDirectory() as name:
            print(row(subject, Path(name)), flush=True)


def subjects(folder: Path) -> Iterator[Subject]:
    """All tables to measure."""
    english, chinese = lines(folder / "corpora" / BOOKS), lines(folder / "corpora" / "docs_zh.md")
    jieba = lattice.jieba(folder / "dict" / "jieba_dict.txt")
    yield Subject("jieba", jieba, "segmenter", "segment", fst.Segmenter(jieba).segment, chinese)
    rules = cascade(*(rewrite(strings, left=bracket(left), right=bracket(right)) for strings, left, right in SPANISH))
    yield Subject("rules, 6 in a cascade", rules, "rewriter", "rewrite", fst.Rewriter(rules).apply, english)
    morphology = folder / "oracles" / "morphology"
    with TemporaryDirectory() as name:
        machine = Path(name) / "machine.fst"
        machine.write_bytes(gzip.decompress((morphology / "zh_tn_tagger.fst.gz").read_bytes()))
        tagger = best_path(machine)
    apply = fst.Rewriter(tagger).apply
    yield Subject("best path, zh_tn_tagger", tagger, "rewriter", "rewrite", apply, [text for text in chinese if has_path(apply, text)])
    words = lookup(morphology / "spa.att.gz")
    with gzip.open(morphology / "spa.jsonl.gz", "rt", encoding="utf-8") as cases:
        asked = [case["word"] for case in map(json.loads, cases) if "word" in case]
    yield Subject("look-up, Spanish", words, "lookup", "lookup", fst.Lookup(words), asked[:LINES])
    gpt2 = tokenizer(folder / "vocab_bpe" / "gpt2")
    guided = guide(gpt2, regex=PATTERN, end_id=50256)
    rows = [fst.Tokenizer(gpt2).encode(text).tolist() for text in english[:50]]
    yield Subject("guide, GPT-2", guided, "guide", "step", partial(followed, fst.Guide(guided)), rows)


def lines(path: Path) -> list[str]:
    """The first lines of a file that are not empty."""
    with path.open(encoding="utf-8") as file:
        return [*islice((line.strip() for line in file if line.strip()), LINES)]


def has_path(apply: Callable[[str], str], text: str) -> bool:
    """Whether a text has a path."""
    try:
        apply(text)
    except fst.TextError:
        return False
    return True


def followed(machine: fst.Guide, ids: list[int]) -> int:
    """The state after ids, each after a mask."""
    state = machine.start
    for number in ids:
        machine.mask(state)
        state = machine.step(state, number)
    return state


def row(subject: Subject, folder: Path) -> str:
    """The figures of a table."""
    subject.table.save(folder / "table.npz")
    package = exported(folder / "table.npz", ["wasm"])
    for name, data in package.items():
        (folder / name).write_bytes(data)
    (folder / "bench.mjs").write_text(NODE)
    (folder / "texts.json").write_text(json.dumps(subject.texts))
    runs = {"Python": partial(in_python, subject), "Node.js": partial(in_node, subject, folder)}
    found = in_turns(runs, ROUNDS)
    assert found["Python"][0][1] == found["Node.js"][0][1], subject.name
    python, node = (min(spent for spent, _ in found[name]) / len(subject.texts) * 1e6 for name in runs)
    sizes = {name: len(gzip.compress(data, 9)) / 1e3 for name, data in package.items()}
    code = sum(sizes[name] for name in {"fst.wasm", "table.fst", "fst.js", f"{subject.module}.js"})
    figures = f"{python:.2f} | {node:.2f} | {python / node:.2f} | {sizes['fst.wasm']:.1f} | {code:,.0f}"
    return f"{subject.name} | {len(subject.texts)} | {figures}"


def in_python(subject: Subject) -> tuple[float, list[Any]]:
    """The seconds of processor time for all texts, and the results."""
    return processor_time(lambda: [*map(subject.call, subject.texts)])


def in_node(subject: Subject, folder: Path) -> tuple[float, list[Any]]:
    """The same in Node.js, the best of its passes."""
    command = ["node", "bench.mjs", str(folder), subject.module, subject.method, "texts.json"]
    spent, found = json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
    return spent, found


if __name__ == "__main__":
    main()
