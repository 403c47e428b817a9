"""The options of a dictionary (``.aff``). Names in capitals are those of ``man 5 hunspell``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fst.compile.sources.transducers.hunspell.flags import FORBIDDEN

BREAKS = ("-", "^-", "-$")
KEYBOARD = "qwertyuiop|asdfghjkl|zxcvbnm"
STAR, QUESTION = ord("*"), ord("?")  # in rules of compounds: any number of the flag before it, or none or one


class Replacement(NamedTuple):
    """A frequent fault and its correction, from REP or from ``ph:`` in the data of a word."""

    found: str
    correction: str
    at_start: bool = False  # whether the fault must be at the beginning of the word
    at_end: bool = False


class Conversion(NamedTuple):
    """A string, and its replacement at each place; an empty string means no replacement."""

    found: str
    inside: str = ""
    at_start: str = ""
    at_end: str = ""
    entire: str = ""  # if the string is the entire word


class Pattern(NamedTuple):
    """Two neighbouring parts that must not form a compound (CHECKCOMPOUNDPATTERN)."""

    left: str  # the end of the left part; "0…": the left part has no affixes; "": any
    left_flag: int  # the flag that the left part must have; 0: any
    right: str  # the beginning of the right part
    right_flag: int
    replacement: str  # a compound with these parts is written with this string in place of `left` and `right`


@dataclass(frozen=True)
class Options:
    """The options of a dictionary. A flag that is 0 is not defined.

    Attributes:
        encoding: the name of the encoding of both files, as `codecs.lookup` returns it (SET).
        language: the language, if it has rules of its own: "az", "crh", "de", "hu" or "tr"; otherwise "" (LANG).
        needs_affix: the flag of words and affixes that are words only with another affix (NEEDAFFIX).
        forbidden: the flag of entries that are not accepted as words (FORBIDDENWORD).
        keeps_case: the flag of words that must not occur in upper case (KEEPCASE).
        circumfix: the flag of prefixes and suffixes that occur only together (CIRCUMFIX).
        only_in_compound: the flag of words and affixes that occur only in compounds (ONLYINCOMPOUND).
        compound: the flag of words and affixes that may be any part of a compound (COMPOUNDFLAG).
        compound_begin, compound_middle, compound_end: flags for one part (COMPOUNDBEGIN, COMPOUNDMIDDLE, COMPOUNDEND).
        compound_root: the flag of compounds in the list of words (COMPOUNDROOT).
        compound_permit: the flag of affixes that are allowed inside of compounds (COMPOUNDPERMITFLAG).
        compound_forbid: the flag of words and affixes that are not allowed in compounds (COMPOUNDFORBIDFLAG).
        needs_capital: the flag of last parts of compounds that must begin with a capital (FORCEUCASE).
        not_suggested, not_suggested_by_ngrams: flags of words that are not suggested (NOSUGGEST, NONGRAMSUGGEST).
        rare: the flag of words that are probably faults (WARN).
        substandard: the flag of words and affixes that are not suggested by similarity (SUBSTANDARD).
        lemma_present: the flag of words whose data contain the stem (LEMMA_PRESENT).
        least_part: the smallest number of characters of a part of a compound (COMPOUNDMIN).
        most_parts: compounds have fewer parts than this number, or few syllables; None: no limit (COMPOUNDWORDMAX).
        most_syllables: maximum number of syllables of compounds with as many parts or more; 0: no such compounds (COMPOUNDSYLLABLE).
        vowels: the characters that count as a syllable each.
        counts_syllables_by_flag: whether the flags of Hungarian affixes change the number of syllables (SYLLABLENUM).
        checks_duplicates: no part is followed by itself (CHECKCOMPOUNDDUP).
        checks_replacements: no correction of a compound is a word (CHECKCOMPOUNDREP).
        checks_case: no capitals at boundaries of parts (CHECKCOMPOUNDCASE).
        checks_triples: no letter three times at a boundary (CHECKCOMPOUNDTRIPLE).
        simplifies_triples: such letters are written twice (SIMPLIFIEDTRIPLE).
        allows_two_suffixes: parts inside of compounds may have two suffixes (COMPOUNDMORESUFFIXES).
        patterns: the pairs of CHECKCOMPOUNDPATTERN.
        rules: sequences of flags that compounds may have (COMPOUNDRULE), with `STAR` and `QUESTION`.
        is_reversed: words may have two prefixes and one suffix. All words and affixes are stored reversed, and prefixes as suffixes
            (COMPLEXPREFIXES).
        strips_entire_words: affixes may strip an entire word (FULLSTRIP).
        checks_sharp_s: "ß" may be written "SS" in upper case (CHECKSHARPS).
        refuses_rare: words with the flag `rare` are wrong (FORBIDWARN).
        ignored: characters that are ignored in words (IGNORE).
        breaks: strings between words that are also correct if both sides are (BREAK); "^" or "$": at the beginning, at the end.
        input_conversions, output_conversions: replacements before and after (ICONV, OCONV), in the order of their strings.
        replacements: frequent faults (REP), and those in the data of words.
        similar: strings that are similar (MAP).
        phonetic: rules of pronunciation (PHONE): strings and their sounds.
        keyboard: the rows of the keyboard (KEY).
        tried: the characters of words, the most frequent first (TRY).
        word_characters: characters of words that are no letters (WORDCHARS).
        most_ngram_suggestions, most_compound_suggestions, most_difference: limits of suggestions (MAXNGRAMSUGS, MAXCPDSUGS, MAXDIFF);
            None: the default.
        only_most_similar: suggest only the most similar words (ONLYMAXDIFF).
        never_splits: no suggestions of two words (NOSPLITSUGS).
        suggests_dots: suggestions end with the dots of the word (SUGSWITHDOTS).
    """

    encoding: str
    language: str = ""
    needs_affix: int = 0
    forbidden: int = FORBIDDEN
    keeps_case: int = 0
    circumfix: int = 0
    only_in_compound: int = 0
    compound: int = 0
    compound_begin: int = 0
    compound_middle: int = 0
    compound_end: int = 0
    compound_root: int = 0
    compound_permit: int = 0
    compound_forbid: int = 0
    needs_capital: int = 0
    not_suggested: int = 0
    not_suggested_by_ngrams: int = 0
    rare: int = 0
    substandard: int = 0
    lemma_present: int = 0
    least_part: int = 3
    most_parts: int | None = None
    most_syllables: int = 0
    vowels: str = ""
    counts_syllables_by_flag: bool = False
    checks_duplicates: bool = False
    checks_replacements: bool = False
    checks_case: bool = False
    checks_triples: bool = False
    simplifies_triples: bool = False
    allows_two_suffixes: bool = False
    patterns: tuple[Pattern, ...] = ()
    rules: tuple[tuple[int, ...], ...] = ()
    is_reversed: bool = False
    strips_entire_words: bool = False
    checks_sharp_s: bool = False
    refuses_rare: bool = False
    ignored: str = ""
    breaks: tuple[str, ...] = BREAKS
    input_conversions: tuple[Conversion, ...] = ()
    output_conversions: tuple[Conversion, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    similar: tuple[tuple[str, ...], ...] = ()
    phonetic: tuple[tuple[str, str], ...] = ()
    keyboard: str = KEYBOARD
    tried: str = ""
    word_characters: str = ""
    most_ngram_suggestions: int | None = None
    most_compound_suggestions: int | None = None
    most_difference: int | None = None
    only_most_similar: bool = False
    never_splits: bool = False
    suggests_dots: bool = False

    @property
    def is_utf8(self) -> bool:
        """Whether the files are UTF-8."""
        return self.encoding == "utf-8"

    @property
    def has_compounds(self) -> bool:
        """Whether words may be compounds."""
        return bool(self.compound or self.compound_begin or self.rules)
