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
REFUSED = ("COMPLEXPREFIXES", "LANG hu_HU")


def random_suggestion_files(seed: int) -> tuple[str, str, list[str]]:
    """The texts of the two files of a dictionary that Hunspell's style supports, and words."""
    random = Random(seed)
    aff, dic = random_files(random)
    lines = [line for line in aff.splitlines() if line and line not in REFUSED]
    known = {line.split()[0] for line in lines}
    added = {text.split()[0]: text for text in random.sample(OPTIONS, random.randint(2, 6))}  # each option once
    options = [text for name, text in added.items() if name not in known]
    return "\n".join([lines[0], *options, *lines[1:], ""]), dic, random_words(random, dic, 40)
