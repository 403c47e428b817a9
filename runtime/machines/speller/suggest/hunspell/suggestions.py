"""Suggestions in the order of Hunspell 1.7: how it treats capitals, dots and hyphens, and which searches follow each other."""

from __future__ import annotations

from itertools import islice
from typing import Any

from fst.errors import UnsupportedError
from fst.machines.speller import layout
from fst.machines.speller.layout import CAPITALIZED, NOT_FORBIDDEN, WORDS
from fst.runtime.machines.speller.suggest.hunspell.letters import INITIAL, LOWER, MIXED_INITIAL, UPPER, Letters, converted
from fst.runtime.machines.speller.suggest.hunspell.ngrams import Similar
from fst.runtime.machines.speller.suggest.hunspell.stages import Check, Found, Stages

MAX_BYTES, MAX_CHARACTERS = 300, 100  # words of so many bytes in UTF-8, or characters in other encodings, have no suggestions


class HunspellWords:
    """Hunspell's suggestions for a dictionary; threads may share it.

    Args:
        table: a table with the options of suggestions.
        check: checks words in a mode.

    Attributes:
        hints: the options of suggestions.
        letters: the case of letters.
        defined: the bits of flags that the dictionary defines.
        has_sharp_s: whether "ß" may be written "SS" (CHECKSHARPS).
        inputs, outputs: conversions (ICONV, OCONV).
        ignored: the characters that are ignored in words (IGNORE).
        similar: the search by similarity.
    """

    def __init__(self, table: Any, check: Check) -> None:
        options, dictionary = table.named_options, table.metadata.dictionary
        if dictionary.hints is None:
            raise UnsupportedError("the table has no suggestions; compile it with suggestions=True, or without --no-suggestions")
        names = ("LANG hu", options.is_hungarian), ("COMPLEXPREFIXES", options.complex_prefixes)
        for name in (name for name, is_set in names if is_set):
            raise UnsupportedError(f"the dictionary has {name}; expected one without for style='hunspell'; use style='nearest'")
        self.hints, self.letters, self.defined = dictionary.hints, Letters(table), int(options.defined)
        self.has_sharp_s = bool(options.sharp_s)
        self._encoding, self._check = dictionary.encoding, check
        inputs = self.letters.strings[int(options.conversions) : int(options.conversions_end)]
        self.inputs = {inputs[at]: inputs[at + 1 : at + 5] for at in range(0, len(inputs), 5)}
        self.outputs = {found: rest for found, *rest in self.hints.outputs}
        self.ignored = {self.letters.texts[at] for at, kind in enumerate(table.kinds.tolist()) if kind & layout.IGNORED}
        self.similar = Similar(table, self.hints, self.letters)

    def suggestions(self, word: str) -> list[str]:
        """All suggestions for a word."""
        if not self._is_readable(word):
            return []
        return _Search(self, Stages(self.hints, self.letters, self._encoding, self._check)).suggestions(word)

    def _is_readable(self, word: str) -> bool:
        """Whether Hunspell reads a word: it is short enough, and in the encoding of the dictionary."""
        try:
            size = len(word.encode(self._encoding))
        except UnicodeEncodeError:
            return False
        return size < (MAX_BYTES if self._encoding == "utf-8" else MAX_CHARACTERS) and max(word, default="") <= "\uffff"


class _Search:
    """The search for the suggestions of one word."""

    def __init__(self, source: HunspellWords, stages: Stages) -> None:
        self._source, self._letters, self._stages = source, source.letters, stages

    def _is_right(self, word: str) -> bool:
        return self._stages.is_accepted(word, WORDS)

    def suggestions(self, word: str) -> list[str]:
        """All suggestions for a word."""
        source = self._source
        clean = "".join([char for char in converted(word, source.inputs) if char not in source.ignored]).lstrip(" ")
        plain = clean.rstrip(".")
        if not plain:
            return []
        kind = self._letters.kind(plain)
        if kind == LOWER and self._source.defined & layout.UPPER_CASE and self._stages.is_accepted(plain, CAPITALIZED):
            texts = [self._letters.capitalized(plain)]
        else:
            texts = self._with_hyphens(plain, self._found(plain, kind, has_dots=plain != clean))
        if kind in (INITIAL, MIXED_INITIAL):
            texts = [*map(self._letters.capitalized, texts)]
        if self._source.hints.suggests_dots and plain != clean:
            texts = [text + word[len(word) - len(clean) + len(plain) :] for text in texts]
        if kind in (INITIAL, UPPER):
            texts = [form for text in texts for form in self._in_right_case(text)]
        return [converted(text, source.outputs) for text in dict.fromkeys(texts)]

    def _in_right_case(self, text: str) -> list[str]:
        """A suggestion, or its form in lower case or with a capital if only this form is right; none, if no form is right."""
        if " " in text or self._is_right(text):
            return [text]
        lower = self._letters.lowered(text)
        return [*islice(filter(self._is_right, (lower, self._letters.capitalized(lower))), 1)]

    def _found(self, word: str, kind: int, *, has_dots: bool) -> Found:
        """The suggestions for a word without dots: by edits, then by similarity."""
        found, lower = Found(), self._letters.lowered(word)
        if kind == LOWER:
            self._stages.run(found, word)
            if has_dots:
                self._stages.run(found, f"{word}.")
        elif kind == INITIAL:
            self._stages.run(found, word)
            self._stages.run(found, lower)
        elif kind == UPPER:
            self._run_in_capitals(found, lower)
        else:
            self._run_mixed(found, word, lower, kind)
        limit = self._source.hints.most_similar
        if not found.is_good and (not found.texts or found.has_others) and limit != 0:
            size = len(found.texts)
            self._source.similar.add(found.texts, word if kind == LOWER else lower, self._stages.is_accepted, is_lower=kind == LOWER)
            if kind == UPPER:
                found.texts[size:] = map(self._letters.raised, found.texts[size:])
        return found

    def _run_in_capitals(self, found: Found, lower: str) -> None:
        self._stages.run(found, lower)
        if self._source.defined & layout.KEEPS_CASE and self._is_right(lower):
            found.texts.insert(0, lower)
        self._stages.run(found, self._letters.capitalized(lower))
        found.texts[:] = map(self._letters.raised, found.texts)
        if self._source.has_sharp_s:
            found.texts[:] = [text.replace("ß", "SS") for text in found.texts]

    def _run_mixed(self, found: Found, word: str, lower: str, kind: int) -> None:
        """Add suggestions for a word with capitals inside, such as "aNew" or "something.The"."""
        texts, letters = found.texts, self._letters
        self._stages.run(found, word)
        before, dot, after = word.partition(".")
        if dot and letters.kind(after) == INITIAL:
            texts.insert(0, f"{before}. {after}")
        if kind == MIXED_INITIAL:
            self._stages.run(found, letters.lowered(word[:1]) + word[1:])
        if self._is_right(lower):
            texts.insert(0, lower)
        size = len(texts)
        self._stages.run(found, lower)
        if kind == MIXED_INITIAL:
            form = letters.capitalized(lower)
            if self._is_right(form):
                texts.insert(0, form)
            self._stages.run(found, form)
        for at in range(size, len(texts)):
            first, space, second = texts[at].partition(" ")
            if space and len(second) < len(word) and not word.endswith(second):
                del texts[at]
                texts.insert(0, f"{first} {letters.capitalized(second)}")

    def _with_hyphens(self, word: str, found: Found) -> list[str]:
        """Add suggestions for the first wrong part of a word with hyphens, if no suggestion has a hyphen."""
        texts, parts = found.texts, word.split("-")
        if len(parts) > 1 and not found.is_good and not any("-" in text for text in texts):
            wrong = next((at for at, part in enumerate(parts) if not self._is_right(part)), None)
            if wrong is not None:
                for text in reversed(self.suggestions(parts[wrong])):
                    form = "-".join([*parts[:wrong], text, *parts[wrong + 1 :]])
                    if self._stages.is_accepted(form, NOT_FORBIDDEN):
                        texts.insert(0, form)
        return texts
