"""Tables with forged metadata, or with arrays that contradict the metadata, are refused or harmless."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.tables.forging import (
    DEEP,
    KNOWN,
    TEXTS,
    TOKENS,
    UNKNOWN,
    changed,
    header,
    refused,
    refused_by_proof,
    with_array,
    with_header,
)
from support.tiers import examples, sample, thinned

import fst
from fst.automata.rows import (
    ONE,
    ROOT,
    Array,
    pack,
)
from fst.machines.wordpiece.table import Walk, WordPieceTable
from fst.registry import load
from fst.tables import npz
from fst.tables.proof import Tokens
from fst.text.added_tokens import MAX_CONTEXTUAL
from fst.text.composition import Composition, Images
from fst.text.normalizer import Normalizer
from fst.text.whitespace import NO_WHITESPACE, Whitespace

NUMBERS = ("unk_id", "dead", "columns", "states", "max_input_chars_per_word")
NO_NUMBERS: tuple[Any, ...] = (None, True, "1", 1.0, -1, [1], {}, 1 << 31, 10**30, float("nan"))
NO_LISTS_OF_IDS: tuple[Any, ...] = (None, 1, "1", {}, [None], [True], [1.0], ["1"], [-1], [1 << 22], [[1]])
NO_PIECES: tuple[Any, ...] = (
    None, 1, "A", [], {}, [1], ["C", 0], ["A"], ["A", 0, 0], [["A"], 0], [[1] * 70_000, 0],
    *([numbers, 0] for numbers in NO_LISTS_OF_IDS), *([[1], number] for number in (None, True, -1, 1 << 31, "0", 0.0, [0])),
)  # fmt: skip
TEXT, OTHER_TEXT = ["A", 0], ["B", 1]
NO_SINGLES: tuple[Any, ...] = (
    None, 1, "A", {}, [], TEXT, [["A", -1]], [["A", None]], [OTHER_TEXT], [TEXT, TEXT], [TEXT, OTHER_TEXT], [[[1], 0]],
    [TEXT, *[[[1], 0]] * 70_000], *([TEXT, piece] for piece in NO_PIECES),
)  # fmt: skip
NO_PAIRS: tuple[Any, ...] = (
    None, 1, "AB", {}, [], [TEXT], [OTHER_TEXT], [TEXT, TEXT], [TEXT, OTHER_TEXT, TEXT], [TEXT, OTHER_TEXT, OTHER_TEXT],
    *([OTHER_TEXT, piece, TEXT] for piece in NO_PIECES),
)  # fmt: skip
FLAGS = ("lowercase", "clean_text", "handle_chinese_chars")
NO_FLAGS: tuple[Any, ...] = (None, 0, 1, "true", [], {})
STRINGS = ("unk_token", "continuing_subword_prefix", "pre_tokenizer", "layout", "kind")
NO_STRINGS: tuple[Any, ...] = (None, 1, True, ["##"], {}, "\ud800")
NO_TEXTS: tuple[Any, ...] = (None, 1, True, ["##"], {}, "\ud800")
NO_LISTS_OF_TEXTS: tuple[Any, ...] = (None, 1, "a", {}, [None], [1], [["a"]], ["\udfff"])
NO_SIZES: tuple[Any, ...] = (None, -1, 1 << 64, 1.0, True, "1", [])
NO_SIDES: tuple[Any, ...] = (None, "", "Right", "top", 1, ["right"])
NO_MAPPINGS: tuple[Any, ...] = ([], 1, "none", True, {})


def spoilt(mapping: Mapping[str, Any], **wrong: Sequence[Any]) -> list[dict[str, Any]]:
    """Return mappings in each of which one value is replaced by a wrong value."""
    return [{**mapping, name: value} for name, values in wrong.items() for value in values]


COMPOSITION: dict[str, Any] = {"first": [], "decompositions": [], "orders": [], "pairs": [], "suspects": [[]]}
NO_ROWS: tuple[tuple[str, Any], ...] = (
    ("first", []), ("first", 1), ("first", [97]), ("first", [-1, 0]), ("first", [0, 0x110001]), ("first", [0xD800, 0]),
    ("first", [True, 0]), ("first", ["a", 0]), ("first", [97] * 65), ("decompositions", [97, 0x110000]), ("decompositions", []),
    ("orders", [1]), ("orders", [1, 2, 3]), ("pairs", [1, 2]), ("pairs", [1, 2, 3, 4]),
    ("suspects", [-1]), ("suspects", None),
)  # fmt: skip
NO_LEAVES: tuple[Any, ...] = (0.5, float("nan"), "\ud800", ["\ud800"], {"\ud800": 1}, DEEP)
NO_COMPONENTS: tuple[Any, ...] = ({}, 1, "NFC", True, [None], ["NFC"], *([{"type": leaf}] for leaf in NO_LEAVES))
STEP: dict[str, Any] = Normalizer(Composition.from_stored(COMPOSITION), Images([[97, 98, 99]]), NO_WHITESPACE).stored()
NO_STEPS: tuple[Any, ...] = (None, {}, [], [None], [[]], [{}], [STEP] * 101)
SUSPECTS: dict[str, Any] = {"ids": [97, 98], "spans": []}
NO_RUNS: tuple[Any, ...] = (None, {}, [[]], [97], [98, 97], [0, 0x110000], [0, True])
NO_STATEMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(NUMBERS, NO_NUMBERS),
    "skipped": NO_LISTS_OF_IDS,
    "normalized_specials": NO_LISTS_OF_IDS,
    "model_tokens": (*NO_NUMBERS, 0),
    "single": NO_SINGLES,
    "pair": NO_PAIRS,
    **dict.fromkeys(FLAGS, NO_FLAGS),
    **dict.fromkeys(STRINGS, NO_STRINGS),
    "strip_accents": ("null", 0, 1, 1.0, 2, "true", [], {}),
    "specials": (None, [], 1, "[UNK]", {"[UNK]": None}, {"[UNK]": True}, {"[UNK]": -1}, {"[UNK]": 1 << 22}, {"[UNK]": "1"}),
    "decoder": (
        *NO_MAPPINGS,
        *spoilt({"prefix": "##", "cleanup": True}, prefix=NO_TEXTS, cleanup=NO_FLAGS, type=("BPE",)),
        *({"kind": "WordPiece"}, {"kind": None}),
    ),
    "truncation": (
        *NO_MAPPINGS,
        *spoilt(
            {"direction": "Right", "max_length": 3, "strategy": "OnlyFirst", "stride": 0},
            direction=(None, "right", 1),
            max_length=NO_SIZES,
            strategy=(None, "only_first", 1, {}),
            stride=NO_SIZES,
        ),
    ),
    "padding": (
        *NO_MAPPINGS,
        *spoilt(
            {"direction": "Left", "strategy": {"Fixed": 3}, "pad_to_multiple_of": 8, "pad_id": 0, "pad_type_id": 0, "pad_token": "a"},
            direction=(None, "left", 1),
            strategy=(None, "Fixed", 1, {}, {"Fixed": -1}, {"Fixed": "1"}, {"Fixed": 1, "more": 1}, {"BatchLongest": 1}),
            pad_to_multiple_of=NO_SIZES[1:],
            pad_id=(*NO_SIZES, 1 << 32),
            pad_type_id=(*NO_SIZES, 1 << 32),
            pad_token=NO_TEXTS,
        ),
    ),
    "named_tokens": (None, [], 1, "[PAD]", {"pad_token": None}, {"pad_token": 0}, {"pad_token": "\ud800"}, {"pad_token": ["[PAD]"]}),
    "extra_special_tokens": NO_LISTS_OF_TEXTS,
    "model_input_names": NO_LISTS_OF_TEXTS,
    "model_max_length": (0, -1, 10**9 + 1, True, 1.0, "512", [], {}),
    "padding_side": NO_SIDES,
    "truncation_side": NO_SIDES,
    "clean_up_tokenization_spaces": NO_FLAGS,
    "trims_offsets": NO_FLAGS,
    "chat_templates": (None, [], "{{ a }}", {"a": None}, {"a": "\ud800"}, {"a": "x" * (1 << 19), "b": "x" * (1 << 19 | 1)}),
    "composition": (
        *([], 1, {}, STEP, {"steps": [STEP]}, {"steps": [STEP], "more": 1}),
        *({"steps": steps} for steps in NO_STEPS),
        *({"steps": [STEP | {"composition": COMPOSITION | {name: [row]}}]} for name, row in NO_ROWS),
        *({"steps": [step]} for step in spoilt(STEP, last=(None, {}, [[97]], [[0, 0xD800]]), blanks=(None, Whitespace("always").stored()))),
    ),
    "placing": ([], 1, {}, SUSPECTS, SUSPECTS | {"more": []}, *spoilt(SUSPECTS, ids=NO_RUNS, spans=NO_RUNS)),
    **dict.fromkeys(("normalizer_parts", "pre_tokenizer_parts"), NO_COMPONENTS),
    "late": (None, [], {"a": None}),
    "context": (None, [], {"word": []}),
}


@pytest.mark.parametrize(
    ("name", "value"),
    thinned([pytest.param(name, value, id=f"{name}={value!r}"[:80]) for name, values in NO_STATEMENTS.items() for value in values], 3),
)
def test_wrong_statement_is_refused(name: str, value: Any, good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """Metadata is refused if a value has a wrong type or an id is out of range."""
    path = tmp_path / "wrong.npz"
    wrong = header(name, value)(good["compact"])
    wrong.save(path)
    refused_by_proof(path, wrong)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", [*NO_STATEMENTS])
def test_missing_statement_is_refused(name: str, good: Mapping[str, WordPieceTable], data: bytes, tmp_path: Path) -> None:
    """Metadata that lacks one of its keys is refused, even if the value of this key may be null."""
    stated = {key: value for key, value in good["compact"].header.items() if key != name}
    path = tmp_path / "missing.npz"
    path.write_bytes(with_header(data, json.dumps({**npz.VERSIONS, **stated}).encode()))
    refused(path, path.read_bytes(), f"about lacks '{name}'|kind is None; this version reads {KNOWN}")


@pytest.fixture(scope="module")
def read_twice(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, WordPieceTable]:
    """Valid tables with which some texts are read twice: one has contextual tokens and reorders marks in steps, the other composes
    letters.
    """
    steps = [{"type": "Lowercase"}, {"type": "NFD"}, {"type": "StripAccents"}]
    late = [
        {"id": 26, "content": "ab", "normalized": True, "single_word": True},
        {"id": 27, "content": "<b>", "lstrip": True},
    ]
    folder = tmp_path_factory.mktemp("read twice")
    return {"late": with_normalizers(folder, steps, late), "composing": with_normalizers(folder, [{"type": "NFC"}], [])}


def with_normalizers(folder: Path, parts: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]) -> WordPieceTable:
    """Compile the tokens with the given normalizers and added tokens."""
    source = {
        "model": {"type": "WordPiece", "unk_token": UNKNOWN, "vocab": {token: number for number, token in enumerate(TOKENS)}},
        "normalizer": {"type": "Sequence", "normalizers": parts},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "added_tokens": [{"id": 4, "content": "[MASK]", "special": True}, *added],
    }
    (folder / "tokenizer.json").write_text(json.dumps(source), encoding="utf-8")
    return wordpiece(folder / "tokenizer.json")


LATE = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "decoded": "a"}
CONTEXT = ("word", "begins_word", "ends_word", "spaced", "mixed")
NO_ADDED: dict[str, tuple[str, Any]] = {
    "late token without a class": ("late", {"a": LATE | {"id": TOKENS.index("##b")}}),
    "late token of nothing": ("late", {"": LATE | {"id": 26}}),
    "late token of which nothing is left": ("late", {"\u0301": LATE | {"id": 26}}),
    "late token that is no text": ("late", {"\ud800": LATE | {"id": 26}}),
    "late token that takes too much memory": ("late", {"a" * (MAX_CONTEXTUAL + 1): LATE | {"id": 26}}),
    "special token without a class": ("specials", {"[MASK]": TOKENS.index("##b")}),
    "special token of nothing": ("specials", {"": 4}),
    "special token that is no text": ("specials", {"[\udfff": 4}),
    "half a context": ("context", {"word": [48, 57]}),
    "context whose runs descend": ("context", {name: [97, 122, 48, 57] for name in CONTEXT}),
    "late token that is decoded as no text": ("late", {"ab": LATE | {"id": 26, "decoded": "\ud800"}}),
    "late token of another name": ("late", {"abc": LATE | {"id": 26}}),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", thinned(NO_ADDED, 2))
def test_wrong_added_token_is_refused(what: str, read_twice: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """Metadata of added tokens is refused if it contradicts the character classes or the trie."""
    path = tmp_path / "wrong.npz"
    read_twice["late"].save(path)
    assert fst.Tokenizer.load(path).header["late"].keys() == {"ab", "<b>"}
    wrong = header(*NO_ADDED[what])(read_twice["late"])
    wrong.save(path)
    assert any(word in refused_by_proof(path, wrong) for word in ("token", "context"))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("parts", [[{}], [{"type": "Strip"}], [{"type": ["Strip"]}, {"strip_left": 1}]], ids=str)
def test_components_that_are_none(parts: Any, read_twice: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table with normalizers that the compiler never writes is refused, or its added tokens are still found."""
    header("normalizer_parts", parts)(read_twice["late"]).save(tmp_path / "changed.npz")
    with suppress(fst.TableError):
        assert len(fst.Tokenizer.load(tmp_path / "changed.npz").encode_batch(["x ab <b>"], offsets=True).ids)


def test_late_token_in_a_word_is_refused(read_twice: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table is refused if its table of words contains a contextual token, or an id that the transducer does not give."""
    tables = read_twice["late"]
    used = 4 * np.flatnonzero(tables.words[3::4])
    words = tables.words.copy()
    words[used[0] + 3], words[used[1] + 3] = words[used[1] + 3], words[used[0] + 3]
    path = tmp_path / "wrong.npz"
    with_array(tables, "words", words).save(path)
    with pytest.raises(fst.TableError, match=r"the table of words has the id \d+ for a word, the transducer another"):
        fst.load(path)
    content = "".join(token for token in tables.tokens if token == "tttt")
    late = {**tables.header["late"], content: LATE | {"id": TOKENS.index(content)}}
    a, specials = tables.classes[0::2].copy(), tables.header["specials"]
    classes = tables.classes.copy()
    classes[0::2] = np.where(a == pack(ROOT, 0, specials["[MASK]"], ONE), pack(ROOT, 0, TOKENS.index(content), ONE), a)
    header = {**tables.header, "specials": {}, "late": late}
    changed = replace(tables, classes=classes, specials=np.full((1, 4), -1, np.int32), header=header)
    changed.save(path)
    with pytest.raises(fst.TableError, match="holds a contextual token at symbol 0"):
        fst.Tokenizer.load(path)


def test_words_of_other_ids_act_the_same_everywhere(good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """If ids in the table of words are changed, walk and kernel still give the same ids, and each id covers all characters of its word."""
    tables = good["compact"]
    used = 4 * np.flatnonzero(tables.words[3::4])
    words = tables.words.copy()
    words[used + 3] = np.roll(words[used + 3], 1)
    path = tmp_path / "other.npz"
    with_array(tables, "words", words).save(path)
    tokenizer, text = fst.Tokenizer.load(path), " ".join(TOKENS)
    walk = Walk(tokenizer._table)
    walk.run(text)
    assert located(tokenizer, text) == (walk.ids, walk.offsets, walk.words)
    assert walk.ids != tables.run(text)


def test_places_ascend_whatever_a_character_becomes() -> None:
    """The positions in a text never descend, even if a character is replaced by marks that are not in canonical order."""
    marks = {0x301: 230, 0x316: 220}
    composition = Composition(Images([]), {ord("a"): list(marks)}, marks, {}, frozenset())
    assert composition.apply("abc") == ("\u0316\u0301bc", [(0, 1), (0, 1), (1, 2), (2, 3)])


def test_unknown_statement_is_refused(good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """Metadata with an unknown key is refused."""
    path = tmp_path / "more.npz"
    header("more", 1)(good["compact"]).save(path)
    with pytest.raises(fst.TableError, match="about has 'more', which is unknown to this version"):
        fst.load(path)


def test_late_tokens_without_blanks_are_refused(read_twice: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table with contextual tokens is refused if it has no class for spaces, because spaces replace the rest of such a token."""
    classes = read_twice["late"].classes.copy()
    a = classes[0::2]
    a[1:][a[1:] == 0] = pack(ROOT, 0, 0, ONE)
    path = tmp_path / "wrong.npz"
    replace(read_twice["late"], classes=classes).save(path)
    with pytest.raises(fst.TableError, match="contextual tokens, but no class that is a blank"):
        fst.load(path)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["late", "context", "specials", "placing", "composition"])
def test_what_is_said_of_a_second_reading_is_proven(name: str, read_twice: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table whose metadata about reading texts a second time is changed is refused, or gives the same ids and positions on every path."""
    rng, path = random.Random(name), tmp_path / "changed.npz"
    tables = read_twice["composing" if name == "composition" else "late"]
    loaded = 0
    changes = sample(range(80), 8)
    for _ in changes:
        stated = tables.header[name]
        if name == "composition":
            (step,) = stated["steps"]
            stated = {"steps": [{**step, "composition": changed(step["composition"], rng)}]}
        else:
            stated = changed(stated, rng)
        header(name, stated)(tables).save(path)
        try:
            tokenizer = fst.Tokenizer.load(path)
        except fst.TableError:
            continue
        loaded += 1
        tokenizer.encode_batch([*TEXTS, "ab\u0301 <b>\u0130\u0323 [MASK]ab!"], offsets=True)
    assert loaded < len(changes)
    assert (loaded > 0) == (name != "specials")


def values_like(array: Array) -> st.SearchStrategy[int]:
    """Draw values for an element: any values of its type, its value with changed bits, and values of other elements."""
    info = np.iinfo(array.dtype)
    bits = st.integers(0, 8 * array.itemsize - 1)
    return st.one_of(
        st.integers(int(info.min), int(info.max)),
        st.sampled_from(np.unique(array).tolist()),
        st.tuples(st.sampled_from(array.ravel().tolist()), bits).map(lambda pair: pair[0] ^ (1 << pair[1]) if pair[0] >= 0 else pair[0]),
        st.tuples(st.sampled_from(array.ravel().tolist()), st.integers(-2, 2)).map(sum),
    ).map(lambda value: min(max(value, int(info.min)), int(info.max)))


@examples(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data(), layout=st.sampled_from(["compact", "linked"]), name=st.sampled_from([*WordPieceTable.schema()]))
def test_what_is_loaded_keeps_its_bound(
    draw: st.DataObject, layout: str, name: str, good: Mapping[str, WordPieceTable], tmp_path: Path
) -> None:
    """A table with changed elements is refused, or no text gets more ids than it has bytes, and kernel and walk agree."""
    array = getattr(good[layout], name).copy()
    flat = array.reshape(-1)
    for _ in range(draw.draw(st.integers(1, 2))):
        # most changes are in the entries of the first characters, because most texts contain only these
        last = 127 if name in ("pages", "blocks") and draw.draw(st.booleans()) else len(flat) - 1
        flat[draw.draw(st.integers(0, last))] = draw.draw(values_like(array))
    path = tmp_path / "fuzzed.npz"
    with_array(good[layout], name, array).save(path)
    try:
        tokenizer = fst.Tokenizer.load(path)
    except fst.TableError:
        return
    tables = load(path)
    for text in TEXTS:
        walk = Walk(tables)
        ids = walk.run(text)
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == ids
        assert located(tokenizer, text) in (None, (ids, walk.offsets, walk.words))
        assert all(0 <= place <= len(text) for pair in walk.offsets for place in pair)
        assert len(ids) <= len(text.encode())
        assert set(ids) <= set(tables.token_ids.tolist())


def located(tokenizer: fst.Tokenizer, text: str) -> tuple[list[int], list[tuple[int, int]], list[int]] | None:
    """Return the ids, offsets and words of a text, or None if tokens of different lengths have the same id."""
    try:
        found = tokenizer.encode_batch([text], add_special_tokens=False, offsets=True)
    except fst.UnsupportedError:
        return None
    assert found.offsets is not None
    assert found.words is not None
    return found.ids.tolist(), [(begin, end) for begin, end in found.offsets.tolist()], found.words.tolist()


@examples(200)
@given(
    layout=st.sampled_from(["compact", "linked"]),
    seed=st.integers(0, 1 << 30),
    cuts=st.sampled_from(["as they are", "all in the first", "all in the last", "anywhere"]),
    indicator=st.sampled_from(["", "##", "é", "#" * 5000]),
    longest=st.sampled_from([0, 1, 5, 100]),
)
def test_places_are_safe_whatever_length_tokens_have(
    layout: str, seed: int, cuts: str, indicator: str, longest: int, good: Mapping[str, WordPieceTable]
) -> None:
    """The positions of tokens are inside their words, even if ids belong to tokens of other lengths."""
    tables, chance = good[layout], np.random.default_rng(seed)
    size, count = len(tables.token_bytes), len(tables.token_ids)
    ends = {
        "as they are": tables.token_ends,
        "all in the first": np.full(count, size),
        "all in the last": np.append(np.zeros(count - 1, np.int64), size),
        "anywhere": np.append(np.sort(chance.integers(0, size, count - 1)), size),
    }[cuts]
    changed = replace(
        tables,
        header={**tables.header, "continuing_subword_prefix": indicator, "max_input_chars_per_word": longest},
        token_ids=chance.permutation(tables.token_ids),
        token_bytes=np.full(size, ord("a"), np.uint8),
        token_ends=ends.astype(np.int64),
    )
    for walked in (changed, without_words(changed)):
        for text in TEXTS:
            walk = Walk(walked)
            walk.run(text)
            assert located(fst.Tokenizer(walked), text) == (walk.ids, walk.offsets, walk.words)
            assert all(0 <= place <= len(text) for pair in walk.offsets for place in pair)


def without_words(tables: WordPieceTable) -> WordPieceTable:
    """Empty the table of words, so that the transducer reads all words."""
    return replace(tables, words=np.zeros(4, np.uint64), displacements=np.zeros(2, np.uint16))


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data(), layout=st.sampled_from(["compact", "linked"]))
def test_any_table_of_words_is_safe(draw: st.DataObject, layout: str, good: Mapping[str, WordPieceTable], tmp_path: Path) -> None:
    """A table with many changed words is refused, or no text gets more ids than it has bytes, and all ids are ids of tokens."""
    words, displacements = good[layout].words.copy(), good[layout].displacements.copy()
    for array in (words, displacements):
        for _ in range(draw.draw(st.integers(0, 6))):
            array[draw.draw(st.integers(0, len(array) - 1))] = draw.draw(values_like(array))
    highest = int(good[layout].token_ids.max())
    words[3::4] = np.where(draw.draw(st.booleans()) & (words[0::4] > 0), (1 << 32) + words[3::4] % np.uint64(highest + 1), words[3::4])
    path = tmp_path / "fuzzed.npz"
    with_array(with_array(good[layout], "words", words), "displacements", displacements).save(path)
    try:
        tokenizer = fst.Tokenizer.load(path)
    except fst.TableError:
        return
    for text in (*TEXTS, *good[layout].tokens):
        found = tokenizer.encode(text, add_special_tokens=False).tolist()
        assert found == tokenizer._table.run(text)
        assert len(found) <= len(text.encode())
        assert all(0 <= number <= highest for number in found)


@pytest.mark.parametrize("equal", [(), (0, 1), (7, 199_999)])
def test_equal_tokens_among_many_are_refused(equal: tuple[int, ...]) -> None:
    """Two equal tokens are refused with their numbers, but different tokens with equal hashes are accepted."""
    names = [f"w{number:x}".encode() for number in range(200_000)]
    for number in equal:
        names[number] = b"the same, and longer than sixteen bytes"
    arrays = np.frombuffer(b"".join(names), np.uint8), np.cumsum([*map(len, names)]), np.arange(len(names), dtype=np.int32)
    refused = pytest.raises(fst.TableError, match=f"tokens {' and '.join(map(str, equal))} are both") if equal else nullcontext()
    with refused:
        Tokens(*arrays)
