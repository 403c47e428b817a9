"""Generate ``characters.tsv``: apply the reference's normalizers and pre-tokenizers to every code point.

``tokenizers`` combines three versions of Unicode: categories of 8.0, decompositions of 9.0, and lower case of 17.0. So neither Python's
`unicodedata` nor any single version of Unicode would give the same ids. This takes about a minute::

    cd tests && python -m support.text.generate_characters > ../compile/text/characters/characters.tsv
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cmp_to_key
from typing import Any

from support.text.every_character import EVERY_CHARACTER
from support.text.generate_clusters import clusters

from fst.automata.rows import CODE_POINTS

HIGH, LOW = "\U0001e000", "\U0001d165"  # two marks that the reference may swap

HEADER = """\
# What tokenizers {version} does to each code point; made by tests/support/text/generate_characters.py.
# property, first and last code point (hexadecimal), value. Code points of which a property says nothing are unchanged, or do not have it.
#   clean        drop or blank: what clean_text does
#   nmt          drop or blank: what Nmt does
#   cjk          yes: handle_chinese_chars puts blanks around it
#   nonspacing   yes: strip_accents drops it, having decomposed the text
#   combining    yes: StripAccents drops it
#   lower        its lower case (hexadecimal)
#   canonical    its canonical decomposition (hexadecimal; hangul: the standard's rule for syllables)
#   compatible   its compatibility decomposition, where that is another
#   composed     yes: it has a canonical decomposition, and composition makes it
#   order        of a mark: its place in canonical ordering
#   white        yes: white space
#   punctuation  yes: punctuation
#   numeric      yes: a number
#   word         yes: \\w of Whitespace's pattern
#   cluster      its class in grapheme clusters, see fst.text.clusters
#   script       the first character of its script in UnicodeScripts (hexadecimal); characters without a script have no line
"""


def properties() -> Iterator[tuple[str, str, str]]:
    """All characters with a property, as tuples of property, character and value."""
    from tokenizers import normalizers, pre_tokenizers

    def bert(**changed: bool) -> Callable[[str], str]:
        settings: dict[str, Any] = dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False)
        normalize: Callable[[str], str] = normalizers.BertNormalizer(**(settings | changed)).normalize_str
        return normalize

    clean, cjk, strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
    lower, combining, white = (each().normalize_str for each in (normalizers.Lowercase, normalizers.StripAccents, normalizers.Strip))
    canonical, compatible, composed = (each().normalize_str for each in (normalizers.NFD, normalizers.NFKD, normalizers.NFC))
    punctuation, numeric = pre_tokenizers.Punctuation().pre_tokenize_str, pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str
    word, nmt = pre_tokenizers.Whitespace().pre_tokenize_str, normalizers.Nmt().normalize_str

    marks = []
    for char in EVERY_CHARACTER:
        decomposed = canonical(char)
        if clean(char) != char:
            yield "clean", char, "blank" if clean(char) else "drop"
        if nmt(char) != char:
            yield "nmt", char, "blank" if nmt(char) else "drop"
        if cjk(char) != char:
            yield "cjk", char, "yes"
        if not strip(char) and decomposed == char:
            yield "nonspacing", char, "yes"
        if not combining(char):
            yield "combining", char, "yes"
        if lower(char) != char:
            yield "lower", char, hexadecimal(lower(char))
        if decomposed != char:
            yield "canonical", char, "hangul" if "가" <= char <= "힣" else hexadecimal(decomposed)
        if composed(char) == char != decomposed:
            yield "composed", char, "yes"
        if compatible(char) != decomposed:
            yield "compatible", char, hexadecimal(compatible(char))
        if not white(char):
            yield "white", char, "yes"
        if len(punctuation(f"a{char}b")) > 1:
            yield "punctuation", char, "yes"
        if len(numeric(f"a{char}b")) > 1:
            yield "numeric", char, "yes"
        if len(word(f"a{char}b")) == 1:
            yield "word", char, "yes"
        probe = canonical(HIGH + char + LOW)
        if decomposed == char and probe.index(LOW) < probe.index(HIGH):
            marks.append(char)

    def order(a: str, b: str) -> int:
        """A negative number if the reference orders `a` before `b`, a positive number if `b` before `a`, and 0 if it keeps their order."""
        return int(canonical(a + b) == b + a) - int(canonical(b + a) == a + b)

    place, previous = 0, ""
    for mark in sorted(marks, key=cmp_to_key(order)):
        place += not previous or order(previous, mark) < 0
        previous = mark
        yield "order", mark, str(place)
    for char, name in clusters(char for char in EVERY_CHARACTER if char not in "\r\n"):
        yield "cluster", char, "syllable" if "가" <= char <= "힣" else name
    yield from scripts()


def scripts() -> Iterator[tuple[str, str, str]]:
    """The property of scripts, as tuples of property, character and value."""
    from tokenizers import pre_tokenizers

    cut = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    firsts, value = list[str](), ""
    for char in EVERY_CHARACTER:
        if all(len(cut(other + char)) <= 1 for other in "a,"):
            continue
        if not value or len(cut(value + char)) > 1:
            value = next((first for first in firsts if len(cut(first + char)) == 1), char)
            firsts += [value] * (value == char)
        yield "script", char, hexadecimal(value)


def hexadecimal(text: str) -> str:
    """The code points of a text in hexadecimal."""
    return " ".join(f"{ord(char):X}" for char in text)


def runs(found: Iterator[tuple[str, str, str]]) -> Iterator[str]:
    """One line for each run of consecutive code points with equal values. One line per character would take 40 times the space."""
    by_property: dict[str, list[tuple[int, str]]] = {}
    for name, char, value in found:
        by_property.setdefault(name, []).append((ord(char), value))
    for name, values in sorted(by_property.items()):
        values.sort()
        first = last = values[0][0]
        value = values[0][1]
        for code, other in [*values[1:], (CODE_POINTS + 1, "")]:
            if code != last + 1 or other != value:
                yield f"{name}\t{first:X}\t{last:X}\t{value}"
                first, value = code, other
            last = code


def lines() -> Iterator[str]:
    """The lines of ``characters.tsv``."""
    import tokenizers

    yield from HEADER.format(version=tokenizers.__version__).splitlines()
    yield from runs(properties())


if __name__ == "__main__":
    for line in lines():
        print(line)
