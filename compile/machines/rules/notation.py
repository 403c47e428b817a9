r"""The notation of other programs and of books: signs that have another meaning in rules here, and the same rule in the notation of this
package.

A *fault* is a sign that has another meaning here. A certain fault raises an error, because the rule cannot do what its author means. Any
other fault gives a warning, because its author may mean it. An escape or brackets make a sign an ordinary character: ``\#`` and ``[#]``
match ``#``.

Sources: Beesley and Karttunen 2003, *Finite State Morphology* (xfst; also foma and HFST); Gorman 2016, *Pynini*; Chomsky and Halle 1968,
*The Sound Pattern of English*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fst.compile.machines.rules.syntax import ARROW, GAP, SLASH, pieces, replaced
from fst.errors import VocabularyError, cut, quoted

MASK = "\0"
MAX_SPELLED = 200  # maximum length of a rule in the advice of a message
DEFINE = re.compile(r"(?:define\s+\w+|regex|read\s+regex)\s+(?=.*->)", re.DOTALL)
ARROWS = {  # the meaning of arrows in other notations
    "(->)": "an optional rule; rules here are obligatory",
    "@->": "leftmost-longest replacement; that is '->' here",
    "->@": "rightmost-longest replacement; that is '->' from right to left here",
    "<->": "a rule of both directions; rules here have one",
}
ARROW_SIGN = re.compile(r"\(->\)|(?<=\S)\s*(?:@|<|-)->|->@(?=\s*\S)|->")
ARROWS_OF_TEXT, UNKNOWN_ARROW = re.compile("[→⟶⇒↦➝]|-+>"), re.compile("@>|<?=>")
SEPARATORS = {  # the meaning of signs before contexts, and the argument with the same effect here
    "||": ("contexts of the input; they follow '/' here", ""),
    "//": ("a left context of the output; it needs direction='ltr' here", "direction='ltr'"),
    r"\\": ("a right context of the output; it needs direction='rtl' here", "direction='rtl'"),
    r"\/": ("contexts of the output; only the left or the right one can be of the output here", "direction='ltr' or 'rtl'"),
}
ESCAPED_SEPARATOR = re.compile(r"(?<!\S)(?:\\\\|\\/)(?!\S)")
SEPARATOR, PLAIN_SLASH = re.compile(rf"\|\||//|{ESCAPED_SEPARATOR.pattern}"), re.compile(r"(?<![/\\])/(?!/)")
GAPS, ALONE = re.compile("_+"), re.compile(r"(?<!\S)_(?!\S)")
AS_LIST, AS_CASCADE = "a list, for parallel rules", "cascade, for rules in turn"
BETWEEN_RULES = {",,": AS_LIST, ",": AS_LIST, ".o.": AS_CASCADE, "\n": AS_CASCADE}
NOTHINGS = ("∅", "[..]", "[. .]", "@0@", "@_EPSILON_SYMBOL_@", "<eps>", "<epsilon>")
EDGE_OF_WORD = r"a character here; '\b' is the edge of a word, '^' and '$' are the ends of the text, and '\#' is the character"
EDGES = {"[BOS]": "^", "[EOS]": "$"}
QUOTED, ALL_QUOTED = re.compile('"([^"]+)"'), re.compile(r'(?:"[^"]*"\s*)+')
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
COUNT = re.compile(r"[\d\s,]*")
FEATURES = re.compile(r"\[\s*[-+−]\s*[^\W\d_]{3,}")
IN_BRACKETS = re.compile(r"\\[pPxu]\{[^}]*\}|\\.|\[:\^?\w+:\]", re.DOTALL)  # escapes and classes in brackets, which contain no names
CAPITALS, CLASSES = re.compile("[A-Z]+(?![A-Za-z])"), re.compile("[VC]+")


def check_rule(text: str, definitions: Mapping[str, str]) -> list[str]:
    """Find the faults of a rule; return a message for each possible fault."""
    reader, text = _Reader(definitions), text.strip()
    rules = reader.rule(text)
    return reader.messages(f"the rule {quoted(text)} has", _advice(text, rules, reader.how))


def check_context(text: str, side: str, definitions: Mapping[str, str]) -> list[str]:
    """Find the faults of a context of a mapping or a transducer, as `check_rule`; `side` is "left" or "right"."""
    reader = _Reader(definitions)
    spelled = reader.expression(text, side)
    reader.find_names(text)
    return reader.messages(f"the {side} context {quoted(text)} has", _advice(text, [spelled]))


def check_definition(name: str, definitions: Mapping[str, str]) -> list[str]:
    """Find the faults of a definition, as `check_rule`; `definitions` are all definitions, in their order."""
    value, names = definitions[name], [*definitions]
    at = names.index(name)
    reader = _Reader({each: definitions[each] for each in names[:at]})
    spelled = reader.expression(value, "phi")
    for each in names[at + 1 :]:
        is_name = replaced(value, {each: MASK}) != value and (len(each) > 1 or each.isupper())
        reader.find(each, is_name, "which is defined after it, and is characters here; define it first")
    reader.find_names(replaced(value, dict.fromkeys(names[at:], MASK)))
    return reader.messages(f"the definition of {quoted(name)} has", _advice(value, [spelled]))


class _Reader:
    """A reader of the notation of other programs, which collects faults.

    Attributes:
        how: the argument that the rules need, or how to join them; "" for neither.
    """

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self._definitions, self._certain, self._possible = definitions, dict[str, None](), dict[str, None]()
        self.how = ""

    def messages(self, what: str, advice: str) -> list[str]:
        """The messages of possible faults."""
        for fault in self._certain:
            raise VocabularyError(f"{what} {fault}{advice}")
        return [f"{what} {fault}{advice}" for fault in self._possible]

    def find(self, sign: str, is_there: object, meaning: str, is_certain: bool = False) -> None:
        """Add a fault, if `is_there`."""
        if is_there:
            (self._certain if is_certain else self._possible)[f"{quoted(sign)}, {meaning}"] = None

    def rule(self, text: str) -> list[str]:
        """Read a rule; return the rules in the notation of this package, or none if they cannot be computed."""
        if defined := DEFINE.match(text):
            self.find(defined[0].strip(), True, "a command of xfst; a rule has no name here", is_certain=True)
            text = text[defined.end() :].rstrip().removesuffix(";")
        seen = masked(text)
        arrows = [*ARROW_SIGN.finditer(seen)]
        if not arrows:
            unknown = UNKNOWN_ARROW.search(seen)
            self.find(unknown[0] if unknown else "", unknown, "which is not an arrow of rewrite rules; the arrow is '->'", is_certain=True)
            arrows = [] if unknown else [*ARROWS_OF_TEXT.finditer(seen)][:1]
        if len(arrows) != 1:
            return self._several(text, seen) if arrows else []
        sign, phi, rest = arrows[0][0].strip(), text[: arrows[0].start()].strip(), text[arrows[0].end() :]
        if sign != ARROW:
            self.find(sign, True, ARROWS.get(sign, "an arrow; it is '->' here"), is_certain=True)
            self.how = "direction='rtl'" if sign == "->@" else ""
        psi, contexts = self._separated(rest)
        spelled = self.phi(phi, psi), self.psi(psi, phi)
        self.find(ARROW, not (phi or rest.strip()), "with nothing on both sides; expected a string to remove or to write", True)
        places = self._places(contexts)
        self.find_names(*(side for place in places for side in place), phi=phi, psi=psi)
        read = [(self.expression(left, "left"), self.expression(right, "right")) for left, right in places]
        return [_joined(*spelled, *place) for place in read or [("", "")]] if not contexts or places else []

    def _several(self, text: str, seen: str) -> list[str]:
        """Read a text with several arrows."""
        for sign, how in BETWEEN_RULES.items():
            parts = _split(text, seen, sign)
            if len(parts) > 1 and all(len(ARROW_SIGN.findall(masked(part))) == 1 for part in parts):
                self.find(sign, True, "a sign between rules; it is not part of a rule here", is_certain=True)
                rules = [rule for part in parts for rule in self.rule(part.strip())]
                self.how = f"{how}, {self.how}" if self.how else how
                return rules
        return []

    def _separated(self, rest: str) -> tuple[str, str]:
        """Separate psi and the contexts."""
        seen = masked(rest)
        slash, sign = PLAIN_SLASH.search(seen), SEPARATOR.search(seen)
        if slash and GAP in seen[slash.end() :]:
            return rest[: slash.start()], rest[slash.end() :]
        if sign and GAP in seen[sign.end() :] and seen[: sign.start()].strip():
            meaning, self.how = SEPARATORS[sign[0]]
            self.find(sign[0], True, meaning, is_certain=True)
            return rest[: sign.start()], rest[sign.end() :].rstrip().removesuffix(";")
        self.find(GAP, ALONE.search(seen) and seen.strip() != GAP, "which psi writes; contexts follow '/', and '\\_' is the character")
        return (rest[: slash.start()], "") if slash else (rest, "")

    def _places(self, contexts: str) -> list[tuple[str, str]]:
        """The left and right contexts; none if there are no contexts, or if a context does not have exactly one gap."""
        found, seen = [], masked(contexts)
        parts = [contexts] if len(GAPS.findall(seen)) < 2 else _split(contexts, seen, ",")
        self.find(",", len(parts) > 1, "a sign between contexts; each needs a parallel rule here", is_certain=True)
        for part in parts if contexts else ():
            gaps = [*GAPS.finditer(masked(part))]
            if len(gaps) != 1:
                return []
            self.find(gaps[0][0], len(gaps[0][0]) > 1, "a long gap; it is '_' here", is_certain=True)
            found.append((part[: gaps[0].start()], part[gaps[0].end() :]))
        return found

    def phi(self, phi: str, psi: str) -> str:
        """Read phi."""
        self.find(phi, phi in NOTHINGS, "which is characters here; nothing is an empty phi", is_certain=True)
        self.find("0", phi == "0", "the digit here; nothing is an empty phi")
        self.find(phi, ALL_QUOTED.fullmatch(phi) and ALL_QUOTED.fullmatch(psi.strip()), "quotes, which are characters here", True)
        return "" if phi in (*NOTHINGS, "0") else self.expression(phi, "phi")

    def psi(self, psi: str, phi: str) -> str:
        """Read psi."""
        psi, has_number = psi.strip(), any(char.isnumeric() for char in phi)
        self.find(psi, psi in NOTHINGS, "which psi writes; nothing is an empty psi", is_certain=True)
        self.find(psi, psi == "0" and not has_number, "the digit, which psi writes; nothing is an empty psi")
        self.find(psi, ALL_QUOTED.fullmatch(psi), "quotes, which psi writes")
        if psi in NOTHINGS or (psi == "0" and not has_number):
            return ""
        return re.sub(r'"\s*"|"', "", psi) if ALL_QUOTED.fullmatch(psi) else psi

    def expression(self, text: str, side: str) -> str:
        """Read phi or a context, the side "left" or "right"."""
        spelled, seen = "", masked(text)
        for found in reversed([*QUOTED.finditer(seen)]):
            content = text[found.start() + 1 : found.end() - 1]
            self.find(text[found.start() : found.end()], content not in EDGES, "quotes, which are characters here")
            text = text[: found.start()] + (content if content in EDGES else re.escape(content)) + text[found.end() :]
        if side != "phi" and ".#." in masked(text):
            self.find(".#.", True, "the edge of a text, which is '^' on the left and '$' on the right here", is_certain=True)
            text = text.replace(".#.", "^" if side == "left" else "$")
        for piece in pieces(text):
            if side != "phi" and (piece == "#" or piece in EDGES):
                self.find(piece, True, EDGE_OF_WORD if piece == "#" else f"a class of characters; the edge is '{EDGES[piece]}' here", True)
                piece = EDGES.get(piece, r"\b")
            spelled += self._bracket(piece) if len(piece) > 1 and piece[0] == "[" else piece
        return self._braces(spelled).strip()

    def _bracket(self, piece: str) -> str:
        """Read brackets, which are a class of characters."""
        self.find(piece, FEATURES.match(piece), "a class of characters, not a bundle of features")
        names = [name for name in self._definitions if name in IN_BRACKETS.sub("", piece)]
        sign = piece[1] if piece[1] == "^" else ""
        for name in names:
            self.find(piece, True, f"in which {quoted(name)} is characters, not the definition")
        for name in sorted(names, key=len, reverse=True):
            value = self._definitions[name].strip()
            if [*pieces(value)] == [value] and value[0] == "[":
                piece = piece.replace(name, value)
        if not sign and piece[1:-1].strip() in names:
            return piece[1:-1].strip()
        parts = [part.strip() for part in piece.removeprefix("[" + sign)[:-1].split("|")]
        if len(parts) < 2 or not all(parts) or any(char in piece[1:-1] for char in "[]\\"):
            return piece
        self.find(piece, True, "a class of characters, '|' is one of them")
        if all(len(part) == 1 for part in parts):
            return f"[{sign}{''.join(parts)}]"
        return piece if sign else f"({'|'.join(parts)})"

    def _braces(self, text: str) -> str:
        """Read braces, which are ordinary characters unless they contain a number of repetitions."""
        for found in reversed([*BRACES.finditer(masked(text))]):
            if not COUNT.fullmatch(found[1]):
                content = text[found.start() + 1 : found.end() - 1]
                self.find(text[found.start() : found.end()], True, "braces, which are characters here; alternatives are '(a|b)'")
                text = f"{text[: found.start()]}({'|'.join(part.strip() for part in content.split(','))}){text[found.end() :]}"
        return text

    def find_names(self, *contexts: str, phi: str = "", psi: str = "") -> None:
        """Find capitals that look like names but are not defined."""
        known = dict.fromkeys(self._definitions, MASK)
        free = [masked(replaced(context, known)) for context in contexts]
        matched = masked(replaced(phi, known)).strip()
        is_class, has_capitals = CLASSES.fullmatch(matched), any(map(str.isupper, psi))
        is_upper = any(map(str.isupper, phi)) and (has_capitals or not psi.strip()) and not is_class  # the text consists of capitals
        names = [] if is_upper else [name for each in free for name in CAPITALS.findall(each)]
        if is_class and not has_capitals and psi.strip() != matched.lower():
            names.append(matched)
        for name in names:
            self.find(name, True, f"which is characters here, since no definition has this name; define it, or write '[{name}]'")


def _advice(text: str, spelled: Sequence[str], how: str = "") -> str:
    """The end of a message: the spelling here, if it differs."""
    if not spelled or (not how and "".join(spelled[0].split()) == "".join(text.split())):
        return ""
    rules = cut(", ".join(f"'{each}'" for each in spelled), MAX_SPELLED)
    return f"; write {rules}{f' with {how}' if how else ''}"


def masked(text: str) -> str:
    """The text with escapes and brackets masked, except the signs of xfst that look like escapes."""
    seen = "".join(piece if len(piece) == 1 else MASK * len(piece) for piece in pieces(text))
    for found in ESCAPED_SEPARATOR.finditer(text):
        if seen.startswith(MASK, found.start()):
            seen = seen[: found.start()] + found[0] + seen[found.end() :]
    return seen


def _split(text: str, seen: str, sign: str) -> list[str]:
    """Split a text at a sign outside of escapes and brackets."""
    parts, begin = [], 0
    for part in seen.split(sign):
        parts.append(text[begin : begin + len(part)])
        begin += len(part) + len(sign)
    return parts


def _joined(phi: str, psi: str, left: str, right: str) -> str:
    """The text of a rule."""
    contexts = [SLASH, left, GAP, right] if left or right else []
    return " ".join(filter(None, [phi, ARROW, psi, *contexts]))
