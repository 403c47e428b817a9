"""The automaton of BPE is built from a merge list, stored in the rows of a table, checked by the proof, and run by the walk."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from hypothesis import given
from hypothesis import strategies as some
from support.naive import models as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, sample, thinned
from tokenizers.models import BPE

from fst.automata.rows import BYTE_ROW
from fst.compile.machines.bpe.canonical_tokens import CanonicalTokens, Merges, canonical_tokens
from fst.compile.machines.bpe.item_sets import MergeRows, States, close, lay_out
from fst.errors import TableError, UnsupportedError, VocabularyError
from fst.machines.bpe.automaton import ENTRY, FINISH, FREE, LABELS, MAX_ID, prove, walk

VOCABULARIES = SHARED / "vocab_bpe"
ATOMS = [bytes([byte]) for byte in range(256)]
ABC = b"abc"

Pairs = Sequence[tuple[bytes, bytes]]
SlowItem = frozenset[tuple[bytes, bytes]]
SlowState = tuple[bytes, tuple[SlowItem, ...]]


class Machine(NamedTuple):
    """A merge list, and the automaton, the table and the other objects that are built from this list."""

    merges: Merges
    tokens: CanonicalTokens
    states: States
    rows: MergeRows

    def ids(self, piece: bytes) -> list[int]:
        """Return the token ids of a pre-token."""
        return walk(self.rows.entries, self.rows.lengths, piece)

    def encode(self, piece: bytes) -> list[bytes]:
        """Return the tokens of a pre-token."""
        names = {number: token for token, number in self.merges.tokens.items()}
        return [names[number] for number in self.ids(piece)]


def machine_of(merges: Merges) -> Machine:
    """Compile a proper merge list, and check that the table passes its proof."""
    tokens = canonical_tokens(merges)
    states = close(tokens)
    rows = lay_out(tokens.tokens, states)
    prove(rows.entries, rows.lengths, rows.depths)
    return Machine(merges, tokens, states, rows)


def merges_of(pairs: Pairs, more: Sequence[bytes] = ()) -> Merges:
    """Return merges and their tokens, whose ids are in random order, with gaps."""
    tokens = list(dict.fromkeys([*ATOMS, *(left + right for left, right in pairs), *more]))
    ids = random.Random(len(tokens)).sample(range(2 * len(tokens)), len(tokens))
    return Merges(dict(zip(tokens, ids, strict=True)), pairs)


def random_pairs(seed: int, letters: bytes) -> list[tuple[bytes, bytes]]:
    """Draw a merge list in any order, in which pairs are repeated, different pairs make the same token, and no merge makes some of the
    tokens.
    """
    chosen = random.Random(seed)
    tokens = [bytes([letter]) for letter in letters]
    pairs: list[tuple[bytes, bytes]] = []
    for _ in range(chosen.randint(1, 12)):
        left, right = chosen.choices(tokens, k=2)
        if len(left + right) <= 7:
            pairs.append((left, right))
            tokens += [left + right] * (left + right not in tokens)
    if chosen.random() < 0.3 and pairs:
        pairs.append(chosen.choice(pairs))
    if chosen.random() < 0.3:
        first, second = (chosen.randrange(len(pairs) + 1) for _ in range(2))
        pairs[first : first + 1], pairs[second : second + 1] = pairs[second : second + 1], pairs[first : first + 1]
    return pairs


def strings_over(letters: bytes, longest: int) -> Iterator[bytes]:
    """Return all strings over `letters` up to a given length."""
    for length in range(longest + 1):
        yield from map(bytes, itertools.product(letters, repeat=length))


@cache
def byte_of() -> dict[str, int]:
    """Map each character that represents a byte in a byte-level vocabulary to this byte."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


@cache
def char_of() -> dict[int, str]:
    """Map each byte to the character that represents it in a byte-level vocabulary."""
    return {byte: char for char, byte in byte_of().items()}


def spelled(token: bytes) -> str:
    """Return the characters that represent the bytes of a token in a byte-level vocabulary."""
    return "".join(char_of()[byte] for byte in token)


def raw(token: str) -> bytes:
    """Return the bytes of a token that a byte-level vocabulary spells with characters."""
    return bytes(byte_of()[char] for char in token)


def reference(merges: Merges) -> BPE:
    """Make the BPE model of `tokenizers` for a merge list."""
    tokens = {spelled(token): number for token, number in merges.tokens.items()}
    return BPE(tokens, [(spelled(left), spelled(right)) for left, right in merges.pairs])


def ids_of(model: BPE, piece: bytes) -> list[int]:
    """Return the ids that `tokenizers` gives a pre-token."""
    return [token.id for token in model.tokenize(spelled(piece))]


# Merge lists


def test_definition_is_the_reference() -> None:
    """The naive encoder gives the same ids as `tokenizers`, for merges in any order, even if merges are repeated."""
    for seed in sample(range(120), 12):
        merges = merges_of(random_pairs(seed, ABC))
        model = reference(merges)
        for piece in sample(list(strings_over(ABC, 8)), 40, seed):
            expected = [merges.tokens[token] for token in naive.bpe(piece, merges.pairs)]
            assert ids_of(model, piece) == expected, (merges.pairs, piece)


@given(some.dictionaries(some.text("ab", min_size=2, max_size=7).map(str.encode), some.integers(0, 99), max_size=20), some.text("ab"))
@examples(1000, deadline=None)
def test_ranks_of_tokens_are_merges(tokens: Mapping[bytes, int], text: str) -> None:
    """If any ranks of tokens are converted to merges, the merges give the same tokens as the ranks."""
    order = sorted(tokens, key=lambda token: (tokens[token], token))
    ranks = {token: rank for rank, token in enumerate([*ATOMS, *order])}
    merges = Merges.of_ranks(ranks)
    for piece in [text.encode(), *tokens]:
        assert naive.bpe(piece, merges.pairs) == naive.bpe_by_ranks(piece, ranks)


def last_merges(merges: Merges) -> dict[bytes, tuple[bytes, bytes, int]]:
    """Compute, by the definition of BPE, the left part, the right part and the rank of the last merge for each canonical token."""
    ranks = {pair: rank for rank, pair in enumerate(merges.pairs)}
    found = {}
    for token in merges.tokens:
        if len(token) > 1 and naive.bpe(token, merges.pairs) == [token]:
            parts = naive.bpe(token, [pair if sum(map(len, pair)) < len(token) else (b"", b"") for pair in merges.pairs])
            found[token] = (parts[0], parts[1], ranks[parts[0], parts[1]])
    return found


@pytest.mark.parametrize("seed", range(30))
def test_last_merges_are_those_of_the_definition(seed: int) -> None:
    """The parts and the rank of each canonical token's last merge are correct, and a list is proper if no part of a token has a higher
    rank than the token.
    """
    merges = merges_of(random_pairs(seed, ABC), [b"aaaa", b"abcabc", b""])
    tokens, names, expected = canonical_tokens(merges), list(merges.tokens), last_merges(merges)
    found = {names[t]: (names[tokens.left[t]], names[tokens.right[t]], tokens.rank[t]) for t in tokens.made}
    assert found == expected
    ranks = {token: rank for token, (_, _, rank) in expected.items()}
    assert tokens.proper == all(max(ranks.get(left, -1), ranks.get(right, -1)) < rank for left, right, rank in expected.values())


def test_improper_lists_are_told() -> None:
    """A list in which a token has a lower rank than one of its parts is recognized as improper, so no automaton is built."""
    improper = canonical_tokens(merges_of([(b"ab", b"c"), (b"a", b"b")]))
    assert not improper.proper
    with pytest.raises(UnsupportedError, match="the merge list is improper"):
        close(improper)
    assert canonical_tokens(merges_of([(b"ab", b"c"), (b"b", b"c"), (b"a", b"b")])).proper


BYTES = {atom: number for number, atom in enumerate(ATOMS)}


@pytest.mark.parametrize(
    ("tokens", "pairs", "fault"),
    [
        ({**BYTES, b"ab": 256}, [(b"a", b"b"), (b"a", b"x"), (b"a", b"y")], r"merge 1, b'a' with b'x': b'ax' is not a token"),
        ({**BYTES, b"abc": 256}, [(b"ab", b"c")], r"merge 0, b'ab' with b'c': b'ab' is not a token"),
        ({**BYTES, b"": 256}, [(b"", b"a")], r"merge 0, b'' with b'a': a part is empty"),
        ({**BYTES, b"ab": 97}, [(b"a", b"b")], r"the tokens b'a', b'ab' share the id 97"),
        ({**BYTES, b"ab": MAX_ID + 1}, [], rf"the ids {MAX_ID + 1}; ids are 0 to {MAX_ID}"),
        ({**BYTES, b"ab": -1}, [], r"the ids -1; ids are 0 to"),
    ],
)
def test_faulty_lists_are_refused(tokens: Mapping[bytes, int], pairs: Pairs, fault: str) -> None:
    """An invalid merge list is refused, and the message gives the reason."""
    with pytest.raises(VocabularyError, match=fault):
        canonical_tokens(Merges(tokens, pairs))


def test_bytes_that_no_text_has_need_no_token() -> None:
    """A vocabulary may lack the bytes that never occur in UTF-8, and the table still passes the proof and encodes all other bytes."""
    tokens = {atom: number for atom, number in BYTES.items() if atom[0] not in (0xC0, 0xC1) and atom[0] < 0xF5}
    machine = machine_of(Merges({**tokens, b"ab": 300}, [(b"a", b"b")]))
    assert machine.encode(b"aab\xf4") == [b"a", b"ab", b"\xf4"]


@pytest.mark.slow
def test_tokens_have_a_greatest_length() -> None:
    """A token of 65,535 bytes is compiled, but a longer token is refused."""
    pairs = [(b"a" * (1 << level), b"a" * (1 << level)) for level in range(15)]
    longest = b"a" * (1 << 15)
    machine = machine_of(merges_of(pairs, [b"b" * 65535]))
    assert machine.encode(longest + b"aa") == [longest, b"aa"]
    with pytest.raises(UnsupportedError, match="a token of 65536 bytes: there is room for 65535"):
        canonical_tokens(merges_of(pairs, [b"b" * 65536]))


# The automaton


class SlowStates:
    """The states of a merge list, computed by their definition: for each state F, and for each item the remaining strings, with the tokens
    that these strings complete.
    """

    def __init__(self, merges: Merges) -> None:
        self.parts = last_merges(merges)
        self.root: SlowState = (b"", ())

    def completions(self, u: bytes) -> SlowItem:
        """Compute T(u), which the definition uses: the tokens that u completes, each with its right part."""
        rank_above = {u: len(self.parts) + 1_000_000}  # for each token on the spine: its right part → its rank
        edge = u
        while edge in self.parts:
            rank_above[self.parts[edge][1]] = self.parts[edge][2]
            edge = self.parts[edge][1]
        return frozenset((suc, t) for t, (pre, suc, rank) in self.parts.items() if pre in rank_above and rank < rank_above[pre])

    def step(self, state: SlowState, byte: bytes) -> SlowState:
        """The state that follows a state after a byte."""
        moved = [{(rest[1:], t) for rest, t in item if rest[:1] == byte} for item in state[1]]
        last = max([t for item in moved for rest, t in item if not rest] + [byte], key=len)
        alive = [frozenset((rest, t) for rest, t in item if rest) for item in moved]
        return last, tuple(item for item in [*alive, self.completions(last)] if item)


@pytest.mark.parametrize("seed", range(40))
def test_states_are_those_of_the_definition(seed: int) -> None:
    """The states and transitions of the automaton equal those that a slow search finds by their definition."""
    merges = merges_of(random_pairs(seed, ABC))
    tokens = canonical_tokens(merges)
    if not tokens.proper:
        return
    states, by_definition, names = close(tokens), SlowStates(merges), list(merges.tokens)
    bounds = states.starts.tolist()
    rows = [
        dict(zip(states.labels[begin:end].tolist(), states.targets[begin:end].tolist(), strict=True))
        for begin, end in itertools.pairwise(bounds)
    ]
    twin_of, waiting = {0: by_definition.root}, [0]
    for state in waiting:
        for byte in b"abcd":
            target = {**rows[0], **rows[state]}[byte]
            twin = by_definition.step(twin_of[state], bytes([byte]))
            waiting += [target] * (target not in twin_of)
            assert twin_of.setdefault(target, twin) == twin
            assert names[states.last[target]] == twin[0]
    assert len(set(twin_of.values())) == len(twin_of)
    assert len(states.last) == len(twin_of) + len(ATOMS) - len(b"abcd")


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("letters", "longest", "seed"),
    thinned([*((b"ab", 10, seed) for seed in range(50)), *((ABC, 8, seed) for seed in range(70))], 20),
)
def test_walk_is_the_definition(letters: bytes, longest: int, seed: int) -> None:
    """For a proper list, the walk gives the same tokens as the definition of BPE for every string over a small alphabet."""
    merges = merges_of(random_pairs(seed, letters))
    if canonical_tokens(merges).proper:
        machine = machine_of(merges)
        for piece in strings_over(letters, longest):
            assert machine.encode(piece) == naive.bpe(piece, merges.pairs), (merges.pairs, piece)


# Real vocabularies


def slow(*names: str) -> list[ParameterSet]:
    """Mark test parameters that only the slow tier runs."""
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


def byte_level(name: str) -> Merges:
    """Read the merge list of a byte-level ``tokenizer.json``."""
    path = VOCABULARIES / name / "tokenizer.json"
    model = json.loads(path.read_bytes() if path.exists() else gzip.decompress(path.with_suffix(".json.gz").read_bytes()))["model"]
    tokens = {raw(token): number for token, number in model["vocab"].items() if byte_of().keys() >= set(token)}
    left_and_right = (merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"])
    return Merges(tokens, [(raw(left), raw(right)) for left, right in left_and_right])


def ranks_of(name: str) -> dict[bytes, int]:
    """Read the ranks from a file of `tiktoken`."""
    lines = (VOCABULARIES / name / f"{name}.tiktoken").read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}


def pieces(tokens: Sequence[bytes], count: int) -> Iterator[bytes]:
    """Yield random bytes, sequences of tokens that are cut at random positions, and periodic runs."""
    chosen, atoms = random.Random(count), [token for token in tokens if len(token) == 1]
    for _ in range(count):
        yield b"".join(chosen.choices(atoms, k=chosen.randint(1, 20)))
        joined = b"".join(chosen.choices(tokens, k=chosen.randint(1, 6)))
        yield joined[chosen.randrange(3) : len(joined) - chosen.randrange(3)] or joined
        yield (chosen.choice(tokens)[: chosen.randint(1, 4)] * chosen.randint(2, 40))[: chosen.randint(1, 150)]


def of_text(tokens: Mapping[bytes, int]) -> list[bytes]:
    """Return the tokens that can occur in a valid text, because all their bytes are below 0xF8."""
    return [token for token in tokens if max(token, default=LABELS) < LABELS]


@needs_shared
@pytest.mark.parametrize("name", ["gpt2", *thinned(slow("gpt_neox", "mpt", "qwen3", "roberta"), 4)])
def test_vocabularies_give_the_ids_of_the_reference(name: str) -> None:
    """With the merges of a byte-level vocabulary, the walk gives the same ids as `tokenizers`."""
    machine = machine_of(byte_level(name))
    model = reference(machine.merges)
    for piece in pieces(of_text(machine.merges.tokens), 2000):
        assert machine.ids(piece) == ids_of(model, piece), piece


@needs_shared
@pytest.mark.parametrize("name", thinned(slow("r50k_base", "cl100k_base", "o200k_base", "p50k_base"), 4))
def test_ranks_give_the_ids_of_tiktoken(name: str) -> None:
    """With the ranks of a `tiktoken` vocabulary, the walk gives the same ids as `tiktoken`."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = ranks_of(name)
    machine = machine_of(Merges.of_ranks(ranks))
    encoding = tiktoken.Encoding(name, pat_str=r"(?s:.+)", mergeable_ranks=ranks, special_tokens={})
    for piece in pieces(of_text(ranks), 2000):
        assert machine.ids(piece) == encoding._encode_single_piece(piece), piece


# Tables


@cache
def small() -> Machine:
    """Compile a machine with few tokens, several of which are long."""
    pairs = [(b"a", b"b"), (b"ab", b"ab"), (b"c", b"a"), (b"abab", b"ca"), (b"b", b"b"), (b"bb", b"bb"), (b"c", b"c"), (b"cc", b"cc")]
    return machine_of(merges_of(pairs))


def test_rows_are_those_of_the_states() -> None:
    """In the table, every state has a finish entry and its transitions, and all other slots are free."""
    merges, tokens, states, rows = small()
    expected = np.full(len(rows.entries), FREE)
    names = np.array(list(merges.tokens.values()))
    expected[rows.slots] = ENTRY.pack(FINISH, np.append(0, names[states.last[1:]]))
    for state, (begin, end) in enumerate(itertools.pairwise(states.starts.tolist())):
        for label, target in zip(states.labels[begin:end].tolist(), states.targets[begin:end].tolist(), strict=True):
            if label < LABELS:
                expected[rows.slots[state] + 1 + label] = ENTRY.pack(label, rows.slots[target])
    assert rows.entries.tolist() == expected.tolist()
    assert rows.depths[0] == 0
    assert sorted(rows.depths.tolist()) == sorted(states.depths.tolist())
    assert all(rows.lengths[number] == len(token) for token, number in merges.tokens.items())
    assert rows.lengths.sum() == sum(map(len, merges.tokens))
    assert tokens.proper


def test_a_list_makes_one_table() -> None:
    """The same merges always give the same table."""
    again = machine_of(small().merges).rows
    assert all(np.array_equal(getattr(again, name), getattr(small().rows, name)) for name in ("entries", "lengths", "depths", "slots"))


def entry(label: int, target: int) -> int:
    """Pack two fields into a table entry."""
    return int(ENTRY.pack(label, target))


DEEP = int(small().rows.slots[small().states.depths.argmax()])
ONE = int(small().rows.slots[1])  # the state after a certain byte
LAST = int(small().rows.slots.max())


@pytest.mark.parametrize(
    ("name", "place", "value", "fault"),
    [
        ("entries", 0, entry(1, 0), "the first slot of entries is not a state; it must be the root"),
        ("entries", 1 + 0x61, entry(0x60, ONE), "the root has no transition for byte 0x61"),
        ("entries", 1 + 0xF7, FREE, "the root has no transition for byte 0xf7"),
        ("entries", 1 + 0x61, entry(0x61, 0), "the transition at slot 98 of entries leads to the root"),
        ("entries", 1 + 0x61, entry(0x61, LAST + 1), "the transition at slot 98 of entries leads to no state"),
        ("entries", 1 + 0x61, entry(0x61, ENTRY.max_target), "the transition at slot 98 of entries leads to no state"),
        ("entries", 1 + 0x61, entry(0x61, DEEP), "the transition at slot 98 of entries leads more than one deeper than its state"),
        ("entries", LAST + 1, entry(FINISH, 0), "the row of state .* ends at slot .* of "),
        ("entries", LAST, FREE, "there are .* states, and .* depths"),
        ("entries", ONE, entry(FINISH, 99999), "state .* has the token 99999; there are .* lengths"),
        ("depths", 0, 1, "the root has depth 1"),
        ("depths", 1, 0, "state .* has a token longer than its depth, 0 bytes"),
        ("lengths", ENTRY.unpack(small().rows.entries[ONE]).target, 0, "state .* has the token .*, which has no bytes"),
        ("lengths", ENTRY.unpack(small().rows.entries[ONE]).target, 2, "state .* has a token longer than its depth, 1 bytes"),
    ],
)
def test_proof_names_the_fault(name: str, place: int, value: int, fault: str) -> None:
    """A table with one wrong element is refused, and the message describes the fault."""
    arrays = {kind: getattr(small().rows, kind).copy() for kind in ("entries", "lengths", "depths")}
    arrays[name][place] = value
    with pytest.raises(TableError, match=f"^{fault}"):
        prove(arrays["entries"], arrays["lengths"], arrays["depths"])


@pytest.mark.parametrize("size", [0, 1, BYTE_ROW - 1])
def test_tables_hold_a_row(size: int) -> None:
    """A table with fewer slots than a row needs is refused."""
    with pytest.raises(TableError, match=f"entries has {size} slots; a row takes {BYTE_ROW}"):
        prove(small().rows.entries[:size], small().rows.lengths, small().rows.depths)


def mutated(chosen: random.Random) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """A table with a few random changes: flipped bits, values copied from other elements, and replaced states and ids."""
    rows = small().rows
    arrays = {kind: getattr(rows, kind).copy() for kind in ("entries", "lengths", "depths")}
    for _ in range(chosen.randint(1, 3)):
        array = arrays[chosen.choice(["entries", "entries", "entries", "lengths", "depths"])]
        place = chosen.choice([chosen.randrange(len(array)), chosen.randrange(min(len(array), BYTE_ROW)), min(LAST, len(array) - 1)])
        bits, element, state = 8 * array.itemsize, int(array[place]), chosen.choice(rows.slots.tolist())
        changes = [element ^ 1 << chosen.randrange(bits), chosen.choice(array.tolist()), element & ~ENTRY.max_target | state]
        array[place] = chosen.choice(changes) % (1 << bits)
    return arrays


def test_damaged_tables_are_refused_or_walk_safely() -> None:
    """A damaged table that passes the proof is safe: no walk reads outside the arrays, and the lengths of the tokens add up to the
    length of the text.
    """
    texts = [*sample(list(strings_over(b"abc", 6)), 40), b"\x00\xf7ab\xf7", b"ab" * 20]
    passed = 0
    for seed in sample(range(5_000), 16):
        arrays = mutated(random.Random(seed))
        try:
            prove(arrays["entries"], arrays["lengths"], arrays["depths"])
        except TableError:
            continue
        passed += 1
        for piece in texts:
            ids = walk(arrays["entries"], arrays["lengths"], piece)
            assert sum(arrays["lengths"][ids].tolist()) == len(piece)
    assert passed > 50
