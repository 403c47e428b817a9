"""Read ``.zhfst`` archives: a zip file with a lexicon ``acceptor.NAME.hfst``, an error model ``errmodel.NAME.hfst``, and ``index.xml``.

Nothing is written to disk, and names of members are only compared. Each member is unpacked into memory, up to a limit.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fst.compile.files import MAX_SOURCE_BYTES, contents
from fst.compile.sources.transducers.byte_reader import Reader
from fst.compile.sources.transducers.dix.dictionary import Elements
from fst.compile.sources.transducers.hfstol import Numbered, numbered
from fst.errors import VocabularyError, quoted

MAX_MEMBERS = 1 << 8
ACCEPTOR, ERROR_MODEL, INDEX = "acceptor.", "errmodel.", "index.xml"
DEFAULT = "default"
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


class Archive(NamedTuple):
    """The contents of an archive.

    Attributes:
        lexicon: the lexicon.
        error_model: the error model. If the archive has none, it reads no word, so that there are no suggestions.
        about: the texts of the index by element, ``locale`` and ``title``.
    """

    lexicon: Numbered
    error_model: Numbered
    about: dict[str, str]


def read(path: Path) -> Archive:
    """Read an archive. If there are several lexicons or error models, the one named ``default`` is read, or else the first by name."""
    try:
        with zipfile.ZipFile(io.BytesIO(contents(path))) as file:
            members = file.infolist()
            if len(members) > MAX_MEMBERS:
                raise VocabularyError(f"{path} has {len(members):,} members; expected at most {MAX_MEMBERS}")
            lexicon = _chosen(members, ACCEPTOR)
            if lexicon is None:
                raise VocabularyError(f"{path} has no member {ACCEPTOR}NAME.hfst; expected a speller of Giella")
            error_model, index = _chosen(members, ERROR_MODEL), next((member for member in members if member.filename == INDEX), None)
            parts = [None if member is None else _unpacked(file, member, path) for member in (lexicon, error_model, index)]
    except DAMAGED as error:
        raise VocabularyError(f"{path} is no zip file, or is damaged: {error}; download it again") from None
    assert parts[0] is not None
    return Archive(numbered(parts[0]), _empty() if parts[1] is None else numbered(parts[1]), {} if parts[2] is None else _about(parts[2]))


def _empty() -> Numbered:
    """A machine that reads no word."""
    none, symbols = np.empty(0, np.int64), np.empty(0, np.uint16)
    return Numbered([""], 1, none, symbols, symbols, none, None, np.full(1, np.inf, np.float32))


def _chosen(members: list[zipfile.ZipInfo], prefix: str) -> zipfile.ZipInfo | None:
    """The member with a prefix that is the default, or else the first by name."""
    found = {member.filename.split(".")[1]: member for member in members if member.filename.startswith(prefix)}
    return found.get(DEFAULT) or next((found[name] for name in sorted(found)), None)


def _unpacked(file: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> Reader:
    """The bytes of a member."""
    with file.open(member) as stream:
        data = stream.read(MAX_SOURCE_BYTES + 1)
    if len(data) > MAX_SOURCE_BYTES:
        raise VocabularyError(f"{path}: {quoted(member.filename)} is larger than {MAX_SOURCE_BYTES >> 20} MiB; expected a smaller file")
    return Reader(data, path / member.filename)


def _about(index: Reader) -> dict[str, str]:
    """The texts of the elements ``locale`` and ``title`` of ``info``."""
    found, within = dict[str, str](), list[str]()

    def text(characters: str) -> None:
        if within[1:2] == ["info"] and len(within) == 3 and within[2] in ("locale", "title"):
            found.setdefault(within[2], characters.strip())

    def end(_: str) -> None:
        within.pop()

    Elements(index.path, lambda name, _: within.append(name), end, text).read(index.data)
    return found
