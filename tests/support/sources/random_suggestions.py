"""Random dictionaries of Hunspell with the options of suggestions."""

from __future__ import annotations

from random import Random

from support.sources.random_spelling import random_files, random_words

OPTIONS = [
    *("TRY abés", "TRY sß-é", "KEY abé|sa", "MAP 2\nMAP aé\nMAP b(ss)", "MAP 2\nMAP ab\nMAP aé", "OCONV 2\nOCONV ab B\nOCONV _a A"),
    *("REP 4\nREP a b\nREP ^b é\nREP é$ a_b\nREP ^aa$ bb", "REP 2\nREP aé a_é\nREP b bb_a"),
    *("MAXNGRAMSUGS 0", "MAXNGRAMSUGS 9", "MAXCPDSUGS 1", "MAXDIFF 0", "MAXDIFF 8\nONLYMAXDIFF", "NOSPLITSUGS", "SUGSWITHDOTS"),
    *("NOSUGGEST A", "NONGRAMSUGGEST B", "SUBSTANDARD C", "LANG de", "FORCEUCASE c"),
]
SIGNS = ["", "", "", "(ab)", "(éx)", "-", "--", "<", "5", "3", "7", "^", "^^", "$", "^$"]
REFUSED = ("COMPLEXPREFIXES", "LANG hu_HU")


def random_suggestion_files(seed: int) -> tuple[str, str, list[str]]:
    """The texts of the two files of a dictionary that Hunspell's style supports, and words. Some dictionaries have rules of sounds."""
    random = Random(seed)
    aff, dic = random_files(random)
    lines = [line for line in aff.splitlines() if line and line not in REFUSED]
    known = {line.split()[0] for line in lines}
    added = {text.split()[0]: text for text in random.sample(OPTIONS, random.randint(2, 6))}  # each option once
    options = [text for name, text in added.items() if name not in known]
    sounds = [random_sounds(Random(seed))] if seed % 3 == 2 and seed >= 20 else []
    return "\n".join([lines[0], *options, *lines[1:], *sounds, ""]), dic, random_words(random, dic, 40)


def random_sounds(random: Random) -> str:
    """Random rules of PHONE."""
    letters = sorted({letter: random.randint(1, 4) for letter in "SABEX"}.items(), key=lambda _: random.random())
    rules = [f"{letter}{_pattern(random)} {_sound(random)}" for letter, count in letters for _ in range(count)]
    return "\n".join([f"PHONE {len(rules)}", *(f"PHONE {rule}" for rule in rules), ""])


def _pattern(random: Random) -> str:
    signs = [random.choice(SIGNS) for _ in range(random.choice((1, 1, 2, 3)))]
    order = sorted(signs, key=lambda sign: next((at for at, start in enumerate("(-<0^$") if sign.startswith(start)), 3))
    return "".join(random.choices("SABEX", k=random.choice((0, 0, 1, 2)))) + "".join(order)


def _sound(random: Random) -> str:
    return "".join(random.choices("SABK", k=random.choice((0, 1, 1, 2, 3)))) or "_"
