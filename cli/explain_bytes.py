"""How a text becomes tokens of byte-level BPE: its pieces, and what the automaton or the merges make of each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fst.machines.bpe import BpeTables


def explained_bytes(tables: BpeTables, text: str) -> Iterator[str]:
    """The explanation of a text, as lines: of each special token and each piece in it."""
    names = dict(zip(tables.token_ids.tolist(), tables.tokens, strict=True))
    for place, (part, special) in enumerate(tables.parts(text)):
        if place:
            yield ""
        if special is None:
            yield from _piece(tables, part.encode(), names)
        else:
            yield f"{part}: a special token, id {special}"


def _piece(tables: BpeTables, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """A piece: how the table reads it, then its tokens."""
    from fst.machines.byte_letters import spelled

    yield f"piece {spelled(piece)}"
    yield from _states(tables, piece, names) if tables.has_automaton else _merges(tables, piece, names)
    yield "  tokens " + " ".join(f"{names[number]} {number}" for number in tables.run_piece(piece))


def _states(tables: BpeTables, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """After each byte the state, and the last token of the bytes so far."""
    from fst.machines.byte_letters import spelled
    from fst.merging import MAX_VALUE, ROOT, step

    state = ROOT
    for byte in piece:
        state = step(tables.entries, state, byte)
        yield f"  {spelled(bytes([byte]))}  {byte:#04x}  state {state:>8}  last token {names[int(tables.entries[state]) & MAX_VALUE]}"


def _merges(tables: BpeTables, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Each merge: its rank and its parts."""
    from fst.merge_list import steps

    for rank, left, right in steps(tables.ranks, tables.merges, tables.atoms_of(piece)):
        yield f"  merge {rank:>8}  {names[left]} {names[right]}"
