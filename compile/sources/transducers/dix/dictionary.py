"""The elements of a dictionary → its sections.

A dictionary describes pairs of strings, such as surface forms (left) and analyses (right). A paradigm is a named list of entries, which
later entries may contain; an entry is a sequence of pairs, regular expressions and paradigms. Sides, filters and weights are as in lt-comp:
the two strings of a pair are aligned from the left, and each nonempty pair of an entry adds ``w``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn
from xml.parsers import expat

from fst.compile.algebra.arcs import EPSILON, Arcs, empty
from fst.compile.algebra.build.regex import TEXT, from_tree
from fst.compile.algebra.forms.minimize import minimize
from fst.compile.algebra.kernels.room import of_file
from fst.compile.algebra.rational import union
from fst.compile.algebra.symbols import Symbols
from fst.compile.files import contents
from fst.compile.sources.transducers.dix.entries import Arc, Budget, Entries, Part, Step, ordered, part_of, reads_nothing
from fst.compile.sources.transducers.dix.regex import MalformedError, characters, parse
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted

Direction = Literal["lr", "rl"]
DIRECTIONS: tuple[Direction, ...] = ("lr", "rl")
KINDS = ("standard", "inconditional", "preblank", "postblank")
WRITTEN = {"b": " ", "j": "+", "a": "~", "g": "#", "m": ""}  # the text of an element in a string; ``m`` is the boundary of a morpheme
MAX_STRING = 1 << 16
ENCODING = re.compile(r"utf-(?:8|16)|(?:us-)?ascii|iso-8859-(?:[1-9]|1[013-6])|windows-125[0-8]|koi8-[ru]", re.IGNORECASE)
STRINGS = ("i", "ig", "l", "r", "g")  # the elements that contain strings
IN_STRINGS = ("s", *WRITTEN)
CHILDREN: dict[str, tuple[str, ...]] = {
    "": ("dictionary",),
    "dictionary": ("alphabet", "sdefs", "pardefs", "section"),
    "sdefs": ("sdef",),
    "pardefs": ("pardef",),
    **dict.fromkeys(("pardef", "section"), ("e",)),
    "e": ("i", "ig", "p", "par", "re"),
    "p": ("l", "r"),
    **dict.fromkeys(("i", "ig", "l", "r"), IN_STRINGS),
    "g": tuple(name for name in IN_STRINGS if name != "g"),
}
WITH_TEXT = (*STRINGS, "re", "alphabet")
WITHOUT_TEXT = {"e", "p", "par", "sdef", *IN_STRINGS} - {*STRINGS}  # elsewhere, text is ignored
# An entry is dropped if one of its attributes is not empty: in both directions, or in one. lt-comp has options that name values to keep.
VARIANTS: dict[Direction, tuple[str, ...]] = {"lr": ("alt", "vr"), "rl": ("alt", "vl")}


class Elements:
    """The events of an XML file that is not trusted, and the position of each.

    expat, the parser of Python's standard library, is safe here: it opens no other file, because external entities have no handler; a
    declaration of an entity is refused, so nothing is ever expanded ("billion laughs"); files are at most
    `fst.compile.files.MAX_SOURCE_BYTES` large and are parsed at once, in time and memory linear in their size; elements are events, not
    objects, and readers refuse an element in a wrong place, so the depth is small.

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
        self._parser.XmlDeclHandler = self._need_encoding
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
        """A message with the position of the current event."""
        return f"{self._path}, line {self._parser.CurrentLineNumber}, column {self._parser.CurrentColumnNumber + 1}: {problem}"

    def fault(self, problem: str) -> VocabularyError:
        """The error for a problem at the current event."""
        return VocabularyError(self.at(problem))

    def _need_encoding(self, _version: Any, encoding: str | None, _standalone: int) -> None:
        """Refuse an encoding for which expat would call a codec of Python, unless a byte is a character in it."""
        if encoding is not None and not ENCODING.fullmatch(encoding):
            expected = "expected UTF-8, or a byte for each character; convert the file"
            raise UnsupportedError(self.at(f"the encoding is {quoted(encoding)}; {expected}"))

    def _refuse_declaration(self, name: str, *_declaration: Any) -> NoReturn:
        raise UnsupportedError(self.at(f"the entity {quoted(name)} is declared; expected no declarations; write its text instead"))

    def _refuse_entity(self, name: str, *_kind: Any) -> NoReturn:
        raise UnsupportedError(self.at(f"the entity {quoted(name)} is declared in another file; expected its text in its place"))


class Dictionary(NamedTuple):
    """A dictionary."""

    # the kind of each section, and the section's machine, which is minimal. Sections of the same kind share one machine, and all machines
    # have the same symbols.
    sections: dict[str, Arcs]
    alphabet: str  # the characters that are letters, in addition to Unicode's letters


def read(path: Path, direction: Direction = "lr") -> Dictionary:
    """Read a dictionary. `path`: a file, possibly packed with gzip. `direction`: "lr": read left strings and write right strings, without
    the entries that have ``r="RL"``; "rl": the reverse.
    """
    if direction not in DIRECTIONS:
        raise ValueError(not_one_of("direction", direction, DIRECTIONS))
    reader = _Reader(path, direction)
    reader.elements.read(contents(path))
    names, ranks = reader.symbols.names, reader.ranks
    with of_file(path):
        sections = {kind: ordered(minimize(entries.machine(names)), ranks) for kind, entries in reader.sections.items()}
    return Dictionary(sections, "".join(reader.alphabet.split()))


def joined(dictionary: Dictionary) -> Arcs:
    """The machine of all sections: a new start state, followed by the states of the sections in their order."""
    return union([*dictionary.sections.values()]) if dictionary.sections else empty()


class _Entry:
    """An entry that is being read."""

    def __init__(self, weight: float, *, is_kept: bool) -> None:
        self.weight, self.is_kept = weight, is_kept
        self.steps: list[Step] = []
        self.pairs: list[tuple[int, int]] = []


class _Reader:
    """The state of reading: the open elements, and the definitions so far."""

    def __init__(self, path: Path, direction: Direction) -> None:
        self.elements = Elements(path, self._start, self._end, self._text)
        self.symbols, self.alphabet = Symbols(), ""
        self.sections: dict[str, Entries] = {}
        self.ranks: dict[tuple[int, int], int] = {}  # a pair of labels → its rank in the order of first use
        self._direction = direction
        self._budget = Budget()
        self._open = [""]
        self._paradigms: dict[str, Part] = {}
        self._defined = ""  # the paradigm that is being defined
        self._tags: dict[str, int] = {}
        self._entries, self._entry = Entries(self._budget), _Entry(0.0, is_kept=False)
        self._string, self._left, self._pattern = list[int](), list[int](), ""
        self._begin: dict[str, Callable[[dict[str, str]], None]] = {
            "dictionary": self._begin_dictionary,
            "sdef": self._begin_sdef,
            "pardef": self._begin_pardef,
            "section": self._begin_section,
            "e": self._begin_entry,
            "par": self._begin_par,
            "s": self._begin_tag,
            **dict.fromkeys(("i", "ig", "l", "r"), self._begin_string),
        }
        self._finish: dict[str, Callable[[], None]] = {
            "pardef": self._finish_pardef,
            "e": self._finish_entry,
            "re": self._finish_pattern,
            "p": self._finish_pair,
            "i": lambda: self._add_pair(self._string, self._string),
            "ig": lambda: self._add_pair(self._string, [ord("#"), *self._string]),
        }
        self._sides = 0  # the number of strings read in the open pair

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        if name not in CHILDREN.get(parent, ()):
            raise self._misplaced(name, parent)
        self._open.append(name)
        if name in self._begin:
            self._begin[name](attributes)
        elif name in WRITTEN:
            self._string += map(ord, WRITTEN[name])

    def _end(self, name: str) -> None:
        self._open.pop()
        if name in self._finish:
            self._finish[name]()

    def _text(self, text: str) -> None:
        name = self._open[-1]
        if name in STRINGS:
            self._string += map(ord, text)
            if len(self._string) > MAX_STRING:
                raise self.elements.fault(f"the string in <{name}> has more than {MAX_STRING:,} characters; expected fewer; shorten it")
        elif name == "re":
            self._pattern += text
        elif name == "alphabet":
            self.alphabet += text
        elif name in WITHOUT_TEXT and not text.isspace():
            raise self.elements.fault(f"the text in <{name}> is {quoted(text.strip())}; expected none; write it in <i>, <l> or <r>")

    def _misplaced(self, name: str, parent: str) -> Exception:
        inside = f"in <{parent}>" if parent else "at the top"
        allowed = ", ".join(f"<{child}>" for child in CHILDREN.get(parent, ())) or "no element"
        problem = self.elements.at(f"the element {inside} is <{name[:50]}>; expected {allowed}")
        is_known = parent and any(name in children for children in CHILDREN.values())
        return VocabularyError(f"{problem}; move or remove it") if is_known else UnsupportedError(f"{problem}; remove it")

    def _attribute(self, attributes: dict[str, str], name: str) -> str:
        if not attributes.get(name):
            raise self.elements.fault(f'<{self._open[-1]}> has no attribute {name}; expected a name, as in {name}="noun"')
        return attributes[name]

    def _begin_dictionary(self, attributes: dict[str, str]) -> None:
        kind = attributes.get("type", "standard")
        if kind != "standard":
            raise UnsupportedError(self.elements.at(f"the dictionary is of type {quoted(kind)}; expected 'standard'; use lsx-comp"))

    def _begin_sdef(self, attributes: dict[str, str]) -> None:
        name = self._attribute(attributes, "n")
        self._tags[name] = self.symbols.label(f"<{name}>")

    def _begin_pardef(self, attributes: dict[str, str]) -> None:
        self._defined, self._entries = self._attribute(attributes, "n"), Entries(self._budget)
        earlier = self._paradigms.get(self._defined)
        if earlier and earlier.has_entries:  # a second definition adds entries
            self._entries.add([earlier])

    def _finish_pardef(self) -> None:
        self._paradigms[self._defined], self._defined = self._entries.part(), ""

    def _begin_section(self, attributes: dict[str, str]) -> None:
        kind = self._attribute(attributes, "type")
        if kind not in KINDS:
            raise self.elements.fault(not_one_of("the type of the section", kind, KINDS))
        self._entries = self.sections.setdefault(kind, Entries(self._budget))

    def _begin_entry(self, attributes: dict[str, str]) -> None:
        of = attributes.get
        is_masked = of("i") == "yes" or of("r", "") not in ("", self._direction.upper()) or any(map(of, VARIANTS[self._direction]))
        self._entry = _Entry(self._weight(of("w") or "0"), is_kept=not is_masked)

    def _weight(self, text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            weight = float("nan")
        if not isfinite(weight):
            raise self.elements.fault(f"the weight is {quoted(text)}; expected a decimal number")
        return weight

    def _finish_entry(self) -> None:
        entry = self._entry
        if not entry.is_kept:
            return
        if not self._defined:
            self._check(entry.steps)
        self._within_budget(lambda: self._entries.add(entry.steps))
        for pair in entry.pairs:
            self.ranks.setdefault(pair, len(self.ranks))

    def _check(self, steps: list[Step]) -> None:
        """Refuse an entry of a section that lt-comp refuses because it reads no word."""
        if reads_nothing(steps):
            side = "left" if self._direction == "lr" else "right"
            problem = f"the {side} side of the entry may be empty; expected at least one character; complete the entry, or remove it"
            raise self.elements.fault(problem)
        if isinstance(steps[0], Arc) and chr(steps[0].read).isspace():
            raise self.elements.fault("the entry begins with whitespace; expected another character; remove the whitespace")

    def _within_budget(self, add: Callable[[], None]) -> None:
        try:
            add()
        except UnsupportedError as error:
            raise UnsupportedError(self.elements.at(str(error))) from None

    def _begin_par(self, attributes: dict[str, str]) -> None:
        name = self._attribute(attributes, "n")
        if not self._entry.is_kept:
            return
        if name == self._defined or name not in self._paradigms:
            where = "inside of its own definition" if name == self._defined else "without a definition before it"
            raise self.elements.fault(f"the paradigm {quoted(name)} is used {where}; expected an earlier <pardef>; define it first")
        part = self._paradigms[name]
        self._entry.is_kept = part.has_entries
        self._entry.steps.append(part)

    def _begin_tag(self, attributes: dict[str, str]) -> None:
        name = self._attribute(attributes, "n")
        if name not in self._tags:
            raise self.elements.fault(f"the symbol {quoted(name)} has no definition; expected an <sdef> in <sdefs>; add it")
        self._string.append(self._tags[name])

    def _begin_string(self, _attributes: dict[str, str]) -> None:
        if self._open[-1] in ("l", "r"):
            expected = "lr"[self._sides : self._sides + 1]
            if self._open[-1] != expected:
                raise self.elements.fault(f"the pair has <{self._open[-1]}> here; expected one <l>, then one <r>")
            self._sides += 1
        self._left, self._string = self._string, []

    def _finish_pair(self) -> None:
        if self._sides != 2:
            raise self.elements.fault(f"the pair has {self._sides} strings; expected one <l>, then one <r>")
        self._sides = 0
        self._add_pair(self._left, self._string)

    def _add_pair(self, left: list[int], right: list[int]) -> None:
        read, write = (left, right) if self._direction == "lr" else (right, left)
        pairs = [*zip_longest(read, write, fillvalue=EPSILON)]
        arcs = [Arc(*pair, 0.0) for pair in pairs]
        self._entry.pairs += pairs
        self._entry.steps += [*arcs[:-1], *(arc._replace(weight=self._entry.weight) for arc in arcs[-1:])]

    def _finish_pattern(self) -> None:
        pattern, self._pattern = self._pattern, ""
        if self._entry.is_kept:
            try:
                tree = parse(pattern)
            except MalformedError as error:
                raise self.elements.fault(str(error)) from None
            self._entry.pairs += [(label, label) for label in characters(tree)]
            self._within_budget(lambda: self._entry.steps.append(part_of(from_tree(tree, TEXT))))
