"""Readers of transducers, lexicons and morphologies as targets of fuzzing."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.fuzz.reader import Reader, joined
from support.sources.transducers import UNWEIGHTED, WEIGHTED

import fst
from fst.compile import best_path, lookup
from fst.compile.algebra.build.strings import Arc
from fst.compile.algebra.machine import Fst
from fst.errors import FstWarning

ATT = "0\t1\ta\tb\t0.5\n0\t2\t@0@\t<n>\n1\t2\té\t@_SPACE_@\n2\t1\t@P.X.Y@\t@P.X.Y@\n2\t1.25\n"
LEXC = (
    'Multichar_Symbols +N +Pl @P.X.Y@\nDefinitions V = a | e ;\nLEXICON Root\ncat N ;\ndog:dog N "weight: 1.5" ;\n'
    '< [V b:c | {ab}^2 - "+N"]* .x. a::1 > N ;\n< "@P.X.Y@" V.l:0 ("+Pl") > # ;\n'
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
    "SET UTF-8\nFLAG long\nAM 2\nAM po:noun\nAM po:vrb st:berja\nAF 1\nAF AaBb # 1\nPFX Aa Y 2\nPFX Aa ba ge ba\nPFX Aa 0 un [^b]\n"
    "SFX Bb Y 2\nSFX Bb i ar/Cc i\nSFX Bb 0 s .\nSFX Cc N 1\nSFX Cc r x r\nICONV 1\nICONV ’ '\nOCONV 1\nOCONV ' ’\nIGNORE ́\n"
    "FORBIDDENWORD Ff\n"
)
DIC = "5\nbarði/AaBb\t2\na/Aa\t1\nberja\tpo:vrb\nmcDonald\nx/Ff\n"


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


def _rewritten(folder: Path) -> None:
    """Compile the best paths of a machine, and rewrite a text."""
    fst.Rewriter(best_path(folder / "a.fst", unknown="copy")).apply("aé cat")


READERS = {
    "att": Reader(_looked_up("a.att"), lambda: [ATT.encode(), gzip.compress(ATT.encode(), mtime=0)], ("a.att",)),
    "openfst": Reader(_rewritten, _openfst, ("a.fst",)),
    "hfstol": Reader(_looked_up("a.hfstol"), lambda: [WEIGHTED, UNWEIGHTED], ("a.hfstol",)),
    "lexc": Reader(_looked_up("a.lexc"), lambda: [LEXC.encode()], ("a.lexc",)),
    "dix": Reader(_looked_up("a.dix"), lambda: [DIX.encode()], ("a.dix",)),
    "hunspell": Reader(_looked_up("a.aff"), lambda: [joined(("a.aff", "a.dic"), {"a.aff": AFF, "a.dic": DIC})], ("a.aff", "a.dic")),
}
