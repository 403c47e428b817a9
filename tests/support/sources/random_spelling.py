"""Random dictionaries of Hunspell with most of its options, and words like those of the dictionary."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

from support.shared_data import TESTS

ANSWERS = TESTS / "support" / "sources" / "spelling.json"
FLAGS = "ABCDEPQRVW"  # A to E: suffixes; P to R: prefixes; V, W: flags of rules
SPECIAL = {
    "NEEDAFFIX": "n",
    "CIRCUMFIX": "x",
    "ONLYINCOMPOUND": "o",
    "FORBIDDENWORD": "z",
    "KEEPCASE": "k",
    "WARN": "w",
    "FORCEUCASE": "u",
    "COMPOUNDFLAG": "c",
    "COMPOUNDBEGIN": "b",
    "COMPOUNDMIDDLE": "m",
    "COMPOUNDEND": "e",
    "COMPOUNDPERMITFLAG": "p",
    "COMPOUNDFORBIDFLAG": "f",
    "COMPOUNDROOT": "r",
}
SWITCHES = [
    *("CHECKCOMPOUNDDUP", "CHECKCOMPOUNDREP", "CHECKCOMPOUNDTRIPLE", "CHECKCOMPOUNDCASE", "SIMPLIFIEDTRIPLE", "COMPOUNDMORESUFFIXES"),
    *("FULLSTRIP", "CHECKSHARPS", "FORBIDWARN", "COMPLEXPREFIXES", "IGNORE y", "BREAK 0", "BREAK 2\nBREAK -\nBREAK ^b", "LANG tr"),
    "LANG hu_HU",
    *("COMPOUNDWORDMAX 2", "COMPOUNDSYLLABLE 3 aé", "ICONV 2\nICONV ab b\nICONV _aa é", "REP 2\nREP a b\nREP bb é\n", "SYLLABLENUM x"),
    "COMPOUNDRULE 2\nCOMPOUNDRULE VW*V\nCOMPOUNDRULE W?V",
    "CHECKCOMPOUNDPATTERN 2\nCHECKCOMPOUNDPATTERN a b\nCHECKCOMPOUNDPATTERN b/V é",
    "CHECKCOMPOUNDPATTERN 1\nCHECKCOMPOUNDPATTERN 0 b",
]
LETTERS, CASED = "abé", "aabbéAsß"
WORDS = ["".join(letters) for length in (1, 2, 3, 4) for letters in product(LETTERS, repeat=length)]


def random_case(folder: Path, seed: int) -> tuple[Path, str, list[str]]:
    """The path of a random dictionary, its encoding, and words."""
    random = Random(seed)
    aff, dic = random_files(random)
    encoding = "iso8859-1" if "ISO8859-1" in aff else "utf-8"
    for ending, text in ((".aff", aff), (".dic", dic)):
        (folder / f"x{ending}").write_bytes(text.encode(encoding))
    words = random_words(random, dic, 150)
    return folder / "x.aff", encoding, [word for word in words if word.encode(encoding, "ignore").decode(encoding) == word]


def recorded(seed: int) -> list[str]:
    """The words of `random_case` that Hunspell 1.7.1 accepts, for a seed below 40."""
    answers: list[list[str]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return answers[seed]


def random_files(random: Random) -> tuple[str, str]:
    """The texts of the two files of a dictionary in UTF-8."""
    special = {name: flag for name, flag in SPECIAL.items() if random.random() < 0.4}
    encoding = random.choice(["UTF-8", "UTF-8", "ISO8859-1"])
    switches = random.sample(SWITCHES, random.randint(0, 5))
    names = {text.split()[0]: text for text in switches}  # each option once
    lines = [f"SET {encoding}", *names.values(), f"COMPOUNDMIN {random.choice([1, 1, 2])}"]
    lines += [f"{name} {flag}" for name, flag in special.items()]
    flags = FLAGS + "".join(special.values())
    for kind, some in (("SFX", "ABCDE"), ("PFX", "PQR")):
        for flag in some:
            rows = [_affix(random, flags) for _ in range(random.randint(1, 3))]
            lines += [f"{kind} {flag} {random.choice('YYN')} {len(rows)}", *(f"{kind} {flag} {row}" for row in rows)]
    entries = [_entry(random, flags) for _ in range(random.randint(2, 14))]
    return "\n".join(lines) + "\n", f"{len(entries)}\n" + "\n".join(entries) + "\n"


def _letters(random: Random, least: int, most: int, letters: str = LETTERS) -> str:
    return "".join(random.choices(letters, k=random.randint(least, most)))


def _flags(random: Random, flags: str, most: int) -> str:
    some = "".join(random.sample(flags, random.randint(0, most)))
    return f"/{some}" if some else ""


def _affix(random: Random, flags: str) -> str:
    condition = "".join(random.choices([".", "a", "é", "[ab]", "[^a]", "[^é]"], k=random.randint(1, 2)))
    strip = random.choice(["0", "0", "0", _letters(random, 1, 2)])
    return f"{strip} {_letters(random, 0, 2) or 0}{_flags(random, flags, 3)} {condition}"


def _entry(random: Random, flags: str) -> str:
    word = _letters(random, 1, 4, random.choice([LETTERS, LETTERS, CASED]))
    return (word[:1] + random.choice(" -.") + word[1:] if random.random() < 0.1 else word) + _flags(random, flags, 5)


def random_words(random: Random, dic: str, count: int) -> list[str]:
    """Words like those of a dictionary."""
    stems = [line.split("/")[0] for line in dic.split("\n")[1:] if line]
    found = [random.choice(WORDS) for _ in range(count // 3)]
    cases: list[Callable[[str], str]] = [str, str, str, str.upper, str.capitalize, str.title]
    while len(found) < count:
        parts = [random.choice([*stems, _letters(random, 0, 2)]) for _ in range(random.randint(1, 3))]
        word = random.choice(["", "", "", "-", "'"]).join(parts)
        found.append(random.choice(cases)(word) + random.choice(["", "", "", ".", "ss"]))
    return [*dict.fromkeys(word for word in found if word.strip())]
