"""All targets of fuzzing by name."""

from __future__ import annotations

from collections.abc import Mapping

from support.fuzz import dictionaries, documents, patterns, tables, transducers, vocabularies
from support.fuzz.reader import Reader

FAMILIES = (tables, vocabularies, transducers, dictionaries, patterns, documents)
READERS: Mapping[str, Reader] = {name: reader for family in FAMILIES for name, reader in family.READERS.items()}
