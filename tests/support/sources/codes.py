"""Folders of codes, and the slow definition of their ids; ``python -m support.sources.codes`` asks the references for the stored answers.

The references are the tokenizers of `transformers` 5.24.0, which run in Python, subword-nmt 0.3.8 and fastBPE 0.1.0: the program ``fast``,
which its ``main.cc`` makes, lies in the current folder.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.shared_data import TESTS
from support.sources.folders import Files, write

ANSWERS = TESTS / "sources" / "codes_answers.json"
MERGES = (
    *("t h", "th e</w>", "i n", "e r", "in g</w>", "a n", "an d</w>", "l o", "lo w", "e r</w>", "low er</w>", "n e", "ne w", "é t", "☃ ☃"),
    *("x x", "xx x", "xx xx</w>", "@ @</w>", "0 0", "a @", "a@ @</w>", "日 本", "日本 語</w>", "u n", "u n</w>"),
)
TOKENS = (
    *("the", "low", "lo@@", "low@@", "lower", "er", "er@@", "ing", "in@@", "new@@", "n@@", "w", "é@@", "t@@", "t", "a", "a@@", "x@@"),
    *(
        "xxx@@",
        "xxxx",
        "@@",
        "@@@",
        "a@@@",
        "\n",
        "日本@@",
        "語",
        "日本語",
        "o",
        "u@@",
        "s",
        "d",
        "-",
        ",",
        "'",
        "0@@",
        "00@@",
        "0",
        "and",
        "☃☃@@",
    ),
)
TEXTS = (
    *("", " ", "the lower new tower", "the\nlower  \n\n new\n", "xxxxx xxxx xxx xx x", "@@ a@@ @ a@@b @@@", "日本語 日本 語", "00 000 0,0"),
    *("été ét\tthe\x1cing\x85and\u3000low", "<s> the <mask>low</s><unk>", "☃ ☃☃ ☃☃☃ a☃b", "un</w> low</w> lower</w>", "<pad>a"),
)
SPECIALS = ("<s>", "</s>", "<pad>", "<unk>", *(f"<special{number}>" for number in range(10)))
Pair = tuple[str, str]


def suffixed(token: str) -> str:
    """The name of a token as in XLM's vocabularies."""
    return token[:-2] if token.endswith("@@") and token != "@@" else f"{token}</w>"


COUNTED = "".join(f"{token} {100 - number}\n" for number, token in enumerate(TOKENS) if token.strip())
WITH_COUNTS = "".join(f"{merge} {100 - number}\n" for number, merge in enumerate(MERGES))
WITHOUT = "#version: 0.2\n" + "".join(f"{line.rpartition(' ')[0]}\n" for line in WITH_COUNTS.splitlines())
IDS = {token: number for number, token in enumerate([*TOKENS, "<unk>"])}
XLM_IDS = {token: number for number, token in enumerate(dict.fromkeys([*SPECIALS, *map(suffixed, TOKENS)]))}


def configured(name: str, **settings: Any) -> Files:
    """A tokenizer_config.json with a class."""
    return {"tokenizer_config.json": {"tokenizer_class": f"{name}Tokenizer", **settings}}


FOLDERS: Mapping[str, Files] = {
    "phobert": {**configured("Phobert"), "bpe.codes": WITH_COUNTS, "vocab.txt": COUNTED},
    "bertweet": {**configured("Bertweet"), "bpe.codes": WITH_COUNTS, "vocab.txt": COUNTED},
    "ctrl": {**configured("CTRL"), "merges.txt": WITHOUT, "vocab.json": IDS},
    "fastbpe": {"bpe.codes": WITH_COUNTS, "dict.txt": COUNTED},
    "subword-nmt": {"bpe.codes": WITHOUT, "vocab.txt": COUNTED},
    "xlm": {**configured("XLM"), "merges.txt": WITH_COUNTS, "vocab.json": XLM_IDS},
    "flaubert": {**configured("Flaubert"), "merges.txt": WITH_COUNTS, "vocab.json": XLM_IDS},
    "biogpt": {**configured("BioGpt"), "merges.txt": WITH_COUNTS, "vocab.json": XLM_IDS},
}
PLAIN, SPLIT = ("fastbpe", "subword-nmt"), ("xlm", "flaubert", "biogpt")  # folders without a class; texts that Moses splits


def subwords(word: str, merges: Sequence[Pair]) -> list[str]:
    """The subwords of a word: in each round, all pairs of the lowest rank are merged from left to right."""
    found = [*word[:-1], f"{word[-1]}</w>"]
    while ranks := [merges.index(pair) for pair in pairwise(found) if pair in merges]:
        pair, made, place = merges[min(ranks)], list[str](), 0
        while place < len(found):
            is_pair = tuple(found[place : place + 2]) == pair
            made.append("".join(found[place : place + 1 + is_pair]))
            place += 1 + is_pair
        found = made
    return found


def ids_of(word: str, merges: Sequence[Pair], ids: Mapping[str, int], unknown: int) -> list[int]:
    """The ids of a word whose tokens are named with the separator."""
    parts = subwords(word, merges)
    names = [*(f"{part}@@" for part in parts[:-1]), parts[-1].removesuffix("</w>")]
    return [ids.get(name, unknown) for name in names]


def answers() -> dict[str, Any]:
    """The ids and the decoded texts that the references give."""
    transformers, apply_bpe = import_module("transformers"), import_module("subword_nmt.apply_bpe")
    found: dict[str, Any] = {}
    for name, files in FOLDERS.items():
        with TemporaryDirectory() as folder:
            path = write(Path(folder), files)
            if name in PLAIN:
                ids = {token: number for number, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *_listed(files)])}
                texts = [text for text in TEXTS if not {*"\n\x1c"} & {*text} and "<" not in text]
                segment = apply_bpe.BPE((path / "bpe.codes").open()).segment if name == "subword-nmt" else None
                lines = [segment(text) for text in texts] if segment else _fast(path, texts)
                rows = [[ids.get(token, 3) for token in line.split(" ") if token] for line in lines]
                found[name] = [[*pair] for pair in zip(texts, rows, strict=True)]
                continue
            made = getattr(transformers, files["tokenizer_config.json"]["tokenizer_class"]).from_pretrained(path)
            if name in SPLIT:
                texts = [text for text in TEXTS if not any(special in text for special in SPECIALS)]
                rows = [made._tokenize(text, bypass_tokenizer=True) for text in texts]
                all_ids = [made.build_inputs_with_special_tokens(made.convert_tokens_to_ids(row)) for row in rows]
            else:
                texts, all_ids = [*TEXTS], [made(text)["input_ids"] for text in TEXTS]
            decoded = [[]] * len(texts) if name == "biogpt" else [[made.decode(row)] for row in all_ids]
            found[name] = [[text, ids, *more] for text, ids, more in zip(texts, all_ids, decoded, strict=True)]
    return found


def _listed(files: Files) -> list[str]:
    """The tokens of a list of tokens and counts."""
    return [line.rpartition(" ")[0] for line in (files.get("dict.txt") or files["vocab.txt"]).splitlines()]


def _fast(folder: Path, texts: Sequence[str]) -> list[str]:
    """The lines that fastBPE writes for texts of one line."""
    command, data = ["./fast", "applybpe_stream", str(folder / "bpe.codes")], "".join(f"{text}\n" for text in texts).encode()
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode().split("\n")[:-1]


if __name__ == "__main__":
    rows = {name: ",\n".join(json.dumps(row, ensure_ascii=False) for row in found) for name, found in answers().items()}
    ANSWERS.write_text("{" + ",\n".join(f'"{name}": [\n{found}\n]' for name, found in rows.items()) + "}\n", encoding="utf-8")
