"""Edits: normalizers that are not mappings of characters, because they change strings, runs, or the ends of a stretch.

Edits change a stretch, the text between two added tokens, one after another. Like the reference, each edit also updates the spans of the
characters in the raw text. A replacement gets the span of the last character of the replaced string; text that is added before a stretch
gets the span of the first character of the stretch.

Example: edits of five characters with the spans 0–1, 1–2, 2–3, 3–4 and 4–5::

    edit                                  text       new text   spans of its characters
    REPLACE, string "bc", content "--"    "abcd "    "a--d "    0–1, 2–3, 2–3, 3–4, 4–5: both hyphens have the span of "c"
    RUNS of spaces, content " "           "a   b"    "a b"      0–1, 3–4, 4–5: the space has the span of the last one
    the same, string "b", content "b"     "a   b"    "ab"       0–1, 4–5: the run is replaced together with the string after it
    STRIP, left and right                 " ab  "    "ab"       1–2, 2–3
    PREPEND, content "▁"                  "ab"       "▁ab"      0–1, 0–1, 1–2
    SPACES, left and right                "  a b"    " a b"     2–2, 2–3, 3–4, 4–5: the added space follows the removed ones
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product, repeat, takewhile
from typing import Any

from fst.automata.rows import CODE_POINTS, WHITE_SPACE
from fst.text.charsmap import CHARSMAP, Charsmap
from fst.text.composition import Place
from fst.text.whitespace import BREAK, SPACE

STRIP, PREPEND, REPLACE, RUNS, SPACES = KINDS = "strip", "prepend", "replace", "runs", "spaces"
ALL_KINDS = (*KINDS, CHARSMAP)
MAX_STRING = 256  # maximum number of bytes of a string that is replaced or inserted
MAX_RUNS = 1 << 10  # maximum number of runs of code points in an edit
MAX_SHORTEST = 1 << 10  # maximum number of shortest strings of replaced runs, see `Edit.triggers`
MAX_EDITS = 100


@dataclass(frozen=True)
class Edit:
    """An edit.

    Attributes:
        kind: `STRIP`: remove whitespace at the ends. `PREPEND`: add `content` before the text, unless the text is empty. `REPLACE`: replace
            each `string` by `content`, from the left. `RUNS`: replace each maximal run of the characters in `runs`, together with the
            `string` after it, by `content`. `SPACES`: change spaces like ``sentencepiece``, see `_spaced`.
        left, right: whether the left end and the right end are stripped. For `RUNS`, whether a run must begin and end a line. For
            `SPACES`, `left` is whether a space is added before the text; `right` is whether spaces at both ends, and each `string` at the
            right end, are removed, and each run of spaces becomes one space.
        content: the inserted text. For `SPACES`, the text that is added at the end: a space or nothing.
        string: the replaced text. For `RUNS`, it may be empty.
        runs: the set of characters for `RUNS`, as ranges of code points (first, last).
        least: the minimum number of characters in a replaced run.
    """

    kind: str
    left: bool = False
    right: bool = False
    content: str = ""
    string: str = ""
    runs: Sequence[Sequence[int]] = ()
    least: int = 1

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {**asdict(self), "runs": [[*run] for run in self.runs]}

    @classmethod
    def from_stored(cls, stored: Any) -> Edit:
        """Read an edit from its JSON form."""
        if not isinstance(stored, dict) or stored.keys() != cls.__dataclass_fields__.keys() or stored["kind"] not in KINDS:
            raise ValueError("an edit has missing or unknown keys, or an unknown kind")
        if not all(isinstance(stored[name], bool) for name in ("left", "right")):
            raise ValueError("an edit strips sides that are not true or false")
        if not all(isinstance(stored[name], str) and _size(stored[name]) <= MAX_STRING for name in ("content", "string")):
            raise ValueError(f"the content or the string of an edit is not a string of at most {MAX_STRING} bytes")
        if not isinstance(stored["runs"], list) or len(stored["runs"]) > MAX_RUNS or not all(map(_is_run, stored["runs"])):
            raise ValueError(f"an edit has other than runs of code points, or more than {MAX_RUNS}")
        if type(stored["least"]) is not int or not 1 <= stored["least"] <= MAX_STRING:
            raise ValueError(f"an edit replaces runs of {stored['least']!r} characters; at least 1 and at most {MAX_STRING} are possible")
        edit = cls(**{**stored, "runs": tuple(map(tuple, stored["runs"]))})
        if edit.kind == REPLACE and not edit.string:
            raise ValueError("an edit replaces nothing")
        if edit.kind == RUNS and edit.triggers is None:
            raise ValueError(f"the runs of an edit have more than {MAX_SHORTEST} shortest strings")
        if edit.kind == RUNS and not edit.is_apart:
            raise ValueError("the runs of an edit may contain a line break at their edges, or the string after them")
        if edit.kind == SPACES and edit.content not in ("", SPACE):
            raise ValueError("the content of an edit of spaces is not a space or an empty string")
        return edit

    def apply(self, text: str, places: Sequence[Place], size: int) -> tuple[str, list[Place]]:
        """Apply the edit. Return the new text, and the span of each character. `text`, `places`: the text, and the span of each character.
        `size`: the number of characters in the raw text.
        """
        if self.kind == STRIP:
            end = len(text.rstrip(WHITE_SPACE)) if self.right else len(text)
            begin = min(len(text) - len(text.lstrip(WHITE_SPACE)), end) if self.left else 0
            return text[begin:end], [*places[begin:end]]
        if self.kind == SPACES:
            return self._spaced(text, places, size)
        if self.kind == PREPEND:
            return (self.content + text, [*repeat(places[0], len(self.content)), *places]) if text else ("", [])
        parts, kept, at = list[str](), list[Place](), 0
        for begin, end in self._matches(text):
            parts += text[at:begin], self.content
            kept += [*places[at:begin], *repeat(places[end - 1], len(self.content))]
            at = end
        return "".join([*parts, text[at:]]), [*kept, *places[at:]]

    def _spaced(self, text: str, places: Sequence[Place], end: int) -> tuple[str, list[Place]]:
        """Change spaces like ``sentencepiece``. Return the new text, and the spans of its characters: each span ends where the next span
        begins.

        The space added before the text follows all spaces at the beginning of the raw text. The span of this space ends where the first
        character begins, so it covers the text that was removed before this character. The space added at the end has an empty span. No
        space is added if `right` is set and the raw text contains only spaces.
        """
        at = begun = 0
        while self.right and at < len(text) and text[at] == SPACE and places[at][0] == begun:
            at, begun = at + 1, places[at][1]
        if self.right and begun == end:
            return "", []
        chars, begins = ([SPACE], [begun]) if self.left else ([], [])
        was_space = self.right
        for char, (begin, _) in zip(text[at:], places[at:], strict=True):
            if not (was_space and char == SPACE):
                chars.append(char)
                begins.append(begin)
            was_space = self.right and char == SPACE
        while self.right and chars and chars[-1] in (SPACE, self.string):
            chars.pop()
            end = begins.pop()
        if self.content:
            chars.append(SPACE)
            begins.append(end)
        return "".join(chars), [*zip(begins, [*begins, end][1:], strict=True)]

    def _matches(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans in a text of the strings that the edit replaces."""
        at = 0
        while at < len(text):
            end = at
            while self.kind == RUNS and end < len(text) and self.holds(ord(text[end])):
                end += 1
            is_run = self.kind == REPLACE or (end - at >= self.least and self._is_at_edges(text, at, end))
            if is_run and text.startswith(self.string, end):
                end += len(self.string)
                yield at, end
            at = max(end, at + 1)

    def _is_at_edges(self, text: str, begin: int, end: int) -> bool:
        """Whether a run begins and ends a line as far as the edit requires this."""
        begins = begin == 0 or text[begin - 1] == BREAK
        ends = end == len(text) or text[end] == BREAK
        return (begins or not self.left) and (ends or not self.right)

    @property
    def is_apart(self) -> bool:
        """Whether each match of `RUNS` takes a maximal run: the next character, or the end of a line, is never in `runs`. Whitespace
        precedes `string`, so that no border of a text (`last_border`) lies in a match.
        """
        follows = BREAK * (self.left or self.right) + self.string[:1]
        is_white = all(chr(code) in WHITE_SPACE for first, last in self.runs for code in range(first, last + 1))
        return not any(self.holds(ord(char)) for char in follows) and (is_white or not self.string)

    def holds(self, code: int) -> bool:
        """Whether a character belongs to `runs`."""
        return any(first <= code <= last for first, last in self.runs)

    @property
    def singles(self) -> Sequence[Sequence[int]]:
        """Runs of characters that the edit may change, even if such a character occurs alone."""
        if self.kind == SPACES and self.right:
            return [(ord(char), ord(char)) for char in self.string[-1:] if char != SPACE]
        if self.kind != RUNS or self.least > 1 or self.string:
            return []
        kept = ord(self.content) if len(self.content) == 1 else -1
        parts = [part for first, last in self.runs for part in ((first, min(last, kept - 1)), (max(first, kept + 1), last))]
        return [(first, last) for first, last in parts if first <= last] if kept >= 0 else self.runs

    @property
    def triggers(self) -> Sequence[str] | None:
        """Strings for a fast check whether the edit changes a text: each such text contains one of these strings, a character of `singles`,
        or whitespace that is stripped.

        None if there are too many strings.
        """
        if self.kind == REPLACE:
            return [self.string]
        if self.kind == SPACES and self.right:
            return [SPACE * 2]
        if self.kind != RUNS:
            return []
        if self.least == 1 and not self.string:
            return [self.content * 2] if len(self.content) == 1 else []
        count = sum(last - first + 1 for first, last in self.runs)
        if count > MAX_SHORTEST or count**self.least > MAX_SHORTEST:
            return None
        chars = [chr(code) for first, last in self.runs for code in range(first, last + 1)]
        return ["".join(run) + self.string for run in product(chars, repeat=self.least)]

    @property
    def reach(self) -> int:
        """Upper bound on the number of bytes around a character that decide whether the edit changes it."""
        if self.kind == SPACES:
            return 4 * self.right
        return _size(self.string) + 4 * self.least * (self.kind == RUNS) if self.kind in (REPLACE, RUNS) else 0

    @property
    def expansion_bound(self) -> int:
        """The maximum number of output bytes per input byte."""
        size = _size(self.content)
        if self.kind in (REPLACE, RUNS):
            return max(1, -(-size // (_size(self.string) + self.least * (self.kind == RUNS))))
        return 1 + size if self.kind == PREPEND else 1 + self.left + size


def _size(string: str) -> int:
    """The number of bytes of a string."""
    return len(string.encode())


def _is_run(run: Any) -> bool:
    if not isinstance(run, list) or len(run) != 2 or not all(type(code) is int for code in run):
        return False
    return 0 <= run[0] <= run[1] < CODE_POINTS and not any(0xD800 <= code < 0xE000 for code in run)


Edits = Sequence[Edit | Charsmap]


def edits_from_stored(stored: Any) -> Edits:
    """Read edits from their JSON form."""
    if not isinstance(stored, list) or len(stored) > MAX_EDITS:
        raise ValueError(f"edits are not a list, or are more than {MAX_EDITS}")
    return tuple(_edit(edit) for edit in stored)


def _edit(stored: Any) -> Edit | Charsmap:
    is_charsmap = isinstance(stored, dict) and stored.get("kind") == CHARSMAP
    return Charsmap.from_stored(stored) if is_charsmap else Edit.from_stored(stored)


def charsmap_of(edits: Edits) -> Charsmap | None:
    """The charsmap among edits."""
    return next((edit for edit in edits if isinstance(edit, Charsmap)), None)


def edits_before_charsmap(edits: Edits) -> Sequence[Edit]:
    """The edits before the charsmap; all edits if there is no charsmap."""
    return [edit for edit in takewhile(lambda edit: not isinstance(edit, Charsmap), edits) if isinstance(edit, Edit)]


def applied(edits: Edits, text: str, places: Sequence[Place], size: int) -> tuple[str, Sequence[Place]]:
    """Apply several edits. Return the new text, and the span of each character. For the arguments, see `Edit.apply`."""
    for edit in edits:
        text, places = edit.apply(text, places) if isinstance(edit, Charsmap) else edit.apply(text, places, size)
    return text, places
