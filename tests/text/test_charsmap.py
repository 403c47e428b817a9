"""Charsmaps before byte-level BPE give the same results as the normalizer `Precompiled` in `tokenizers` and as `sentencepiece`."""

from __future__ import annotations

import json
import random
import tracemalloc
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.machines.bpe import hold_every_way, hold_in_pieces
from support.shared_data import SHARED, needs_shared
from support.text.edits import BOTH, LEFT, document, prepend
from support.text.every_character import EVERY_CHARACTER, swept_characters
from support.text.normalizers import LOWER, NFC, NFKC, NFKD, RAW, STRIPS, Machine, built, hold, in_turn, read, replaced, to, token
from support.tiers import examples, sample, thinned

import fst
from fst.cli.commands.info import described, listed
from fst.compile.text.edits.charsmaps import of_bytes
from fst.compile.text.edits.double_arrays import charsmap, of_nodes
from fst.compile.text.folding import WITH_PREPEND, components
from fst.compile.text.normalizer import normalizer
from fst.errors import TableError, UnsupportedError, VocabularyError
from fst.machines.bpe.table import BpeTable
from fst.runtime.front_end import TextBuffers
from fst.runtime.rows.texts import ONE_TEXT, UNIT_TYPES, units
from fst.runtime.text.normalizer import TextNormalizer
from fst.runtime.workspace import NO_SPECIAL_IDS
from fst.tables.kernel_call import State
from fst.text.character_expansion import CharacterExpansion
from fst.text.charsmap import CLUSTERS, LONGEST
from fst.text.marks import MARK_BYTES
from fst.text.normalizer import NOTHING, normalized_tokens, raw_tokens
from fst.text.whitespace import NO_WHITESPACE

Json = dict[str, Any]

NMT, STRIP_ACCENTS = {"type": "Nmt"}, {"type": "StripAccents"}
# Characters of all classes of grapheme clusters, marks of two, three and four bytes, and spaces.
BITS = (
    *("a", "b", "e", "é", "E", "A", "_", "!", " ", "  ", "\t", "\u00a0", "\r", "\n", "\r\n", "\x01", "\u0301", "\u0323", "\u0903"),
    *("\u200d", "\u200c", "\u0600", "\u070f", "\u1100", "\u1161", "\u11a8", "가", "각", "क", "\u094d", "ी", "©", "☺", "😀", "🏻", "🇩"),
    *("🇪", "世", "\u0345", "\u0e33", "\u0e31", "ﬁ", "\u1e0d", "\U000e0100"),
)
AT_ENDS = 40  # greater than the number of bytes by which U+FDFA is replaced
WORDS = ("<s>", "<mask>", "<r>", "word", "late", "world", "[L]", "[R]", "one")
TEXTS = ("x", "y", "é", "", "ab", "世", " ", "\r", "\u0301", "E")


def precompiled(replacements: dict[str, str]) -> Json:
    """Make a normalizer `Precompiled` that replaces strings."""
    return {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap(replacements)).decode()}


def some_replacements(draw: random.Random) -> dict[str, str]:
    """Draw a few strings and their replacements."""
    strings = ["".join(draw.choices(BITS, k=draw.choice((1, 1, 1, 2, 2, 3)))) for _ in range(draw.randint(1, 8))]
    return {string: "".join(draw.choices(TEXTS, k=draw.randint(0, 3))) for string in strings}


def mixed(draw: random.Random, most: int) -> str:
    """Draw a text that consists of random parts."""
    return "".join(draw.choices((*BITS, *BITS, *WORDS), k=draw.randint(0, most)))


WHITE = {"\t": " ", "\n": " ", "\r": " ", "\u00a0": " "}
SMALL = {**WHITE, "\x01": "", "é": "e", "e\u0301": "E", "ﬁ": "fi", "☺": ":)", "a\u0323": "ạ", "©": "©"}
CASES: dict[str, Json] = {
    "alone": precompiled(SMALL),
    "then edits": in_turn(precompiled(SMALL), BOTH, replaced("_", " {2,}")),
    "after maps": in_turn(NFKD, STRIP_ACCENTS, LOWER, precompiled(SMALL), replaced(" ", " {2,}")),
    "after edits": in_turn(to('"', "ab"), LEFT, precompiled(SMALL), prepend("x")),
    "before maps": in_turn(precompiled(SMALL), NFC, LOWER),
    "composed": in_turn(NFC, precompiled(SMALL)),
    "cleaned": in_turn(NMT, NFKC, precompiled(SMALL)),
}
ADDED = {"none": (), "raw": RAW, "all": (*RAW, *STRIPS, token("e\u0301!", "normalized"))}
each_case = pytest.mark.parametrize("name", thinned(CASES, 8))


@cache
def machine(name: str) -> Machine:
    """Return the table, the tokenizer and the reference tokenizer of a case."""
    return built(document(CASES[name], *ADDED["all"]))


@pytest.mark.slow
@each_case
def test_encodings_are_those_of_the_reference(name: str) -> None:
    """With a charsmap between other normalizers, ids, offsets and words equal those of `tokenizers`."""
    draw = random.Random(name)
    hold(machine(name), ["", *BITS, *(mixed(draw, 14) for _ in sample(range(200), 28))])


@pytest.mark.slow
def test_any_charsmap_replaces_as_the_reference() -> None:
    """With charsmaps of any strings, any texts get the same ids and offsets as in `tokenizers`."""
    for seed in sample(range(12), 12):
        draw = random.Random(seed)
        made = built(document(precompiled(some_replacements(draw)), *ADDED[draw.choice([*ADDED])], adds_space=draw.random() < 0.5))
        hold(made, [mixed(draw, 14) for _ in range(200)])


@each_case
def test_long_texts_are_read_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is read in parts gets the same ids, offsets and words as a text that is read at once."""
    _, tokenizer, _ = machine(name)
    draw = random.Random(name)
    for _ in sample(range(100), 16):
        text = "".join(mixed(draw, 12) + "worldly" * draw.randint(0, 9) for _ in range(9))
        hold_in_pieces(tokenizer, text, draw.choice((4, 16, 64)), monkeypatch)


def test_every_way_through_the_package() -> None:
    """With any type of text, any number of threads and any cuts of streams, the kernel gives the same ids as the walk."""
    draw = random.Random(1)
    texts = ["", *(mixed(draw, draw.choice((1, 3, 10, 40))) for _ in range(10)), "\x01", mixed(draw, 300)]
    table, tokenizer, _ = machine("then edits")
    hold_every_way(tokenizer, texts, [table.run(text) for text in texts], draw)


def test_capacity_is_counted_by_character() -> None:
    """With any sequence of normalizers, a normalized text is never longer than the sum of the maximum lengths computed for its
    characters.
    """
    for seed in sample(range(60), 30):
        draw = random.Random(seed)
        maps, strings = [NFC, NFKD, LOWER, STRIP_ACCENTS], precompiled(some_replacements(draw))
        before, after = draw.choice([to("ﷺé", "a"), to("", "ab"), replaced("ﬁ", "x+"), prepend("ﷺ")]), draw.choice([strings, to("é", "b")])
        by = normalizer(components(in_turn(before, draw.choice(maps), after), WITH_PREPEND), NO_WHITESPACE)
        expansion = CharacterExpansion(by, [], [], 0)
        for text in (*BITS, "\ufdfa", *(mixed(draw, 14) for _ in range(50))):
            normalized, _ = by.normalized(text)
            assert len(normalized.encode()) <= expansion.bytes_of(text.encode()) + AT_ENDS


@pytest.mark.slow
def test_capacity_is_counted_with_added_tokens() -> None:
    """With added tokens, a normalized text is never longer than the sum of the maximum lengths computed for its characters and tokens."""
    table, _, _ = machine("after maps")
    draw, by, added = random.Random(1), table.metadata.text.normalizer, table.metadata.added_tokens
    assert by
    normalizer = TextNormalizer(None, by, added, None)
    expansion = CharacterExpansion(by, [*raw_tokens(added)], [*normalized_tokens(added)], MARK_BYTES + 1)
    for _ in sample(range(4_000), 60):
        row = units(mixed(draw, 14), UNIT_TYPES["utf-8"])
        state, buffers = State(), TextBuffers()
        rewritten = normalizer.rewrite(row, np.array([0, len(row)]), state, buffers, is_inside=False, with_spans=False)
        assert rewritten.starts[1] <= expansion.bytes_of(row.tobytes()) + AT_ENDS


@pytest.mark.slow
def test_memory_for_text_without_spaces() -> None:
    """A long text without whitespace needs at most 120 bytes of memory per byte, although some characters are replaced by many."""
    _, tokenizer, _ = machine("after maps")
    for text in ("a" * 1_500_000, "e\u0301" * 500_000):
        tracemalloc.start()
        tokenizer.encode(text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 120 * len(text.encode())


@pytest.mark.slow
@given(some.sampled_from([*CASES]), some.lists(some.text(some.sampled_from("".join({*"".join(BITS)})), max_size=20), max_size=5))
@examples(60)
def test_any_text_is_rewritten_as_by_the_reference(name: str, texts: list[str]) -> None:
    """Texts of marks, jamo, emoji and all other classes of characters get the same ids and offsets as in `tokenizers`."""
    hold(machine(name), texts)


@pytest.mark.parametrize(
    ("normalizer", "message"),
    [
        (precompiled({"a": "x" * 600}), "bytes of one"),
    ],
)
def test_refusals(normalizer: Json, message: str) -> None:
    """A sequence of normalizers that cannot be compiled exactly is refused, and the message contains their names."""
    with pytest.raises(UnsupportedError, match=message):
        built(document(normalizer))


# Charsmaps under the rules of `sentencepiece`


def by_sentencepiece(data: bytes) -> Any:
    """Make a normalizer of `sentencepiece` with a charsmap, which neither adds nor removes spaces."""
    sentencepiece = pytest.importorskip("sentencepiece")
    size, coded = len(data), bytearray()
    while size:
        coded.append(size & 0x7F | 0x80 * (size > 0x7F))
        size >>= 7
    # The encoded fields of a NormalizerSpec: name, precompiled_charsmap, and three flags that are false.
    spec = b"\x0a\x01x\x12" + bytes(coded) + data + b"\x18\x00\x20\x00\x28\x00"
    return sentencepiece.SentencePieceNormalizer(normalizer_spec=spec)


def longest(data: bytes) -> tuple[BpeTable, fst.Tokenizer]:
    """Make a table of byte-level BPE that replaces the longest strings of a charsmap, and its tokenizer."""
    table, _, _ = built(document(LOWER))
    by = replace(NOTHING, after=(of_bytes(data, LONGEST),))
    found = replace(table, header={**table.header, "rewriting": json.loads(json.dumps(by.stored()))})
    return found, fst.Tokenizer(found)


def hold_longest(data: bytes, texts: Sequence[str]) -> None:
    """Check that the ids and spans, computed by the walk and by the kernels, equal those of `sentencepiece`."""
    reference, (table, tokenizer) = by_sentencepiece(data), longest(data)
    plain = fst.Tokenizer(replace(table, header={**table.header, "rewriting": None}))
    by = of_bytes(data, LONGEST)
    batch = tokenizer.encode_batch([*texts], offsets=True)
    assert batch.offsets is not None
    for row, text in enumerate(texts):
        normalized, begins = reference.normalize(text, with_offsets=True)
        found, places = by.apply(text, [(at, at + 1) for at in range(len(text))])
        assert (found, places) == (normalized, [*pairwise(begins)]), text
        expected = plain.encode_batch([normalized], offsets=True)
        assert expected.offsets is not None
        own = slice(batch.row_splits[row], batch.row_splits[row + 1])
        assert table.run(text) == batch[row].tolist() == expected.ids.tolist(), text
        spans = [(places[begin][0], places[end - 1][1]) for begin, end in expected.offsets.tolist()]
        assert [*map(tuple, batch.offsets[own].tolist())] == spans, text


@pytest.mark.slow
def test_longest_strings_are_replaced_as_by_sentencepiece() -> None:
    """Under the rules of `sentencepiece`, the longest string at each position is replaced, and spans equal those of `sentencepiece`."""
    for seed in sample(range(40), 16):
        draw = random.Random(seed)
        hold_longest(charsmap(some_replacements(draw)), [mixed(draw, 14) for _ in range(100)])


# Real charsmaps

REAL = {"t5": "t5/tokenizer.json", "albert": "albert/tokenizer.json", "xlm-r": "xlm-r/tokenizer.json.gz"}


@cache
def real_normalizer(name: str) -> Json:
    """Return the normalizer of a real vocabulary."""
    found: Json = json.loads(read(SHARED / "vocab_unigram" / REAL[name]))["normalizer"]
    return found


def real_charsmap() -> bytes:
    """The charsmap nmt_nfkc, which is part of all these vocabularies."""
    return b64decode(real_normalizer("t5")["normalizers"][0]["precompiled_charsmap"])


@cache
def real_machine(name: str) -> Machine:
    """Make byte-level BPE with the normalizer of a real vocabulary."""
    return built(document(real_normalizer(name)))


def in_contexts() -> Iterator[str]:
    """Yield texts with every character, a hundred characters per text: alone, before a letter, with a mark, and in grapheme clusters."""
    for at in range(0, len(swept_characters()), 100):
        chars = swept_characters()[at : at + 100]
        yield "".join(chars)
        yield "".join(f"{char}x" for char in chars)
        yield "".join(f"a{char}\u0301" for char in chars)
        yield "".join(f"\u0915\u094d{char}\u200d\u00a9{char}\n" for char in chars)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_character_in_four_contexts(name: str) -> None:
    """With the normalizers of T5, ALBERT and XLM-R, any character gets the same ids and offsets as in `tokenizers`."""
    table, tokenizer, reference = real_machine(name)
    texts = sample([*in_contexts()], 6, name)
    for first in range(0, len(texts), 1_000):
        some_texts = texts[first : first + 1_000]
        expected = reference.encode_batch(some_texts, add_special_tokens=False)
        batch = tokenizer.encode_batch(some_texts, offsets=True, add_special_tokens=False)
        assert batch.offsets is not None
        assert batch.ids.tolist() == [number for row in expected for number in row.ids]
        assert [*map(tuple, batch.offsets.tolist())] == [span for row in expected for span in row.offsets]
        for text in some_texts[::100]:
            assert table.run(text) == tokenizer.encode(text, add_special_tokens=False).tolist()


@needs_shared
@pytest.mark.parametrize("name", thinned(REAL, 8))
@pytest.mark.slow
def test_corpora_by_real_normalizers(name: str) -> None:
    """With real normalizers, the corpora get the same ids and offsets as in `tokenizers`, even if they are decomposed or have line ends
    of two characters.
    """
    for path in sorted((SHARED / "corpora").iterdir()):
        text = path.read_text(encoding="utf-8", errors="replace")[:10_000]
        rows = sample([text[at : at + 500] for at in range(0, len(text), 500)], 20)
        more = [*(unicodedata.normalize("NFD", row) for row in rows), *(row.replace("\n", "\r\n") for row in rows)]
        hold(real_machine(name), [*rows, *more])


@needs_shared
def test_a_real_charsmap_by_sentencepiece() -> None:
    """With the charsmap nmt_nfkc, which has 224,711 strings, the replacements equal those of `sentencepiece`."""
    draw = random.Random(1)
    texts = ["".join(draw.choices(EVERY_CHARACTER, k=30)) for _ in sample(range(3_000), 60)]
    texts += [mixed(draw, 20) for _ in range(100)]
    texts += [unicodedata.normalize("NFD", "".join(chr(draw.randrange(0xAC00, 0xD7A4)) for _ in range(20))) for _ in range(50)]
    hold_longest(real_charsmap(), texts)


# Malformed charsmaps

WHOLE = charsmap({"a": "b", "ab": "", "é": "c"})


def with_unit(number: int, unit: int) -> bytes:
    """Return a small charsmap in which one unit is changed."""
    return WHOLE[: 4 + 4 * number] + np.uint32(unit).tobytes() + WHOLE[8 + 4 * number :]


MALFORMED = [
    (b"", "without strings"),
    (b"abc", "without strings"),
    (bytes(4), "without strings"),
    (WHOLE[:50], "at most 46"),
    (b"\x05" + WHOLE[1:], "expected a multiple of 4"),
    (WHOLE[:-1], "do not end with a NUL"),
    (WHOLE[:-3] + b"\xff\x00", "texts that are not UTF-8"),
    (with_unit(0, 1 << 30), "past its 256 units"),
    (of_nodes([({0x61: 1}, None), ({0x61: 1}, None)], b"\0"), "a cycle"),
    (of_nodes([({0x61: 1, 0x62: 1}, None), ({0x61: 2}, None), ({0x61: 1}, 0)], b"\0"), "a cycle"),
    (of_nodes([({0x61: 1}, None), ({}, 7)], b"b\0"), "a text at 7 of 2 bytes"),
    (of_nodes([({0x61: 1}, None), ({}, 1)], "é\0".encode()), "or inside a character"),
    (of_nodes([({0xC3: 1}, None), ({}, 0)], b"\0"), "ends inside a character"),
    (of_nodes([({0xA9: 1}, None), ({}, 0)], b"\0"), "strings that are not UTF-8"),
    (of_nodes([({0xC3: 1}, None), ({0x61: 2}, None), ({}, 0)], b"\0"), "strings that are not UTF-8"),
    (of_nodes([({0xED: 1}, None), ({0xA0: 2}, None), ({0x80: 3}, None), ({}, 0)], b"\0"), "strings that are not UTF-8"),
    (of_nodes([({0xE0: 1}, None), ({0x80: 2}, None), ({0x80: 3}, None), ({}, 0)], b"\0"), "strings that are not UTF-8"),
    (charsmap({"a" * 257: "b"}), "more than 256 bytes"),
    (charsmap({"a" * size: "b" for size in range(1, 34)}), "33 lengths"),
]


def test_charsmap_that_has_no_room() -> None:
    """A charsmap is refused if the children of a node are too far away for the number of bits that a unit has for offsets."""
    with pytest.raises(ValueError, match="room for more strings: unit 0 cannot store its base 4194304"):
        of_nodes([({0x61: ~5}, None)], b"\0", np.zeros(1 << 22, np.uint32))


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("data", "message"), MALFORMED)
def test_malformed_charsmaps_are_refused(data: bytes, message: str) -> None:
    """A charsmap that is cut short, contains an endless loop, or leads out of bounds is refused, and the message describes the fault."""
    with pytest.raises(VocabularyError, match=message):
        of_bytes(data, LONGEST)


def test_charsmaps_that_are_not_in_base_64() -> None:
    """A normalizer is refused if its charsmap is not valid base 64."""
    with pytest.raises(VocabularyError, match="not in base 64"):
        built(document({"type": "Precompiled", "precompiled_charsmap": "?"}))


@given(some.lists(some.tuples(some.integers(0, len(WHOLE) - 1), some.integers(0, 255)), max_size=4), some.integers(0, len(WHOLE)))
@examples(1_000)
def test_damaged_charsmaps_are_refused_or_sound(damage: list[tuple[int, int]], size: int) -> None:
    """A charsmap with changed bytes is refused, or its replacements are valid text."""
    data = bytearray(WHOLE)
    for place, byte in damage:
        data[place] = byte
    for manner in (CLUSTERS, LONGEST):
        for one in (bytes(data), bytes(data[:size])):
            try:
                found = of_bytes(one, manner)
            except VocabularyError:
                continue
            text, places = found.apply("abéa\u0301\n", [(at, at + 1) for at in range(6)])
            assert len(text) == len(places)


HARM: list[tuple[Json, str]] = [
    ({"manner": "shortest"}, "unknown manner"),
    ({"more": 1}, "unknown keys"),
    ({"data": 5}, "not a string"),
    ({"data": "?"}, "base64|Only base64|Incorrect padding|Non-base64"),
    ({"data": ""}, "without strings"),
    ({"data": b64encode(with_unit(0, 1 << 30)).decode()}, "past its 256 units"),
    ({"classes": [[5, 4, 1]]}, "not runs"),
    ({"classes": [[1, 1, 18]]}, "not runs"),
    ({"classes": [[1, 1, 1]] * 5_000}, "more than 4096"),
    ({"data": b64encode(charsmap({"a": "x" * 600})).decode()}, "bytes of one; at most"),
]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("harm", "message"), HARM)
def test_hostile_tables_are_refused(harm: Json, message: str, tmp_path: Path) -> None:
    """A table with an invalid charsmap is refused when it is loaded."""
    table, _, _ = machine("composed")
    stored = table.header["rewriting"]
    wrong = replace(table, header={**table.header, "rewriting": {**stored, "after": [{**stored["after"][0], **harm}]}})
    wrong.save(tmp_path / "wrong.npz")
    with pytest.raises(TableError, match=message):
        fst.load(tmp_path / "wrong.npz")


def test_a_table_has_one_charsmap(tmp_path: Path) -> None:
    """A table with two charsmaps is refused, because the kernels support only one."""
    table, _, _ = machine("composed")
    stored = table.header["rewriting"]
    wrong = replace(table, header={**table.header, "rewriting": {**stored, "after": [*stored["after"], *stored["after"]]}})
    wrong.save(tmp_path / "wrong.npz")
    with pytest.raises(TableError, match="several charsmaps"):
        fst.load(tmp_path / "wrong.npz")


def test_texts_without_strings_are_read_where_they_lie() -> None:
    """A text that contains no string of the charsmap is not copied before it is read."""
    _, tokenizer, _ = machine("alone")
    for text, is_plain in (("plain e\u0300", True), ("a\n", False), ("e\u0301", False), ("q\u0301", False), ("\u0301", False)):
        assert (tokenizer._ids_runner.encode_texts([text], ONE_TEXT, NO_SPECIAL_IDS) is not None) is is_plain


def test_a_person_is_shown_the_beginning_of_a_charsmap() -> None:
    """`fst info` prints the size and the beginning of a charsmap, and its JSON output contains the entire charsmap."""
    description = described(machine("composed")[0], "table.npz", 1)
    (line,) = (line for line in listed(description) if line.startswith("normalizer_parts"))
    data = CASES["composed"]["normalizers"][1]["precompiled_charsmap"]
    assert f"{data[:20]}... ({len(data):,} characters)" in line
    assert data in json.dumps(description)
    assert data not in line
