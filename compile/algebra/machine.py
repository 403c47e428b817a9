"""The public transducer: the arc table with its operations as methods and operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fst.automata.dot import drawn
from fst.compile.algebra import draw, rational
from fst.compile.algebra.arcs import Arcs, Unit
from fst.compile.algebra.build import strings
from fst.compile.algebra.build.regex import from_regex
from fst.compile.algebra.build.strings import Arc, Entry
from fst.compile.algebra.operations import Operations
from fst.compile.algebra.shortest import paths
from fst.compile.algebra.symbols import labels_of, text_of
from fst.compile.sources.transducers import att, hfstol, openfst
from fst.compile.sources.transducers.dix import dictionary as dix
from fst.compile.sources.transducers.hunspell import dictionary as hunspell
from fst.compile.sources.transducers.lexc import lexicon
from fst.errors import VocabularyError, counted, quoted

MAX_SHOWN = 200  # maximum number of states, or arcs, of a machine that a notebook draws


class Fst(Operations):
    """A weighted finite-state transducer: an immutable table of arcs, with the operations of the algebra.

    A machine without outputs of its own is an acceptor: each arc writes the label that it reads. Labels below 0x110000 are code points (or
    bytes, if `unit` is "utf-8"), label 0 is ε, and label ``0x110000 + k`` is ``symbols[k]``, a symbol of several characters such as
    ``<n>``. Weights are tropical: they are added along a path, and the best path has the smallest sum.

    As in HFST, the symbol ``@_IDENTITY_SYMBOL_@`` is any other symbol: an arc that reads and writes it copies any character or symbol that
    the machine does not name. An arc that reads it and writes ``@_UNKNOWN_SYMBOL_@`` writes a different one.

    Attributes:
        row_start: int64[states + 1]; the arcs of state q are ``row_start[q]`` to ``row_start[q + 1]``, exclusive, sorted by `ilabel`.
        ilabel: int32[arcs], the label that each arc reads.
        olabel: int32[arcs], the label that each arc writes.
        target: int32[arcs], the state after each arc.
        weight: float32[arcs]; None: all weights are 0.
        final: float32[states], the weight of ending in each state; infinity: not final.
        start: the first state; -1 if there are no states.
        symbols: the symbols of several characters; if any other symbol is one of them, also all characters that the machine names.
        unit: "character" or "utf-8".

    Examples:
        >>> plural = Fst.from_strings([("cat", "cats"), ("mouse", "mice")])
        >>> list(plural.paths())
        [('cat', 'cats', 0.0), ('mouse', 'mice', 0.0)]
        >>> list(plural.invert().project("input").paths())
        [('cats', 'cats', 0.0), ('mice', 'mice', 0.0)]
    """

    @classmethod
    def from_arcs(
        cls, arcs: Iterable[Arc], final: Mapping[int, float] | Iterable[int], start: int = 0, unit: Unit = "character"
    ) -> Fst:
        """Make a machine from its arcs.

        Args:
            arcs: (source, target, input, output) or (source, target, input, output, weight). A label is a number, or a string: one
                character, a symbol of several characters, or "" for ε.
            final: the final states, or their weights.
            start: the first state.
            unit: the meaning of numbers below 0x110000: code points, or bytes of UTF-8.

        Raises:
            VocabularyError: a state is negative or far above the number of states, or a weight is not a number.

        Examples:
            >>> list(Fst.from_arcs([(0, 1, "a", "<b>"), (1, 1, "c", "", 0.5)], final={1: 1}).paths(2))
            [('a', '<b>', 1.0), ('ac', '<b>', 1.5)]
        """
        return cls.of(strings.from_arcs(arcs, final, start, unit))

    @classmethod
    def from_strings(
        cls, entries: Iterable[Entry] | Mapping[str, str], symbols: Iterable[str] = (), unit: Unit = "character"
    ) -> Fst:
        """Make a tree of strings. Of equal entries, the smallest weight is kept.

        Args:
            entries: strings, which are copied; (input, output); or (input, output, weight). Or a mapping of inputs to outputs.
            symbols: strings that are one label each, such as ``<n>``; the longest is read first.
            unit: "character", or "utf-8", one label for each byte.

        Raises:
            VocabularyError: an entry has another form or contains U+0000, or `entries` is a str.

        Examples:
            >>> list(Fst.from_strings(["cat", ("dog", "DOG", 0.5)]).paths())
            [('cat', 'cat', 0.0), ('dog', 'DOG', 0.5)]
        """
        return cls.of(strings.from_strings(entries, symbols, unit))

    @classmethod
    def from_regex(cls, pattern: str, alphabet: Iterable[str] | None = None, symbols: Iterable[str] = ()) -> Fst:
        """The acceptor of all strings that a regular expression matches as a whole.

        Args:
            pattern: characters, escapes, sets, groups, alternatives and repeats, in the syntax of Rust's ``regex``.
            alphabet: the characters and symbols that sets such as ``.`` and ``[^a]`` contain; None: all. A set of more than half of
                Unicode then has an arc for any other symbol.
            symbols: strings that are one label each, such as ``<n>``, in addition to those of the alphabet; the longest is read first.
                They count as characters, also in sets such as ``[<n><pl>]``.

        Raises:
            UnsupportedError: the pattern is malformed or too large, or has another construct.

        Examples:
            >>> list(Fst.from_regex("a(b|c)*").paths(4))
            [('a', 'a', 0.0), ('ab', 'ab', 0.0), ('ac', 'ac', 0.0), ('abb', 'abb', 0.0)]
            >>> Fst.from_regex("cat(<n>|<v>)", symbols=["<n>", "<v>"])
            <Fst: acceptor, 5 states, 5 arcs>
        """
        return cls.of(from_regex(pattern, alphabet, symbols))

    @classmethod
    def from_rule(
        cls,
        rules: Any,
        *,
        left: str | None = None,
        right: str | None = None,
        direction: str = "simultaneous",
        definitions: Mapping[str, str] | None = None,
        alphabet: Iterable[str] | None = None,
    ) -> Fst:
        r"""The transducer with the function of rewrite rules, for compositions: ``lexicon @ rule`` is a lexicon.

        Arcs for any other symbol copy the characters and symbols that no rule distinguishes. They also copy symbols of several characters,
        such as ``<n>``, which match no rule and no context.

        Args:
            rules, left, right, direction, definitions: as in `fst.compile.rewrite`. `rules` may also be the result of `rewrite`, `cascade`
                or `fst.compile.rules`, without the other arguments.
            alphabet: characters and symbols, such as ``lexicon.project("output").alphabet``; the transducer reads only these, and the
                characters that rules write. None: all. An alphabet makes the transducer of rules with large sets, such as ``\w``, much
                smaller.

        Raises:
            VocabularyError, ValueError: see `fst.compile.rewrite`; or a rule writes U+0000.
            UnsupportedError: see `fst.compile.rewrite`; or the transducer is too large.

        Examples:
            >>> lexicon = Fst.from_strings([("cat+N+Pl", "cat^s"), ("fox+N+Pl", "fox^s")], symbols=["+N", "+Pl"])
            >>> insertion, boundary = Fst.from_rule(r" -> e / x\^ _ s"), Fst.from_rule(r"\^ -> ")
            >>> list((lexicon @ insertion @ boundary).paths())
            [('cat+N+Pl', 'cats', 0.0), ('fox+N+Pl', 'foxes', 0.0)]
        """
        from fst.bridge.transducers import of_rules

        return cls.of(of_rules(rules, alphabet, left=left, right=right, direction=direction, definitions=definitions))

    @classmethod
    def edits(cls, text: str, distance: int, alphabet: Iterable[str] | None = None, unit: Unit = "character") -> Fst:
        """The transducer that reads a text and writes all strings within a Levenshtein distance; the weight is the number of edits.

        Composed with a lexicon, it finds similar words, the nearest first.

        Args:
            text: the text.
            distance: the largest number of insertions, deletions and substitutions.
            alphabet: the characters that are inserted and substituted, such as ``lexicon.alphabet``; None: the characters of the text.
            unit: "character", or "utf-8", one label for each byte.

        Raises:
            VocabularyError: the distance is negative, or the text contains U+0000.
            UnsupportedError: the machine is too large.

        Examples:
            >>> lexicon = Fst.from_strings(["cart", "cat", "dog"])
            >>> list((Fst.edits("cat", 1, lexicon.alphabet) @ lexicon).paths())
            [('cat', 'cat', 0.0), ('cat', 'cart', 1.0)]
        """
        return cls.of(strings.edits(text, distance, text if alphabet is None else alphabet, unit))

    @property
    def alphabet(self) -> list[str]:
        """The characters and symbols that this machine reads, by label. Bytes that are not ASCII are lone surrogates."""
        return [self.text_of([label]) for label in np.unique(self.ilabel).tolist() if label]

    def __repr__(self) -> str:
        kind = "acceptor" if self.is_acceptor else "transducer"
        return f"<Fst: {'weighted ' * self.is_weighted}{kind}, {counted(self.states, 'state')}, {counted(self.arcs, 'arc')}>"

    def labels_of(self, text: str) -> list[int]:
        """Split a text into labels of this machine. If several symbols match, the longest is read."""
        return labels_of(text, self.symbols, self.unit)

    def text_of(self, labels: Iterable[int]) -> str:
        """Join labels of this machine into a text."""
        return text_of(labels, self.symbols, self.unit)

    def paths(self, limit: int = 100) -> Iterator[tuple[str, str, float]]:
        """Yield distinct pairs of input and output with their smallest weights, the smallest weight first. For small machines.

        Args:
            limit: the maximum number of pairs.

        Raises:
            UnsupportedError: a cycle has a negative weight, or the search takes too long.
        """
        for read, written, weight in paths(self, limit):
            yield self.text_of(read), self.text_of(written), weight

    def draw(self, around: str | None = None) -> str:
        """The machine in the language DOT, which graphviz draws. In notebooks, machines are shown as pictures where graphviz is installed.

        Args:
            around: a text; only the states and arcs that are passed when this text is read are drawn.

        Raises:
            UnsupportedError: more than 2,000 states or edges would be drawn.

        Examples:
            >>> print(Fst.from_strings([("a", "b")]).draw())
            digraph {
            rankdir=LR
            node [shape=circle, fontname="Helvetica"]
            edge [fontname="Helvetica"]
            0 [label="0", style=bold]
            1 [label="1", shape=doublecircle]
            0 -> 1 [label="a:b"]
            }
            <BLANKLINE>
        """
        return draw.dot(self, None if around is None else draw.around(self, self.labels_of(around)))

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks; None without graphviz, or for machines of more than 200 states or arcs."""
        picture = drawn(draw.dot(self)) if max(self.states, self.arcs) <= MAX_SHOWN else None
        return None if picture is None else picture.decode()

    def write_att(self, path: str | Path, *, numbers: bool = False) -> None:
        """Write AT&T text, which `fst.read_att`, foma, HFST and OpenFst read; ε is ``@0@``.

        Args:
            path: the file.
            numbers: write labels as decimal numbers, and ε as ``0``.

        Raises:
            VocabularyError: a symbol is a special name of the format.
            UnsupportedError: labels are bytes, and `numbers` is False.
            OSError: the file cannot be written.
        """
        Path(path).write_bytes(att.written(self, numbers=numbers).encode())

    def write_openfst(self, path: str | Path) -> None:
        """Write OpenFst's binary format (vector, standard arcs), with symbol tables if the machine has symbols. Otherwise labels are code
        points or bytes.

        Args:
            path: the file.

        Raises:
            OSError: the file cannot be written.
        """
        Path(path).write_bytes(openfst.packed(self))


def read_att(path: str | Path, *, numbers: bool = False, unit: Unit = "character") -> Fst:
    """Read AT&T text, as foma, HFST, OpenFst and lttoolbox write it. A file of several sections is read as the union of its sections.

    A symbol of several characters, such as ``<n>``, is one label. ε is ``@0@``, ``@_EPSILON_SYMBOL_@`` or ``<eps>``; in a file without
    these, it is ``0``.

    Args:
        path: a file, possibly packed with gzip.
        numbers: labels are decimal numbers, as OpenFst prints machines without symbol tables.
        unit: the meaning of numbers: code points, or bytes of UTF-8.

    Raises:
        VocabularyError: a line is malformed; the message contains its number.
        UnsupportedError: a label is ``@_DEFAULT_SYMBOL_@``.
        OSError: the file cannot be read.

    Examples:
        >>> Fst.from_strings([("cat", "<n>")], symbols=["<n>"]).write_att("cat.att")
        >>> list(read_att("cat.att").paths())
        [('cat', '<n>', 0.0)]
    """
    sections = read_att_sections(path, numbers=numbers, unit=unit)
    return sections[0] if len(sections) == 1 else Fst.of(rational.union(sections))


def read_att_sections(path: str | Path, *, numbers: bool = False, unit: Unit = "character") -> list[Fst]:
    """Read AT&T text; return a machine for each section. Arguments and errors are those of `read_att`."""
    return [Fst.of(arcs) for arcs in att.read_sections(Path(path), numbers=numbers, unit=unit)]


def read_openfst(path: str | Path, name: str | None = None, *, unit: Unit | None = None) -> Fst:
    """Read OpenFst's binary format: vector and const machines with standard, log or log64 arcs, and archives (``.far``, table type).

    If the file has symbol tables, labels are the symbols in these tables. Otherwise labels are code points, or bytes; pynini's machines
    read bytes unless they were made with ``token_type="utf8"``. A number that is neither a code point nor a byte becomes a symbol such as
    ``<4711>``. Weights of the log semiring are read as numbers.

    Args:
        path: a file, possibly packed with gzip.
        name: the key of the machine in an archive; None: the file is a machine or an archive of one machine.
        unit: the meaning of labels in a machine without symbol tables: "character", or "utf-8" for bytes. None: bytes, if no label is above
            255 except for pynini's generated symbols, and some character's second byte follows its first byte.

    Raises:
        VocabularyError: the file is damaged or hostile, or has no machine of this name.
        UnsupportedError: the type of the machine, its arcs or the archive is not supported.
        OSError: the file cannot be read.

    Examples:
        >>> Fst.from_strings([("cat", "<n>", 0.5)], symbols=["<n>"]).write_openfst("cat.fst")
        >>> list(read_openfst("cat.fst").paths())
        [('cat', '<n>', 0.5)]
    """
    return Fst.of(openfst.read(Path(path), name, unit))


def write_far(path: str | Path, machines: Mapping[str, Fst]) -> None:
    """Write an archive of machines (``.far``, table type), which `read_openfst`, OpenFst and pynini read.

    Args:
        path: the file.
        machines: the machines by their keys. Each is written as by `fst.Fst.write_openfst`.

    Raises:
        VocabularyError: there are no machines, or a key or a machine has another type.
        OSError: the file cannot be written.

    Examples:
        >>> write_far("words.far", {"one": Fst.from_strings(["a"]), "two": Fst.from_strings(["b"])})
        >>> list(read_openfst("words.far", "two").paths())
        [('b', 'b', 0.0)]
    """
    if not machines:
        raise VocabularyError("there are no machines; expected at least one")
    for key, machine in machines.items():
        if not (isinstance(key, str) and isinstance(machine, Arcs)):
            raise VocabularyError(f"the machine {quoted(key)} is {quoted(machine)}; expected a string as key, and an Fst")
    Path(path).write_bytes(openfst.packed_archive(machines))


def read_hfstol(path: str | Path) -> Fst:
    r"""Read an optimized-lookup file of HFST (``.hfstol``), the usual format of published morphologies, with or without weights.

    Flag diacritics are symbols, which `fst.compile.lookup` evaluates.

    Args:
        path: a file, possibly packed with gzip.

    Raises:
        VocabularyError: the file is damaged or hostile; the message contains the number of the byte.
        UnsupportedError: the file is of another type of HFST, or has arcs with ``@_DEFAULT_SYMBOL_@``.
        OSError: the file cannot be read.

    Examples:
        >>> import struct
        >>> header = struct.pack("<HHIIII9I", 2, 3, 3, 3, 0, 0, *[0] * 9) + b"\0a\0<n>\0"
        >>> index = struct.pack("<HIHIHI", 65535, 2**32 - 1, 65535, 2**32 - 1, 1, 2**31)
        >>> transitions = struct.pack("<HHI", 1, 2, 2**31 + 1) + struct.pack("<HHI", 65535, 65535, 1) + b"\xff" * 8
        >>> size = Path("a.hfstol").write_bytes(header + index + transitions)
        >>> list(read_hfstol("a.hfstol").paths())
        [('a', '<n>', 0.0)]
    """
    return Fst.of(hfstol.read(Path(path)))


def read_hunspell(path: str | Path) -> Fst:
    r"""Read a dictionary of Hunspell, the format of most spelling dictionaries: a transducer from each word to its stems.

    A word is an entry of the dictionary with up to one prefix and two suffixes that the entry's flags allow; its stem is the entry. Words
    are read in the spelling of the dictionary. Options for suggestions, breaks and case have no effect.

    Args:
        path: the ``.aff`` or the ``.dic`` file; the other one is in the same folder. Each may be packed with gzip.

    Raises:
        VocabularyError: a line is malformed, or a file is missing; the message contains the number of the line.
        UnsupportedError: the dictionary has compounds (``COMPOUNDFLAG``, ``COMPOUNDRULE`` and others), two prefixes (``COMPLEXPREFIXES``),
            positions in ``ICONV``, or an unknown encoding; or it is too large.
        OSError: a file cannot be read.

    Examples:
        >>> lines = Path("en.aff").write_text("SFX S Y 2\nSFX S y ies [^aeiou]y\nSFX S 0 s [^y]\n")
        >>> lines = Path("en.dic").write_text("2\npony/S\ncat/S\n")
        >>> sorted(read_hunspell("en.aff").paths())
        [('cat', 'cat', 0.0), ('cats', 'cat', 0.0), ('ponies', 'pony', 0.0), ('pony', 'pony', 0.0)]

    Source: ``man 5 hunspell``; the analyses are those of spylls.
    """
    return Fst.of(hunspell.read(Path(path)))


def read_dix(path: str | Path, direction: dix.Direction = "lr") -> Fst:
    """Read a dictionary of Apertium (``.dix``), compiled as lt-comp does without options; the union of its sections is returned.

    Paradigms, pairs, groups, regular expressions and weights are read. Each pair of an entry adds the weight of the entry; if two entries
    begin alike, lt-comp takes the first weight. Entries with ``i="yes"`` or ``alt`` are left out, and so are the variants that lt-comp
    leaves out. A symbol such as ``<s n="noun"/>`` becomes one label, ``<noun>``.

    Args:
        path: a file, possibly packed with gzip.
        direction: "lr", for analysis: read left strings and write right strings, without entries that have ``r="RL"``; "rl", for
            generation: read right strings and write left strings, without entries that have ``r="LR"``.

    Raises:
        VocabularyError: the file is malformed; the message contains line and column.
        UnsupportedError: the file declares entities, has elements of lsx-comp, or is too large.
        OSError: the file cannot be read.
        ValueError: the direction is unknown.

    Examples:
        >>> noun = '<pardef n="noun"><e><p><l/><r><s n="n"/></r></p></e></pardef>'
        >>> sections = '<section id="main" type="standard"><e><i>cat</i><par n="noun"/></e></section>'
        >>> text = f'<dictionary><sdefs><sdef n="n"/></sdefs><pardefs>{noun}</pardefs>{sections}</dictionary>'
        >>> _ = Path("cats.dix").write_text(text)
        >>> list(read_dix("cats.dix").paths())
        [('cat', 'cat<n>', 0.0)]
    """
    return Fst.of(dix.joined(dix.read(Path(path), direction)))


def read_lexc(path: str | Path | Sequence[str | Path]) -> Fst:
    r"""Read a lexicon of lexc, as HFST reads it: a transducer from forms, the lower side, to analyses, the upper side.

    Symbols that a file declares are one label each. A string after a continuation may have a weight: ``"weight: 2.5"``. An entry in angle
    brackets is a regular expression of xfst, which may use definitions: symbols, strings in braces, any symbol, ``?``, pairs, ``| & - ~ \ $
    .P. .p. * + ^n .x. .o. .i .u .l .r``, optional parts in parentheses, and weights after ``::``. A lexicon without sound changes is
    complete; other lexicons are composed with rules.

    Args:
        path: a file in UTF-8, possibly packed with gzip; or several files, which are read in this order as if they were one, so that
            symbols and definitions are valid in later files. Root, or else the first lexicon, is the start.

    Raises:
        VocabularyError: an entry or a regular expression is malformed; the message contains line and column. Or there are no files.
        UnsupportedError: a regular expression has an operator that is not supported, or the lexicon is too large.
        OSError: a file cannot be read.

    Warns:
        FstWarning: entries continue in lexicons that are in no file, and are dropped; or a flag diacritic is not declared, so that its
            characters are ordinary.

    Examples:
        >>> lines = ["Multichar_Symbols +N +Pl", "LEXICON Root", "cat Noun ;", "< c o (o) > Noun ;"]
        >>> lines += ["LEXICON Noun", "+N: # ;", "+N+Pl:s # ;"]
        >>> size = Path("cats.lexc").write_text("\n".join(lines))
        >>> sorted(read_lexc("cats.lexc").paths())[:4]
        [('cat', 'cat+N', 0.0), ('cats', 'cat+N+Pl', 0.0), ('co', 'co+N', 0.0), ('coo', 'coo+N', 0.0)]

    Source: Beesley and Karttunen 2003, *Finite State Morphology*; HFST 3.16.
    """
    return Fst.of(lexicon.read([Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]))
