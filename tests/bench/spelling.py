"""Compare which words a dictionary of Hunspell accepts with the answers of Hunspell's library.

    python tests/bench/spelling.py /usr/share/hunspell --words 3000

With --definition, the words are checked by the slow definition of the tests instead of `fst.Speller`. With --speed, the processor time for
a word is measured, too: that of Hunspell's library, called by ctypes, and that of `fst.Speller.check_batch` on one thread, for three lists:
words of the dictionary, these words with a changed letter, and the words of --text.

For each dictionary, the words are stems, forms with affixes, other cases, compounds, words with dots and dashes, and random changes of all
of these. Hunspell's library must be installed (Debian: libhunspell-1.7-0). Dictionaries that differ are listed with some of their words.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.machines.spelling import definition
from support.sources.hunspell_library import Hunspell

import fst
from fst.compile import speller
from fst.compile.sources.transducers.hunspell.affixes import Affix
from fst.compile.sources.transducers.hunspell.files import Dictionary, read_dictionary
from fst.errors import FstError, FstWarning

Check = Callable[[str], bool]


class Sample:
    """Random words of a dictionary, and words like these."""

    def __init__(self, dictionary: Dictionary, seed: int) -> None:
        self._random, self._options = Random(seed), dictionary.options
        self._words = [(entry.word[::-1] if dictionary.options.is_reversed else entry.word, entry.flags) for entry in dictionary.entries]
        self._affixes: dict[int, list[tuple[Affix, bool]]] = {}
        for affixes, is_suffix in ((dictionary.suffixes, True), (dictionary.prefixes, False)):
            for affix in affixes:
                self._affixes.setdefault(affix.flag, []).append((affix, is_suffix))
        texts = self._random.choices([word for word, _ in self._words], k=500)
        self._letters = sorted(set("".join(texts)) | set("-.'19"))

    def words(self, count: int) -> Iterator[str]:
        """Yield words."""
        changes: list[Callable[[str], str]] = [str, str, str.upper, str.title, str.capitalize, self._changed, self._changed, self._dotted]
        for _ in range(count):
            word = self._random.choice([self._form, self._form, self._compound, self._joined])()
            word = self._random.choice(changes)(word)
            if word.strip() and "\0" not in word:
                yield word

    def _form(self) -> str:
        """A stem, or a stem with one or several affixes of its flags, most of which allow each other."""
        word, flags = self._random.choice(self._words)
        while flags and self._random.random() < 0.7:
            some = [found for found in self._affixes.get(self._random.choice(sorted(flags)), ()) if _fits(*found, word)]
            if not some:
                break
            affix, is_suffix = self._random.choice(some)
            word = word[: len(word) - len(affix.strip)] + affix.add if is_suffix else affix.add + word[len(affix.strip) :]
            flags = affix.flags or (flags if self._random.random() < 0.3 else affix.flags)
        return word

    def _compound(self) -> str:
        return "".join(self._form() for _ in range(self._random.choice([1, 2, 2, 3])))

    def _joined(self) -> str:
        return self._random.choice("-'. –").join(self._form() for _ in range(self._random.choice([1, 2, 2, 3])))

    def _changed(self, word: str) -> str:
        place, kind = self._random.randrange(len(word) + 1), self._random.randrange(4)
        letter = "" if kind == 0 else self._random.choice(self._letters)
        return word[:place] + letter + word[place + (kind < 2) :]

    def _dotted(self, word: str) -> str:
        return word + "." * self._random.randint(1, 2)


def _fits(affix: Affix, is_suffix: bool, word: str) -> bool:
    return affix.fits(word[::-1] if is_suffix else word)


def compared(aff: Path, count: int, seed: int, checker: Callable[[Path], Check]) -> tuple[int, int, list[tuple[str, bool]]]:
    """Compare the answers for some words.

    Args:
        aff: the dictionary.
        count: the number of words.
        seed: the seed.
        checker: a function that compiles a dictionary and returns its check.

    Returns:
        The numbers of words and of accepted words; and the words with different answers, with Hunspell's answer.
    """
    dictionary = read_dictionary(aff)
    words = [*dict.fromkeys(Sample(dictionary, seed).words(count))]
    reference, check = Hunspell(aff, dictionary.options.encoding), checker(aff)
    expected = [reference.check(word) for word in words]
    reference.close()
    unlike = [(word, answer) for word, answer in zip(words, expected, strict=True) if check(word) != answer]
    return len(words), sum(expected), unlike


def compiled(aff: Path) -> Check:
    """The check of a compiled speller."""
    return fst.Speller(speller(aff, suggestions=False)).check


def defined(aff: Path) -> Check:
    """The check of the definition, which is slow."""
    return definition(aff).check


def speeds(aff: Path, count: int, seed: int, text: Path | None) -> Iterator[str]:
    """Yield the processor time for a word of each list, and the ratio."""
    dictionary, random = read_dictionary(aff), Random(seed)
    words = random.choices([entry.word for entry in dictionary.entries if entry.word and " " not in entry.word], k=count)
    changed = [word[: (place := random.randrange(len(word)))] + random.choice("aeinrst") + word[place + 1 :] for word in words]
    lists = {"words of the dictionary": words, "changed": changed}
    if text:
        lists["running text"] = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.read_text(encoding="utf-8"))[:count]
    own, reference = fst.Speller(speller(aff, suggestions=False)), Hunspell(aff, dictionary.options.encoding)
    for name, some in lists.items():
        given = [word.encode(dictionary.options.encoding, "ignore") for word in some]
        theirs = min(_seconds(lambda: reference.check_all(given)) for _ in range(3))  # noqa: B023
        ours = min(_seconds(lambda: own.check_batch(some, threads=1)) for _ in range(5))  # noqa: B023
        yield f"  {name}: {ours / len(some) * 1e9:.0f} ns, Hunspell {theirs / len(some) * 1e9:.0f} ns: {theirs / ours:.1f}×"
    reference.close()


def _seconds(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def main() -> None:
    """Compare all dictionaries of some folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="folders, or .aff files")
    parser.add_argument("--words", type=int, default=3000, help="number of words of each dictionary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--definition", action="store_true", help="compare the slow definition, not the compiled speller")
    parser.add_argument("--speed", action="store_true", help="measure processor time")
    parser.add_argument("--text", type=Path, help="a text for --speed")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FstWarning)
    files = [file for path in arguments.paths for file in (sorted(path.rglob("*.aff")) if path.is_dir() else [path])]
    total = unlike_total = 0
    for aff in dict.fromkeys(file.resolve() for file in files):
        begin = time.process_time()
        try:
            count, accepted, unlike = compared(aff, arguments.words, arguments.seed, defined if arguments.definition else compiled)
        except FstError as error:
            print(f"{aff.stem}: {error}")
            continue
        total, unlike_total = total + count, unlike_total + len(unlike)
        seconds = time.process_time() - begin
        print(f"{aff}: {count:,} words, {accepted:,} accepted, {len(unlike):,} differ, {seconds:.1f} s {unlike[:5] or ''}", flush=True)
        for line in speeds(aff, arguments.words, arguments.seed, arguments.text) if arguments.speed else ():
            print(line, flush=True)
    print(f"{total:,} words of {len(files)} dictionaries, {unlike_total:,} differ")


if __name__ == "__main__":
    main()
