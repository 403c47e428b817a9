"""Token masks: the tokens that a language model may write next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, counted, quoted
from fst.machines.guide.arguments import NO_STATE, TEXTS
from fst.machines.guide.scanning import need_start
from fst.machines.guide.vocabulary import ids_of
from fst.runtime.decoder import row_of
from fst.runtime.machines.guide.late_masks import LateMasks
from fst.runtime.machines.guide.masks import StateMasks, StoredMasks, not_a_state
from fst.runtime.public_class import PublicClass
from fst.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Self

KEPT_BYTES = 1 << 20
WHOLE = int, np.integer
MAX_FORCED = 1 << 12  # the largest number of ids that `Guide.forced` returns
INT64, UINT32, BYTES = np.dtype(np.int64), np.dtype(np.uint32), np.dtype(np.uint8)
# For each dtype of masks, that of their memory.
VIEWS: dict[Any, np.dtype[Any]] = {UINT32: UINT32, np.dtype(np.int32): UINT32, np.dtype(np.bool_): BYTES}

expand = Deferred("fst.runtime.machines.guide.kernels.masks", "expand")


class Guide(PublicClass):
    """Token masks: for each state, the tokens that keep a text inside a pattern, a schema or a grammar. A guide is immutable, so that
    threads can share it without a lock.

    A state is a whole number. A generated text begins in `start`, and `step` gives the state after each token. One guide serves any number
    of texts at the same time: the caller keeps the state of each text, for example in an array.

    -1 is the state after a token that is not allowed. Its mask is empty. The token that ends a text, `end_id`, is allowed exactly where the
    pattern allows an end; after this token, only the token itself is allowed. Other special tokens are never allowed.

    Args:
        table: a result of `fst.compile.guide`. For a table file, use `load`. Or a tokenizer in any form that `fst.Tokenizer` takes. Then
            nothing is compiled before a text reaches it, so a guide is ready at once, and cannot be saved. States are found by `step`, and
            numbered in this order.
        regex, schema, fst, choice, grammar, syntax, end_id, whitespace, formats: with a tokenizer, as in `fst.compile.guide`. Recursion in
            schemas and grammars, and values without a schema, have no depth.
        order: with `schema`, the order of properties: "schema", or "any" [schema].
        strict: with `schema`, whether objects have only the properties that their schemas mention [no].
        depth: with `schema` and `canonical`, as in `fst.compile.guide`.
        canonical: with a tokenizer, allow only the tokens that the tokenizer itself gives. Ids are allowed if they are the first ids of
            ``tok.encode(text, add_special_tokens=False)``, and ``tok.decode`` turns all these ids back into ``text``, for a text that the
            pattern allows.
        kept_bytes: the largest size in bytes of the masks that a guide of a tokenizer keeps; those used last are kept.

    Raises:
        UnsupportedError: the table has no token masks; or as in `fst.compile.guide`.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> tok = fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##1", "##2", "##12", "a"]))
        >>> guide = Guide(tok, regex="12*", end_id=1)
        >>> guide.allowed(guide.start).tolist()
        [2]
        >>> state = guide.step(guide.start, 2)
        >>> guide.mask(state), guide.allowed(state).tolist(), guide.is_final(state)
        (array([34], dtype=uint32), [1, 5], True)
        >>> guide.step(state, tok.token_to_id("##1"))
        -1

        The tokenizer encodes "112" as "1" and "##12", so "##1" before "##2" is not canonical:

        >>> guide = Guide(tok, regex="112", canonical=True)
        >>> guide.forced(guide.start) == tok.encode("112", add_special_tokens=False).tolist() + [1]
        True
    """

    _compiler = "guide"

    def __new__(cls, table: Any, **late: Any) -> Self:
        """Make a guide from a table or, late, from a tokenizer."""
        if any(late.get(name) is not None for name in TEXTS):
            return object.__new__(cls)
        names = [name for name, value in late.items() if value is not None]
        if names or not isinstance(table, Table):
            given = f"{', '.join(names)} is given" if names else f"the table is {type(table).__name__}"
            raise TypeError(f"{given} without texts; expected a table of fst.compile.guide, or a tokenizer and one of {', '.join(TEXTS)}")
        return super().__new__(cls, table)

    def __init__(
        self,
        table: Any,
        *,
        regex: str | None = None,
        schema: Any = None,
        fst: Any = None,
        choice: Sequence[str] | None = None,
        grammar: str | None = None,
        syntax: str | None = None,
        end_id: int | None = None,
        canonical: bool = False,
        whitespace: str | None = None,
        depth: int | None = None,
        formats: bool | None = None,
        order: str | None = None,
        strict: bool | None = None,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self._masks: StateMasks
        texts = {"regex": regex, "schema": schema, "fst": fst, "choice": choice, "grammar": grammar}
        if not any(each is not None for each in texts.values()):
            self._table, self._source, tokens = table, None, table.tokens()
            self._masks = StoredMasks(table)
        else:
            from fst.bridge.guide import late

            options = {"syntax": syntax, "whitespace": whitespace, "depth": depth, "formats": formats, "order": order, "strict": strict}
            given = {**texts, **options, "end_id": end_id, "canonical": canonical}
            tokenizer, states, vocabulary = late(table, **given)
            self._table, self._source = None, (tokenizer, {**given, "kept_bytes": kept_bytes})
            tokens = vocabulary.tokens
            self._masks = LateMasks(states, vocabulary, kept_bytes)
            if not canonical:
                need_start(self, vocabulary)
        self._size, self._end_id = len(tokens.token_ends), int(tokens.end_id[0])

    def __repr__(self) -> str:
        return f"<fst.Guide, {self._masks}, {counted(self.size, 'id')}>"

    @property
    def start(self) -> int:
        """The state before the first token."""
        return self._masks.start

    @property
    def size(self) -> int:
        """The number of bits of a mask: 1 more than the highest id."""
        return self._size

    @property
    def words(self) -> int:
        """The number of 32-bit words of a mask."""
        return self._masks.words

    @property
    def end_id(self) -> int | None:
        """The id of the token that ends a text; None if there is none."""
        return None if self._end_id < 0 else self._end_id

    def mask(self, state: int, max_tokens: int | None = None) -> NDArray[np.uint32]:
        """The mask of a state.

        Args:
            state: a state.
            max_tokens: the number of tokens that may still be written, with the token that ends the text. Only tokens after which the text
                can be completed are then allowed: the shortest way to complete it, in bytes, fits into the tokens that are left, which with
                `canonical` are those of the tokenizer. None: any number.

        Returns:
            uint32[words]: the bit of id ``i`` is bit ``i % 32`` of word ``i // 32``.

        Raises:
            ValueError: `state` is not a state, or the shortest text has more than `max_tokens` tokens; the message contains their number.
            UnsupportedError: `max_tokens` is given to a guide of a table.

        Examples:
            >>> from fst.compile import wordpiece
            >>> guide = Guide(wordpiece(["[UNK]", "[SEP]", "a", "##a", "##b"]), regex="a*b", end_id=1)
            >>> state = guide.step(guide.start, 2)
            >>> guide.allowed(state).tolist(), guide.mask(state, max_tokens=2)
            ([3, 4], array([16], dtype=uint32))
        """
        self._need_state(state)
        if max_tokens is None:
            return self._masks.mask(state)
        if not isinstance(self._masks, LateMasks):
            raise UnsupportedError("max_tokens is given to a guide of a table; make masks late: fst.Guide(tokenizer, …)")
        return self._masks.mask_within(state, index(max_tokens))

    def masks(self, states: Any, out: Any = None, *, max_tokens: Any = None) -> Any:
        """Copy the masks of many states, for example of all texts of a batch.

        Args:
            states: whole numbers, in an array, a tensor or a list.
            out: the array that gets the masks, or a PyTorch tensor in the processor's memory; C-contiguous. An `out` of uint32 or
                int32 has a row of at least `words` numbers for each state, and gets bits; an `out` of bool has rows of any length, and gets
                a value for each id. Elements past the last id become 0. None: a new uint32 array.
            max_tokens: as in `mask`, a whole number for all states, or one for each state.

        Returns:
            `out`, or the new array.

        Raises:
            ValueError: a number is not a state, the shape or the dtype of `out` is wrong, or as in `mask`.
            TypeError: `states` is not a row of whole numbers, or `out` is not an array.

        Examples:
            >>> import numpy as np
            >>> from fst.compile import wordpiece
            >>> guide = Guide(wordpiece(["[UNK]", "a", "##b", "c"]), regex="ab|c")
            >>> guide.masks([guide.start, -1], out=np.empty((2, 4), bool))
            array([[False,  True, False,  True],
                   [False, False, False, False]])
        """
        numbers = _numbers(states)
        if out is None:
            out = np.empty((len(numbers), self.words), np.uint32)
        view = _view(out, len(numbers), self._masks.words)
        if view.dtype is UINT32 and max_tokens is None:
            self._masks.copy(numbers, view)
            return out
        rows = np.empty((len(numbers), self.words), np.uint32)
        if max_tokens is None:
            self._masks.copy(numbers, rows)
        else:
            for row, state, left in zip(rows, numbers.tolist(), np.broadcast_to(max_tokens, numbers.shape).tolist(), strict=True):
                row[:] = self.mask(state, left)
        if view.dtype is UINT32:
            view[:, : self.words], view[:, self.words :] = rows, 0
        else:
            expand.call(rows, view)
        return out

    def allowed(self, state: int) -> NDArray[np.int64]:
        """The ids of the tokens that are allowed in a state, in ascending order: int64[n].

        Raises:
            ValueError: `state` is not a state.
        """
        return ids_of(self.mask(state))

    def step(self, state: int, number: int) -> int:
        """The state after a token.

        Args:
            state: a state.
            number: the id of the token.

        Returns:
            The next state; -1 if the token is not allowed.

        Raises:
            ValueError: `state` is not a state.
            TableError: the mask of the state allows the token, but the automaton does not read the token's bytes: the table was forged.
        """
        self._need_state(state)
        return self._masks.step(state, number if type(number) is int and number >= 0 else row_of((number,))[0])

    def advance(self, state: int, ids: Iterable[int]) -> int:
        """The state after several tokens.

        Args:
            state: a state.
            ids: as in `fst.Tokenizer.decode`.

        Returns:
            The next state; -1 if one of the tokens is not allowed.

        Raises:
            ValueError: `state` is not a state.
            TableError: as in `step`.
            TypeError, OverflowError: as in `fst.Tokenizer.decode`.
        """
        numbers = np.array(row_of(ids), np.int64)
        self._need_state(state)
        return self._masks.advance(state, numbers)

    def validate(self, state: int, ids: Iterable[int]) -> int:
        """Count the tokens that are allowed, one after another.

        Args:
            state: a state.
            ids: as in `fst.Tokenizer.decode`.

        Returns:
            The number of leading ids that are allowed; all of them if it is the number of ids.

        Raises:
            ValueError: `state` is not a state.
            TypeError, OverflowError: as in `fst.Tokenizer.decode`.

        Examples:
            >>> from fst.compile import wordpiece
            >>> guide = Guide(wordpiece(["[UNK]", "a", "##b", "c"]), regex="ab*")
            >>> guide.validate(guide.start, [1, 2, 2, 3])
            3
        """
        self._need_state(state)
        numbers = row_of(ids)
        for count, number in enumerate(numbers):
            state = self._masks.step(state, number)
            if state == NO_STATE:
                return count
        return len(numbers)

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state.

        Raises:
            ValueError: `state` is not a state.
        """
        self._need_state(state)
        return self._masks.is_final(state)

    def forced(self, state: int) -> list[int]:
        """The tokens that follow without a choice, that is, as long as each state allows only one token. A model need not run for these
        tokens.

        Returns:
            Ids; the last is `end_id` if the text must end. At most 4,096.

        Raises:
            ValueError: `state` is not a state.
        """
        found = list[int]()
        while len(found) < MAX_FORCED and state != self._masks.ended and len(allowed := self.allowed(state)) == 1:
            found.append(int(allowed[0]))
            state = self.step(state, found[-1])
        return found

    def save(self, path: str | Path) -> None:
        """Write the table to a file for `fst.load`.

        Raises:
            UnsupportedError: the guide makes masks late.
            OSError: `path` cannot be written.
        """
        if self._table is None:
            raise UnsupportedError("the guide makes masks late, so that there is no table; call fst.compile.guide, and save its result")
        self._table.save(path)

    def _need_state(self, state: Any) -> None:
        if not isinstance(state, WHOLE) or not NO_STATE <= state < len(self._masks):
            raise not_a_state(quoted(state), len(self._masks))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._table,)) if self._source is None else (_late, self._source)

    def __copy__(self) -> Self:
        """Return the same object, because it is immutable."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


def _late(table: Any, given: dict[str, Any]) -> Guide:
    """Unpickle a guide that makes masks late."""
    return Guide(table, **given)


def _numbers(states: Any) -> Array:
    """A row of states, as int64."""
    if type(states) is np.ndarray and states.dtype is INT64 and states.ndim == 1 and states.flags.carray:
        return states
    numbers = np.asarray(states)
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise TypeError(f"states is {numbers.dtype} of shape {numbers.shape}; expected a row of whole numbers")
    return np.ascontiguousarray(numbers, np.int64)


def _view(out: Any, rows: int, words: int) -> Array:
    """Return the memory of an array or a tensor as an array of uint32 or uint8."""
    array = out if isinstance(out, np.ndarray) else out.numpy() if hasattr(out, "numpy") else None
    if array is None:
        raise TypeError(f"out is {type(out).__name__}; expected a NumPy array or a PyTorch tensor")
    dtype, shape = array.dtype, array.shape
    view = VIEWS.get(dtype)
    if view is None or len(shape) != 2 or not array.flags.carray:
        found = f"{dtype} of shape {shape}"
        raise ValueError(f"out is {found}; expected uint32, int32 or bool with two axes, C-contiguous, aligned and writable")
    least = 0 if view is BYTES else words
    if shape[0] != rows or shape[1] < least:
        raise ValueError(f"out has the shape {shape}; expected {rows} rows of at least {least} elements")
    return array if dtype is view else array.view(view)
