"""The machine of token masks: for each state of an automaton over bytes, the tokens that keep a text inside its strings.

A state is the state of the automaton after the bytes of all tokens so far. The mask of a state has a bit for each token whose bytes the
automaton reads from this state. The end of a text is a token, too: its bit is 1 in the masks of final states.

After the states of the automaton, two more follow. `FIRST` is the start of a text if a first token writes other bytes than later tokens.
`ENDED` follows the token that ends a text, and allows only this token.

The automaton of a canonical table reads marked tokens: the bytes of a token, then a mark, which no text contains. So two tokens with the
same text lead to different states. The states between tokens come first, and have masks; in states inside tokens, nothing is allowed.

A mask is stored as a *base*, one of a few rows of bits, and *flips*, the ids whose bits differ from the base.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from fst.automata.rows import MAX_OUTPUT, Array
from fst.core.json_fields import FLAG, TEXT, or_null, stored_as, whole
from fst.core.lazy import Lazy
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import AFTER_STATES, ENDED, FIRST, MARK, NO_STATE, TWIN_MARK, Automaton, Masks, Tokens
from fst.machines.guide.vocabulary import WORD_BITS, words_of
from fst.tables.header import Sections
from fst.tables.proof import need, need_none
from fst.tables.strings import prove_ends
from fst.tables.table import Each, Table, member
from fst.text.reading_arguments import borrowable

MAX_STATES = 1 << 24
MAX_SIZE = 1 << 26  # the largest number of bits of a mask


@dataclass(frozen=True)
class GuideSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        pattern: the pattern or the schema of the texts, for information; None if the table is made from an automaton.
        end_id: the id of the token that ends a text; None if there is none.
        keeps_first: whether the token after a first token that writes nothing is again a first token.
        canonical: whether the automaton reads marked tokens, see the module docstring.
    """

    kind: str = stored_as(TEXT)
    pattern: str | None = stored_as(or_null(TEXT))
    end_id: int | None = stored_as(or_null(whole(0, MAX_OUTPUT)))
    keeps_first: bool = stored_as(FLAG)
    canonical: bool = stored_as(FLAG)


@dataclass(frozen=True)
class GuideMetadata(Sections):
    """The metadata of a table of token masks."""

    settings: GuideSettings


@dataclass(frozen=True, eq=False)
class GuideTable(Table):
    """Token masks of the strings of an automaton.

    Attributes:
        targets: int32[states, classes], the next state of each state for each class of bytes; -1: none. State 0 is the start.
        classes: uint8[256], the class of each byte.
        finals: uint8[states], 1 for each final state, else 0.
        mask_of: uint32[states + 2], the number of the mask of each state.
        bases: uint32[masks], the number of the row from which each mask differs.
        flip_ends: int64[masks], the end of the flips of each mask.
        flips: uint32[n], the ids whose bits differ from the row, in ascending order for each mask.
        rows: uint32[rows, words]: the bit of id ``i`` is bit ``i % 32`` of word ``i // 32``.
        token_bytes, token_ends, first_bytes, first_ends: see `fst.machines.guide.arguments.Tokens`. In a canonical table, the tokens are
            marked, see `fst.machines.guide.vocabulary.marked`, and first tokens write the same bytes as later tokens: the automaton also
            reads the space of a first token.
    """

    kind: ClassVar[str] = "guide"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "fst.runtime.machines.guide.kernels.masks"
    public_class: ClassVar[str] = "fst.runtime.machines.guide.guide.Guide"
    picture: ClassVar[str] = "fst.machines.guide.picture.picture_of"
    has_tokens: ClassVar[bool] = False

    targets: Array = member("<i4", axes=2)
    classes: Array = member("|u1")
    finals: Array = member("|u1")
    mask_of: Array = member("<u4")
    bases: Array = member("<u4")
    flip_ends: Array = member("<i8")
    flips: Array = member("<u4")
    rows: Array = member("<u4", axes=2)
    token_bytes: Array = member("|u1")
    token_ends: Array = member("<i8")
    first_bytes: Array = member("|u1")
    first_ends: Array = member("<i8")

    @Lazy
    def metadata(self) -> GuideMetadata:
        """The metadata of the table."""
        return GuideMetadata.from_json(self.header)

    @property
    def summary(self) -> Mapping[str, Any]:
        """The numbers of states and masks, the memory per state, and the settings."""
        settings, states = self.metadata.settings, len(self.finals)
        masks = sum(array.nbytes for array in (*self.masks(), self.targets, self.finals))
        sizes = {"states": states, "masks": len(self.bases), "ids": len(self.token_ends), "bytes_per_state": masks // states}
        return {"kind": self.kind, **sizes, "end_id": settings.end_id, "canonical": settings.canonical, "pattern": settings.pattern}

    @property
    def ids_per_unit(self) -> int:
        """The capacity: one state per byte of text."""
        return 1

    @property
    def start(self) -> int:
        """The state before the first token."""
        return len(self.finals) + FIRST if len(self.first_ends) else 0

    def run(self, text: str) -> list[int]:
        """The states after each byte of a text, up to the first byte that is not read; in a canonical table, bytes with marks."""
        state, found = 0, list[int]()
        for byte in text.encode():
            state = self._after(state, byte)
            if state == NO_STATE:
                break
            found.append(state)
        return found

    def paths(self, text: bytes) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The states after a text, and the states after a text that ends with a token, each with the bytes that lead to it.

        The two kinds differ in canonical tables only, where the bytes contain marks.
        """
        inside = between = {0: b""}
        for byte in text:
            inside = {self._after(state, byte): path + bytes([byte]) for state, path in (inside | between).items()}
            inside.pop(NO_STATE, None)
            between = {self._after(state, MARK): path + bytes([MARK]) for state, path in self._with_twins(inside)}
            between.pop(NO_STATE, None)
            between = between if self.metadata.settings.canonical else inside
        return inside, between

    def _with_twins(self, paths: Mapping[int, bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the given states, and the states after marks of twins, each with the bytes that lead to it."""
        for state, path in paths.items():
            while state != NO_STATE:
                yield state, path
                state, path = self._after(state, TWIN_MARK), path + bytes([TWIN_MARK])

    def _after(self, state: int, byte: int) -> int:
        """The next state of a state; `NO_STATE` if there is none."""
        return int(self.targets[state, self.classes[byte]])

    def mask(self, state: int) -> Array:
        """bool[ids], the tokens that are allowed in a state, by the slow walk over all tokens.

        This is the specification of the stored masks. In a canonical table, the specification applies to states between tokens.
        """
        return np.array([self.step(state, number) != NO_STATE for number in range(len(self.token_ends))])

    def step(self, state: int, number: int) -> int:
        """The state after a token, by the slow walk; `NO_STATE` if the token's bytes are not read."""
        states, settings = len(self.finals), self.metadata.settings
        if state == NO_STATE:
            return NO_STATE
        if number == settings.end_id:
            return states + ENDED if self.is_final(state) else NO_STATE
        if state == states + ENDED or not self._read(number):
            return NO_STATE
        content = self._read(number, is_first=state == states + FIRST)
        if not content and settings.keeps_first:
            return state
        target = 0 if state == states + FIRST else state
        for byte in content:
            target = self._after(target, byte)
            if target == NO_STATE:
                break
        return target

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        states = len(self.finals)
        return state == states + ENDED or bool(self.finals[0 if state == states + FIRST else state])

    def content(self, number: int, *, is_first: bool = False) -> bytes:
        """The bytes that a token writes."""
        found = self._read(number, is_first=is_first)
        return found.removesuffix(bytes([MARK])).rstrip(bytes([TWIN_MARK])) if self.metadata.settings.canonical else found

    def _read(self, number: int, *, is_first: bool = False) -> bytes:
        """The bytes of a token that the automaton reads."""
        data, ends = (self.first_bytes, self.first_ends) if is_first and len(self.first_ends) else (self.token_bytes, self.token_ends)
        return data[ends[number - 1] if number else 0 : ends[number]].tobytes()

    def allowed(self, state: int) -> Array:
        """int64[n], the ids that the stored mask of a state contains, in ascending order."""
        mask = int(self.mask_of[state])
        bits = np.unpackbits(self.rows[self.bases[mask]].astype("<u4").view(np.uint8), bitorder="little")
        bits[self.flips[self.flip_ends[mask - 1] if mask else 0 : self.flip_ends[mask]]] ^= 1
        return np.flatnonzero(bits)

    def automaton(self) -> Automaton:
        """The automaton, in the form that kernels read."""
        arrays = borrowable(self.targets, np.int32), borrowable(self.classes, np.uint8), borrowable(self.finals, np.uint8)
        return Automaton(*arrays)

    def tokens(self) -> Tokens:
        """The bytes of the tokens, in the form that kernels read."""
        settings = self.metadata.settings
        later = borrowable(self.token_bytes, np.uint8), borrowable(self.token_ends, np.int64)
        first = borrowable(self.first_bytes, np.uint8), borrowable(self.first_ends, np.int64)
        end_id = -1 if settings.end_id is None else settings.end_id
        return Tokens(*later, *first, np.array([end_id]), np.array([settings.keeps_first]))

    def masks(self) -> Masks:
        """The masks, in the form that kernels read."""
        numbers = {name: borrowable(getattr(self, name), np.uint32) for name in ("mask_of", "bases", "flips", "rows")}
        return Masks(**numbers, flip_ends=borrowable(self.flip_ends, np.int64))

    def arguments(self) -> Masks:
        """The masks, in the form that kernels read."""
        return self.masks()

    def work(self) -> Any:
        """No text is read.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("a table of token masks reads no text; call the methods of fst.Guide")

    def prove(self, each: Each = map) -> None:
        """Prove that the kernels are safe on this table; see `fst.tables.table.Table.prove`."""
        super().prove(each)
        states, classes = self.targets.shape
        need(0 < states <= MAX_STATES, f"there are {states} states; expected 1 to {MAX_STATES}")
        need(len(self.finals) == states, f"finals has {len(self.finals)} elements; there are {states} states")
        need(len(self.classes) == 256, f"classes has {len(self.classes)} elements; expected 256")
        need_none(self.classes >= classes, lambda byte: f"byte {byte} has the class {self.classes[byte]} of {classes}")
        need_none(self.finals > 1, lambda state: f"finals is {self.finals[state]} for state {state}; expected 0 or 1")
        wrong = ((self.targets < NO_STATE) | (self.targets >= states)).any(axis=1)
        need_none(wrong, lambda state: f"state {state} leads to a state that is not one of {states}")
        self._prove_tokens()
        self._prove_masks()

    def _prove_tokens(self) -> None:
        size, end_id = len(self.token_ends), self.metadata.settings.end_id
        need(0 < size <= MAX_SIZE, f"there are {size} tokens; expected 1 to {MAX_SIZE}")
        need(len(self.first_ends) in (0, size), f"first_ends has {len(self.first_ends)} elements; expected 0 or {size}")
        need(end_id is None or end_id < size, f"end_id is {end_id}; there are {size} ids")
        prove_ends(self.token_bytes, self.token_ends, "tokens")
        if len(self.first_ends):
            prove_ends(self.first_bytes, self.first_ends, "first tokens")
        need(len(self.first_ends) or not len(self.first_bytes), "first_bytes has bytes of no token")

    def _prove_masks(self) -> None:
        """Prove that each state has a mask, each mask a row, and that only ids have bits."""
        size, masks = len(self.token_ends), len(self.bases)
        rows, words = self.rows.shape
        expected = len(self.finals) + len(AFTER_STATES)
        need(len(self.mask_of) == expected, f"mask_of has {len(self.mask_of)} elements; expected {expected}")
        need_none(self.mask_of >= masks, lambda state: f"state {state} has the mask {self.mask_of[state]} of {masks}")
        need_none(self.bases >= rows, lambda mask: f"mask {mask} has the row {self.bases[mask]} of {rows}")
        need(rows and not self.rows[0].any(), "the first row has a bit")
        need(words == words_of(size), f"a row has {words} words; expected {words_of(size)} for {size} ids")
        unused = ~((1 << (size - 1) % WORD_BITS + 1) - 1) & 0xFFFFFFFF
        need_none(self.rows[:, -1] & np.uint32(unused) != 0, lambda row: f"row {row} has a bit of an id past the last, {size - 1}")
        need(len(self.flip_ends) == masks, f"flip_ends has {len(self.flip_ends)} elements; there are {masks} masks")
        prove_ends(self.flips, self.flip_ends, "lists of flips")
        need_none(self.flips >= size, lambda place: f"flip {place} is the id {self.flips[place]} of {size}")
        ascending = np.diff(self.flips.astype(np.int64)) > 0
        ascending[[end - 1 for end in self._inner_ends()]] = True
        need_none(~ascending, lambda place: f"flip {place + 1} is not greater than the flip before it in its mask")

    def _inner_ends(self) -> Iterator[int]:
        """The positions where one list of flips ends and the next begins."""
        return (end for end in {*self.flip_ends.tolist()} if 0 < end < len(self.flips))


def header(pattern: str | None, end_id: int | None, *, keeps_first: bool, canonical: bool = False) -> Mapping[str, Any]:
    """The metadata of a table as JSON."""
    return GuideMetadata(GuideSettings(GuideTable.kind, pattern, end_id, keeps_first, canonical)).to_json()
