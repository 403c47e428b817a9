"""The command `fst encode`."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.files.progress import progress, report
from fst.cli.files.streams import standard_output
from fst.cli.group import CliCommand
from fst.cli.options import encoding_options, files_argument, format_option, output_options, reading_options, table_argument
from fst.cli.parameters import Number
from fst.runtime.files.streams import STANDARD, size


@click.command("encode", cls=CliCommand)
@table_argument
@files_argument
@output_options
@format_option("ids", "tokens", "json", "npy", "bin", "arrow", "parquet", default="ids")
@click.option("--tokens", is_flag=True, help="Write tokens too, in JSON, Arrow and Parquet.")
@click.option("--offsets", is_flag=True, help="Write the span of each id in characters too, in JSON, Arrow and Parquet.")
@click.option("--keep", type=click.Choice(["text"]), show_default="nothing", help="Write the text too, in JSON, Arrow and Parquet.")
@click.option("--max-length", type=click.IntRange(min=0), metavar="N", show_default="all", help="Keep at most N ids of a document.")
@click.option(
    "--stride",
    type=click.IntRange(min=0),
    metavar="N",
    show_default="no windows",
    help="Write windows of --max-length ids, of which each shares N with the one before, instead of cutting ids off.",
)
@click.option("--append", metavar="TOKEN", show_default="none", help="Put a token after each document, such as '<|endoftext|>'.")
@click.option(
    "--pack",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="a row a document",
    help="Write rows of N ids, which go on from document to document.",
)
@click.option(
    "--dropout", type=Number(0, 1), default=0, show_default=True, metavar="P", help="Skip each merge of BPE with the probability P."
)
@click.option("--sample", is_flag=True, help="Draw a segmentation of Unigram at random.")
@click.option("--alpha", type=Number(-1e6, 1e6), default=0.1, show_default=True, metavar="A", help="Of --sample: draw by exp(A * score).")
@click.option(
    "--nbest-size",
    type=click.IntRange(-1, 1024),
    default=-1,
    show_default="all",
    metavar="N",
    help="Of --sample: draw from the N best of a document; from all with -1.",
)
@click.option(
    "--seed", type=click.IntRange(0, (1 << 64) - 1), metavar="N", show_default="a new one", help="The seed of --dropout and --sample."
)
@reading_options
@encoding_options
def command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    keep: str | None,
    dropout: float,
    sample: bool,
    alpha: float,
    nbest_size: int,
    seed: int | None,
    no_special_tokens: bool,
    errors: str,
    threads: int | None,
    **others: Any,
) -> None:
    """Turn documents into token ids.

    A file is plain text, JSON lines (with --field), Parquet or Arrow IPC (with --column), each plain or packed with gzip, zstd, bz2 or xz.
    --field or the name of the file identifies JSON lines; the first bytes identify Parquet, Arrow and the packing. A document of plain text
    is a line. It ends at a line feed only, and may be empty.

    \b
    --format, or the ending of the output's name, chooses what is written:
      ids, tokens  a line for each document, separated by blanks
      json         a JSON object a line: the other columns or fields of the input,
                   then input_ids                     .json, .jsonl, .ndjson
      npy          OUT.npy, int32: the ids of all documents; OUT.splits.npy, int64:
                   where the ids of each document begin, and the last end      .npy
      bin          OUT.bin: the ids without a header, as np.memmap and nanoGPT
                   read them, uint16, or uint32 if one is above 65,535; and
                   OUT.splits.npy                                              .bin
      arrow        Arrow IPC: the other columns or fields of the input, then
                   input_ids, lists of int32                                 .arrow
      parquet      the same as Parquet                                     .parquet

    In JSON, Arrow and Parquet, --tokens adds tokens, lists of strings; --offsets adds offset_mapping, a pair of characters for each id; and
    --keep text keeps the text. Ids, tokens and JSON are compressed if the name ends with .gz, .zst, .bz2 or .xz, as in ids.jsonl.gz. The
    output cannot be one of the inputs.

    A document has one row. With --stride it has as many as it takes, windows of --max-length ids that overlap, each with the other columns
    of the document. With --pack all rows but the last have the same number of ids, and go on from document to document.

    A folder as input stands for all files in it, and a quoted pattern such as "books/**/*.jsonl" for the files that match. TABLE
    and each input or output may be a URL, such as s3://bucket/x.txt. The package fsspec reads it, with a plug-in: pip install fsspec s3fs.

    A folder as output has a file for each input; if its name ends with /, a missing folder is made. Without --format, a file has the name,
    the format and the packing of its input: ids for text, JSON lines for JSON lines, with their other fields. Files that exist are
    refused. --overwrite replaces them. --resume keeps them, since each is written whole or not at all, but writes a file again if its
    input or TABLE was modified later. Give a resumed run the options of the first run.

    A null stays null in JSON, Arrow and Parquet, and has no ids in other formats. In JSON, dates, times and decimals of other columns
    become strings, and NaN becomes null; a column of bytes, durations or maps is refused.

    With --dropout, which is BPE-Dropout (Provilkov et al. 2020), or --sample, which is Subword Regularization (Kudo 2018), the same
    documents and the same --seed give the same ids. Documents are read whole.

    Parquet, Arrow and zstd need pyarrow: pip install "pyarrow>=18".

    \b
    Examples:
      fst encode bert.npz reviews.txt > ids.txt
      fst encode bert.npz part1.jsonl.gz part2.jsonl.gz --field text -o ids.npy
      fst encode gpt2.npz corpus.txt --append "<|endoftext|>" -o train.bin
      fst encode gpt2.npz "corpus/**/*.jsonl" --field text --format bin -o ids/
      fst encode gpt2.npz corpus/ --field text -o encoded/ --resume
      fst encode bert.npz books.parquet --column text -o ids.parquet --threads 2
      fst encode bert.npz corpus.txt.zst --separator "<|endoftext|>" --max-length 512
      fst encode bert.npz pages.jsonl --field text --max-length 256 --stride 32 --offsets --keep text -o chunks.parquet
      fst encode gpt2.npz books.txt --append "<|endoftext|>" --pack 1024 -o rows.parquet
      cat reviews.txt | fst encode bert.npz --format json | head

    \b
    $ echo "unaffable" | fst encode bert.npz
    101 14477 20961 3468 102
    $ echo "unaffable" | fst encode bert.npz --format json --tokens --no-special-tokens
    {"input_ids":[14477,20961,3468],"tokens":["una","##ffa","##ble"]}
    """
    from fst import Dropout, Sampling
    from fst.cli.commands.encode.work import Encoding
    from fst.cli.commands.encode.writers import FORMS
    from fst.cli.files.outputs import Target, inputs_of
    from fst.cli.tables import load, ready
    from fst.runtime.files.inputs import Reading

    if sample and dropout:
        raise click.UsageError("--sample is for Unigram and --dropout for BPE: pass one of them")
    shape = {name: others.pop(name) for name in ("tokens", "offsets", "max_length", "stride", "append", "pack")}
    how = Reading(**others, mends=errors == "replace")
    outputs = Target(output, form, overwrite, resume).outputs(FORMS, files, table, how)
    text = how.text_name if keep else None
    encoding = Encoding(outputs, how, errors, {"special": not no_special_tokens, "text": text, **shape})
    tables = load(table)
    encoding.check(tables)
    total = size(inputs_of(outputs))
    how.check(inputs_of(outputs))
    randomness = Sampling(alpha, nbest_size=nbest_size, seed=seed) if sample else Dropout(dropout, seed=seed) if dropout else None
    hidden = output == STANDARD and standard_output().isatty()
    tokenizer = ready(tables)
    with progress("encoding", total, hidden=hidden, done=encoding.done) as advance:
        encoding.run(tokenizer, threads, randomness, advance)
    report(encoding.notes())
