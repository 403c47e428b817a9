"""Measure rewrite rules of this package, of `re`, and of pynini and foma, and print tables.

    pip install pynini; apt-get install foma
    python tests/bench/rules.py [FOLDER]

``peers.py`` describes FOLDER. The first table compares one rule with `re.sub` on lines, in MB/s of UTF-8; the second table does the same
for a letter that occurs every 5, 50 and 500 characters. The third table compares the cascade of six rules from letters to sounds of
Spanish, which
pynini has as an example, on words: `fst`, pynini's ``word @ rules``, and flookup. The fourth table compares the transducer of this example
in `fst` with the function ``g2p`` of pynini. The peers run in separate processes, and are skipped if they are missing. The program checks
that all texts are the same. Figures are processor time of one thread, the best of three rounds, in which all run in turns.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from rows import BOOKS, FOLDER
from turns import in_turns, processor_time, processor_time_of_children

import fst
from fst.compile import cascade, rewrite

MEGABYTES, WORDS, FEW_WORDS, ROUNDS = 4, 50_000, 1_500, 3
GAPS, LINE = (5, 50, 500), 2_000  # numbers of characters
RARE = (("q -> k", "q", "k"), ("q -> k / [a-z] _ [a-z]", "(?<=[a-z])q(?=[a-z])", "k"), ("[qQ]+ -> k", "[qQ]+", "k"))
Measure = Callable[[], tuple[float, Any]]  # → seconds of processor time, texts
RULES = (  # a rule, the pattern of `re`, and the string of both
    ("t -> d / [aeiou] _ [aeiou]", r"(?<=[aeiou])t(?=[aeiou])", "d"),
    ("s -> z / _ [bdgmn]", r"s(?=[bdgmn])", "z"),
    ("ing -> in / _ ([^a-z]|$)", r"ing(?![a-z])", "in"),
    ("th -> θ", r"th", "θ"),
    ("[aeiou]+ -> V", r"[aeiou]+", "V"),
    ("[a-z]+ -> x / ([^a-z]|^) _ ([^a-z]|$)", r"(?<![a-z])[a-z]+(?![a-z])", "x"),
)
LETTERS = {
    "ch": "tʃ", "ll": "ʝ", "qu": "k", "j": "x", "ñ": "ɲ", "v": "b", "x": "s", "y": "j",
    "á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u", "ü": "w",
}
SPANISH: Sequence[tuple[dict[str, str], str, str]] = (  # strings, left and right context
    (LETTERS, "", ""),
    ({"h": ""}, "", ""),
    ({"r": "ɾ"}, "aeiou", "aeiou"),
    ({"rr": "r"}, "", ""),
    ({"c": "s", "g": "x"}, "", "ie"),
    ({"c": "k"}, "", ""),
)
PYNINI = """
import json, sys, time, pynini
from pynini.lib import pynutil
words, rules, letters = json.load(sys.stdin)
sigma = pynini.union(*map(pynini.escape, letters)).closure().optimize()
def context(chars):
    return pynini.union(*chars) if chars else ""
made = [pynini.cdrewrite(pynini.string_map(list(strings.items())), context(left), context(right), sigma) for strings, left, right in rules]
grammar = made[0]
for rule in made[1:]:
    grammar = (grammar @ rule).optimize()
begun = time.process_time()
found = [pynini.shortestpath(pynini.escape(word) @ grammar, unique=True).string() for word in words]
print(json.dumps([time.process_time() - begun, found]))
"""


EXAMPLE = """
import json, sys, time
from pynini.examples import g2p
words = json.load(sys.stdin)
g2p._g2p.write(sys.argv[1])
begun = time.process_time()
found = [g2p.g2p(word) for word in words]
print(json.dumps([time.process_time() - begun, found]))
"""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, metavar="FOLDER")
    text = (parser.parse_args().folder / "corpora" / BOOKS).read_text(encoding="utf-8")[: MEGABYTES * 10**6]
    one_rule(text.splitlines())
    one_letter(re.sub(r"[^a-z ]", "", text).replace("q", ""))
    six_rules(re.findall(r"[a-z]+", text)[:WORDS])
    one_transducer(re.findall(r"[a-z]+", text)[:WORDS])


def one_rule(lines: Sequence[str]) -> None:
    """Compare single rules with `re.sub`."""
    size = sum(len(line.encode()) for line in lines) / 1e6
    print("| rule, MB/s | fst | re.sub | ratio |\n| --- | ---: | ---: | ---: |")
    for rule, pattern, string in RULES:
        own, other = (size / taken for taken in compared(rule, pattern, string, lines))
        print(f"| `{rule.replace('|', chr(92) + '|')}` | {own:,.0f} | {other:,.0f} | {own / other:.1f} |", flush=True)


def one_letter(text: str) -> None:
    """Compare rules for a letter that occurs at different distances with `re.sub`."""
    print("\n| rule, MB/s | a letter in | fst | re.sub | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    for rule, pattern, string in RARE:
        for gap in GAPS:
            dense = "q".join(text[at : at + gap - 1] for at in range(0, len(text), gap - 1))
            lines = [dense[at : at + LINE] for at in range(0, len(dense), LINE)]
            own, other = (len(dense) / 1e6 / taken for taken in compared(rule, pattern, string, lines))
            print(f"| `{rule}` | {gap} | {own:,.0f} | {other:,.0f} | {own / other:.1f} |", flush=True)


def compared(rule: str, pattern: str, string: str, lines: Sequence[str]) -> tuple[float, float]:
    """The seconds that the rule takes, and those of `re.sub`."""
    apply = partial(fst.Rewriter(rewrite(rule)).apply_batch, lines, threads=1)
    substitute = partial(substituted, re.compile(pattern), string, lines)
    assert apply() == substitute(), rule
    taken = in_turns({"own": partial(processor_time, apply), "other": partial(processor_time, substitute)}, ROUNDS)
    return min(taken["own"])[0], min(taken["other"])[0]


def substituted(pattern: re.Pattern[str], string: str, lines: Sequence[str]) -> list[str]:
    """The lines with replaced matches."""
    return [pattern.sub(string, line) for line in lines]


def six_rules(words: Sequence[str]) -> None:
    """Compare the cascade with pynini and foma."""
    rules = [rewrite(strings, left=bracket(left), right=bracket(right)) for strings, left, right in SPANISH]
    rewriter, column = fst.Rewriter(cascade(*rules)), pa.array(words)
    found = rewriter.apply_batch(words, threads=1)
    assert rewriter.apply_arrow(column).to_pylist() == found
    runs: dict[str, Measure] = {
        "fst, Arrow column": partial(processor_time, partial(rewriter.apply_arrow, column, threads=1)),
        "fst, list of str": partial(processor_time, partial(rewriter.apply_batch, words, threads=1)),
    }
    with TemporaryDirectory() as folder:
        taken = in_turns(runs | peers(words, found, Path(folder)), ROUNDS)
    best = {name: min(spent for spent, _ in times) for name, times in taken.items()}
    print("\n| six rules | words/s | column is faster | list is faster |\n| --- | ---: | ---: | ---: |")
    for name, spent in best.items():
        ratios = [f"{spent / best[f'fst, {own}']:,.1f} ×" for own in ("Arrow column", "list of str")]
        print(f"| {name} | {len(words) / spent:,.0f} | {' | '.join(ratios)} |")


def one_transducer(words: Sequence[str]) -> None:
    """Compare the transducer of pynini's example with its function, which takes one word."""
    with TemporaryDirectory() as folder:
        spent, expected = of_example(words[:FEW_WORDS], f"{folder}/example.fst")
        if not expected:
            return
        rewriter = fst.Rewriter(rewrite(fst.read_openfst(f"{folder}/example.fst")))
    assert rewriter.apply_batch(words[:FEW_WORDS], threads=1) == expected
    column, peer = pa.array(words), len(expected) / spent
    print("\n| transducer from letters to sounds | words/s | faster than pynini |\n| --- | ---: | ---: |")
    for name, apply in (("Arrow column", partial(rewriter.apply_arrow, column)), ("list of str", partial(rewriter.apply_batch, words))):
        rate = len(words) / min(processor_time(partial(apply, threads=1))[0] for _ in range(ROUNDS))
        print(f"| fst, {name} | {rate:,.0f} | {rate / peer:,.0f} × |")
    print(f"| pynini, `g2p(word)` | {peer:,.0f} | |")


def of_example(words: Sequence[str], path: str) -> tuple[float, list[str]]:
    """Write the transducer of pynini's example; return the seconds and the texts of pynini; no texts if pynini is missing."""
    done = run([sys.executable, "-c", EXAMPLE, path], input=json.dumps(words), capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"pynini is skipped: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return 0.0, []
    spent, texts = json.loads(done.stdout)
    return spent, texts


def bracket(chars: str) -> str:
    """A set of characters as a regular expression."""
    return f"[{chars}]" if chars else ""


def peers(words: Sequence[str], expected: Sequence[str], folder: Path) -> dict[str, Measure]:
    """The peers that are installed, after a check of their texts. Files of foma are made in the folder."""
    found: dict[str, Measure] = {}
    if run([sys.executable, "-c", "import pynini"], capture_output=True, check=False).returncode:
        print("pynini is skipped: it is not installed", file=sys.stderr)
    else:
        found["pynini"] = partial(of_pynini, words)
    if shutil.which("flookup") and shutil.which("foma"):
        compile_foma(folder)
        found["flookup"] = partial(of_flookup, words, folder)
    else:
        print("flookup is skipped: foma is not installed", file=sys.stderr)
    for name, measure in found.items():
        assert measure()[1] == expected, name
    return found


def of_pynini(words: Sequence[str]) -> tuple[float, list[str]]:
    """The seconds and the texts of pynini."""
    letters = sorted({*"abcdefghijklmnopqrstuvwxyz", *"".join([*LETTERS, *LETTERS.values()]), "ɾ"})
    done = run([sys.executable, "-c", PYNINI], input=json.dumps([words, SPANISH, letters]), capture_output=True, text=True, check=True)
    spent, texts = json.loads(done.stdout)
    return spent, texts


def compile_foma(folder: Path) -> None:
    """Compile the cascade with foma."""
    script = f"regex {' .o. '.join(map(of_foma, SPANISH))};\nsave stack {folder}/rules.foma\n"
    Path(folder, "rules.script").write_text(script, encoding="utf-8")
    run(["foma", "-q", "-f", f"{folder}/rules.script"], check=True, capture_output=True)


def of_flookup(words: Sequence[str], folder: Path) -> tuple[float, list[str]]:
    """The seconds and the texts of flookup."""
    command = ["flookup", "-i", "-x", f"{folder}/rules.foma"]
    spent, done = processor_time_of_children(partial(run, command, input="\n".join(words), text=True, check=True, capture_output=True))
    return spent, done.stdout.splitlines()[::2]  # an empty line follows each text


def of_foma(rule: tuple[dict[str, str], str, str]) -> str:
    """A rule as an expression of foma."""
    strings, left, right = rule
    pairs = " , ".join(f"{{{string}}} @-> {f'{{{new}}}' if new else '0'}" for string, new in strings.items())
    contexts = [f"[{'|'.join(chars)}]" if chars else "" for chars in (left, right)]
    return f"[{pairs} || {contexts[0]} _ {contexts[1]}]"


if __name__ == "__main__":
    main()
