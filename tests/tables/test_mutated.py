"""Tables with random changes and valid checksums are refused, or give the same results on every path.

A table of byte-level BPE contains some data twice, the second time in a short form for the kernel: windows, and single-token pre-tokens. If
this form is changed, the kernel's ids may differ from the walk's, but they are safe on every path. A WordPiece table with a second reading
contains its alphabet twice: for raw and for normalized text.
"""

from __future__ import annotations

import json
import pickle
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.kept import assemble, wordpiece
from support.machines.documents import Merges, byte_level, compiled, over_characters
from support.tiers import sample

import fst
from fst.automata.rows import ENTRY, MAX_LABEL
from fst.cli.commands.bench.figures import unknown_words
from fst.cli.commands.info import described, listed
from fst.compile.machines.wordpiece.compiler import source_of
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document
from fst.errors import UnsupportedError
from fst.machines.bpe.automaton import ENTRY as BPE_ENTRY
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.table import BpeTable
from fst.machines.unigram.sampling import MOST, Sampling
from fst.machines.unigram.table import UnigramTable, run_sampling, scores_of
from fst.machines.unigram.viterbi import NORMAL, TEXT_SCOPE, UNKNOWN, USER_DEFINED
from fst.machines.wordpiece.table import Walk, WordPieceTable
from fst.runtime.compat.transformers.document import document
from fst.runtime.run import Runner

TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz", "b", "un", "##aff", "##able", "##é", "."),
    *("é", "世", "½", "««é»", "##e", "##t", "##tt", "tttt", "##1", "ab", "abc", "\u302e", "##\u302e", "\u1b44", "##\u1b44"),
)
LATE = (
    {"id": len(TOKENS), "content": "ab", "normalized": True, "single_word": True},
    {"id": len(TOKENS) + 1, "content": "<b>", "lstrip": True},
    {"id": len(TOKENS) + 2, "content": "tt", "normalized": True},
)
TEXTS = (
    "abcdx abcdz abcd unaffable. tttt ttttttt ab abc abx",
    "[MASK]««é»é «««é»» [CLS ab[SEP]un\0affable x y <b> ab! <s>x<s",
    "Äé한국어世界½ \u0344\u0301\u0316 a\u0316\u0301b a\u302e\u1b44\u0301\u302e\u1b44[MASK] \U0001f600 A\u0308\u0323 \u0130\u0323",
    "a" * 120 + " " + "abcdx" * 6,
    "",
)
BERT = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
MERGES = [(b"a", b"b"), (b"c", b"d"), (b"ab", b"cd"), (b"u", b"n"), (b"t", b"t"), (b"tt", b"t"), (b" ", b"t"), (b"\xc3", b"\xa9")]
TWICE = ("symbols", "decisions", "words", "displacements", "steps", "lists")  # arrays with second copies of data
BEHIND = ("pages", "blocks", "moves", "entries", "merges", "trie", "scores", "token_bytes", "token_ends", "token_ids")  # with first copies
WRONG: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 4, 31, 97, 1 << 22, 1 << 64, 1.0, float("nan"), [], [[]], [1], ["a"], {}, {"a": 1}),
    *("", "a", "[UNK]", "[MASK]", "##", "\ud800", "ab", "other", "bert", "none", "tt", "A", "#" * 5000),
)


def of_source(folder: Path, **parts: Any) -> WordPieceTable:
    """Compile the tokens with the given parts of a tokenizer.json."""
    specials = [{"id": number, "content": token, "special": True} for number, token in enumerate(TOKENS[:5])]
    around = [[{"SpecialToken": {"id": token, "type_id": 0}}] for token in ("[CLS]", "[SEP]")]
    text, other = ([{"Sequence": {"id": name, "type_id": number}}] for number, name in enumerate("AB"))
    source = {
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {token: number for number, token in enumerate(TOKENS)}},
        "normalizer": {"type": "BertNormalizer", **dict.fromkeys(BERT, True)},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*around[0], *text, *around[1]],
            "pair": [*around[0], *text, *around[1], *other, *around[1]],
            "special_tokens": {token: {"id": token, "ids": [TOKENS.index(token)], "tokens": [token]} for token in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        **parts,
        "added_tokens": [*specials, *parts.get("added_tokens", ())],
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(source), encoding="utf-8")
    return wordpiece(path)


STEPS = [{"type": name} for name in ("Lowercase", "NFD", "StripAccents")]
SOUND: dict[str, Callable[[Path], Any]] = {
    "compact": lambda _folder: compiled(layout="compact"),
    "linked": lambda _folder: wordpiece(list(TOKENS), layout="linked"),
    "short": lambda _folder: wordpiece(list(TOKENS), max_input_chars_per_word=5),
    "late": lambda folder: of_source(folder, added_tokens=LATE),
    "placed": lambda folder: of_source(folder, added_tokens=LATE[:2], normalizer={"type": "Sequence", "normalizers": STEPS}),
    "composing": lambda folder: of_source(folder, normalizer={"type": "NFC"}),
    "fences": lambda folder: of_source(folder, pre_tokenizer={"type": "Whitespace"}),
    "bpe": lambda _folder: bytewise(GPT2),
    "bpe of whole pieces": lambda _folder: bytewise(r"a+b|[ab]+ |[\s\S]", ignore_merges=True),
    "bpe that drops pieces": lambda _folder: bytewise(r"\s+|[ab]+", behavior="Removed"),
    "bpe of rewritten texts": lambda _folder: rewritten(),
    "bpe without an automaton": lambda _folder: bytewise(r"[ab]+|[\s\S]+", MERGES[::-1]),
    "unigram": lambda _folder: scored({"split": True}),
    "unigram of whole texts": lambda _folder: scored({"split": False, "prepend_scheme": "first"}, fallback=True),
    "unigram of whole sums": lambda _folder: scored({"split": False, "prepend_scheme": "first"}, carries=True),
    "unigram of whole words": lambda _folder: scored({"split": True, "prepend_scheme": "first"}, carries=True, is_word_type=True),
    "bpe over characters": lambda _folder: characterwise(has_bytes=True),
    "bpe over characters, some unknown": lambda _folder: characterwise(has_bytes=False, fuse_unk=True),
}


class Sound(Mapping[str, Any]):
    """Valid tables of several kinds, each compiled when it is first read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Any] = {}

    def __getitem__(self, kind: str) -> Any:
        """The table of a kind."""
        if kind not in self._made:
            self._made[kind] = SOUND[kind](self._folder)
        return self._made[kind]

    def __iter__(self) -> Iterator[str]:
        """The kinds."""
        return iter(SOUND)

    def __len__(self) -> int:
        """The number of kinds."""
        return len(SOUND)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Return valid tables of several kinds."""
    return Sound(tmp_path_factory.mktemp("sound"))


def rewritten() -> BpeTable:
    """Compile byte-level BPE with normalizers, and with added tokens that include the spaces next to them."""
    parts = byte_level(GPT2, MERGES)
    flags = {"<b>": ["lstrip"], "tt": ["normalized", "rstrip"], "é": ["single_word"]}
    first = len(parts["model"]["vocab"])
    parts["added_tokens"] = [
        {"id": first + place, "content": content, **dict.fromkeys(own, True)} for place, (content, own) in enumerate(flags.items())
    ]
    tables: BpeTable = assemble(of_document({**parts, "normalizer": {"type": "NFC"}}, Path("tokenizer.json")), "auto")
    return tables


def scored(whitespace: dict[str, Any], *, fallback: bool = False, carries: bool = False, is_word_type: bool = False) -> UnigramTable:
    """Compile Unigram, optionally with sums of scores over entire texts, or with entire words."""
    names = [*dict.fromkeys((*TOKENS, "▁", "▁un", "ab", "abc", "t", "tt", "é", *(f"<0x{byte:02X}>" for byte in range(256 * fallback))))]
    vocabulary = [[name, -1.5 * len(name)] for name in names]
    model = {"type": "Unigram", "unk_id": 1, "byte_fallback": fallback, "vocab": vocabulary}
    added = [{"id": number, "content": name, "special": True} for number, name in enumerate(TOKENS[:5])]
    pre_tokenizer = {"type": "Metaspace", "replacement": "▁", **whitespace}
    parts = {"model": model, "pre_tokenizer": pre_tokenizer, "decoder": {"type": "Fuse"}, "added_tokens": added}
    source = of_document(parts, Path("tokenizer.json"))
    if carries:
        types = [UNKNOWN if number == 1 else USER_DEFINED if name == "tt" else NORMAL for number, name in enumerate(names)]
        source = replace(source, model=replace(source.model, scope=TEXT_SCOPE, types=types, is_word_type=is_word_type))
    tables: UnigramTable = assemble(source, "auto")
    return tables


def characterwise(**options: Any) -> BpeTable:
    """Compile BPE over characters."""
    merges = [("t", "t"), ("▁", "a"), ("tt", "é"), ("▁a", "b"), ("東", "京"), ("!", "!")]
    parts = over_characters(merges, "▁abté東京!", ("<b>", *TOKENS[:5]), **options)
    tables: BpeTable = assemble(of_document(parts, Path("tokenizer.json")), "auto")
    return tables


def bytewise(pattern: str, merges: Merges = MERGES, behavior: str = "Isolated", **model: Any) -> BpeTable:
    """Compile byte-level BPE."""
    parts = byte_level(pattern, merges, (b"abc", b"tttt", b" un"), (*TOKENS[:5], "««é»", "<b>"), **model)
    parts["pre_tokenizer"]["pretokenizers"][0]["behavior"] = behavior
    tables: BpeTable = assemble(of_document(parts, Path("tokenizer.json")), "auto")
    return tables


def with_array(tables: Any, name: str, array: Any) -> Any:
    """Replace an array."""
    changed: dict[str, Any] = {name: array}
    return replace(tables, **changed)


def mutant(tables: Any, rng: random.Random) -> Any:
    """Return a copy of a table with one or two random changes."""
    for _ in range(rng.choice((1, 1, 2))):
        tables = rng.choice((said_otherwise, other_elements, other_elements))(tables, rng)
    return tables


def said_otherwise(tables: Any, rng: random.Random) -> Any:
    """Change the metadata at random: remove a key, copy the value of another key, set an invalid value, or change a part of a value."""
    header = dict(tables.header)
    key = rng.choice([*header])
    kind = rng.randrange(8)
    if kind == 0:
        del header[key]
    else:
        header[key if kind > 1 else "more"] = header[rng.choice([*header])] if kind == 2 else changed(header[key], rng)
    return replace(tables, header=header)


def changed(value: Any, rng: random.Random) -> Any:
    """Replace a random part of a JSON value."""
    wrong = rng.choice(WRONG)
    if isinstance(value, dict) and value:
        key = rng.choice([*value])
        others = {name: held for name, held in value.items() if name != key}
        return rng.choice((others, {**others, str(wrong): value[key]}, {**value, "a": wrong}, {**others, key: changed(value[key], rng)}))
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        new = rng.choice(([], [value[place]] * 2, [wrong], [changed(value[place], rng)], [changed(value[place], rng)]))
        return [*value[:place], *new, *value[place + 1 :]]
    if isinstance(value, int):
        return rng.choice((wrong, value + 1, value - 1, value ^ 1 << rng.randrange(8), rng.randrange(40)))
    return rng.choice((wrong, value[1:], value + "a", value.upper())) if isinstance(value, str) else wrong


def other_elements(tables: Any, rng: random.Random) -> Any:
    """Change the elements of an array, its length, or the order of its elements."""
    name = rng.choice((*tables.schema(), "words", "token_ids", "token_ends", "token_bytes"))
    array = getattr(tables, name).copy()
    flat = array.reshape(-1)
    if not len(flat):
        return tables
    first, other = (rng.randrange(len(flat)) for _ in range(2))
    kind = rng.randrange(10)
    if kind == 0:
        return with_array(tables, name, array[:-1])
    if kind == 1 and name == "words":  # swaps the values of two words
        slots = array[: len(array) // 4 * 4].reshape(-1, 4)
        first, other = (4 * rng.choice(np.flatnonzero(slots[:, 3]).tolist()) + 3 for _ in range(2))
    if kind <= 2:
        flat[first], flat[other] = flat[other], flat[first]
        return with_array(tables, name, array)
    if name == "entries":  # choose a transition, because most entries are no transitions
        rows = ENTRY if flat.dtype == np.uint64 else BPE_ENTRY
        first = rng.choice(np.flatnonzero(rows.labels_of(flat) < rows.labels).tolist())
    if name in ("pages", "blocks"):  # choose a character that the texts contain
        first %= 1 if name == "pages" else 512
    if array.dtype == np.float64:
        flat[first] = rng.choice((0, -1e308, 1e308, np.nan, np.inf, flat[other]))
        return with_array(tables, name, array)
    info, old = np.iinfo(array.dtype), int(flat[first])
    value = rng.choice((int(flat[other]), old + 1, old - 1, old ^ 1 << rng.randrange(24), rng.randrange(MAX_LABEL), rng.randrange(40)))
    flat[first] = min(max(value, int(info.min)), int(info.max))
    return with_array(tables, name, array)


Found = list[tuple[list[int], list[tuple[int, int]], list[int]]]


def located(tokenizer: fst.Tokenizer, texts: Sequence[str], **options: Any) -> Found:
    """Return the ids, offsets and words of texts."""
    batch = tokenizer.encode_batch(texts, add_special_tokens=False, **{"offsets": True, **options})
    assert batch.offsets is not None
    assert batch.words is not None
    rows = [slice(*ends) for ends in zip(batch.row_splits, batch.row_splits[1:], strict=False)]
    offsets = [(begin, end) for begin, end in batch.offsets.tolist()]
    return [(batch.ids[row].tolist(), offsets[row], batch.words[row].tolist()) for row in rows]


def streamed(tokenizer: fst.Tokenizer, text: str, size: int) -> list[int]:
    """Return the ids of a text that is streamed in parts of a given size."""
    stream = tokenizer.stream(add_special_tokens=False)
    parts = []
    for first in range(0, len(text), size):
        stream.write(text[first : first + size])
        parts.append(stream.read())
    return [number for part in (*parts, stream.close()) for number in part.ids.tolist()]


def check(tables: Any, texts: Sequence[str], original: Any) -> None:
    """Call every method of a loaded table, and check that their results agree."""
    tokenizer = fst.Tokenizer(tables)
    ids = [tokenizer.encode(text, add_special_tokens=False).tolist() for text in texts]
    named = set(tables.token_ids.tolist())
    for text, own in zip(texts, ids, strict=True):
        assert named.issuperset(own)
        assert len(tokenizer.tokenize(text)) == len(own)
        tokenizer.decode(own, skip_special_tokens=False).encode()
        before, after = tokenizer._special_ids
        assert tokenizer.encode(text.encode()).tolist() == [*before.tolist(), *own, *after.tolist()]
    assert [row.tolist() for row in tokenizer.encode_batch(texts, add_special_tokens=False, threads=2)] == ids
    assert tokenizer.encode_arrow(texts_column(texts), add_special_tokens=False).to_pylist() == ids
    assert [row.tolist() for row in tokenizer.encode_batch(texts, add_special_tokens=False, max_length=3)] == [own[:3] for own in ids]
    if not normalizes_some(tokenizer._ids_runner) and not says_otherwise(tables, original):
        assert [tables.run(text) for text in texts] == ids
        assert [streamed(tokenizer, text, 3) for text in texts] == ids
    check_places(tokenizer, texts, ids, original)
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again._table.dumps() == tables.dumps()
    if isinstance(tables, WordPieceTable):
        check_what_is_told(tables)
    if isinstance(tables, BpeTable):
        check_dropout(tokenizer, texts, original)
    if isinstance(tables, UnigramTable) and not tables.is_word_type:
        check_sampling(tokenizer, texts, original)


def check_dropout(tokenizer: fst.Tokenizer, texts: Sequence[str], original: Any) -> None:
    """Check that dropout with one seed gives the same ids on every path."""
    tables = tokenizer._table
    options: dict[str, Any] = {"randomness": Dropout(0.4, seed=3), "add_special_tokens": False}
    ids = [row.tolist() for row in tokenizer.encode_batch(texts, **options)]
    assert [row.tolist() for row in tokenizer.encode_batch([text.encode() for text in texts], offsets=True, **options)] == ids
    if not says_otherwise(tables, original):
        assert [tables.run_dropping(text, Dropout(0.4, seed=3), row) for row, text in enumerate(texts)] == ids


def check_sampling(tokenizer: fst.Tokenizer, texts: Sequence[str], original: Any) -> None:
    """Check that sampling refuses scores that are too large for weights, and otherwise gives the same ids on every path."""
    tables = tokenizer._table
    is_large = 0.3 * max(abs(tables.unknown), np.abs(scores_of(tables)).max()) > MOST
    if is_large:
        with pytest.raises(ValueError, match="product with each score"):
            tokenizer.encode_batch(texts, randomness=Sampling(0.3))
    for size in (4,) if is_large else (-1, 4):
        by = Sampling(0.3, nbest_size=size, seed=3)
        options: dict[str, Any] = {"randomness": by, "add_special_tokens": False}
        ids = [row.tolist() for row in tokenizer.encode_batch(texts, **options)]
        assert [row.tolist() for row in tokenizer.encode_batch([text.encode() for text in texts], offsets=True, **options)] == ids
        if not is_large and not says_otherwise(tables, original):
            assert [run_sampling(tables, text, by, row) for row, text in enumerate(texts)] == ids


def says_otherwise(tables: Any, original: Any) -> bool:
    """Whether the two copies of some data in a table may differ."""
    if isinstance(tables, WordPieceTable):
        return normalizes_some(fst.Tokenizer(tables)._spans_runner) and not same(tables, original, ("pages", "blocks", "symbols"))
    names = {*TWICE, *BEHIND}.intersection(tables.schema())
    return not same(tables, original, names) or tables.metadata.model != original.metadata.model


def normalizes_some(runner: Runner) -> bool:
    """Whether a runner normalizes only some texts, and reads the others with another alphabet."""
    return runner.front_end is not None and runner.front_end.encoder is not None


def same(tables: Any, original: Any, names: Iterable[str]) -> bool:
    """Whether the arrays with the given names are equal in two tables."""
    return all(np.array_equal(getattr(tables, name), getattr(original, name)) for name in names)


def texts_column(texts: Sequence[str]) -> Any:
    """Make an Arrow column of texts."""
    return pytest.importorskip("pyarrow").array(texts)


def check_places(tokenizer: fst.Tokenizer, texts: Sequence[str], ids: Sequence[Sequence[int]], original: Any) -> None:
    """Check that offsets are consistent with the texts, with the walk, and with the results of calls."""
    try:
        found = located(tokenizer, texts)
    except UnsupportedError:  # tokens of different lengths have the same id
        return
    is_one_alphabet = not (isinstance(original, WordPieceTable) and says_otherwise(tokenizer._table, original))
    for text, own, (numbers, offsets, words) in zip(texts, ids, found, strict=True):
        assert numbers == own or not is_one_alphabet
        assert all(0 <= begin <= end <= len(text) for begin, end in offsets)
        if isinstance(tokenizer._table, WordPieceTable) and not normalizes_some(tokenizer._spans_runner):
            walk = Walk(tokenizer._table)
            assert (walk.run(text), walk.offsets, walk.words) == (numbers, offsets, words)
    in_bytes = located(tokenizer, texts, offsets="bytes")
    for text, (_, offsets, _), (_, sizes, _) in zip(texts, found, in_bytes, strict=True):
        assert [(len(text[:begin].encode()), len(text[:end].encode())) for begin, end in offsets] == sizes
    if isinstance(tokenizer._table, WordPieceTable):
        unknown_words(tokenizer, map(str.encode, texts))
    for max_length in (None, 12):
        called = tokenizer([*texts], max_length=max_length, return_overflowing_tokens=True, return_special_tokens_mask=True)
        assert all(token is not None for row in called.encodings for token in row.tokens)


def check_what_is_told(tables: WordPieceTable) -> None:
    """Check that a table can be described, and that its description compiles to a table again."""
    assert "\n".join(listed(described(tables, "", 0))).encode()
    assert json.dumps([described(tables, "", 0), document(tables)], ensure_ascii=False, allow_nan=False).encode()
    try:
        source = source_of(tables)
    except fst.FstError:  # invalid components
        return
    assert source.model.unk_id == tables.header["unk_id"]


def accepted(tables: Any) -> Any:
    """Load a table from its bytes; return None if it is refused."""
    try:
        return type(tables).loads(tables.dumps())
    except fst.TableError:
        return None


def texts_of(tables: Any) -> list[str]:
    """Return texts that contain all tokens."""
    return [*TEXTS, " ".join(token.removeprefix("##") for token in (*tables.tokens, *tables.header["late"]))]


def sweep(sound: Mapping[str, Any], seeds: Sequence[int], kinds: Sequence[str] = tuple(SOUND)) -> int:
    """Check tables of the given kinds with random changes, and return how many of them were accepted."""
    count = 0
    for seed in seeds:
        rng = random.Random(seed)
        kind = rng.choice(kinds)
        tables = accepted(mutant(sound[kind], rng))
        if tables is not None:
            count += 1
            try:
                check(tables, texts_of(sound[kind]), sound[kind])
            except Exception as error:
                raise AssertionError(f"mutant {seed} of {kind!r} is accepted, and misbehaves") from error
    return count


TOLD_WRONG: dict[str, tuple[str, str, Any, Any, str]] = {
    "merges of no tokens": ("bpe", "merges", 0, (-1, 2**31 - 1, 5), "merge 0 is [-1, 2147483647, 5]"),
    "merges of too few bytes": ("bpe", "merges", (0, 2), 97, "merge 0 makes 1 bytes of 1 and 1"),
    "a class without its symbol": ("unigram", "symbols", 1, 0, "symbol 8 is that of a class, and not each one below it"),
    "a class after the end of texts": ("unigram", "symbols", 1, 9, "symbol 9 is that of a class, and not each one below it"),
    "another symbol after texts": ("unigram", "symbols", -2, 0, "the symbols around a text are [0, 10], not [9, 10]"),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", TOLD_WRONG)
def test_what_one_path_alone_would_notice_is_refused(name: str, sound: Mapping[str, Any]) -> None:
    """A fault that only some of the methods would detect is refused when the table is loaded."""
    kind, member, place, value, message = TOLD_WRONG[name]
    array = getattr(sound[kind], member).copy()
    array[place] = value
    with pytest.raises(fst.TableError, match=re.escape(message)):
        with_array(sound[kind], member, array).prove()


@pytest.mark.slow
def test_sound_tables_act_the_same_on_every_path(sound: Mapping[str, Any]) -> None:
    """The unchanged tables pass all the checks to which changed tables are subjected."""
    for tables in sound.values():
        loaded = accepted(tables)
        assert loaded is not None
        check(loaded, texts_of(tables), tables)


@pytest.mark.slow
def test_mutants_are_refused_or_act_the_same_on_every_path(sound: Mapping[str, Any]) -> None:
    """A table with random changes is refused, or gives the same ids, positions and names on every path."""
    assert 2 < sweep(sound, range(20), ("late", "bpe", "unigram")) < 10


@pytest.mark.slow
def test_many_mutants_are_refused_or_act_the_same_on_every_path(sound: Mapping[str, Any]) -> None:
    """Many more tables with random changes are refused, or give the same results on every path."""
    seeds = sample(range(1000, 1400), 4)
    assert sweep(sound, seeds) > len(seeds) // 10
