"""Readers of transducers, lexicons and morphologies as targets of fuzzing."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.fuzz.reader import Reader, joined
from support.machines.spellers import SMALL
from support.sources.transducers import UNWEIGHTED, WEIGHTED

import fst
from fst.compile import best_path, lookup, speller
from fst.compile.algebra.build.strings import Arc
from fst.compile.algebra.machine import Fst
from fst.compile.sources.transducers.hunspell.files import read_dictionary
from fst.errors import FstWarning

ATT = "0\t1\ta\tb\t0.5\n0\t2\t@0@\t<n>\n1\t2\té\t@_SPACE_@\n2\t1\t@P.X.Y@\t@P.X.Y@\n2\t1.25\n"
LEXC = (
    'Multichar_Symbols +N +Pl @P.X.Y@\nDefinitions V = a | e ;\nLEXICON Root\ncat N ;\ndog:dog N "weight: 1.5" ;\n'
    '< [V b | {ab}^2 - "+N"]^{1,2} .x. a::1 > N ;\n< V:b > # ;\n< "@P.X.Y@" [V.l]:0 ("+Pl") > # ;\n'
    'LEXICON N\n+N: # ; ! a comment\n+N+Pl:s # "info" ;\n@P.X.Y@x%:y # ;\nEND\n'
)
DIX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<dictionary><alphabet>abc</alphabet>'
    '<sdefs><sdef n="n"/><sdef n="v" c="verb"/></sdefs>\n<pardefs>'
    '<pardef n="noun"><e><p><l></l><r><s n="n"/></r></p></e>'
    '<e r="LR" w="2"><p><l>s</l><r><s n="v"/></r></p></e></pardef>'
    '<pardef n="loop"><e><re>b[a-c]*</re></e></pardef></pardefs>\n<section id="main" type="standard">'
    '<e lm="cat"><i>cat<b/></i><par n="noun"/></e>'
    '<e><par n="loop"/><p><l>x<g><b/>y</g></l><r>z<j/></r></p></e></section></dictionary>'
)
AFF = (
    "SET UTF-8\nFLAG long\nAM 2\nAM po:noun\nAM po:vrb st:berja\nAF 3\nAF AaBb # 1\nAF Cc\nAF Ff\n"
    "PFX Aa Y 2\nPFX Aa ba ge ba\nPFX Aa 0 un [^b]\n"
    "SFX Bb Y 2\nSFX Bb i ar/2 i\nSFX Bb 0 s .\nSFX Cc N 1\nSFX Cc r x r\nICONV 1\nICONV ’ '\nOCONV 1\nOCONV ' ’\nIGNORE ́\n"
    "FORBIDDENWORD Ff\n"
)
DIC = "5\nbarði/1\t2\na/1\t1\nberja\tpo:vrb\nmcDonald\nx/3\n"


OPTIONS = (
    "SET UTF-8\nFLAG num\nLANG hu_HU\nIGNORE -\nREP 2\nREP ^a$ b\nREP ph f\nMAP 1\nMAP a(bc)é\nPHONE 1\nPHONE AH(EI)- _\nKEY ab|c\n"
    "TRY abc\nICONV 2\nICONV _a b\nICONV a_ c\nOCONV 1\nOCONV b a\nBREAK 2\nBREAK ^-\nBREAK -\nWORDCHARS 1\nCOMPOUNDFLAG 1\nCOMPOUNDMIN 2\n"
    "COMPOUNDWORDMAX 3\nCOMPOUNDSYLLABLE 6 aé\nSYLLABLENUM a\nCHECKCOMPOUNDPATTERN 1\nCHECKCOMPOUNDPATTERN a/1 b/2 c\nCOMPOUNDRULE 1\n"
    "COMPOUNDRULE (1)*(2)?(3)\nCHECKCOMPOUNDDUP\nFORCEUCASE 4\nMAXNGRAMSUGS 4\nCHECKSHARPS\n"
    "PFX 5 Y 1\nPFX 5 a .b/6 [^c].\nSFX 6 N 1\nSFX 6 0 s a.\n"
)
WORDS = "4\nOpenOffice/1,5\nab\\/c/2,6\tph:abb\nA b/3 ph:bb->cc ph:x*\n\n/x\n"


def _openfst() -> Sequence[bytes]:
    loop: list[Arc] = [(0, 0, "a", "b", 0.5), (0, 1, "é", "<n>"), (1, 0, "", "世", -1.0)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.fst")
        machines = (Fst.from_arcs(loop, {1: 0.25}), Fst.from_strings(["cat", ("dog", "DOG", 0.5)]), Fst.from_strings(["é"], unit="utf-8"))
        found = []
        for machine in machines:
            machine.write_openfst(path)
            found.append(path.read_bytes())
    return found


def _looked_up(name: str) -> Callable[[Path], Any]:
    """A function that compiles a file for look-up, and looks up a word."""

    def read(folder: Path) -> None:
        with suppress(FstWarning):  # tests turn it into an error
            fst.Lookup(lookup(folder / name))("cat")

    return read


def _options(folder: Path) -> None:
    """Read a dictionary of Hunspell with all options."""
    read_dictionary(folder / "b.aff").homonyms()


def _rewritten(folder: Path) -> None:
    """Compile the best paths of a machine, and rewrite a text."""
    fst.Rewriter(best_path(folder / "a.fst", unknown="copy")).apply("aé cat")


def _checked(folder: Path) -> None:
    small = fst.Speller(speller(folder / "a.zhfst"))
    for word in ("guoli", "a"):
        small.check(word)
        small.suggest(word, limit=2)


READERS = {
    "att": Reader(_looked_up("a.att"), lambda: [ATT.encode(), gzip.compress(ATT.encode(), mtime=0)], ("a.att",)),
    "openfst": Reader(_rewritten, _openfst, ("a.fst",)),
    "hfstol": Reader(_looked_up("a.hfstol"), lambda: [WEIGHTED, UNWEIGHTED], ("a.hfstol",)),
    "lexc": Reader(_looked_up("a.lexc"), lambda: [LEXC.encode()], ("a.lexc",)),
    "dix": Reader(_looked_up("a.dix"), lambda: [DIX.encode()], ("a.dix",)),
    "hunspell": Reader(_looked_up("a.aff"), lambda: [joined(("a.aff", "a.dic"), {"a.aff": AFF, "a.dic": DIC})], ("a.aff", "a.dic")),
    "zhfst": Reader(_checked, lambda: [SMALL.read_bytes()], ("a.zhfst",)),
    "hunspell options": Reader(_options, lambda: [joined(("b.aff", "b.dic"), {"b.aff": OPTIONS, "b.dic": WORDS})], ("b.aff", "b.dic")),
}
