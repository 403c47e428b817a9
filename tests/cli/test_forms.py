"""Every command that reads documents gives the results of the Python interface, from any form of input to any form of output."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, written
from support.document_files import INPUTS, SEPARATOR, as_input, fields_of, options_for, records_of
from support.tiers import thinned

import fst
from fst.compile import keywords, lookup, maxmatch, rewrite


class Command(NamedTuple):
    """A command, and what it must write.

    Attributes:
        words: the command and its options.
        table: a function that compiles its table.
        run: the result of each text, by the Python interface.
        field: the field of the results.
        form: the form of lines.
        lines: a function that returns the output lines for a text or a null, and the result of this text.
        texts: some documents.
    """

    words: tuple[str, ...]
    table: Callable[[], Any]
    run: Callable[[Any, Sequence[str]], list[Any]]
    field: str
    form: str
    lines: Callable[[str, Any], list[str]]
    texts: tuple[str, ...]


COMMANDS = {
    "lookup": Command(
        ("lookup",),
        lambda: lookup([("flies", "fly+N"), ("flies", "fly+V"), ("é", "E"), ("New York", "NY+N")]),
        lambda table, texts: [*fst.Lookup(table).lookup_batch(texts)],
        "analyses",
        "tsv",
        lambda text, row: [f"{text}\t{analysis}" for analysis in row or [""]],
        ("flies", "", "Flies", "é", "New York"),
    ),
    "rewrite": Command(
        ("rewrite",),
        lambda: rewrite(["ch -> tʃ", "ll -> ʝ", "r -> ɾ / [aeiou] _ [aeiou]"]),
        lambda table, texts: fst.Rewriter(table).apply_batch(texts),
        "text",
        "lines",
        lambda _, text: [text or ""],
        ("chicharra", "", "llora la raa", "  ", "caro\r"),
    ),
    "segment": Command(
        ("segment",),
        lambda: maxmatch(["研究", "研究生", "生命", "命", "科学", "New York"]),
        lambda table, texts: [fst.Segmenter(table).segment(text) for text in texts],
        "tokens",
        "wakati",
        lambda _, row: [" ".join(token for token in row or () if token.strip())],
        ("研究生命科学", "", "in New York、 é", "  ", "科学\r"),
    ),
    "replace": Command(
        ("search", "--replace", "<é>"),
        lambda: keywords(["he", "she", "hers", "世界", "a\tb"]),
        lambda table, texts: fst.Searcher(table).replace([*texts], "<é>"),
        "text",
        "lines",
        lambda _, text: [text or ""],
        ("ushers", "", "none", "世界 he said\r", "xa\tb", "he" * 30),
    ),
}
LINES = "lines"  # the form of each command that is not one of `RECORDS`
RECORDS = ("json", "arrow", "parquet")


@cache
def table_of(name: str) -> Any:
    """The table of a command."""
    return COMMANDS[name].table()


@pytest.fixture
def stored(name: str, tmp_path: Path) -> Path:
    """The file of the table of a command."""
    table_of(name).save(tmp_path / "table.npz")
    return tmp_path / "table.npz"


def check(name: str, form: str, out: Path, fields: list[dict[str, Any]], results: list[Any], end: str = "\n") -> None:
    """Compare an output with the fields and the result of each document."""
    of = COMMANDS[name]
    if form == LINES:
        lines = [line for each, result in zip(fields, results, strict=True) for line in of.lines(each["text"] or "", result)]
        assert out.read_bytes().decode() == "".join(line + end for line in lines)
    else:
        expected = [{**each, of.field: result} for each, result in zip(fields, results, strict=True)]
        found = records_of(out, form)
        assert (found, [*map(list, found)]) == (expected, [*map(list, expected)])  # the order of fields matters


@pytest.mark.parametrize(("name", "kind", "form"), thinned(product(COMMANDS, INPUTS, [LINES, *RECORDS]), 4))
def test_all_forms(name: str, kind: str, form: str, stored: Path, tmp_path: Path) -> None:
    """From any form of input to any form of output, results are those of the Python interface, and documents keep their other fields."""
    of, source, out = COMMANDS[name], written(tmp_path / "input", gzip.compress(as_input(kind, COMMANDS[name].texts))), tmp_path / "out"
    command, *options = of.words
    call(command, stored, source, *options_for(kind), *options, "-o", out, "--format", of.form if form == LINES else form)
    fields = [fields_of(kind, number, text) for number, text in enumerate(of.texts)]
    end = SEPARATOR if kind == "documents" and of.form == LINES else "\n"
    check(name, form, out, fields, of.run(table_of(name), of.texts), end)


@pytest.mark.parametrize("form", [LINES, *RECORDS])
@pytest.mark.parametrize("name", COMMANDS)
def test_nulls(name: str, form: str, stored: Path, tmp_path: Path) -> None:
    """A null is a document without characters in lines, and null in other forms."""
    of, out = COMMANDS[name], tmp_path / "out"
    pq.write_table(pa.table({"text": [of.texts[0], None]}), tmp_path / "in.parquet")
    command, *options = of.words
    call(command, stored, tmp_path / "in.parquet", "--column", "text", *options, "-o", out, "--format", of.form if form == LINES else form)
    check(name, form, out, [{"text": of.texts[0]}, {"text": None}], [*of.run(table_of(name), of.texts[:1]), None])


@pytest.mark.parametrize("name", COMMANDS)
def test_malformed_documents(name: str, stored: Path, tmp_path: Path) -> None:
    """--errors determines whether a document that is not UTF-8 stops the command with its line, is repaired or is omitted."""
    of, source = COMMANDS[name], written(tmp_path / "in.txt", COMMANDS[name].texts[0].encode() + b"\nx\xff\n")
    command, *options = of.words
    code = 2 if command == "search" else 1  # as with grep, whose exit code 1 means that there is no match
    assert error_of(call(command, stored, source, *options, code=code)).startswith(f"{source}, line 2: not UTF-8 at byte 1")
    for errors, kept in (("replace", [of.texts[0], "x\ufffd"]), ("skip", [of.texts[0]])):
        lines = [line for text, row in zip(kept, of.run(table_of(name), kept), strict=True) for line in of.lines(text, row)]
        assert call(command, stored, source, *options, "--errors", errors).stdout == "".join(f"{line}\n" for line in lines)
