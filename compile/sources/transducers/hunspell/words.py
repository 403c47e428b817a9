"""Read the words of a dictionary (``.dic``): a word, a slash, its flags; then data, which is ignored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import contents
from fst.compile.sources.transducers.hunspell.affixes import Affixes, Flags, is_text, lines_of
from fst.errors import quoted

COUNT = re.compile(r"\d+(\s|$)")
DATA = re.compile(r"\t|[ \t]\w\w:")
SLASH = re.compile(r"(?<!\\)/")
MAX_WORD = 1000


class Entry(NamedTuple):
    """A word of the dictionary and its flags."""

    word: str
    flags: Flags


def read_words(path: Path, affixes: Affixes) -> list[Entry]:
    """Read a file, in its order.

    Raises:
        VocabularyError: a line is malformed.
        OSError: the file cannot be read.
    """
    found: list[Entry] = []
    flags_of: dict[str, Flags] = {}
    for line in lines_of(path, contents(path), affixes.encoding):
        if line.number == 1 and COUNT.match(line.text):
            continue
        data = DATA.search(line.text, 1)
        text = line.text[: data.start()] if data else line.text
        parts = [text] if text[0] == "/" else SLASH.split(text)
        word, flags = parts if len(parts) == 2 else (text, "")
        word = word.replace("\\/", "/").translate(affixes.without_ignored)
        if len(word) > MAX_WORD:
            raise line.fault(f"the word has {len(word):,} characters; expected at most {MAX_WORD:,}")
        if not is_text(word):
            raise line.fault(f"the word is {quoted(word)}; expected {affixes.encoding}; save the file in the encoding of the option SET")
        if flags not in flags_of:
            flags_of[flags] = affixes.flags(flags, line)
        found.append(Entry(word, flags_of[flags]))
    return found
