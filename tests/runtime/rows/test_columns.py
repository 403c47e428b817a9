"""An Arrow column of any type, also sliced, chunked or with nulls, gives the same ids as a list of its texts."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.machines.documents import PIECES, compiled
from support.tiers import examples, sample

import fst
from fst.runtime.rows import batch
from fst.runtime.rows.texts import CAPACITY, MAX_GATHERED, PAST_END, Column, Limits, of_utf_8, rows_of

KINDS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
TEXTS = [*PIECES, "", None, "un b", None, "é", "\U0001f600 世", "", "a" * 40]

each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


@functools.cache
def tokenizer() -> fst.Tokenizer:
    """Make the tokenizer that the tests share."""
    return fst.Tokenizer(compiled())


def ids(texts: list[str | None], **options: Any) -> list[list[int] | None]:
    """Encode texts one by one."""
    return [None if text is None else tokenizer().encode_batch([text], **options).ids.tolist() for text in texts]


def column(texts: list[str | None], kind: Any) -> Any:
    """Make a column of texts."""
    return pa.array(texts, pa.string()).cast(kind)


def checked(found: Any) -> list[Any]:
    """Validate an Arrow array, and return its rows."""
    found.validate(full=True)
    rows: list[Any] = found.to_pylist()
    return rows


# Types of columns


@each_kind
def test_kinds(kind: Any) -> None:
    """A column of any type gives lists of 32-bit ids, with a null for each null."""
    found = tokenizer().encode_arrow(column(TEXTS, kind))
    assert found.type == pa.list_(pa.int32())
    assert checked(found) == ids(TEXTS)


@each_kind
def test_slices(kind: Any) -> None:
    """A slice of a column gives the ids of its rows."""
    whole, right = column(TEXTS, kind), ids(TEXTS)
    for first, last in itertools.combinations(range(0, len(TEXTS) + 1, 7), 2):
        assert checked(tokenizer().encode_arrow(whole[first:last])) == right[first:last]


@each_kind
def test_chunks(kind: Any) -> None:
    """A chunked column gives a column with the same chunks."""
    chunks = [column(TEXTS[first:last], kind) for first, last in ((0, 3), (3, 3), (3, 30), (30, None))]
    found = tokenizer().encode_arrow(pa.chunked_array(chunks))
    assert list(map(len, found.chunks)) == list(map(len, chunks))
    assert checked(found) == ids(TEXTS)


@each_kind
def test_dictionaries(kind: Any) -> None:
    """A dictionary column gives the ids of its texts, also if the dictionary has more entries than the column has rows."""
    numbers = [None if text is None else number for number, text in enumerate(TEXTS)]
    encoded = pa.DictionaryArray.from_arrays(pa.array([*numbers, *numbers[::-1]], pa.int32()), column(TEXTS, kind))
    right = ids([*TEXTS, *TEXTS[::-1]])
    assert checked(tokenizer().encode_arrow(encoded)) == right
    assert checked(tokenizer().encode_arrow(encoded[5:9])) == right[5:9]
    assert checked(tokenizer().encode_arrow(pa.chunked_array([encoded, encoded]))) == right * 2


@pytest.mark.parametrize("kind", [*KINDS, pa.null()], ids=str)
@pytest.mark.parametrize("rows", [0, 3])
def test_no_texts(kind: Any, rows: int) -> None:
    """An empty column gives an empty column, and nulls give nulls."""
    for texts in (pa.nulls(rows, kind), pa.chunked_array([], kind), pa.chunked_array([pa.nulls(rows, kind)])):
        assert checked(tokenizer().encode_arrow(texts)) == [None] * len(texts)


@examples(240)
@given(st.lists(st.none() | st.text(st.sampled_from("ab unx[MASK]<s>é世\U0001f600\u0301\u1b44한"), max_size=20), max_size=12), st.data())
def test_any_column(texts: list[str | None], data: st.DataObject) -> None:
    """A slice of any column gives the same ids as the texts in the slice one by one."""
    kind = data.draw(st.sampled_from(KINDS))
    first = data.draw(st.integers(0, len(texts)))
    assert checked(tokenizer().encode_arrow(column(texts, kind)[first:])) == ids(texts[first:])


def test_null_rows_are_not_read() -> None:
    """The data of null rows is not read, whether or not it is UTF-8."""
    offsets, data = np.array([0, 2, 5, 6], np.int32), b"un\xff\xff\xffb"
    valid = pa.py_buffer(bytes([0b101]))
    texts = pa.Array.from_buffers(pa.string(), 3, [valid, pa.py_buffer(offsets), pa.py_buffer(data)])
    assert checked(tokenizer().encode_arrow(texts)) == ids(["un", None, "b"])


# Options of a call


@each_kind
@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("longest", [None, 5, 2])
def test_options(kind: Any, special: bool, longest: int | None) -> None:
    """The options for special tokens and maximum lengths have the same effect on columns as on batches."""
    options: Any = {"add_special_tokens": special, "max_length": longest}
    assert checked(tokenizer().encode_arrow(column(TEXTS, kind), **options)) == ids(TEXTS, **options)


@pytest.mark.parametrize("width", [2, 5, 300])
@pytest.mark.parametrize("side", ["right", "left"])
def test_padding(width: int, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Padded rows are lists of a fixed size, with the same ids as from a call."""
    monkeypatch.setattr(tokenizer()._caller, "pad_side", side)
    present = [text for text in TEXTS if text is not None]
    rows = iter(tokenizer()(present, padding="max_length", max_length=width, truncation=True, padding_side=side)["input_ids"])
    right = [None if text is None else next(rows) for text in TEXTS]
    texts = pa.array(TEXTS)
    for given_column in (texts, pa.chunked_array([texts[:9], texts[9:]])):
        found = tokenizer().encode_arrow(given_column, max_length=width, padding=True)
        assert found.type == pa.list_(pa.int32(), width)
        assert checked(found) == right


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids depend neither on the number of threads nor on the ends of blocks."""
    texts = [text for text in TEXTS if text is not None] * 5
    right = ids(list(texts))
    monkeypatch.setattr(batch, "BLOCK", 64)
    monkeypatch.setattr(batch, "MIN_SHARE", 1)
    for kind in KINDS:
        for threads in (1, 2, 5):
            assert checked(tokenizer().encode_arrow(column(list(texts), kind), threads=threads)) == right


def test_options_that_do_not_fit() -> None:
    """Padding without max_length is refused, and so is a max_length below the number of special tokens."""
    with pytest.raises(ValueError, match="max_length"):
        tokenizer().encode_arrow(pa.array(["a"]), padding=True)
    with pytest.raises(ValueError, match="special tokens"):
        tokenizer().encode_arrow(pa.array(["a"]), max_length=1)
    with pytest.raises(ValueError, match="errors is 'skip'"):
        tokenizer().encode_arrow(pa.array(["a"]), errors="skip")


# Columns that are not text

BROKEN = [b"un", None, b"", b"a\xffb", b"b"]


def unproven(kind: Any) -> Any:
    """Make a column of invalid UTF-8 whose type is text."""
    return pa.array(BROKEN, pa.large_binary()).cast(pa.binary() if kind in (pa.string(), pa.binary()) else pa.large_binary()).view(kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()], ids=str)
def test_rows_that_are_not_text_are_named(kind: Any) -> None:
    """If a row is not UTF-8, the message contains the row number in the entire column and the position in the row."""
    texts = unproven(kind)
    for given_column, row in ((texts, 3), (texts[2:], 1), (pa.chunked_array([texts[:3], texts[:0], texts[3:]]), 3), (texts[3:], 0)):
        with pytest.raises(fst.TextError, match=f"^row {row}, position 1: not UTF-8; ") as caught:
            tokenizer().encode_arrow(given_column)
        assert (caught.value.row, caught.value.place) == (row, 1)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()], ids=str)
def test_replaced(kind: Any) -> None:
    """With errors="replace", bytes that are not UTF-8 become U+FFFD."""
    texts = [None if text is None else text.decode("utf-8", "replace") for text in BROKEN]
    assert checked(tokenizer().encode_arrow(unproven(kind), errors="replace")) == ids(texts)


def test_rows_of_dictionaries_are_named() -> None:
    """A dictionary entry that is not UTF-8 is reported with the first row that uses it, and is ignored if no row does."""
    bad = pa.DictionaryArray.from_arrays(pa.array([0, None, 2, 1], pa.int8()), pa.array([b"un", b"\xff", b"b"]))
    with pytest.raises(fst.TextError, match=r"^row 3, position 0: not UTF-8; "):
        tokenizer().encode_arrow(bad)
    assert checked(tokenizer().encode_arrow(bad[:3])) == ids(["un", None, "b"])


@pytest.mark.parametrize(
    ("given_column", "named"),
    [
        (pa.array([1]), "int64"),
        (pa.array([["a"]]), "list<"),
        (pa.chunked_array([pa.array([1.5])]), "double"),
        (pa.array([1]).dictionary_encode(), "int64"),
        (["a"], "the column is list; expected a column of pyarrow"),
        ("a", "the column is str; expected a column of pyarrow"),
        (None, "the column is NoneType; expected a column of pyarrow"),
    ],
    ids=str,
)
def test_what_is_no_column_of_texts_is_refused(given_column: Any, named: str) -> None:
    """A column that does not contain texts is refused, and the message contains the type of the column."""
    with pytest.raises(fst.TextError, match=named):
        tokenizer().encode_arrow(given_column)


@pytest.mark.parametrize("offsets", [[0, 5, 5], [-1, 1, 3], [3, 2, 3], [0, 4, 3], [0, 1 << 30, 3], [0, -(1 << 31), 3]], ids=str)
@pytest.mark.parametrize(("kind", "size"), [(pa.string(), "<i4"), (pa.large_binary(), "<i8")], ids=str)
def test_damaged_columns_are_refused(offsets: list[int], kind: Any, size: str) -> None:
    """A column with invalid offsets, as in a damaged file, is refused."""
    sound = pa.record_batch([pa.array([b"ab", b"c"]).cast(kind)], ["text"])
    with pa.BufferOutputStream() as out, pa.ipc.new_stream(out, sound.schema) as writer:
        writer.write_batch(sound)
    data = out.getvalue().to_pybytes()
    right, wrong = np.array([0, 2, 3], size).tobytes(), np.array(offsets, size).tobytes()
    assert data.count(right) == 1
    damaged = pa.ipc.open_stream(data.replace(right, wrong)).read_next_batch()
    with pytest.raises(fst.TextError, match="damaged"):
        tokenizer().encode_arrow(damaged["text"])


def test_more_ids_than_a_list_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message about too many ids for an array contains their number, the maximum and a remedy."""
    monkeypatch.setattr("fst.runtime.rows.arrow.MAX_VALUES", 10)
    with pytest.raises(fst.TextError, match=r"11 values in one array, and .* at most 10; pass slices"):
        tokenizer().encode_arrow(pa.array(["a" * 11]), add_special_tokens=False)


def test_without_pyarrow() -> None:
    """Without `pyarrow`, the message contains the command that installs it."""
    code = "import sys; sys.modules['pyarrow'] = None; import fst.runtime.rows.arrow"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith('ModuleNotFoundError: columns take pyarrow 18 or later: pip install \'pyarrow>=18\'\n')


# Memory


def test_nothing_is_copied() -> None:
    """Encoding allocates no memory in Arrow for texts or ids."""
    texts = pa.array(["un b " * 100] * 1000)
    before = pa.total_allocated_bytes()
    found = tokenizer().encode_arrow(texts)
    assert pa.total_allocated_bytes() == before
    assert len(found.values) > 100_000


def test_ids_outlive_what_made_them() -> None:
    """The ids of a column stay valid after the tokenizer and the texts are gone."""
    found = fst.Tokenizer(compiled()).encode_arrow(pa.array(["un b"] * 1000))
    for _ in range(3):
        tokenizer().encode_arrow(pa.array(["x s i"] * 1000))
    assert checked(found) == ids(["un b"]) * 1000


# Data frames, data sets and databases


def test_polars() -> None:
    """A column of `polars` is accepted, and the ids can be converted to `polars`."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"text": TEXTS})
    made = frame.with_columns(ids=polars.Series(tokenizer().encode_arrow(frame["text"])))
    assert made["ids"].to_list() == ids(TEXTS)


def test_pandas() -> None:
    """A column of `pandas` is accepted, with strings of `pandas` or of Arrow, and the ids can be converted to `pandas`."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for kind in ("str", pandas.ArrowDtype(pa.string())):
        frame = pandas.DataFrame({"text": pandas.Series(TEXTS, dtype=kind)})
        frame["ids"] = pandas.Series(tokenizer().encode_arrow(frame["text"]), dtype=pandas.ArrowDtype(pa.list_(pa.int32())))
        assert [None if row is pandas.NA or row is None else list(row) for row in frame["ids"]] == ids(TEXTS)


def test_datasets() -> None:
    """A data set in Arrow's format can be mapped table by table."""
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    datasets.disable_progress_bars()
    data = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    one = tokenizer()
    made = data.map(lambda table: table.append_column("input_ids", one.encode_arrow(table["text"])), batched=True, batch_size=7)
    assert made.with_format(None)["input_ids"][:] == ids(TEXTS)


def test_duckdb() -> None:
    """In SQL, a DuckDB function that encodes Arrow columns returns the ids."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        one, options = tokenizer(), {"type": "arrow", "null_handling": "special"}
        connection.create_function("token_ids", lambda texts: one.encode_arrow(texts), ["VARCHAR"], "INTEGER[]", **options)
        texts = pa.table({"text": TEXTS, "row": range(len(TEXTS))})
        connection.register("texts", texts)
        found = connection.execute("SELECT token_ids(text) FROM texts ORDER BY row").fetchall()
    assert [row for (row,) in found] == ids(TEXTS)


# UTF-8


def decoded(rows: list[bytes]) -> list[str] | int:
    """Decode rows, or return the number of the first invalid row."""
    texts = []
    for row, data in enumerate(rows):
        try:
            texts.append(data.decode())
        except UnicodeDecodeError:  # noqa: PERF203 - which is what is asked for
            return row
    return texts


def transcoded(rows: list[bytes]) -> list[str] | int:
    """Decode rows with the kernel, or return the number of the first invalid row."""
    try:
        units = np.empty(CAPACITY["utf-16"], np.uint16)
        text, starts = rows_of(rows).gather(0, len(rows), Limits(MAX_GATHERED, MAX_GATHERED), units, "strict")
    except fst.TextError as error:
        return -1 if error.row is None else error.row
    pieces = itertools.pairwise(starts.tolist())
    return [text[first:last].tobytes().decode("utf-16-le") for first, last in pieces]


BYTES = st.one_of(st.binary(max_size=3), st.text(max_size=40).map(str.encode), st.sampled_from([b"a" * 31, b"b" * 32, b"c" * 65]))


@examples(1200)
@given(st.lists(st.lists(BYTES, max_size=4).map(b"".join), min_size=1, max_size=6))
def test_any_bytes(rows: list[bytes]) -> None:
    """Rows of bytes are decoded to the same text as in Python, or the first row that Python refuses is refused."""
    assert transcoded(rows) == decoded(rows)


@pytest.mark.parametrize("before", [0, 1, 28, 29, 30, 31, 32])
def test_first_bytes_of_every_character(before: int) -> None:
    """Every sequence of two bytes, and every longer one at the limits of its range, is valid if and only if it is valid in Python."""
    borders = [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xFF]
    pairs = itertools.product(range(0x80, 0x100), range(0x100))
    longer = itertools.product((0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF), borders, borders, borders)
    for sequence in sample([*(pairs if before in (0, 31) else []), *longer], 16, before):
        data = b"a" * before + bytes(sequence)
        text = np.empty(len(data) + PAST_END, np.uint16)
        try:
            right = data.decode().encode("utf-16-le")
        except UnicodeDecodeError:
            with pytest.raises(UnicodeError):
                of_utf_8(np.frombuffer(data, np.uint8), np.array([0, len(data)]), text)
        else:
            text, starts = of_utf_8(np.frombuffer(data, np.uint8), np.array([0, len(data)]), text)
            assert (text.tobytes(), starts.tolist()) == (right, [0, len(right) // 2])


def test_characters_do_not_span_rows() -> None:
    """A character that is cut by the end of a row is an error, although both parts of the character are adjacent in memory."""
    for character in ("é", "世", "\U0001f600"):
        data = character.encode()
        for cut in range(1, len(data)):
            assert transcoded([b"a" * 30, b"b" + data[:cut], data[cut:] + b"c" * 40]) == 1
    column = Column(np.frombuffer("世".encode(), np.uint8), np.array([0, 1, 3]))
    with pytest.raises(fst.TextError, match="row 0, position 0"):
        column.gather(0, 2, Limits(MAX_GATHERED, MAX_GATHERED), np.empty(CAPACITY["utf-16"], np.uint16), "strict")
