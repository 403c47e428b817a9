"""Train vocabularies from files; the commands ``fst train …`` call these functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fst.cli.files.progress import ROUNDS, TOKENS, note, progress, steps, telling_warnings
from fst.cli.files.streams import check_folder, check_target, keep_apart, show, written
from fst.errors import counted
from fst.runtime.files.outputs import is_there
from fst.runtime.files.packing import ending
from fst.tables.kernel_call import MOST_UNITS

if TYPE_CHECKING:
    from fst.counting.words import Words
    from fst.runtime.files.reading import Files
    from fst.train.result import Trained

READING = ("input_format", "field", "column", "separator", "document")  # options of `fst.runtime.files.reading.Files`
SPLITTING = ("splitter", "normalizer")
COUNTING = (*SPLITTING, "errors", "threads", "min_count", "partition")  # options of `fst.train.words`
OF_TEXTS = ("partition", "deadline")  # options of `fst train words` that files of counted words do not have
KINDS = {"bpe": "BPE", "wordpiece": "WordPiece", "unigram": "Unigram", "wordlevel": "WordLevel"}  # trainer → type of the model
KINDS_OF_TABLES = {kind: KINDS[kind] for kind in ("bpe", "unigram")}  # a table of WordLevel also has the kind "wordpiece"
AT_ONCE = ("wordlevel",)  # trainers that show no progress
TIMED_OUT = 124  # the exit code of a run that its deadline ended, the same as timeout(1) uses
PARQUET = ".parquet"


def count(files: Sequence[str], output: str, **options: Any) -> None:
    """Count the words of files, and write them. `output`: the Parquet file to write. `options`: the other options of the command."""
    if ending(output) != (PARQUET, None):
        raise click.UsageError(f"{output}: words are written as Parquet; name a file that ends in {PARQUET}")
    keep_apart([output], files)
    check_target(output)
    options["normalizer"] = _normalizer(options["normalizer"])
    reading, counting = _taken(options, READING), _taken(options, (*COUNTING, "deadline"))
    if _are_counted(files, reading):
        _merge(files, output, counting)
        return
    words = _words(files, reading, counting)
    words.save(output)
    found = f"{output}: {counted(len(words), 'word')} of {counted(words.documents, 'document')}"
    if words.is_partial:
        click.echo(f"{found}; stopped by deadline", err=True)
        raise click.exceptions.Exit(TIMED_OUT)
    note(found)


def _merge(files: Sequence[str], output: str, counting: Mapping[str, Any]) -> None:
    """Merge files of counted words."""
    import fst

    for name in OF_TEXTS:
        if counting.get(name):
            raise click.UsageError(f"--{name} is for texts, and {files[0]} has counted words; leave it out")
    size = fst.train.merge_words(files, output, **_taken(counting, (*SPLITTING, "min_count")))
    note(f"{output}: {counted(size, 'word')} of {counted(len(files), 'part')}")


def train(
    trainer: str,
    files: Sequence[str],
    output: str,
    *,
    overwrite: bool,
    report: str | None,
    by: str | None,
    base: str | None = None,
    **options: Any,
) -> None:
    """Train a vocabulary on files, and write it.

    Args:
        trainer: the name of a function in `fst.train`.
        files: files of texts, or of counted words.
        output: a file, whose name determines its format, or a folder.
        overwrite: whether existing files in the folder are replaced.
        report: a file of held-out texts; None: no report.
        by: a column or field of the file `report`; figures are printed for each of its values. None: figures of all texts together.
        base: the base vocabulary, for `like` and `extend`; None for other trainers.
        options: the other options of the command. For options without a value, the default of the trainer applies.
    """
    import fst
    from fst.train.checkpoints import need_checkpoint

    begun, checkpoint, deadline = monotonic(), options.get("checkpoint"), options.get("deadline")

    _check_output(output, overwrite, [*files, *filter(None, [report, base])], _kind(trainer, options.get("options")))
    if checkpoint is not None:
        keep_apart([checkpoint], [*files, *filter(None, [report, base])])
        need_checkpoint(checkpoint)
    options["normalizer"] = _normalizer(options.get("normalizer"))
    reading, counting = _taken(options, READING), _taken(options, COUNTING)
    measured = _measured(report, by, reading)
    given = _taken(options, options.keys() - {*READING, *COUNTING})
    before, by = ([], counting.get("splitter")) if base is None else _base(base, trainer, output, counting.get("splitter"))
    source: Words | Files
    if given.get("reference") == "sentencepiece" and trainer == "unigram" and not _are_counted(files, reading):
        source = _texts(files, reading)  # this trainer needs whole sentences
        given.update(_taken(counting, ("errors", "min_count")))
    else:
        source = _words(files, reading, {**counting, "splitter": by, "deadline": deadline})
    if deadline is not None:
        given["deadline"] = max(deadline - (monotonic() - begun), 0.0)
    given.update(_taken(counting, SPLITTING))
    with telling_warnings(), steps("training", ROUNDS if trainer == "unigram" else TOKENS) as reach:
        watched = {} if trainer in AT_ONCE else {"progress": reach}
        with _telling_checkpoint(checkpoint):
            result = getattr(fst.train, trainer)(*before, source, **given, **watched)
    _write(result, output, measured)
    if result.stopped == "deadline":
        raise click.exceptions.Exit(TIMED_OUT)


def trim(
    base: str,
    files: Sequence[str],
    output: str,
    *,
    keep: int,
    ids: str | None,
    overwrite: bool,
    report: str | None,
    by: str | None,
    **options: Any,
) -> None:
    """Remove the tokens that texts use least from a vocabulary, and write the rest.

    Args:
        base: the vocabulary.
        keep: the number of tokens that are not removed.
        ids: the file to write the new id of each old id to; None: no file.
        files, output, overwrite, report, by, options: as in `train`.
    """
    import fst

    inputs = [base, *files, *filter(None, [report])]
    _check_output(output, overwrite, inputs)
    if ids is not None:
        keep_apart([ids], [*inputs, output])
        check_target(ids)
    reading, tokenizer = _taken(options, READING), _tokenizer(base, "trim", output)
    measured = _measured(report, by, reading)
    words = _words(files, reading, {**_taken(options, COUNTING), "splitter": tokenizer})
    trimmed = fst.train.trim(tokenizer, words, keep)
    if ids is not None:
        with written(ids) as file:
            np.save(file, trimmed.ids, allow_pickle=False)
    _write(trimmed.trained, output, measured)


@contextmanager
def _telling_checkpoint(path: str | None) -> Iterator[None]:
    """After the run, print the path of the checkpoint if the file exists."""
    try:
        yield
    finally:
        if path is not None and is_there(path):
            click.echo(f"{path}: checkpoint; the same command continues from it", err=True)


def _base(base: str, command: str, output: str, splitter: str | None) -> tuple[list[Any], Any]:
    """The base vocabulary as the first argument of `command`, and the splitter of texts. Only `extend` needs the vocabulary as a tokenizer,
    which takes seconds to compile; `like` needs only ``tokenizer.json``, which is read once. `splitter`: that of `extend`, or None.
    """
    if command != "like":
        from fst.train.base_tokenizers import base_vocabulary
        from fst.train.extending import split_by

        tokenizer = _tokenizer(base, command, output)
        by = tokenizer if splitter is None else split_by(base_vocabulary(tokenizer, f"fst train {command}"), splitter).pipeline
        return [tokenizer], by
    from fst.cli.tables import load
    from fst.train.base_tokenizers import parts_of
    from fst.train.pipeline import Pipeline
    from fst.train.saving import files_of

    source = load(base) if base.endswith(".npz") else base
    parts = parts_of(source, f"fst train {command}")
    files_of(output, parts.document["model"].get("type"))
    return [parts], Pipeline.of_document(parts.document)


def _tokenizer(base: str, command: str, output: str) -> Any:
    from fst.bridge.from_live import compiled
    from fst.cli.tables import load
    from fst.train.saving import files_of

    tokenizer = compiled(load(base) if base.endswith(".npz") else base, f"fst train {command}")
    files_of(output, KINDS_OF_TABLES.get(tokenizer._table.kind))
    return tokenizer


def _measured(report: str | None, by: str | None, reading: Mapping[str, Any]) -> Callable[[Trained], Any] | None:
    """A function that measures a vocabulary on a file. The file is checked immediately, so that a wrong name is found before training."""
    from fst.runtime.files.reading import Files

    place = {name: reading[name] for name in ("column", "field") if name in reading}
    if by is not None and not (report and place):
        raise click.UsageError("--by needs a file with columns or fields; pass --report, and --column or --field")
    if report is None:
        return None
    documents = Files([report], for_command=True, most=MOST_UNITS, **reading).documents()
    if by is not None:
        return lambda result: result.report(report, by=by, **place)
    return lambda result: result.report(text for some in documents for text in some.in_utf8().texts)


def _write(result: Trained, output: str, measured: Callable[[Trained], Any] | None) -> None:
    result.save(output)
    click.echo(f"{output}: {counted(len(result.vocabulary), 'token')}; stopped by {result.stopped}", err=True)
    if measured is not None:
        show(str(measured(result)).splitlines())


def _taken(options: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Select the options with these names that have a value."""
    return {name: options[name] for name in names if options.get(name) not in (None, ())}


def _words(files: Sequence[str], reading: Mapping[str, Any], counting: Mapping[str, Any]) -> Words:
    """Count the words of text files, or read tables of counted words."""
    import fst

    if _are_counted(files, reading):
        words: Words = fst.train.words([*files], **counting)  # the files contain counted words, not texts
    else:
        source = _texts(files, reading)
        with progress("counting", source.size) as source.advance:
            words = fst.train.words(source, **counting)
    return words


def _texts(files: Sequence[str], reading: Mapping[str, Any]) -> Files:
    """The documents of files, with the line feeds of lines."""
    from fst.runtime.files.reading import Files

    return Files(files, for_command=True, with_ends=True, most=MOST_UNITS, **reading)


def _are_counted(files: Sequence[str], reading: Mapping[str, Any]) -> bool:
    """Whether files contain counted words, not texts."""
    from fst.train.counting import are_tables

    return reading.keys() <= {"document"} and are_tables(files)


def _normalizer(given: str | None) -> Any:
    """The value of the option --normalizer: a name, or parsed JSON."""
    if given is None or not given.lstrip().startswith("{"):
        return given
    try:
        return json.loads(given)
    except ValueError as error:
        raise click.UsageError(f"--normalizer {given!r} is not JSON: {error}") from None


def _kind(trainer: str, options: Mapping[str, Any] | None) -> str | None:
    """The type of the model that a trainer makes, if it is known. `options`: those of SentencePiece's trainer."""
    from fst.train.saving import OF_PIECES

    kind = str((options or {}).get("model_type")).capitalize()
    return kind if kind in OF_PIECES else KINDS.get(trainer)


def _check_output(output: str, overwrite: bool, inputs: Sequence[str], kind: str | None = None) -> None:
    """Check that an output can be written, before any input is read. `kind`: the type of the model, if it is known."""
    from fst.train.saving import files_of

    names = files_of(output, kind)
    keep_apart(names, inputs)
    if names == [output]:
        check_target(output)
    elif not overwrite and (there := next(filter(is_there, names), None)):
        raise click.UsageError(f"{there} exists; pass --overwrite to replace it, or name another folder")
    else:
        check_folder(output, names)
