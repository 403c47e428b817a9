"""Hints for errors of `fst compile`. A message about a list of words or a dictionary ends with the command that compiles it. A message
about a missing file ends with similar commands.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from fst.cli.group import similar
from fst.registry import MACHINES

# subcommand of `fst compile` → its module, for the kinds of tables with a module in this folder
COMMANDS = {kind: name for kind in MACHINES if find_spec(name := f"{__package__}.{kind.replace('-', '_')}")}
LOOKED_AT = 1 << 14  # number of bytes of SOURCE that are read to find a hint
COLUMNAR = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc")
JIEBA_LINE = re.compile(r"\S+ \d+( \S+)?\s*")  # matches a line of `jieba`'s dict.txt
WORDS = "; to compile keywords, run `fst compile keywords {0}`; to compile a dictionary, `fst compile maxmatch {0}`"
MECAB = "; to compile a dictionary of MeCab, run `fst compile mecab {0}`"
JIEBA = "; to compile a dictionary of jieba, run `fst compile jieba {0}`"
JSON = "; to compile keywords, write one per line and run `fst compile keywords FILE`"


def hint(source: str) -> str:
    """The hint at the end of a message about a source that is not a vocabulary; empty if no command compiles the source."""
    path = Path(source)
    if not path.exists():
        return similar(source, COMMANDS)
    if path.is_dir():
        return MECAB.format(source) if (path / "matrix.def").exists() else ""
    if Path(path.name.removesuffix(".gz")).suffix in COLUMNAR:
        return WORDS.format(source)
    return _of_text(path).format(source) if path.is_file() else ""


def _of_text(path: Path) -> str:
    from fst.compile.files import beginning
    from fst.compile.sources.inputs import PIECES, RANKS
    from fst.compile.sources.mistaken import mistaken

    begun = beginning(path, LOOKED_AT)
    if begun.startswith(b"["):
        return JSON
    if begun.startswith(b"{") or path.name.removesuffix(".gz").endswith((RANKS, PIECES)) or mistaken(path):
        return ""
    try:
        lines = (begun[: begun.rfind(b"\n") + 1] or begun).decode().splitlines()  # drop the last line, because it may be incomplete
    except UnicodeDecodeError:
        return ""
    return JIEBA if all(map(JIEBA_LINE.fullmatch, lines)) else WORDS
