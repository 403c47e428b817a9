"""Read XML from strangers: elements, attributes and text, and the place of each.

expat, the parser of Python's standard library, is safe here: it opens no other file, because external entities have no handler; a
declaration of an entity is refused, so nothing is ever expanded ("billion laughs"); files are at most `fst.compile.files.MAX_SOURCE_BYTES`
large and are parsed at once, in time and memory linear in their size; elements are events, not objects, and readers refuse an element in a
wrong place, so the depth is small.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from fst.errors import UnsupportedError, VocabularyError, quoted


class Elements:
    """The events of a file.

    Args:
        path: the file, for messages.
        start: called at the beginning of each element, with its name and its attributes.
        end: called at the end of each element.
        text: called with the text between tags, possibly in parts.
    """

    def __init__(
        self, path: Path, start: Callable[[str, dict[str, str]], None], end: Callable[[str], None], text: Callable[[str], None]
    ) -> None:
        self._path = path
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler, self._parser.CharacterDataHandler = start, end, text
        self._parser.EntityDeclHandler = self._refuse_declaration
        self._parser.SkippedEntityHandler = self._refuse_entity

    def read(self, data: bytes) -> None:
        """Call the handlers for all events of a document."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise VocabularyError(f"{self._path}, line {error.lineno}, column {error.offset + 1}: the XML is malformed: {reason}") from None

    def at(self, problem: str) -> str:
        """A message with the place of the current event."""
        return f"{self._path}, line {self._parser.CurrentLineNumber}, column {self._parser.CurrentColumnNumber + 1}: {problem}"

    def fault(self, problem: str) -> VocabularyError:
        """The error for a problem at the current event."""
        return VocabularyError(self.at(problem))

    def _refuse_declaration(self, name: str, *_declaration: Any) -> NoReturn:
        raise UnsupportedError(self.at(f"the entity {quoted(name)} is declared; expected no declarations; write its text instead"))

    def _refuse_entity(self, name: str, *_kind: Any) -> NoReturn:
        raise UnsupportedError(self.at(f"the entity {quoted(name)} is declared in another file; expected its text in its place"))
