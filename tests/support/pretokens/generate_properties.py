"""Generate ``properties.tsv``: the characters with each property, according to the regex engines of the references.

``tokenizers`` uses Oniguruma, and ``tiktoken`` uses fancy-regex. Both have the same version of Unicode, but different word characters, so
these are generated for both engines. This takes about twenty seconds::

    cd tests && python -m support.pretokens.generate_properties > ../compile/patterns/properties.tsv
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from support.text.every_character import EVERY_CHARACTER

HEADER = """\
# Properties of characters as the regex engines of tokenizers {tokenizers} and tiktoken {tiktoken} have them; made by
# tests/support/pretokens/generate_properties.py. Kind, names of the property, and runs of code points (hexadecimal).
#   category     general category; unassigned characters are in none
#   script       script; characters in none are of unknown script
#   binary       a property that a character has or has not
#   oniguruma    a set of Oniguruma alone: \\w is `word`, inside brackets `bracket_word`, and the others are POSIX brackets
#   fancy-regex  a set of fancy-regex alone
#   fold         characters that (?i) takes for one another, one class a line
#   unfolding    characters that (?i) of Oniguruma takes for several, and these
"""

CATEGORIES = """\
Lu Uppercase_Letter|Ll Lowercase_Letter|Lt Titlecase_Letter|Lm Modifier_Letter|Lo Other_Letter|Mn Nonspacing_Mark|Mc Spacing_Mark
Me Enclosing_Mark|Nd Decimal_Number|Nl Letter_Number|No Other_Number|Pc Connector_Punctuation|Pd Dash_Punctuation|Ps Open_Punctuation
Pe Close_Punctuation|Pi Initial_Punctuation|Pf Final_Punctuation|Po Other_Punctuation|Sm Math_Symbol|Sc Currency_Symbol
Sk Modifier_Symbol|So Other_Symbol|Zs Space_Separator|Zl Line_Separator|Zp Paragraph_Separator|Cc Control|Cf Format|Co Private_Use"""

SCRIPTS = """\
Common Zyyy|Latin Latn|Bopomofo Bopo|Inherited Zinh Qaai|Greek Grek|Coptic Copt Qaac|Cyrillic Cyrl|Armenian Armn|Hebrew Hebr
Arabic Arab|Syriac Syrc|Thaana Thaa|Nko Nkoo|Samaritan Samr|Mandaic Mand|Devanagari Deva|Bengali Beng|Gurmukhi Guru|Gujarati Gujr
Oriya Orya|Tamil Taml|Telugu Telu|Kannada Knda|Malayalam Mlym|Sinhala Sinh|Thai|Lao Laoo|Tibetan Tibt|Myanmar Mymr|Georgian Geor
Hangul Hang|Ethiopic Ethi|Cherokee Cher|Canadianaboriginal Cans|Ogham Ogam|Runic Runr|Tagalog Tglg|Hanunoo Hano|Buhid Buhd
Tagbanwa Tagb|Khmer Khmr|Mongolian Mong|Limbu Limb|Taile Tale|Newtailue Talu|Buginese Bugi|Taitham Lana|Balinese Bali|Sundanese Sund
Batak Batk|Lepcha Lepc|Olchiki Olck|Braille Brai|Glagolitic Glag|Tifinagh Tfng|Han Hani|Hiragana Hira|Katakana Kana|Yi Yiii|Lisu
Vai Vaii|Bamum Bamu|Sylotinagri Sylo|Phagspa Phag|Saurashtra Saur|Kayahli Kali|Rejang Rjng|Javanese Java|Cham|Taiviet Tavt
Meeteimayek Mtei|Linearb Linb|Lycian Lyci|Carian Cari|Olditalic Ital|Gothic Goth|Oldpermic Perm|Ugaritic Ugar|Oldpersian Xpeo
Deseret Dsrt|Shavian Shaw|Osmanya Osma|Osage Osge|Elbasan Elba|Caucasianalbanian Aghb|Vithkuqi Vith|Todhri Todr|Lineara Lina
Cypriot Cprt|Imperialaramaic Armi|Palmyrene Palm|Nabataean Nbat|Hatran Hatr|Phoenician Phnx|Lydian Lydi|Meroitichieroglyphs Mero
Meroiticcursive Merc|Kharoshthi Khar|Oldsoutharabian Sarb|Oldnortharabian Narb|Manichaean Mani|Avestan Avst|Inscriptionalparthian Prti
Inscriptionalpahlavi Phli|Psalterpahlavi Phlp|Oldturkic Orkh|Oldhungarian Hung|Hanifirohingya Rohg|Garay Gara|Yezidi Yezi
Oldsogdian Sogo|Sogdian Sogd|Olduyghur Ougr|Chorasmian Chrs|Elymaic Elym|Brahmi Brah|Kaithi Kthi|Sorasompeng Sora|Chakma Cakm
Mahajani Mahj|Sharada Shrd|Khojki Khoj|Multani Mult|Khudawadi Sind|Grantha Gran|Tulutigalari Tutg|Newa|Tirhuta Tirh|Siddham Sidd|Modi
Takri Takr|Ahom|Dogra Dogr|Warangciti Wara|Divesakuru Diak|Nandinagari Nand|Zanabazarsquare Zanb|Soyombo Soyo|Paucinhau Pauc
Sunuwar Sunu|Bhaiksuki Bhks|Marchen Marc|Masaramgondi Gonm|Gunjalagondi Gong|Makasar Maka|Kawi|Cuneiform Xsux|Cyprominoan Cpmn
Egyptianhieroglyphs Egyp|Anatolianhieroglyphs Hluw|Gurungkhema Gukh|Mro Mroo|Tangsa Tnsa|Bassavah Bass|Pahawhhmong Hmng|Kiratrai Krai
Medefaidrin Medf|Miao Plrd|Tangut Tang|Nushu Nshu|Khitansmallscript Kits|Duployan Dupl|Signwriting Sgnw|Nyiakengpuachuehmong Hmnp|Toto
Wancho Wcho|Nagmundari Nagm|Olonal Onao|Mendekikakui Mend|Adlam Adlm"""

BINARIES = """\
Alphabetic Alpha|Lowercase Lower|Uppercase Upper|White_Space Space|Cased|Ideographic|Unified_Ideograph|Emoji|Emoji_Presentation
Emoji_Modifier|Emoji_Modifier_Base|Emoji_Component|Extended_Pictographic|Dash|Hex_Digit|ASCII_Hex_Digit AHex|Join_Control"""

BRACKETS = ("graph", "print", "punct")  # the other brackets are properties in the lists above


def named(listed: str) -> list[str]:
    """Split a list above into its entries; each entry contains the names of one property."""
    return listed.replace("\n", "|").split("|")


class Engine(Protocol):
    """A regex engine."""

    def matched(self, pattern: str, text: str) -> set[str]:
        """The characters of `text` in matches of `pattern`."""


class Oniguruma:
    """Oniguruma, the regex engine of ``tokenizers``."""

    def __init__(self) -> None:
        from tokenizers import Regex, pre_tokenizers

        self._regex, self._split = Regex, pre_tokenizers.Split

    def matched(self, pattern: str, text: str) -> set[str]:
        """The characters of `text` in matches of `pattern`."""
        split = self._split(self._regex(pattern), "removed", invert=True)
        return {char for piece, _ in split.pre_tokenize_str(text) for char in piece}


class FancyRegex:
    """The fancy-regex engine of ``tiktoken``; text between matches is dropped."""

    def matched(self, pattern: str, text: str) -> set[str]:
        """The characters of `text` in matches of `pattern`."""
        import tiktoken

        ranks = {bytes([byte]): byte for byte in range(256)}
        encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        return set(encoding.decode_bytes(encoding.encode_ordinary(text)).decode())


def lines() -> Iterator[str]:
    """The lines of ``properties.tsv``."""
    import tiktoken
    import tokenizers

    yield from HEADER.format(tokenizers=tokenizers.__version__, tiktoken=tiktoken.__version__).splitlines()
    engine, fancy, text = Oniguruma(), FancyRegex(), everything()
    assigned = "".join(sorted(engine.matched(r"\P{Cn}+", text)))
    yield from _partition(engine, "category", CATEGORIES, assigned)
    yield from _partition(engine, "script", SCRIPTS, "".join(sorted(engine.matched(r"\P{Co}+", assigned))))
    for names in named(BINARIES):
        yield _line("binary", names, engine.matched(rf"\p{{{names.split()[0]}}}+", text))
    yield _line("oniguruma", "word", engine.matched(r"\w+", text))
    yield _line("oniguruma", "bracket_word", engine.matched(r"[\w]+", text))
    for name in BRACKETS:
        yield _line("oniguruma", name, engine.matched(rf"[[:{name}:]]+", text))
    yield _line("fancy-regex", "word", fancy.matched(r"\w+", text))
    yield from _folds(engine)


def everything() -> str:
    """Every character that a text can contain."""
    return "".join(EVERY_CHARACTER)


def _partition(engine: Oniguruma, kind: str, listed: str, text: str) -> Iterator[str]:
    """Lines for properties of which each character has exactly one, so characters with a property are not tested for the next ones."""
    for names in named(listed):
        found = engine.matched(rf"\p{{{names.split()[0]}}}+", text)
        text = "".join(char for char in text if char not in found)
        yield _line(kind, names, found)


def cased() -> set[str]:
    """The characters that change when they are lowercased, uppercased or case-folded."""
    return Oniguruma().matched(r"[\p{CWCM}\p{CWCF}]+", everything())


def _folds(engine: Oniguruma) -> Iterator[str]:
    """Lines for the classes of characters that are equal under ``(?i)``, from comparisons of all pairs of characters that have a case."""
    characters = sorted(cased())
    apart = "\n".join(characters)  # no match includes two characters, since line feeds separate them
    left = set(characters)
    for char in characters:
        if char in left:
            alike = engine.matched(rf"(?i:\x{{{ord(char):X}}})", apart)
            left -= alike
            if len(alike) > 1:
                yield f"fold\t\t{' '.join(f'{ord(other):X}' for other in sorted(alike))}"
    for char in characters:
        if len(char.casefold()) > 1:
            yield f"unfolding\t{ord(char):X}\t{' '.join(f'{ord(part):X}' for part in char.casefold())}"


def _line(kind: str, names: str, found: Iterable[str]) -> str:
    return f"{kind}\t{names}\t{' '.join(_runs(sorted(map(ord, found))))}"


def _runs(codes: list[int]) -> Iterator[str]:
    """The runs of consecutive code points."""
    first = 0
    for place, code in enumerate(codes):
        if place + 1 == len(codes) or codes[place + 1] != code + 1:
            yield f"{codes[first]:X}" if first == place else f"{codes[first]:X}-{code:X}"
            first = place + 1


if __name__ == "__main__":
    for line in lines():
        print(line)
