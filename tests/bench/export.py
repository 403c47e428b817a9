"""Compare exported tables in Node.js with libraries from npm, and exported tables in C with Python.

    python tests/bench/export.py TEXTS.txt --gpt2 FOLDER --cl100k FILE.tiktoken [--peers FOLDER]

Texts are the lines of the file's first 300 kB, and parts of 30 kB. A speed is the median of several rounds, in which all variants take
turns, by processor time. A start is import, load and first ids, in a separate process. A download is the size of the files that a page
needs, each compressed by gzip. npm installs the libraries into a temporary folder, unless --peers names a folder with them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import time
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import fst
from fst.cli.commands.export.command import exported
from fst.cli.commands.export.layouts import LAYOUTS
from fst.compile import tokenizer

HERE = Path(__file__).parent
PEERS = ("tiktoken", "js-tiktoken", "gpt-tokenizer", "ai-tokenizer", "@huggingface/tokenizers")
ROUNDS, STARTS = 7, 7
SIZE, PART = 300_000, 30_000  # characters of all texts, and of a long text
CPUS = ("x86-64-v3", "x86-64-v4")
# The files of a library that a page with one vocabulary loads, without the source maps.
FILES = {
    "fst, full": {"full": ["table.fst", "fst.wasm", "fst.js"]},
    "fst, small": {"small": ["table.fst", "fst.wasm", "fst.js"]},
    "tiktoken": {"tiktoken": ["lite/tiktoken_bg.wasm", "lite/tiktoken_bg.js", "encoders/{vocabulary}.json"]},
    "js-tiktoken": {"js-tiktoken": ["dist/lite.js", "dist/chunk-*.js", "dist/ranks/{vocabulary}.js"], "base64-js": ["base64js.min.js"]},
    "gpt-tokenizer": {"gpt-tokenizer/esm": ["BytePairEncodingCore.js", "GptEncoding.js", "bpeRanks/{ranks}.js"]},
    "ai-tokenizer": {"ai-tokenizer/dist": ["index.js", "encoding/{ranks}-*.js"]},
    "@huggingface/tokenizers": {"@huggingface/tokenizers": ["dist/tokenizers.min.mjs"]},
}
RANKS = {"gpt2": "r50k_base", "cl100k_base": "cl100k_base"}


def main() -> None:
    """Measure everything, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, metavar="TEXTS.txt")
    parser.add_argument("--gpt2", type=Path, required=True, help="a folder with vocab.json, merges.txt and tokenizer.json")
    parser.add_argument("--cl100k", type=Path, required=True)
    parser.add_argument("--peers", type=Path, default=None)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        peers = given.peers or installed(folder / "peers")
        shutil.copy(HERE / "export.mjs", peers)
        text = given.texts.read_text(encoding="utf-8")[:SIZE]
        kinds = {
            "lines": [line for line in text.split("\n") if line.strip()],
            "30 kB": [text[at : at + PART] for at in range(0, SIZE, PART)],
        }
        (folder / "texts.json").write_text(json.dumps(kinds), encoding="utf-8")
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for vocabulary, source in (("gpt2", given.gpt2), ("cl100k_base", given.cl100k)):
            home = written(folder / vocabulary, source)
            in_node(vocabulary, home, source, peers, kinds, folder / "texts.json")
            in_c(vocabulary, home, kinds)
        print(f"load of the machine {os.getloadavg()[0]:.1f}")


def installed(folder: Path) -> Path:
    """Install the libraries."""
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    subprocess.run(["npm", "install", "--silent", *PEERS], cwd=folder, check=True)
    return folder


def written(folder: Path, source: Path) -> Path:
    """A folder with a table, its exports to JavaScript by their layout, and its exports to C by their processor."""
    folder.mkdir()
    tokenizer(source).save(folder / "table.npz")
    for name, kind, cpu, layout in [*((layout, "wasm", CPUS[0], layout) for layout in LAYOUTS), *((cpu, "c", cpu, "full") for cpu in CPUS)]:
        (folder / name).mkdir()
        for file, data in exported(folder / "table.npz", [kind], cpu, layout).items():
            (folder / name / file).write_bytes(data)
    return folder


def in_node(vocabulary: str, home: Path, source: Path, peers: Path, kinds: dict[str, list[str]], texts: Path) -> None:
    """Print the figures of Node.js."""

    def asked(mode: str, *words: str) -> Any:
        command = ["node", "export.mjs", mode, vocabulary, str(home.resolve()), str(source.resolve()), *words]
        return json.loads(subprocess.run(command, cwd=peers, check=True, capture_output=True).stdout)

    speeds = asked("speed", str(texts), str(ROUNDS))
    names = [*speeds["lines"]]
    starts: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(STARTS):
        for name in names:
            starts[name].append(asked("start", name)["time"])
    print(f"\n{vocabulary} in Node.js | {' MB/s | '.join(kinds)} MB/s | start, ms | download, kB | texts with other counts")
    for name in names:
        rates = [size_of(texts_of) / 1e3 / median(speeds[kind][name]["times"]) for kind, texts_of in kinds.items()]
        differing = sum(speeds[kind][name]["differing"] for kind in kinds)
        size = download(name, vocabulary, home if name.startswith("fst") else peers / "node_modules", source)
        print(f"{name} | {' | '.join(f'{rate:.1f}' for rate in rates)} | {median(starts[name]):.0f} | {size / 1e3:.0f} | {differing}")


def download(name: str, vocabulary: str, folder: Path, source: Path) -> int:
    """The number of bytes of a library's files, each compressed."""
    files = [
        path
        for package, patterns in FILES[name].items()
        for pattern in patterns
        for path in (folder / package).glob(pattern.format(vocabulary=vocabulary, ranks=RANKS[vocabulary]))
    ]
    files += [source / "tokenizer.json"] if name.startswith("@huggingface") else []
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in files)


def size_of(texts: list[str]) -> int:
    """The bytes of texts in UTF-8."""
    return sum(len(text.encode()) for text in texts)


def in_c(vocabulary: str, home: Path, kinds: dict[str, list[str]]) -> None:
    """Print the figures of C, and those of Python from the same run."""
    tok = fst.load(home / "table.npz")
    assert isinstance(tok, fst.Tokenizer)
    for cpu in CPUS:
        shutil.copy(HERE / "export.c", home / cpu)
        subprocess.run(["cc", "-O2", "export.c", "fst.c", "fst.o", "-o", "export"], cwd=home / cpu, check=True)
    runs = [cpu for cpu in CPUS if runs_here(home, cpu)]
    print(f"\n{vocabulary} in C | {' MB/s | '.join(kinds)} MB/s")
    times: dict[str, list[float]] = {name: [] for name in [*runs, "encode_batch", "encode"]}
    rows = {name: [""] * len(kinds) for name in times}
    for place, (kind, texts) in enumerate(kinds.items()):
        times = {name: [] for name in times}
        (home / "texts").write_bytes(b"".join(text.encode() + b"\0" for text in texts))
        count = len(tok.encode_batch(texts, threads=1).ids)
        for _ in range(ROUNDS):
            for cpu in runs:
                seconds, ids = passes(home, cpu, 7)
                assert ids == count, f"{kind}: {ids} ids; Python finds {count}"
                times[cpu].append(seconds)
            times["encode_batch"].append(min(timed(partial(tok.encode_batch, texts, threads=1)) for _ in range(7)))
            times["encode"].append(min(timed(lambda row=texts: [tok.encode(text) for text in row]) for _ in range(7)))
        for name, row in times.items():
            rows[name][place] = f"{size_of(texts) / 1e6 / median(row):.0f}"
    for name, rates in rows.items():
        print(f"{name if name in runs else f'Python, {name}'} | {' | '.join(rates)}")


def runs_here(home: Path, cpu: str) -> bool:
    """Whether this processor has the instructions of a level."""
    (home / "texts").write_bytes(b"a\0")
    return subprocess.run([f"./{cpu}/export", f"{cpu}/table.fst", "texts", "1"], cwd=home, check=False, capture_output=True).returncode == 0


def passes(home: Path, cpu: str, count: int) -> tuple[float, int]:
    """The least seconds of a pass, and the number of ids."""
    command = [f"./{cpu}/export", f"{cpu}/table.fst", "texts", str(count)]
    lines = subprocess.run(command, cwd=home, check=True, capture_output=True, text=True).stdout.splitlines()
    return min(float(line.split()[0]) for line in lines), int(lines[0].split()[1])


def timed(call: Any) -> float:
    """The seconds of processor time of a call."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
