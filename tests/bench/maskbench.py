"""Compare token masks of this package, llguidance, xgrammar and outlines-core on schemas with valid and invalid instances.

    pip install llguidance xgrammar outlines-core
    python tests/bench/maskbench.py SAMPLE [--tokenizer NAME] [--order any|schema] [--only fst,llguidance] [--memory] [--json OUT]
    python tests/bench/maskbench.py --grammars FOLDER [--tokenizer NAME] [--only fst,llguidance] [--json OUT]

SAMPLE is a file of JSON lines with "id" or "case_id", "schema" and "tests", a list of {"valid", "data"}; or a folder of files of MaskBench,
``maskbench/data`` of guidance-ai/jsonschemabench. FOLDER contains grammars in Lark's syntax, ``GRAMMAR.lark``,
with texts, ``GRAMMAR.jsonl`` with lines of {"text", "is_read"}. NAME is a folder of ``../shared/data/vocab_bpe`` [qwen3], or the path of a
folder with a tokenizer. An engine that is not installed is left out.

As in MaskBench, instances are written by ``json.dumps(data, ensure_ascii=False)``, and all engines follow the tokens of the tokenizer. An
instance is accepted if each token is allowed, and then the end. A schema passes if the engine takes it, and accepts exactly the valid
instances.

Each engine has a process of its own, with one thread, and a new guide for each schema; the engines take turns, schema by schema. Times are
processor times with warm kernels. The first mask is that of a new guide, including the guide. A mask is each further one of the valid
instances, from the step to the bits, at the first visit of its position. With --memory, the growth of the heap by a guide and 1,000 tokens
is measured for engines whose guides grow, in another process. ``--chart PNG`` draws the times.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import re
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from guide import SHARED, tokenizer_of
from mask_chart import draw
from mask_engines import ENGINES, GRAMMAR, SCHEMA, Vocabulary

import fst
from fst.cli.process import Process, WorkerError
from fst.compile import bpe
from fst.machines.guide.vocabulary import vocabulary_of

SHOWN = 6  # cases with the same reason, and tokens before a refused one
LATE = "fst", "llguidance"  # engines whose guides grow along a walk
LIMIT = 60.0  # seconds of an engine for a schema, by the clock
# Keywords and other reasons for which an engine refuses a schema. The first that matches the message, without the path before it, counts.
REASONS = (
    *(r"recursi\w*|circular references", r"time limit", r"allows no value", r"Unimplemented keys: .*", r"uniqueItems", r"unevaluated\w+"),
    *(r"m(in|ax)Contains", r"contains", r"propertyNames", r"dependent\w+", r"dependencies", r"format", r"multipleOf|remainders"),
    *(r"not in the document|\$ref", r"oneOf", r"combination of schemas", r"complement", r"states", r"[pP]attern\w*|regex"),
)


class Test(NamedTuple):
    """A text, whether it is valid, and its tokens."""

    valid: bool
    text: str
    ids: list[int]


class Case(NamedTuple):
    """A schema or a grammar, with its texts."""

    id: str
    kind: str
    source: str
    tests: list[Test]

    @property
    def walks(self) -> list[tuple[bool, list[int]]]:
        """The tests, for a worker."""
        return [(test.valid, test.ids) for test in self.tests]


Found = dict[str, Any]  # the result of a worker, with "memory"; or "refused"; or "failed"
# Rows of the table: the percentiles, and the numbers of one result. The percentile 100 is the worst number.
FIGURES: Mapping[str, tuple[tuple[float, ...], Callable[[Found], list[float]]]] = {
    "first mask, ms": ((50, 95, 99, 100), lambda found: [1e3 * found["first"]]),
    "a mask, µs": ((50, 90, 99, 99.9), lambda found: [1e6 * seconds for seconds in found["masks"]]),
    "memory, MB": ((50, 95, 100), lambda found: [found["memory"] / 1e6] if "memory" in found else []),
}


def main() -> None:
    """Read the command line, measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sample", nargs="?", type=Path, metavar="SAMPLE")
    parser.add_argument("--grammars", type=Path, metavar="FOLDER")
    parser.add_argument("--tokenizer", default="qwen3", metavar="NAME")
    parser.add_argument("--order", choices=("any", "schema"), default="any", help="of properties, for fst [any]")
    parser.add_argument("--only", default=",".join(ENGINES), metavar="NAMES", help="of the engines, separated by commas")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help=f"of an engine for a schema [{LIMIT:.0f}]")
    parser.add_argument("--memory", action="store_true", help=f"measure the memory of guides of {' and '.join(LATE)}; several times slower")
    parser.add_argument("--json", type=Path, metavar="OUT", help="a file for all results")
    parser.add_argument("--chart", type=Path, metavar="PNG", help="a picture of the times; needs matplotlib")
    given = parser.parse_args()
    if (given.sample is None) == (given.grammars is None):
        parser.error("SAMPLE and --grammars are both or neither given; expected one of them")
    if unknown := [name for name in given.only.split(",") if name not in ENGINES]:
        parser.error(f"--only is {', '.join(unknown)}; expected {', '.join(ENGINES)}")
    tok = tokenizer_of(_folder_of(given.tokenizer))
    cases = [*(schemas(tok, given.sample) if given.sample else grammars(tok, given.grammars))]
    names = [name for name in ENGINES if name in given.only.split(",") and is_installed(name)]
    with TemporaryDirectory() as scratch:
        engines = Engines(names, tok, given, Path(scratch))
        found = measured(engines, cases)
        shares = engines.shares()
        engines.end()
    title = f"{given.tokenizer}, {len(cases):,} {'schemas' if given.sample else 'grammars'}, order={given.order!r}, {platform.machine()}"
    print("\n".join([*report(title, cases, found, shares), *differences(tok, cases, found)]))
    if given.json:
        given.json.write_text(json.dumps({"title": title, "shares": shares, "found": found}) + "\n", encoding="utf-8")
    if given.chart:
        with given.chart.open("wb") as file:
            draw(file, title, times(found, "first mask, ms", 1e-3), times(found, "a mask, µs", 1e-6), len(cases))


def is_installed(name: str) -> bool:
    """Whether an engine is installed; a line of the output names one that is not."""
    module = ENGINES[name][0]
    if found := find_spec(module) is not None and (module != "xgrammar" or find_spec("torch") is not None):
        return found
    print(f"{name} is not installed, and is left out: pip install {name}\n")
    return False


# The cases.


def schemas(tok: fst.Tokenizer, path: Path) -> Iterator[Case]:
    """The schemas of a file or a folder, with their instances."""
    for name, case in _read(path):
        tests = [(bool(test["valid"]), _written(test["data"])) for test in case.get("tests", ())]
        yield Case(name, SCHEMA, json.dumps(case["schema"]), _encoded(tok, tests))


def _read(path: Path) -> Iterator[tuple[str, Any]]:
    """The name and the content of each case of a file or a folder."""
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield file.stem, json.loads(file.read_text(encoding="utf-8"))
        return
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            case = json.loads(line)
            yield str(case.get("case_id", case.get("id", number))), case


def _written(data: Any) -> str:
    """The text of an instance, as MaskBench writes it; with escapes if it contains half of a pair of surrogates."""
    text = json.dumps(data, ensure_ascii=False)
    return text if text.isascii() or not re.search("[\ud800-\udfff]", text) else json.dumps(data)


def grammars(tok: fst.Tokenizer, folder: Path) -> Iterator[Case]:
    """The grammars of a folder, with their texts."""
    for file in sorted(folder.glob("*.lark")):
        lines = map(json.loads, file.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines())
        tests = [(bool(line["is_read"]), str(line["text"])) for line in lines]
        yield Case(file.stem, GRAMMAR, file.read_text(encoding="utf-8"), _encoded(tok, tests))


def _encoded(tok: fst.Tokenizer, tests: Iterable[tuple[bool, str]]) -> list[Test]:
    """Texts with their tokens, which spell the text: if a normalizer or a special token changes it, the longest tokens that fit."""
    known, found = vocabulary_of(tok._table), list[Test]()
    for valid, text in tests:
        data, ids = text.encode(), tok.encode(text, add_special_tokens=False).tolist()
        if b"".join(map(known.content, ids)) != data:
            ids, at, of_bytes = [], 0, {known.content(number): number for number in range(known.size)}
            while at < len(data):
                size = next(size for size in range(known.trie.longest, 0, -1) if data[at : at + size] in of_bytes)
                ids.append(of_bytes[data[at : at + size]])
                at += len(data[at : at + size])
        found.append(Test(valid, text, ids))
    return found


# The engines.


class Engines:
    """The engines, each in a process, and another process for each engine's memory; a process that ends is started again.

    Args:
        names: the engines.
        tok: the tokenizer.
        given: the command line.
        scratch: a folder for tables of tokenizers.
    """

    def __init__(self, names: Sequence[str], tok: fst.Tokenizer, given: argparse.Namespace, scratch: Path) -> None:
        self.names, self.memory, self._limit, self._order = names, given.memory, given.limit, given.order
        tiny = vocabulary(single_bytes(scratch), scratch / "tiny.npz")
        self._tokens = tiny, vocabulary(tok, scratch / "tokens.npz", _folder_of(given.tokenizer))
        self._processes: dict[tuple[str, str], Process] = {}

    def ask(self, name: str, method: str, *arguments: Any) -> Any:
        """Call a method of an engine's worker.

        Raises:
            WorkerError: the worker raised an exception, or its process ended, for example at the end of its time.
        """
        key = name, "memory" if method == "memory" else "measure"
        if key not in self._processes:
            settings = {"FST_NUM_THREADS": "1", **({"PYTHONMALLOC": "malloc"} if method == "memory" else {})}
            self._processes[key] = Process(name, "mask_engines:Worker", name, self._order, *self._tokens, self._limit, settings=settings)
        try:
            return self._processes[key].ask(method, *arguments)
        except WorkerError as error:
            self._processes.pop(key).end()
            raise WorkerError(re.sub(".*ended with status -14", "time limit", str(error))) from None  # -14: SIGALRM

    def shares(self) -> dict[str, float]:
        """The seconds of each engine for the vocabulary; not a number if its process cannot start."""
        return {name: self._share(name) for name in self.names}

    def _share(self, name: str) -> float:
        """The seconds of an engine for the vocabulary."""
        try:
            return float(self.ask(name, "share"))
        except WorkerError:
            return float("nan")

    def end(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.end()


def _folder_of(name: str) -> Path:
    """The folder of a tokenizer."""
    return SHARED / name if (SHARED / name).is_dir() else Path(name)


def single_bytes(scratch: Path) -> fst.Tokenizer:
    """A tokenizer of single bytes; `scratch` is a folder for its file."""
    (scratch / "bytes.tiktoken").write_bytes(b"".join(b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)))
    return fst.Tokenizer(bpe(scratch / "bytes.tiktoken", pattern=r"\s+|\S+", special={"<|endoftext|>": 256}))


def vocabulary(tok: fst.Tokenizer, table: Path, folder: Path | None = None) -> Vocabulary:
    """The tokens of a tokenizer, with its table in a file."""
    tok._table.save(table)
    known = vocabulary_of(tok._table)
    contents = [known.content(number) for number in range(known.size)]
    special = {name: number for name, number in tok.get_vocab().items() if not contents[number]}
    if known.end_id is None:
        sys.exit("the tokenizer has no token that ends a text")
    found = Vocabulary(contents, special, known.end_id, str(table))
    for file in folder.iterdir() if folder else ():
        if file.name in ("tokenizer.json", "tokenizer.json.gz"):
            data = file.read_bytes()
            found = found._replace(source=(gzip.decompress(data) if file.suffix == ".gz" else data).decode())
        elif file.name == "encoding.json":
            found = found._replace(pattern=json.loads(file.read_text(encoding="utf-8"))["pat_str"])
    return found


def measured(engines: Engines, cases: Sequence[Case]) -> dict[str, dict[str, Found]]:
    """The results of each engine, for each case; the engines take turns, and another one begins each time."""
    found: dict[str, dict[str, Found]] = {name: {} for name in engines.names}
    for number, case in enumerate(cases):
        first = number % len(engines.names)
        for name in [*engines.names[first:], *engines.names[:first]]:
            found[name][case.id] = _measured(engines, name, case)
        if not number % 20 or number == len(cases) - 1:
            print(f"{number + 1} of {len(cases)}", file=sys.stderr, flush=True)
    return found


def _measured(engines: Engines, name: str, case: Case) -> Found:
    """The result of an engine for a case."""
    try:
        found: Found = engines.ask(name, "measure", case.kind, case.source, case.walks)
    except WorkerError as error:
        return {"failed": str(error)}
    if engines.memory and name in LATE and "masks" in found:
        try:
            found["memory"] = engines.ask(name, "memory", case.kind, case.source, case.walks)
        except WorkerError as error:
            found["memory_failed"] = str(error)
    return found


# The report.


def report(title: str, cases: Sequence[Case], found: Mapping[str, Mapping[str, Found]], shares: Mapping[str, float]) -> Iterator[str]:
    """The lines of the table and of the reasons, in Markdown."""
    names = [*found]
    rows: list[list[str]] = [[title, *names], ["---", *("---:" for _ in names)]]
    rows.append(["version", *(_version(name) for name in names)])
    counts = {name: Counter(outcome(case, found[name][case.id]) for case in cases) for name in names}
    rows += [[each, *(f"{counts[name][each]:,}" for name in names)] for each in ("passes", "refused", "wrong", "failed")]
    for label, valid in (("valid, refused: schemas (instances)", True), ("invalid, accepted", False)):
        rows.append([label, *(_wrong(cases, found[name], valid) for name in names)])
    rows.append(["vocabulary, once, ms", *(f"{1e3 * shares[name]:,.1f}" for name in names)])
    taken = {name: {id_ for id_, each in found[name].items() if "masks" in each} for name in names}
    common = set[str].intersection(*taken.values())
    for note, kept in ((" of its own schemas", taken), (f" of the {len(common):,} that all take", dict.fromkeys(names, common))):
        some = {name: [each for id_, each in found[name].items() if id_ in kept[name]] for name in names}
        for label, (which, numbers_of) in FIGURES.items():
            numbers = {name: [number for each in some[name] for number in numbers_of(each)] for name in names}
            rows.append([f"{label}, {_named(which)}{note}", *(percentiles(numbers[name], which) for name in names)])
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield "\nRefused, by reason:\n"
    yield from (_reasons(name, found[name]) for name in names)


def outcome(case: Case, found: Found) -> str:
    """The outcome of a case: "passes", "refused", "wrong" or "failed"."""
    if "failed" in found or "refused" in found:
        return "failed" if "failed" in found else "refused"
    return "passes" if all((stop < 0) == test.valid for stop, test in zip(found["stops"], case.tests, strict=True)) else "wrong"


def _wrong(cases: Sequence[Case], found: Mapping[str, Found], valid: bool) -> str:
    """The number of schemas and of instances whose answers are wrong, of the instances that are valid, or of those that are not."""
    wrong = [
        sum(test.valid == valid != (stop < 0) for stop, test in zip(found[case.id].get("stops", ()), case.tests, strict=False))
        for case in cases
    ]
    return f"{sum(map(bool, wrong)):,} ({sum(wrong):,})"


def times(found: Mapping[str, Mapping[str, Found]], figure: str, unit: float) -> dict[str, list[float]]:
    """The seconds of a figure, for each engine, of all schemas that it takes; `unit`: that of the figure, in seconds."""
    of = FIGURES[figure][1]
    return {name: [unit * each for one in cases.values() if "masks" in one for each in of(one)] for name, cases in found.items()}


def percentiles(numbers: Sequence[float], which: Iterable[float]) -> str:
    """Percentiles of some numbers."""
    if not numbers:
        return "—"
    return " / ".join(_figure(float(np.percentile(numbers, each, method="inverted_cdf"))) for each in which)


def _figure(number: float) -> str:
    """A number with two digits at least."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def _named(which: Iterable[float]) -> str:
    """The names of percentiles."""
    return " / ".join("worst" if each == 100 else f"p{each:g}" for each in which)


def reason_of(message: str) -> str:
    """The reason for which a schema is refused."""
    message = re.sub(r"^#\S*: |^#\S*/", "", message.split("\n", maxsplit=1)[0])
    found = (match[0] for reason in REASONS if (match := re.search(rf"(?<!\w)({reason})", message)))
    return next(found, "") or re.sub(r"\d+", "n", message)[:80]


def _reasons(name: str, found: Mapping[str, Found]) -> str:
    """The reasons of an engine, with the ids of their cases."""
    reasons: dict[str, list[str]] = {}
    for id_, each in found.items():
        if message := each.get("refused", each.get("failed")):
            reasons.setdefault(reason_of(message), []).append(id_)
    some = sorted(reasons.items(), key=lambda item: -len(item[1]))
    shown = (f"{len(ids)} {reason} ({', '.join(ids[:SHOWN])}{', …' * (len(ids) > SHOWN)})" for reason, ids in some)
    return f"- {name}: {'; '.join(shown) or 'none'}"


def differences(tok: fst.Tokenizer, cases: Sequence[Case], found: Mapping[str, Mapping[str, Found]]) -> Iterator[str]:
    """A row for each instance that an engine accepts or refuses wrongly; an empty answer is that of an engine that refuses the schema."""
    yield f"\nWrong answers:\n\n| case | instance | valid | {' | '.join(found)} |\n| ---{' | ---' * (2 + len(found))} |"
    for case in cases:
        for number, test in enumerate(case.tests):
            stops = [each[case.id]["stops"][number] if "stops" in each[case.id] else None for each in found.values()]
            if any(stop is not None and (stop < 0) != test.valid for stop in stops):
                answers = " | ".join(_answer(tok, test, stop) for stop in stops)
                yield f"| {case.id} | {number} | {'yes' if test.valid else 'no'} | {answers} |"


def _answer(tok: fst.Tokenizer, test: Test, stop: int | None) -> str:
    """The answer of an engine for a text: whether it accepts it, or the refused token after the tokens before it."""
    if stop is None or stop < 0:
        return "" if stop is None else "accepts"
    before, token = (json.dumps(tok.decode(test.ids[begin:end])) for begin, end in ((max(0, stop - SHOWN), stop), (stop, stop + 1)))
    return f"{before} not {token if stop < len(test.ids) else 'the end'}".replace("|", "\\|")


def _version(name: str) -> str:
    """The version of an engine."""
    return fst.__version__ if name == "fst" else version(name)


if __name__ == "__main__":
    main()
