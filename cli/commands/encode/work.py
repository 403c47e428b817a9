"""Encode files: read, encode and write at the same time. The options of the command choose the rows that are written."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fst.cli.commands.encode.writers import TAKE_PIECES, writing
from fst.cli.files.formats import KEEP_OTHERS
from fst.cli.files.ids import names
from fst.cli.files.job import Job
from fst.cli.files.outputs import Output
from fst.cli.files.progress import Sum, note
from fst.cli.files.writers import Write
from fst.runtime.files.documents import Documents, Encoded
from fst.runtime.files.pieces import takes_pieces
from fst.runtime.files.shards.formats import FORMATS, writing_shard
from fst.runtime.files.shards.records import INDEX, Records, source_of
from fst.runtime.files.shards.shard import Vocabulary

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.cli.tables import TokenizerTable
    from fst.runtime.randomness import Randomness

NO_IDS = np.empty(0, np.int32)

Encode = Callable[[Documents, str], Encoded]  # a function of documents and of `errors` that encodes the documents


@dataclass(frozen=True)
class Rows:
    """The rows to write, from the options of the command line.

    Attributes:
        form: the format of the output.
        special: whether special tokens such as [CLS] and [SEP] are put around documents.
        tokens, offsets: whether tokens and spans are written in addition to ids.
        text: the name of the field for the texts; None: texts are not written.
        max_length: the maximum number of ids in a row; None: no limit.
        stride: the number of ids that a window shares with the previous window; None: no windows.
        append: the token after each document, or None.
        pack: the number of ids in a row; a row may contain ids of several documents; None: one row per document.
    """

    form: str
    special: bool
    tokens: bool
    offsets: bool
    text: str | None
    max_length: int | None
    stride: int | None
    append: str | None
    pack: int | None

    def __post_init__(self) -> None:
        options = {"--tokens": self.tokens, "--offsets": self.offsets, "--keep text": self.text is not None}
        asked = [option for option, is_asked in options.items() if is_asked]
        if asked and self.form not in KEEP_OTHERS:
            more = "; for tokens alone, pass --format tokens" if self.tokens else ""
            raise click.UsageError(f"{asked[0]} cannot be combined with {self.form}; expected the format json, arrow or parquet{more}")
        if self.stride is not None and self.max_length is None:
            raise click.UsageError("--stride is for windows of --max-length ids; pass both")
        if self.append is not None and self.max_length is not None:
            raise click.UsageError("--append cannot be combined with --max-length, which may cut off the token; pass one of them")
        if self.pack is not None and (asked or self.max_length is not None):
            option = asked[0] if asked else "--max-length"
            raise click.UsageError(f"--pack cannot be combined with {option}, because rows continue across documents; pass one of them")

    @property
    def takes_pieces(self) -> bool:
        """Whether long documents may be read and encoded in parts, because no option needs a complete document."""
        return self.stride is None and not self.offsets

    def check(self, table: TokenizerTable) -> None:
        """Check the options against a vocabulary, before `numba` is imported."""
        self._window(table)
        if self.append is not None and self.append not in names(table).values():
            raise click.UsageError(f"--append {self.append!r} is not a token of the vocabulary; `fst info` lists the special ones")

    def encode(self, tokenizer: Tokenizer, threads: int | None, randomness: Randomness | None) -> Encode:
        """A function that encodes documents."""
        form = self._window(tokenizer._table)
        options: dict[str, Any] = {"threads": threads, "add_special_tokens": self.special and form is None}
        options |= {"max_length": self.max_length} if form is None else {}
        options |= {"offsets": True} if self.offsets else {}
        encode = _at_random(tokenizer, options, randomness) if randomness else _plain(tokenizer, options)
        if self.text is not None:
            encode = _with_texts(encode, self.text)
        if self.append is not None:
            encode = _appending(encode, tokenizer.get_vocab()[self.append], to_empty=self.form != "megatron")
        return encode if form is None else _in_windows(encode, form)

    def packed(self, results: Generator[Encoded, None, None]) -> Generator[Encoded, None, None]:
        """Pack the ids of encoded documents into rows if --pack is given; otherwise return `results`."""
        return results if self.pack is None else _packed(results, self.pack)

    def _window(self, table: TokenizerTable) -> Any:
        """The form of overlapping windows; None without --stride. If the maximum length is too small, a usage error is raised."""
        from fst.runtime.rows.overflow import window
        from fst.runtime.text.templates import special_ids

        around = special_ids(table.metadata.templates.single) if self.special else (NO_IDS, NO_IDS)
        count = sum(map(len, around))
        if self.max_length is not None and self.max_length < count:
            reason = f"--max-length {self.max_length}: the special tokens around a document are {count}"
            raise click.UsageError(f"{reason}; allow at least as many ids")
        try:
            return None if self.stride is None else window(self.max_length, self.stride, around)
        except ValueError as error:
            raise click.UsageError(f"--max-length {self.max_length}, {error}") from None


def _plain(tokenizer: Tokenizer, options: Mapping[str, Any]) -> Encode:
    """A function that encodes documents without randomness, with the options of `Documents.encode`."""
    return lambda documents, errors: documents.encode(tokenizer, errors, **options)


def _at_random(tokenizer: Tokenizer, options: Mapping[str, Any], randomness: Randomness) -> Encode:
    """A function that encodes documents at random. All calls of the function together give the same ids as one call with all documents."""
    following = randomness.seeded()
    try:
        tokenizer.encode("", randomness=following)
    except ValueError as error:
        raise click.UsageError(str(error)) from None

    def encode(documents: Documents, errors: str) -> Encoded:
        nonlocal following
        encoded = documents.encode(tokenizer, errors, randomness=following, **options)
        following = following.after(len(encoded.ends) - (0 if encoded.nulls is None else int(encoded.nulls.sum())))
        return encoded

    return encode


def _with_texts(encode: Encode, name: str) -> Encode:
    """A function that encodes documents, and adds each text to its document as a field `name`."""

    def carry(documents: Documents, errors: str) -> Encoded:
        documents = documents.mended() if errors == "replace" else documents
        return replace(encode(documents, errors), documents=documents.carrying(documents.texts, name))

    return carry


def _appending(encode: Encode, number: int, to_empty: bool) -> Encode:
    """A function that encodes documents, and adds an id after each document that is not null. `to_empty`: whether the id is also added
    after a document without ids; Megatron-LM's `preprocess_data.py` adds none.
    """
    begun = 0  # number of ids of an unfinished document in earlier blocks

    def append(documents: Documents, errors: str) -> Encoded:
        nonlocal begun
        encoded = encode(documents, errors)
        is_text = np.ones(len(encoded.ends), bool) if encoded.nulls is None else ~encoded.nulls
        is_text &= to_empty | (np.diff(encoded.ends, prepend=-begun) > 0)
        begun = len(encoded.ids) - int(encoded.ends[-1]) if len(encoded.ends) else begun + len(encoded.ids)
        at, ends = encoded.ends[is_text], encoded.ends + np.cumsum(is_text)
        offsets = None if encoded.offsets is None else np.insert(encoded.offsets, at, 0, axis=0)
        return replace(encoded, ids=np.insert(encoded.ids, at, number), ends=ends, offsets=offsets)

    return append


def _in_windows(encode: Encode, form: Any) -> Encode:
    """A function that encodes documents into a row for each window; a null document becomes one row without ids."""
    from fst.runtime.rows.batch import Batch
    from fst.runtime.rows.overflow import in_windows

    def windows(documents: Documents, errors: str) -> Encoded:
        encoded = encode(documents, errors)
        found, splits = in_windows(Batch(encoded.ids, np.concatenate([[0], encoded.ends]), encoded.offsets), form)
        rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
        taken = Encoded(encoded.documents.taken(rows.tolist()), found.ids, found.row_splits[1:], offsets=found.offsets)
        return taken if encoded.nulls is None else _without_nulls(taken, encoded.nulls[rows])

    return windows


def _without_nulls(encoded: Encoded, nulls: Any) -> Encoded:
    """Remove the ids of null rows, which may contain special tokens."""
    lengths = np.diff(encoded.ends, prepend=0)
    is_text = np.repeat(~nulls, lengths)
    offsets = None if encoded.offsets is None else encoded.offsets[is_text]
    return replace(encoded, ids=encoded.ids[is_text], ends=np.cumsum(np.where(nulls, 0, lengths)), nulls=nulls, offsets=offsets)


def _packed(results: Generator[Encoded, None, None], size: int) -> Generator[Encoded, None, None]:
    """Cut the ids of all documents into rows of `size` ids; the last row may be shorter."""
    waiting, count = NO_IDS, 0
    for encoded in results:
        ids = np.concatenate([waiting, encoded.ids])
        whole = len(ids) // size
        yield _rows_of(ids[: whole * size], size, count)
        waiting, count = ids[whole * size :], count + whole
    if len(waiting):
        yield _rows_of(waiting, len(waiting), count)


def _rows_of(ids: Any, size: int, first: int) -> Encoded:
    ends = np.arange(size, len(ids) + 1, size)
    numbers = range(first + 1, first + 1 + len(ends))
    return Encoded(Documents("packed", "row", numbers, []), ids, ends)


class Encoding:
    """A job that encodes input files into output files.

    Args:
        job: the outputs.
        rows: the arguments of `Rows`, without the form.
        random: the options for random ids.
        name: the table file.

    Attributes:
        done: the number of documents or rows, and of tokens, written so far.
    """

    def __init__(self, job: Job, rows: Mapping[str, Any], random: Mapping[str, Any], name: str) -> None:
        self._job, self._name = job, name
        self._settings = {**rows, **random, **job.settings}
        self._records: Records | None = None
        self._rows = {form: Rows(form, **rows) for form in dict.fromkeys(output.form for output in job.outputs)}
        self.done = Sum("document" if rows["stride"] is rows["pack"] is None else "row", "token")

    def check(self, table: TokenizerTable) -> None:
        """Check the options against a vocabulary; see `Rows.check`. In a folder of outputs with records, leave out complete outputs."""
        for rows in self._rows.values():
            rows.check(table)
        form = self._job.all_outputs[0].form
        if self._job.target.is_folder and form in FORMATS:
            self._records = Records(self._job.target.name, {"format": form, "table": table.origin.digest, **self._settings})
            if self._records.has_other_index() and not self._job.target.overwrite:
                reason = f"{INDEX} in {self._job.target.name} exists, and this command did not write it"
                raise click.UsageError(f"{reason}; pass --overwrite to replace it, or name another folder")
            sources = {file: source_of(file) for output in self._job.all_outputs for file in output.inputs}
            self._sources = {output.stem: {**sources[output.inputs[0]], "row_group": output.group} for output in self._job.all_outputs}
            if self._job.target.resume:
                kept = [output for output in self._job.outputs if self._records.complete(output.stem, self._sources[output.stem])]
                self._job.leave_out(kept)

    def run(self, tokenizer: Tokenizer, threads: int | None, randomness: Randomness | None) -> None:
        """Write all outputs. The random ids of an output depend only on the documents of this output."""
        for output in self._job.outputs:
            rows = self._rows[output.form]
            pieces = output.form in TAKE_PIECES and rows.takes_pieces and takes_pieces(tokenizer) and not randomness
            how = replace(self._job.how, others=output.form in KEEP_OTHERS, with_text=rows.text is not None, in_pieces=pieces)
            how = replace(how, row_group=output.group)
            encode, is_partial = rows.encode(tokenizer, threads, randomness), rows.max_length is not None
            with (
                self._writing(output, rows, tokenizer) as write,
                self._job.results(output.inputs, how, encode, is_partial=is_partial) as results,
            ):
                for encoded in rows.packed(results):
                    write(encoded)
                    self.done.add(len(encoded.ends), len(encoded.ids))
        self._finish()

    @contextmanager
    def _writing(self, output: Output, rows: Rows, tokenizer: Tokenizer) -> Iterator[Write[Encoded]]:
        """A function that writes encoded documents to an output; see `writing` and `writing_shard`."""
        if output.form not in FORMATS:
            with writing(output.name, output.form, tokenizer._table, with_tokens=rows.tokens, with_offsets=rows.offsets) as write:
                yield write
            return
        if self._records:
            self._records.begin(output.stem)
        with writing_shard(output.name, output.form, Vocabulary.of(tokenizer._table.token_ids, Path(self._name).name)) as shard:
            yield lambda encoded: shard.write(encoded.ids, encoded.ends)
        if self._records:
            self._records.add(output.stem, self._sources[output.stem], shard)

    def _finish(self) -> None:
        """Write the index of a folder if all its outputs are complete."""
        if self._records and (complete := self._records.finish(self._sources)) < len(self._sources):
            note(f"{INDEX} is written when all outputs are complete: {complete:,} of {len(self._sources):,} are")
