"""Read the two files of a dictionary: options and affixes (``.aff``), and words (``.dic``).

A line of the ``.aff`` file begins with the name of an option, which may continue ("SETTING" is SET); lines that begin with no name are
ignored. Hunspell reads the file twice: first the options that concern words, up to the first affix after a table REP; then all others, of
which some affect only affixes after them. At a damaged line, it usually stops reading without a message; here there is a warning. A damaged
line in another table is an error, because Hunspell then uses a part of this table.
"""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fst.compile.files import contents
from fst.compile.sources.transducers.hunspell.affixes import Affix, conditions, may_lack_last
from fst.compile.sources.transducers.hunspell.flags import FORMATS, NONE, Decoder, Flags
from fst.compile.sources.transducers.hunspell.lines import DamagedError, Lines, fields, integer
from fst.compile.sources.transducers.hunspell.options import QUESTION, STAR, Conversion, Options, Pattern, Replacement
from fst.compile.sources.transducers.hunspell.words import Entry, WordOptions, is_text, read_words
from fst.errors import FstWarning, UnsupportedError, VocabularyError, not_one_of, quoted

ENCODING = "cp1252"  # the encoding of dictionaries without the option SET
ENCODINGS = re.compile(r"(?i)utf-?8|iso-?8859-([1-9]|10|13|14|15|16)|koi8-[ru]|(microsoft-)?cp125[0-8]|tis620-2533")
MAX_CONDITIONS = 1 << 21  # maximum number of characters of all conditions; of Debian's dictionaries, the Korean one has the most, 1,889,249
LANGUAGES = {"az": "az", "az_AZ": "az", "crh": "crh", "de": "de", "hu": "hu", "hu_HU": "hu", "tr": "tr", "tr_TR": "tr"}
FLAGS = {
    "CIRCUMFIX": "circumfix",
    "COMPOUNDBEGIN": "compound_begin",
    "COMPOUNDEND": "compound_end",
    "COMPOUNDFLAG": "compound",
    "COMPOUNDFORBIDFLAG": "compound_forbid",
    "COMPOUNDMIDDLE": "compound_middle",
    "COMPOUNDPERMITFLAG": "compound_permit",
    "COMPOUNDROOT": "compound_root",
    "FORBIDDENWORD": "forbidden",
    "FORCEUCASE": "needs_capital",
    "KEEPCASE": "keeps_case",
    "LEMMA_PRESENT": "lemma_present",
    "NEEDAFFIX": "needs_affix",
    "NONGRAMSUGGEST": "not_suggested_by_ngrams",
    "NOSUGGEST": "not_suggested",
    "ONLYINCOMPOUND": "only_in_compound",
    "PSEUDOROOT": "needs_affix",
    "SUBSTANDARD": "substandard",
    "WARN": "rare",
}
NUMBERS = {
    "COMPOUNDMIN": "least_part",
    "COMPOUNDWORDMAX": "most_parts",
    "MAXCPDSUGS": "most_compound_suggestions",
    "MAXDIFF": "most_difference",
    "MAXNGRAMSUGS": "most_ngram_suggestions",
}
STRINGS = {
    "IGNORE": "ignored",
    "KEY": "keyboard",
    "LANG": "language",
    "SET": "encoding",
    "SYLLABLENUM": "counts_syllables_by_flag",
    "TRY": "tried",
    "WORDCHARS": "word_characters",
}
SWITCHES = {
    "CHECKCOMPOUNDCASE": "checks_case",
    "CHECKCOMPOUNDDUP": "checks_duplicates",
    "CHECKCOMPOUNDREP": "checks_replacements",
    "CHECKCOMPOUNDTRIPLE": "checks_triples",
    "CHECKSHARPS": "checks_sharp_s",
    "COMPLEXPREFIXES": "is_reversed",
    "COMPOUNDMORESUFFIXES": "allows_two_suffixes",
    "FORBIDWARN": "refuses_rare",
    "FULLSTRIP": "strips_entire_words",
    "NOSPLITSUGS": "never_splits",
    "ONLYMAXDIFF": "only_most_similar",
    "SIMPLIFIEDTRIPLE": "simplifies_triples",
    "SUGSWITHDOTS": "suggests_dots",
}


@dataclass(frozen=True)
class Dictionary:
    """A dictionary.

    Attributes:
        options: the options.
        prefixes, suffixes: the affixes, in the order of the file.
        has_two_affixes: whether an affix has flags, so that words may have two affixes of a side.
        entries: the words, in the order of the file; see `Entry`.
        count: the number of words, as the file states it.
    """

    options: Options
    prefixes: tuple[Affix, ...]
    suffixes: tuple[Affix, ...]
    has_two_affixes: bool
    entries: tuple[Entry, ...]
    count: int = 1

    def homonyms(self) -> dict[str, list[Entry]]:
        """The entries of each word, in the order in which Hunspell tries them. Entries of the file replace those in upper case."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            same = found.setdefault(entry.word, [])
            if entry.is_upper and same:
                continue
            if same and same[-1].is_upper:
                same[-1] = same[-1]._replace(flags=entry.flags, is_upper=False)
            else:
                same.append(entry)
        return found


def read_dictionary(path: Path) -> Dictionary:
    """Read a dictionary.

    Args:
        path: the ``.aff`` or the ``.dic`` file; the other one is in the same folder. Each may be packed with gzip.
    """
    aff, dic = partner(path, ".aff"), partner(path, ".dic")
    data = contents(aff)
    encoding = _encoding(data, aff)
    common = _word_options(Lines(aff, data, encoding), encoding)
    found = _AffixFile(Lines(aff, data, encoding), encoding, common.decoder, common.data_aliases)
    found.read()
    count, entries, replacements = read_words(Lines(dic, contents(dic), encoding), common)
    options = replace(found.options(), replacements=(*common.replacements, *replacements))
    return Dictionary(options, tuple(found.prefixes), tuple(found.suffixes), found.has_flags, tuple(entries), count)


def partner(path: Path, ending: str) -> Path:
    """The file of a dictionary with the given ending; it may be packed with gzip."""
    stem = path.name.removesuffix(".gz")[: -len(ending)]
    if path.name.removesuffix(".gz").endswith(ending):
        return path
    found = path.with_name(stem + ending)
    packed = path.with_name(f"{stem}{ending}.gz")
    if not found.exists() and not packed.exists():
        raise VocabularyError(f"{found} is missing; expected the .aff and the .dic file of a dictionary in one folder")
    return found if found.exists() else packed


def _encoding(data: bytes, path: Path) -> str:
    """The encoding that a file names by the option SET."""
    found = re.search(rb"^(?:\xef\xbb\xbf)?SET[^ \t\r\n]*[ \t]+([^ \t\r\n]+)", data, re.MULTILINE)
    if not found:
        return ENCODING
    name = found[1].decode("latin-1")
    if not ENCODINGS.fullmatch(name):
        line = data[: found.start()].count(b"\n") + 1
        raise UnsupportedError(f"{path}, line {line}: the encoding is {quoted(name)}; convert both files to UTF-8")
    return codecs.lookup(name.lower().removeprefix("microsoft-").removesuffix("-2533")).name


def _word_options(lines: Lines, encoding: str) -> WordOptions:
    """Read the options that concern words, in their order: the format of flags affects only options after it."""
    found = WordOptions(Decoder(encoding), encoding)
    try:
        _read_word_options(found, lines)
    except DamagedError as error:
        _warn(error, "options of words after it are ignored")
    return found


def _warn(error: DamagedError, effect: str) -> None:
    warnings.warn(f"{error}; as in Hunspell, {effect}", FstWarning, stacklevel=2)


def _read_word_options(found: WordOptions, lines: Lines) -> None:
    for text in lines:
        if text.startswith(("FLAG ", "FLAG\t")):
            found.decoder.form = _form(lines, text)
        elif text.startswith("FORBIDDENWORD"):
            found.forbidden = found.decoder.flag(lines.value())
        elif text.startswith("LANG"):
            found.language = LANGUAGES.get(lines.value(), "")
        elif text.startswith("IGNORE"):
            found.ignored = lines.value()
        elif text.startswith("COMPLEXPREFIXES"):
            found.is_reversed = True
        elif text.startswith(("AF ", "AF\t")):
            found.decoder.aliases = [Flags(found.decoder.sequence(row[0], lines)) for row in lines.rows("AF", 1)]
        elif text.startswith(("AM ", "AM\t")):
            found.data_aliases = [" ".join(row) for row in lines.rows("AM", 1)]
        elif text.startswith("REP"):
            found.replacements = [_replacement(row, lines) for row in lines.rows("REP", 2)]
        elif found.replacements and text.startswith(("SFX ", "SFX\t", "PFX ", "PFX\t")):
            break


def _form(lines: Lines, text: str) -> str:
    found = [form for form in FORMATS if form in text]
    if not found:
        form = lines.value()
        raise lines.fault(not_one_of("format of flags", form, FORMATS), form)
    return found[-1]


def _replacement(row: list[str], lines: Lines) -> Replacement:
    at_start = row[0].startswith("^")
    text = row[0][at_start:].replace("_", " ")
    at_end = text.endswith("$")
    if not text[: len(text) - at_end]:
        raise lines.damage(f"the fault is {quoted(row[0])}; expected at least one character", row[0])
    return Replacement(text[: len(text) - at_end], row[1].replace("_", " "), at_start, at_end)


class _AffixFile:
    """Reads a ``.aff`` file from the beginning to the end."""

    def __init__(self, lines: Lines, encoding: str, decoder: Decoder, data_aliases: list[str]) -> None:
        self.prefixes, self.suffixes = list[Affix](), list[Affix]()
        self.has_flags = False
        self._lines, self._decoder, self._data_aliases = lines, decoder, data_aliases
        self._found: dict[str, Any] = {"encoding": encoding}
        self._defined: set[str] = set()
        self._size = 0
        self._readers: dict[str, list[tuple[str, Callable[[str], None]]]] = {}
        kinds: list[tuple[Callable[[str], None], Any]] = [
            (self._flag, FLAGS),
            (self._number, NUMBERS),
            (self._string, STRINGS),
            (self._switch, SWITCHES),
            (self._table, TABLES),
            (self._affixes, ("PFX", "SFX")),
            (self._syllables, ("COMPOUNDSYLLABLE",)),
        ]
        for reader, names in kinds:
            for name in names:
                self._readers.setdefault(name[:3], []).append((name, reader))

    def read(self) -> None:
        """Read all lines.

        Warns:
            FstWarning: a line is damaged, and the lines after it are ignored.
        """
        try:
            for text in self._lines:
                for name, reader in self._readers.get(text[:3], ()):
                    if text.startswith(name):
                        reader(name)
        except DamagedError as error:
            _warn(error, "the rest of the file is ignored; Hunspell then finds only some of the affixes before it")
            self._found.setdefault("breaks", ())

    def options(self) -> Options:
        """The options."""
        found = dict(self._found)
        found["language"] = LANGUAGES.get(found.get("language", ""), "")
        found["least_part"] = max(found.get("least_part", 3), 1)
        found["counts_syllables_by_flag"] = "counts_syllables_by_flag" in found
        return Options(**found)

    def _once(self, name: str) -> None:
        if name in self._defined:
            raise self._lines.damage(f"the option {name} is defined again; expected one line")
        self._defined.add(name)

    def _flag(self, name: str) -> None:
        field = FLAGS[name]
        if self._found.get("is_reversed") and field in ("compound_begin", "compound_end"):
            field = "compound_end" if field == "compound_begin" else "compound_begin"
        self._once(field)
        self._found[field] = self._decoder.flag(self._lines.value())

    def _number(self, name: str) -> None:
        self._once(name)
        self._found[NUMBERS[name]] = integer(self._lines.value())

    def _string(self, name: str) -> None:
        self._once(name)
        value = self._lines.value()
        if name != "SET":
            self._found[STRINGS[name]] = value

    def _switch(self, name: str) -> None:
        self._found[SWITCHES[name]] = True

    def _syllables(self, _name: str) -> None:
        most, vowels = self._lines.value(), fields(self._lines.text)[2:]
        default = "" if self._found["encoding"] == "utf-8" else "AEIOUaeiou"
        self._found |= {"most_syllables": integer(most), "vowels": vowels[0] if vowels else default}

    def _table(self, name: str) -> None:
        self._once(name)
        if name == "BREAK" and integer(self._lines.value()) == 0:
            self._found["breaks"] = ()
            return
        field, least, reader = TABLES[name]
        try:
            self._found[field] = reader([*self._lines.rows(name, least)], self._decoder, self._lines)
        except DamagedError as error:
            raise VocabularyError(str(error)) from None

    def _affixes(self, kind: str) -> None:
        """Read the affixes with a flag: a line with the flag, whether the affixes cross, and their number; then one line for each affix."""
        lines, is_reversed = self._lines, bool(self._found.get("is_reversed"))
        head = fields(lines.text)
        if len(head) < 4:
            raise lines.damage("the line has too few values; expected the flag of affixes, Y or N, and their number")
        flag, crosses, count, first = self._decoder.flag(head[1]), head[2][0] == "Y", lines.count(head[3]), lines.number
        is_suffix = (kind == "SFX") != is_reversed
        group = self.suffixes if is_suffix else self.prefixes
        rows, found = iter(lines), list[Affix]()
        for left in range(count, 0, -1):
            row = fields(next(rows, ""))
            if len(row) < 4 or (row[1] != head[1] and self._decoder.flag(row[1]) != flag):
                message = f"the line is not an affix of line {first}; expected {left} more: flag, strip, add, condition"
                raise lines.damage(message)
            found += self._affix(flag, row, crosses=crosses, from_end=kind == "SFX", is_suffix=is_suffix)
        group += found

    def _affix(self, flag: int, row: list[str], *, crosses: bool, from_end: bool, is_suffix: bool) -> Iterator[Affix]:
        """The affixes of a line."""
        strip, (add, slash, flags) = row[2], row[3].partition("/")
        add = add.translate(dict.fromkeys(map(ord, self._found.get("ignored", ""))))
        strip, add = ("" if text == "0" else text for text in (strip, add))
        condition = row[4] if len(row) > 4 else ""
        self._take(len(condition))
        own = self._decoder.flags(flags, self._lines) if flags else NONE
        self.has_flags |= bool(slash)
        if not is_text(strip + add):  # no word contains bytes outside of the encoding
            return
        stripped = strip[::-1] if from_end else strip
        if from_end != is_suffix:
            strip, add = strip[::-1], add[::-1]
        data = " ".join(row[5:])
        if self._data_aliases and data:
            data = self._data_aliases[integer(data) - 1] if 0 < integer(data) <= len(self._data_aliases) else ""
        has_dots = is_suffix and self._found["encoding"] == "utf-8"
        condition = "" if condition == "." else condition
        first, *others = conditions(condition, self._lines, from_end=from_end, has_dots=has_dots)
        self._take(sum(map(len, others)))
        may_lack = not is_suffix and may_lack_last(condition, from_end=from_end)
        for parts in (first, *others):
            yield Affix(flag, crosses, strip, add, parts, own, stripped, may_lack, data)

    def _take(self, characters: int) -> None:
        """Count characters of conditions, also of those that a line has because of its dots."""
        self._size += characters
        if self._size > MAX_CONDITIONS:
            fault = f"the conditions have more than {MAX_CONDITIONS:,} characters together; expected at most as many; split the dictionary"
            raise self._lines.unsupported(fault)


def _conversions(rows: list[list[str]], _decoder: Decoder, lines: Lines) -> tuple[Conversion, ...]:
    found: dict[str, Conversion] = {}
    for text, output, *_ in rows:
        at_start = text.startswith("_")
        pattern = text[at_start:]
        at_end = pattern.endswith("_")
        pattern = pattern[: len(pattern) - at_end].replace("_", " ")
        if not pattern:
            raise lines.fault(f"the string is {quoted(text)}; expected at least one character that is not _")
        place = {(False, False): "inside", (True, False): "at_start", (False, True): "at_end", (True, True): "entire"}[at_start, at_end]
        found[pattern] = found.get(pattern, Conversion(pattern))._replace(**{place: output.replace("_", " ")})
    return tuple(found[pattern] for pattern in sorted(found))


def _patterns(rows: list[list[str]], decoder: Decoder, _lines: Lines) -> tuple[Pattern, ...]:
    found = []
    for left, right, *rest in ([*row, ""][:3] for row in rows):
        parts = [(text, decoder.flag(flag) if flag else 0) for text, _, flag in (left.partition("/"), right.partition("/"))]
        found.append(Pattern(*parts[0], *parts[1], "".join(rest)))
    return tuple(found)


def _groups(text: str) -> list[tuple[str, str]]:
    """The strings in parentheses, as first elements, and the other characters, as second elements."""
    end = text.rfind(")") + 1
    return [*re.findall(r"\(([^)]*)\)|(.)", text[:end]), *(("", char) for char in text[end:])]


def _rules(rows: list[list[str]], decoder: Decoder, lines: Lines) -> tuple[tuple[int, ...], ...]:
    """The rules of compounds. If a rule contains a parenthesis, each flag of several characters is in parentheses."""
    found = []
    for (text, *_) in rows:
        parts = _groups(text) if "(" in text else [(text, "")]
        flags: list[int] = []
        for one, char in parts:
            flags += [{"*": STAR, "?": QUESTION}[char]] if char in ("*", "?") else decoder.sequence(one or char, lines)
        found.append(tuple(flags))
    return tuple(found)


def _similar(rows: list[list[str]], _decoder: Decoder, _lines: Lines) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one or char for one, char in _groups(text)) for text, *_ in rows)


TABLES: dict[str, tuple[str, int, Callable[[list[list[str]], Decoder, Lines], Any]]] = {
    "BREAK": ("breaks", 1, lambda rows, _decoder, _lines: tuple(row[0] for row in rows)),
    "CHECKCOMPOUNDPATTERN": ("patterns", 2, _patterns),
    "COMPOUNDRULE": ("rules", 1, _rules),
    "ICONV": ("input_conversions", 2, _conversions),
    "MAP": ("similar", 1, _similar),
    "OCONV": ("output_conversions", 2, _conversions),
    "PHONE": ("phonetic", 2, lambda rows, _decoder, _lines: tuple((row[0], row[1].replace("_", "")) for row in rows)),
}
