"""Sessions: texts that grow and change, of which only the changed part is encoded again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, NamedTuple, NoReturn
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from fst.core.random import is_index
from fst.errors import TextError, counted, quoted
from fst.runtime.rows.texts import wrong_at
from fst.runtime.sessions.covers import Covers
from fst.runtime.sessions.edits import EMPTY, Change, Version, appended, edited, with_ids
from fst.runtime.sessions.reading import Checkpoint, Reader
from fst.runtime.workspace import Ids


class Mark:
    """A version of a session, to which `Session.rollback` returns."""

    __slots__ = ("__weakref__", "number", "version")

    def __init__(self, number: int, version: Version) -> None:
        self.number, self.version = number, version

    def __repr__(self) -> str:
        return f"<fst.Session mark at {counted(self.version.characters, 'character')}>"


class Tools(NamedTuple):
    """The parts of a tokenizer that a session uses.

    Attributes:
        reader: the reader of texts.
        encode: ``encode(text, add_special_tokens=False)``, the definition of the ids.
        encodes_all: whether every text has ids.
        has_id: whether a number is an id.
        text_of: returns the text of ids; its first argument is an array of the id before them, or empty.
        ends_inside: whether ids end inside a character.
        after_ids: the checkpoint after appended ids.
        certain_in: returns the number of leading ids of unfinished text that no later text can change.
        covers: returns the sequences of ids that cover a text.
    """

    reader: Reader
    encode: Callable[[str], Ids]
    encodes_all: bool
    has_id: Callable[[int], bool]
    text_of: Callable[[Ids, Ids], str]
    ends_inside: Callable[[Ids], bool]
    after_ids: Checkpoint
    certain_in: Callable[[str, Ids], int]
    covers: Callable[[Version], Covers]


class Session:
    """A text with its ids, which are kept up to date; made by `fst.Tokenizer.session`.

    A change takes time for the changed text, and for a few thousand characters around it, but not for the whole text. A change in a long
    word takes time for this word. If scores are summed over a text, an edit takes time for all text after it. A method that raises an error
    leaves the session unchanged. Only one thread at a time may use a session; forks are independent.

    Args:
        tools: the parts of the tokenizer.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> s = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able", "fit"])).session("unable un")
        >>> s.append("fit")
        Change(start=2, removed=1, ids=array([0], dtype=int32))
        >>> s.edit(8, 9, "n ")
        Change(start=2, removed=1, ids=array([1, 3], dtype=int32))
        >>> s.text, s.ids, s.certain
        ('unable un fit', array([1, 2, 1, 3], dtype=int32), 3)
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._version = EMPTY
        self._marks: WeakValueDictionary[int, Mark] = WeakValueDictionary()
        self._number = 0  # number of marks so far

    def __len__(self) -> int:
        """The number of characters."""
        return self._version.characters

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session is neither pickled nor copied; fork() makes a second session; another process needs the text or the ids")

    def __repr__(self) -> str:
        return f"<fst.Session of {counted(len(self), 'character')}>"

    @property
    def text(self) -> str:
        """The text, made at the call, in linear time."""
        return self._version.text

    @property
    def ids(self) -> Ids:
        """The ids, int32[n], made at the call, in linear time. They equal ``tok.encode(s.text, add_special_tokens=False)`` until
        `append_ids`.
        """
        return self._version.ids

    @property
    def certain(self) -> int:
        """The number of leading ids that no appended text can change. A cache of a model's states may keep these ids.

        For byte-level BPE with an automaton, the number includes ids inside a last pre-token of up to 1,024 characters, if the normalizer
        only maps and composes characters. Otherwise, all ids of the last pre-token count as uncertain.
        """
        version = self._version
        return version.before_rest + max(version.rest_certain, self._tools.certain_in(version.rest, version.rest_ids))

    @property
    def is_canonical(self) -> bool:
        """Whether the ids equal ``tok.encode(s.text, add_special_tokens=False)``. After `append_ids`, the whole text is encoded to find
        out.
        """
        has_ids = any(chunk.is_fixed for chunk in self._version.all_chunks)
        return not has_ids or np.array_equal(self.ids, self._tools.encode(self.text))

    def covers(self) -> Covers:
        """Find the sequences of ids that cover the text, see `fst.Tokenizer.covers`. After `append_ids`, the last id covers the text.

        Raises:
            UnsupportedError: as in `fst.Tokenizer.covers`; or the vocabulary is WordPiece or Unigram, and the session has appended ids.
        """
        return self._tools.covers(self._version)

    def append(self, text: str) -> Change:
        """Append a text.

        Args:
            text: a str.

        Returns:
            The change of the ids: from id number ``start`` on, ``removed`` ids are replaced by ``ids``.

        Raises:
            TextError: the argument is not text, or it has a character that the vocabulary cannot encode.
            ValueError: the text before is from `append_ids`, and ends inside a character.
        """
        last = self._version.fixed_end
        if text and last is not None and self._tools.ends_inside(last):
            raise ValueError("the appended ids end inside a character; expected whole characters; append the missing ids first")
        return self._changed(text, lambda: appended(self._version, text, self._tools.reader))

    def edit(self, begin: int, end: int, text: str) -> Change:
        """Replace the characters from `begin` to `end - 1` by a text.

        Args:
            begin, end: positions in characters, 0 <= begin <= end <= len(session). If they are equal, the text is inserted.
            text: a str.

        Returns:
            The change of the ids, as in `append`.

        Raises:
            TextError: as in `append`.
            TypeError: a position is not a whole number.
            ValueError: the range is not in the text, or contains text from `append_ids`; or as in `append`.
        """
        begin, end = whole("begin", begin), whole("end", end)
        if not 0 <= begin <= end <= len(self):
            raise ValueError(f"the range is {begin} to {end}; expected 0 <= begin <= end <= {len(self)}, the number of characters")
        if begin == len(self):
            return self.append(text)
        return self._changed(text, lambda: edited(self._version, begin, end, text, self._tools.reader))

    def append_ids(self, ids: Sequence[int] | NDArray[Any]) -> Change:
        """Append the ids that a model has written. They are never encoded again, even if `encode` gives other ids for their text.
        Neither they nor text after them change the ids before them. Text after them is encoded like text after a special token; if texts
        cannot contain special tokens of the vocabulary, like the beginning of a text.

        Args:
            ids: whole numbers in an array, a list or a tuple. Special tokens become a part of `text`.

        Returns:
            The change of the ids, as in `append`.

        Raises:
            TypeError: `ids` is not a row of whole numbers.
            ValueError: a number is not an id of the vocabulary.

        Examples:
            >>> import fst
            >>> from fst.compile import wordpiece
            >>> s = fst.Tokenizer(wordpiece(["[UNK]", "un", "##able", "##a", "##ble"])).session("un")
            >>> s.append_ids([3, 4])
            Change(start=1, removed=0, ids=array([3, 4], dtype=int32))
            >>> s.text, s.ids, s.is_canonical
            ('unable', array([1, 3, 4], dtype=int32), False)
        """
        given: Any = ids.tolist() if isinstance(ids, np.ndarray) else ids
        if not isinstance(given, Iterable):
            raise TypeError(f"ids is {quoted(ids)}; expected a list or an array of whole numbers")
        numbers = [whole("an id", number) for number in given]
        wrong = next((number for number in numbers if not self._tools.has_id(number)), None)
        if wrong is not None:
            raise ValueError(f"an id is {wrong}; expected the id of a token; leave out other numbers")
        tools, row = self._tools, np.array(numbers, np.int32)
        if not numbers:
            return Change(self._version.size, 0, row)
        self._version, change = with_ids(self._version, row, tools.text_of, tools.after_ids, tools.reader)
        return change

    def fork(self) -> Session:
        """Return a new session with the same text and ids, in constant time. The two sessions share memory, but change independently."""
        other = Session.__new__(Session)
        other._tools, other._version, other._marks, other._number = self._tools, self._version, WeakValueDictionary(), 0
        return other

    def mark(self) -> Mark:
        """Return a mark of the present text, in constant time, for `rollback`."""
        self._number += 1
        mark = self._marks[self._number] = Mark(self._number, self._version)
        return mark

    def rollback(self, mark: Mark) -> None:
        """Return to the text at a mark. The mark stays valid; later marks become invalid.

        Args:
            mark: the result of `mark` of this session.

        Raises:
            ValueError: the mark belongs to another session, or the session has returned to an earlier mark.
        """
        if not isinstance(mark, Mark) or self._marks.get(mark.number) is not mark:
            raise ValueError(f"the mark is {quoted(mark)}; expected a mark of this session that no rollback has removed; make a new one")
        while True:
            number, _ = self._marks.popitem()
            if number == mark.number:
                break
        self._marks[mark.number], self._version = mark, mark.version

    def _changed(self, text: str, change: Callable[[], tuple[Version, Change]]) -> Change:
        """Make a change with a new text, and take the new version, unless the text is not valid."""
        if not isinstance(text, str):
            checked(text)
        try:
            version, found = change()
        except (UnicodeEncodeError, TextError):
            checked(text)  # raises the error for the first lone surrogate
            raise
        if not self._tools.encodes_all and len(found.ids) and found.ids.min() < 0:
            self._tools.encode(version.text)  # raises the error for the unknown character
        self._version = version
        return found


def checked(text: object) -> None:
    """Check that a new text is a str without lone surrogates."""
    if not isinstance(text, str):
        raise TextError(f"the text is {type(text).__name__}; expected str")
    place = None if text.isascii() else wrong_at(text)
    if place is not None:
        raise TextError(f"position {place} of the given text: a lone surrogate; mend the text", place=place)


def whole(name: str, value: Any) -> int:
    """Check that an argument is a whole number; return it as an int. `name`: the name of the argument in the message."""
    if not is_index(value):
        raise TypeError(f"{name} is {quoted(value)}; expected a whole number")
    return index(value)
