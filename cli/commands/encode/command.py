"""The command `fst encode`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from fst.cli.group import CliCommand
from fst.cli.options import (
    Number,
    encoding_options,
    files_argument,
    format_option,
    output_options,
    reading_options,
    table_argument,
    with_options,
)
from fst.runtime.files.shards.formats import FORMATS

if TYPE_CHECKING:
    from fst.runtime.randomness import Randomness

SHARE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def _share(_ctx: click.Context, _param: click.Parameter, given: str | None) -> tuple[int, int]:
    """The number of a share, and the number of all shares."""
    if given is None:
        return 1, 1
    if not (found := SHARE.fullmatch(given)) or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{given!r} is no share; expected K/N with K from 1 to N, such as 2/8")
    return int(found[1]), int(found[2])


row_options = with_options(
    click.option("--tokens", is_flag=True, help="Write tokens, too (JSON, Arrow, Parquet)."),
    click.option("--offsets", is_flag=True, help="Write the span of each id in the text, too (JSON, Arrow, Parquet)."),
    click.option("--keep", type=click.Choice(["text"]), show_default="nothing", help="Write the text, too (JSON, Arrow, Parquet)."),
    click.option(
        "--max-length",
        type=click.IntRange(min=0),
        metavar="N",
        show_default="all",
        help="Keep the first N ids of a document. In Python, tok.cut cuts the text.",
    ),
    click.option(
        "--stride",
        type=click.IntRange(min=0),
        metavar="N",
        show_default="no windows",
        help="Keep all ids, in windows of --max-length ids that overlap by N.",
    ),
    click.option("--append", metavar="TOKEN", show_default="none", help="Add a token after each document."),
    click.option(
        "--pack",
        type=click.IntRange(min=1),
        metavar="N",
        show_default="a row per document",
        help="Write rows of N ids, which continue across documents.",
    ),
    section="Options for rows",
)
random_options = with_options(
    click.option("--dropout", type=Number(0, 1), metavar="P", show_default="none", help="BPE: skip each merge with probability P."),
    click.option(
        "--sample", type=Number(-1e6, 1e6), metavar="ALPHA", show_default="none", help="Unigram: draw segmentations by exp(ALPHA * score)."
    ),
    click.option(
        "--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", show_default="a new one", help="Equal seeds give equal ids."
    ),
    section="Options for random ids",
)


folder_options = with_options(
    click.option(
        "--per",
        type=click.Choice(["file", "row-group"]),
        default="file",
        show_default=True,
        help="In FOLDER: an output per input, or per row group of Parquet.",
    ),
    click.option(
        "--share", metavar="K/N", callback=_share, show_default="1/1", help="In FOLDER: write the K-th of N shares of the outputs."
    ),
)


@click.command("encode", cls=CliCommand)
@table_argument
@files_argument
@output_options
@format_option("ids", "tokens", "json", "arrow", "parquet", *FORMATS, default="ids")
@folder_options
@row_options
@random_options
@reading_options
@encoding_options
def command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    per: str,
    share: tuple[int, int],
    form: str | None,
    keep: str | None,
    dropout: float | None,
    sample: float | None,
    seed: int | None,
    no_special_tokens: bool,
    errors: str,
    threads: int | None,
    **others: Any,
) -> None:
    """Turn documents into token ids.

    A document of plain text is a line, which ends at a line feed only. FILE may also be JSON lines (with --field), Parquet or Arrow IPC
    (with --column); any of these compressed with gzip, zstd, bz2 or xz; a folder; a quoted pattern such as "books/**/*.jsonl"; or a URL
    such as s3://bucket/x.txt. Without FILE, or for '-', documents come from standard input.

    \b
    --format, or the ending of the output, chooses the format:
      ids, tokens     a line per document, separated by spaces
      json            an object per line: the other fields of the input, then input_ids
      arrow, parquet  the other columns of the input, then input_ids, lists of int32
      npy             X.npy, int32: all ids; X.splits.npy, int64: the row splits
      bin             X.bin: all ids, uint16 or uint32, no header; X.splits.npy
      nanogpt, llmc   X.bin, without splits; llmc, for llm.c and modded-nanogpt, has a header
      megatron        X.bin and X.idx of Megatron-LM
      datatrove       X.ds, X.ds.index and X.ds.metadata
      mds             X.00000.mds and so on: shards of MosaicML Streaming

    An output file gets its name when it is complete. Lines are compressed for endings such as .jsonl.gz. An output folder is created if its
    name ends with /. Without --format, its files have the names and formats of the inputs; existing files are refused. From npy to mds, a
    folder gets index.json when all its outputs are complete. A document that is null stays null in JSON, Arrow and Parquet, and has no ids
    in other formats.

    Parquet, Arrow and zstd need pyarrow: pip install "pyarrow>=18". URLs need fsspec and a package for their kind, such as s3fs.

    \b
    Examples:
      fst encode bert.npz reviews.txt > ids.txt
      fst encode bert.npz part1.jsonl.gz part2.jsonl.gz --field text -o ids.npy
      fst encode gpt2.npz corpus.txt --append "<|endoftext|>" -o train.bin
      fst encode gpt2.npz books.txt --append "<|endoftext|>" --pack 1024 -o rows.parquet
      fst encode gpt2.npz corpus/ --field text -o encoded/ --resume
      fst encode gpt2.npz corpus/ --column text --append "<|endoftext|>" --format megatron --per row-group --share 1/8 -o ids/ --resume
      fst encode bert.npz books.parquet --column text -o ids.parquet --threads 2
      fst encode bert.npz pages.jsonl --field text --max-length 256 --stride 32 --offsets --keep text -o chunks.parquet
      fst encode gpt2.npz corpus.txt --dropout 0.1 --seed 7 -o ids.txt
      cat reviews.txt | fst encode bert.npz --format json | head

    \b
    $ echo "unaffable" | fst encode bert.npz
    101 14477 20961 3468 102
    """
    from fst.cli.commands.encode.work import Encoding
    from fst.cli.commands.encode.writers import FORMS
    from fst.cli.files.job import Job
    from fst.cli.files.outputs import Target
    from fst.cli.tables import load, ready
    from fst.machines.bpe.table import BpeTable
    from fst.machines.unigram.table import UnigramTable

    randomness = _randomness(dropout, sample, seed)
    shape = {name: others.pop(name) for name in ("tokens", "offsets", "max_length", "stride", "append", "pack")}
    job = Job(Target(output, form, overwrite, resume, per, share), FORMS, files, table, others, errors)
    text = job.how.text_name if keep else None
    random = {"dropout": dropout, "sample": sample, "seed": seed}
    encoding = Encoding(job, {"special": not no_special_tokens, "text": text, **shape}, random, table)
    tables = load(table)
    for option, value, kind in (("--dropout", dropout, BpeTable.kind), ("--sample", sample, UnigramTable.kind)):
        if value is not None and tables.kind != kind:
            raise click.UsageError(f"{option} is for tables of {kind}, and {table} is of {tables.kind}; leave it out")
    encoding.check(tables)
    job.check_inputs()
    tokenizer = ready(tables)
    with job.progress("encoding", encoding.done):
        encoding.run(tokenizer, threads, randomness)


def _randomness(dropout: float | None, sample: float | None, seed: int | None) -> Randomness | None:
    """The randomness of ids, or None."""
    from fst import Dropout, Sampling

    if dropout is sample is None and seed is not None:
        raise click.UsageError("--seed is for random ids; pass --dropout or --sample, too")
    if dropout is not None and sample is not None:
        raise click.UsageError("--dropout is for BPE and --sample for Unigram; pass one of them")
    if sample is not None:
        return Sampling(sample, seed=seed)
    return None if dropout is None else Dropout(dropout, seed=seed)
