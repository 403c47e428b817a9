"""Small dictionaries of Hunspell that use all options which decide whether a word is correct."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from support.naive.spelling.check import Speller

from fst.compile.sources.transducers.hunspell.casing import Casing
from fst.compile.sources.transducers.hunspell.files import read_dictionary


class Dictionary(NamedTuple):
    """The texts of the two files of a dictionary, and their encoding."""

    aff: str
    words: str
    encoding: str = "utf-8"

    def drawn(self, draw: Random, count: int, letters: Sequence[str]) -> list[str]:
        """Strings of up to four stems, or of up to four of some letters."""
        stems = [line.split("/")[0] for line in self.words.split("\n")[1:] if line]
        return ["".join(draw.choices(draw.choice([stems, letters]), k=draw.randint(1, 4))) for _ in range(count)]


AFFIXES = Dictionary(
    """SET UTF-8
NEEDAFFIX n
FORBIDDENWORD f
KEEPCASE k
CIRCUMFIX c
ONLYINCOMPOUND o
WARN w
FORBIDWARN
CHECKSHARPS
FULLSTRIP
IGNORE .
WORDCHARS '-
BREAK 4
BREAK -
BREAK ^-
BREAK -$
BREAK --
ICONV 4
ICONV ’ '
ICONV ij y
ICONV _é e
ICONV é_ ee
SFX A Y 5
SFX A 0 s/B [^sy]
SFX A y ies y
SFX A 0 es [sx]
SFX A 0 e/nB .
SFX A ab ba ab
SFX B Y 2
SFX B 0 t [^t]
SFX B 0 é/c .
PFX P Y 3
PFX P 0 re .
PFX P a u/c a[^bc]
PFX P 0 un/n b
PFX Q N 1
PFX Q 0 x/A .
""",
    """15
ab/APQ
bay/AP
ba's/A
Berlin/A
NATO
straße/Ak
wir/k
sox/nA
xab/f
bad/w
OpenOffice/A
a-b
tt/fA
ü/APn
st.
""",
)
COMPOUNDS = Dictionary(
    """SET UTF-8
LANG hu_HU
COMPOUNDMIN 1
COMPOUNDFLAG x
COMPOUNDBEGIN b
COMPOUNDMIDDLE m
COMPOUNDEND e
COMPOUNDROOT r
COMPOUNDPERMITFLAG p
COMPOUNDFORBIDFLAG q
COMPOUNDWORDMAX 3
COMPOUNDSYLLABLE 4 aeiouü
SYLLABLENUM cIJ
COMPOUNDMORESUFFIXES
ONLYINCOMPOUND o
FORBIDDENWORD f
FORCEUCASE u
NEEDAFFIX n
CHECKCOMPOUNDDUP
CHECKCOMPOUNDREP
CHECKCOMPOUNDCASE
CHECKCOMPOUNDTRIPLE
SIMPLIFIEDTRIPLE
REP 2
REP i y
REP tt t
CHECKCOMPOUNDPATTERN 3
CHECKCOMPOUNDPATTERN b a
CHECKCOMPOUNDPATTERN 0/A y
CHECKCOMPOUNDPATTERN t/b b/x O
SFX A Y 3
SFX A 0 s/px .
SFX A 0 i/qB .
SFX A 0 t .
SFX B Y 1
SFX B 0 e/pe .
SFX c Y 1
SFX c 0 is .
PFX P Y 2
PFX P 0 aü/p .
PFX P 0 un .
""",
    """16
a/xA
ba/bAP
tab/x
aft/bm
tt/xr
ye/eAP
Bo/x
is/xI
so/xoJ
nett/Acx
bi/eu
st/n
tabye/f
aba a
ü-/F
aby
""",
)
RULES = Dictionary(
    """SET ISO8859-1
LANG tr_TR
COMPOUNDMIN 1
COMPOUNDRULE 3
COMPOUNDRULE n*1t
COMPOUNDRULE m?n*s
COMPOUNDRULE ab?b
CHECKCOMPOUNDCASE
ONLYINCOMPOUND o
SFX A Y 1
SFX A 0 s .
""",
    """9
a/n1
b/nm
ab/tA
s/sA
e/m
i/sab
ü/nb
t/1o
-/a
""",
    "iso8859-1",
)
REVERSED = Dictionary(
    """SET UTF-8
COMPLEXPREFIXES
COMPOUNDFLAG x
COMPOUNDMIN 2
CHECKCOMPOUNDPATTERN 1
CHECKCOMPOUNDPATTERN 0/x a
PFX A Y 2
PFX A 0 re/B .
PFX A a un a
PFX B Y 1
PFX B 0 s .
SFX C Y 2
SFX C 0 t .
SFX C b ab b
""",
    """5
ab/ACx
tab/Bx
ba/x
is/A
a b
""",
)
RARE = Dictionary(  # a forbidden compound in a compound, and a suffix that strips the suffix before it and a part of the stem
    """SET UTF-8
COMPOUNDFLAG x
COMPOUNDMIN 1
FORBIDDENWORD f
SFX A Y 1
SFX A 0 s/B .
SFX B Y 1
SFX B bs i bs
""",
    """6
a/x
b/x
t/x
ab/A
abt/f
tabt/f
""",
)
PAIRS = Dictionary(  # characters after U+FFFF, which are two units, in stems, affixes and conditions
    """SET UTF-8
SFX A Y 4
SFX A 0 𞤢s [^𞤢a]
SFX A 0 𞤣𞤢/B [𞤣𞤢a]
SFX A 𞤢 𞤣 .[𞤣b]𞤢
SFX A 0 😀 [^𞤣]b
SFX B Y 2
SFX B 0 t [^😀]
SFX B 𞤢 é𞤢 𞤢
PFX P Y 3
PFX P 0 𞤢 [^𞤢b]
PFX P 𞤢 😀a 𞤢[𞤣a]
PFX P 0 𞤣 .b
""",
    """9
a/AP
b/A
𞤢/AP
𞤣𞤢/AP
𞤢𞤣/AP
a𞤢/AB
b𞤣𞤢/AP
😀/AP
ab😀b/AP
""",
)
DICTIONARIES = {"affixes": AFFIXES, "compounds": COMPOUNDS, "rules": RULES, "reversed words": REVERSED}
ALPHABET = (
    *("a", "b", "ab", "ba", "t", "s", "e", "y", "i", "is", "tab", "ye", "un", "re", "x", "ü", "é", "o", "nett", "aft", "tt", "so"),
    *("-", "'", "’", ".", " ", "1", "A", "B", "S", "SS", "ß", "İ", "ba's", "Berlin", "NATO", "strasse", "STRASSE", "ij", "aü"),
    "\U0001f600",
)


def written_to(folder: Path, dictionary: Dictionary) -> Path:
    """Write the files of a dictionary, and return the path of the ``.aff`` file."""
    path = folder / "words.aff"
    path.write_text(dictionary.aff, encoding=dictionary.encoding)
    path.with_suffix(".dic").write_text(dictionary.words, encoding=dictionary.encoding)
    return path


def definition(aff: Path) -> Speller:
    """The slow definition of the right words, for a dictionary."""
    dictionary = read_dictionary(aff)
    return Speller(dictionary, Casing(dictionary.options.encoding, dictionary.options.language))
