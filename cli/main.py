"""The command line, ``fst COMMAND …``.

Standard output carries data only. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. If the reader of a pipe leaves early, as in
``fst encode … | head``, the exit code is 0, and nothing is said.

Only click is imported here. Each command imports what it needs, so help appears at once, and no command waits for numba in vain.
"""

# ruff: noqa: D301 - click wants the character \b above lines that it is not to fill

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import click

import fst
from fst.__main__ import INTERRUPTED
from fst.cli.arguments import FileName, Number, component, special_tokens
from fst.cli.compiling import DEFAULT, KINDS, compiled
from fst.cli.options import (
    CliCommand,
    encoding_options,
    files_argument,
    format_option,
    named_files,
    output_options,
    reading_options,
    table_argument,
    working_options,
)
from fst.cli.progress import note, noting, progress
from fst.cli.streams import check_target, is_device, keep_apart, show, standard_output, written
from fst.cli.train import train_group
from fst.core import remote
from fst.runtime.files.streams import STANDARD, size

LIKE_GREP = ("search",)  # commands with the exit codes of grep
CALLBACKS = str(Path("llvmlite", "binding", "executionengine.py"))  # LLVM calls functions of this file
MOMENT = 0.01  # seconds, which most callbacks take less than
SIGNALLED = 128  # and the number of the signal
REMEDIES = {
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "check the name",
    errno.EISDIR: "name a file in it",
    errno.EACCES: "check who may use it",
    errno.EROFS: "write elsewhere",
    errno.ELOOP: "a link leads back to itself",
    errno.ENAMETOOLONG: "name it shorter",
    errno.ENOSPC: "make room",
}


class Manners(click.Group):
    """A group whose commands fail with one line, never with a traceback."""

    command_class = CliCommand

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors become messages and exit codes."""
        _unwind_when_ended(ctx)
        _check_environment()
        try:
            with noting():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            _drop_output()
            code = INTERRUPTED
        except BrokenPipeError:
            code = 0
        except fst.FstError as error:
            raise _failure(ctx, str(error)) from None
        except OSError as error:
            raise _failure(ctx, _told(error)) from None
        finally:
            _let_go_of_output()
        raise click.exceptions.Exit(code)


class Trouble(click.ClickException):
    """A failure of a command for which the exit code 1 means something else, as for grep."""

    exit_code = 2


def _failure(ctx: click.Context, message: str) -> click.ClickException:
    return (Trouble if ctx.invoked_subcommand in LIKE_GREP else click.ClickException)(message)


def _check_environment() -> None:
    """Refuse wrong values of environment variables before a command begins."""
    from fst.core.threads import thread_count

    try:
        thread_count()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _unwind_when_ended(ctx: click.Context) -> None:
    """While a command runs, turn signals that end it into exceptions, so that no half-written file stays.

    The default handlers return when the command ends. Else a program that ran it in its own process, and each process that this one forks
    later, would get an exception instead of ending.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or threading.current_thread() is not threading.main_thread():
            continue
        default = signal.getsignal(number)
        if default in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _end)
            ctx.call_on_close(partial(signal.signal, number, default))


def _end(number: int, frame: FrameType | None) -> None:
    """Raise the exception of a signal; in a callback of LLVM, where Python drops exceptions, send the signal again a moment later."""
    if _is_in_callback(frame):
        threading.Timer(MOMENT, signal.raise_signal, (number,)).start()
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        _drop_output()
        sys.exit(SIGNALLED + number)


def _is_in_callback(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.endswith(CALLBACKS):
        frame = frame.f_back
    return frame is not None


def _told(error: OSError) -> str:
    parts = [os.fsdecode(error.filename)] if isinstance(error.filename, str | bytes) else []
    return "; ".join([": ".join([*parts, error.strerror or str(error)]), *filter(None, [REMEDIES.get(error.errno or 0)])])


def _let_go_of_output() -> None:
    """Drop buffered data if standard output is closed; Python would try to write it at exit, and complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _drop_output()


def _drop_output() -> None:
    """Send the rest of standard output nowhere, because its reader may never read it."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _files_in(folder: Path) -> list[str]:
    """The files of a folder that a vocabulary may be read from."""
    from fst.compile.sources.pretrained.folder import FILES
    from fst.compile.sources.read import single_files

    return [str(path) for path in (*(folder / name for name in FILES), *single_files(folder))]


SOURCES = "as SOURCE says; vocab.txt alone: {}"  # the default of an option of `fst compile`
MATCH_KINDS = ("leftmost-longest", "leftmost-first", "standard", "overlapping")
DIRECTIONS = ("forward", "backward")
PEERS = ("tokenizers", "tiktoken", "sentencepiece", "gigatoken", "all")
WORD_FORMATS = ("lines", "jieba", "csv", "tsv", "parquet", "arrow")

@click.group(cls=Manners, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(fst.__version__, prog_name="fst", message="%(prog)s %(version)s")
def main() -> None:
    """Compile vocabularies and keywords into finite-state tables, and encode or search text with them.

    \b
    Examples:
      fst compile tokenizer.json -o bert.npz
      fst encode bert.npz reviews.txt > ids.txt
      echo "unaffable" | fst encode bert.npz --format tokens
      fst verify bert.npz --against tokenizer.json reviews.txt
      fst bench bert.npz reviews.txt
      fst compile --kind keywords names.txt -o names.npz
      fst search names.npz reviews.txt
      fst train bpe corpus.txt --splitter gpt2 --vocab-size 32000 -o own/

    FILE is a text file in UTF-8 with one document a line; '-', or no FILE, is standard input. Standard output carries data only.

    \b
    Exit codes:
      0    done, also if the reader of a pipe leaves early
      1    failed; for verify also: ids differ; for search: nothing was found
      2    wrong usage; for search also: failed
      130  interrupted; 143 terminated
    """


@main.command("compile")
@click.argument("source", type=FileName())
@click.option("-o", "--output", required=True, type=FileName(), metavar="TABLE.npz", help="The table file to write.")
@click.option("--kind", type=click.Choice([*KINDS]), default=DEFAULT, show_default=True, help="What to compile SOURCE into.")
@click.option("--lowercase/--no-lowercase", default=None, show_default=SOURCES.format("on"), help="Lower-case the text.")
@click.option("--strip-accents/--no-strip-accents", default=None, show_default=SOURCES.format("as --lowercase"), help="Drop accents.")
@click.option(
    "--clean-text/--no-clean-text",
    default=None,
    show_default=SOURCES.format("on"),
    help="Drop control characters; read all white space as blanks.",
)
@click.option(
    "--handle-chinese-chars/--no-handle-chinese-chars",
    default=None,
    show_default=SOURCES.format("on"),
    help="Make each CJK ideograph a word.",
)
@click.option("--unk-token", metavar="TOKEN", show_default=SOURCES.format("[UNK]"), help="The token for a word that no tokens cover.")
@click.option("--continuing-subword-prefix", metavar="PREFIX", show_default=SOURCES.format("##"), help="What continuing tokens start with.")
@click.option(
    "--max-input-chars-per-word",
    type=click.IntRange(min=0),
    metavar="N",
    show_default=SOURCES.format("100"),
    help="The longest word that is looked up; a longer one is unknown.",
)
@click.option(
    "--pre-tokenizer",
    type=click.Choice(["bert", "none"]),
    show_default=SOURCES.format("bert"),
    help="Split at blanks and punctuation, or not at all.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    show_default="by the name of SOURCE, or as its dicrc says",
    help="Of a .tiktoken file: cl100k_base, o200k_base, p50k_base, r50k_base or gpt2. Of MeCab's files: utf-8, euc-jp, ...",
)
@click.option("--pattern", metavar="REGEX", show_default="the encoding's", help="What matches the pieces of a text, as tiktoken takes it.")
@click.option(
    "--special",
    multiple=True,
    callback=special_tokens,
    metavar="TOKEN=ID",
    show_default="none",
    help="Add a special token with this id to those of the encoding; may be repeated.",
)
@click.option("--no-special", is_flag=True, default=None, help="Leave out the encoding's own special tokens; they are then plain text.")
@click.option(
    "--layout",
    type=click.Choice(["auto", "dense", "compact", "linked"]),
    show_default="auto",
    help="dense: one look-up a character. compact: at most two, and a smaller table. linked: for alphabets of thousands.",
)
@click.option("--match-kind", type=click.Choice(MATCH_KINDS), show_default=MATCH_KINDS[0], help="Which of several possible matches count.")
@click.option("--ignore-case", is_flag=True, default=None, help="Let each character match its other cases.")
@click.option("--whole-words", is_flag=True, default=None, help="Find keywords only where words begin and end.")
@click.option(
    "--normalizer", callback=component, metavar="TYPE|JSON", show_default="none", help="How keywords and texts are normalized: NFKC, ..."
)
@click.option("--allow-empty", is_flag=True, default=None, help="Let a keyword be empty: it matches between all characters.")
@click.option("--direction", type=click.Choice(DIRECTIONS), show_default=DIRECTIONS[0], help="From which end a text is segmented.")
@click.option(
    "--input-format", "format", type=click.Choice(WORD_FORMATS), show_default="by the name of SOURCE, or lines", help="The format of words."
)
@click.option("--column", metavar="NAME", show_default="the first of CSV, the only one", help="The column of words.")
@click.option("--user", type=FileName(), metavar="FILE", show_default="none", help="A user dictionary for jieba or mecab.")
@click.option("--hmm", is_flag=True, default=None, help="Find unknown words as jieba does by default; needs an installed jieba.")
def compile_command(source: str, output: str, kind: str, user: str | None, **options: Any) -> None:
    """Compile a vocabulary, keywords or a dictionary, SOURCE, into a table file.

    For --kind tokenizer, SOURCE is one of these, also packed with gzip:

    \b
      tokenizer.json   WordPiece, WordLevel, BPE or Unigram, as the library tokenizers reads it
      vocab.txt        WordPiece, one token a line
      NAME.tiktoken    byte-level BPE, with --encoding, unless NAME is an encoding's, or
                       with --pattern and --special
      tekken.json      byte-level BPE, as mistral-common reads it
      NAME.model       a model of sentencepiece, of the kind unigram, bpe or char, as
                       sentencepiece reads it
      a folder         that holds a tokenizer.json, a vocab.txt, or vocab.json and merges.txt,
                       tokenizer_config.json and the like; it is read as by
                       AutoTokenizer.from_pretrained of transformers; without these files
                       it may hold a tekken.json, a NAME.tiktoken, or a NAME.model, which
                       may have a tokenizer_config.json or config.json next to it
      a model's name   on the Hugging Face Hub, if no such file exists; huggingface_hub
                       fetches its folder, or finds it in its cache

    An option overrides SOURCE. --encoding to --no-special are only for a .tiktoken file; the others up to --layout are for WordPiece.
    A vocab.txt alone does not say how it is to be used, so BERT's own settings are the default: --lowercase to --handle-chinese-chars are
    on.

    For --kind keywords and --kind maxmatch, SOURCE is a file of words in UTF-8. --match-kind to --allow-empty are for keywords, which
    `fst search` finds, --direction is for maxmatch, by which `fst segment` takes the longest word at each place, and --input-format and
    --column are for both. --normalizer is the type of a normalizer of the library tokenizers, or the JSON of one.

    \b
      lines         a word a line, blanks included; so are files with other endings
      jieba         word, frequency and perhaps part of speech, separated by blanks
      csv, tsv      a field of each record, with --column by its name in the first
                    record, else the first field; .csv and .tsv
      parquet       the values of --column; .parquet
      arrow         the same of Arrow IPC; .arrow, .feather and .ipc

    For --kind jieba, SOURCE is a dictionary in jieba's format; for --kind mecab it is a folder with MeCab's CSV files, matrix.def, char.def
    and unk.def. --user is a file of more words, in the same format. --hmm is for jieba.

    What cannot be compiled exactly is refused by name. Truncation, padding and the model's length are kept in the table, and `fst info`
    shows them; nothing is cut or padded unless a call asks for it.

    \b
    Examples:
      fst compile bert-base-uncased/tokenizer.json -o bert.npz
      fst compile bert-base-uncased/ -o bert.npz
      fst compile BAAI/bge-small-en-v1.5 -o bge.npz
      HF_HUB_OFFLINE=1 fst compile BAAI/bge-small-en-v1.5 -o bge.npz
      fst compile vocab.txt -o cased.npz --no-lowercase
      fst compile vocab.txt -o small.npz --layout compact
      fst compile cl100k_base.tiktoken -o cl100k.npz
      fst compile spiece.model -o t5.npz
      fst compile ranks.tiktoken -o own.npz --pattern ' ?[^ ]+| +' --special '<|end|>=50256'
      fst compile --kind keywords names.txt -o names.npz
      fst compile --kind keywords people.csv --column name -o people.npz --whole-words
      fst compile --kind keywords terms.txt -o terms.npz --ignore-case --normalizer NFKC
      fst compile --kind maxmatch dict.txt --input-format jieba --direction backward -o zh.npz
      fst compile --kind jieba dict.txt -o jieba.npz --hmm
      fst compile --kind mecab mecab-ipadic-2.7.0/ --encoding euc-jp -o ipadic.npz
    """
    keep_apart([output], _files_in(Path(source)) if Path(source).is_dir() else [source])
    check_target(output)
    if not remote.is_remote(output) and is_device(Path(output)):
        raise click.UsageError(f"{output} is no regular file, and a table is one")
    from fst.core.jit import no_collector

    note(f"compiling {source} …")
    begun = monotonic()
    with no_collector(), remote.fetched(source) as path, remote.fetched(user or "") as more:
        table = compiled(kind, path, {**options, "user": more or None})
    table.save(output)
    note(f"{output}: {table.about.get('layout', table.kind)}, {size([output]) or 0:,} bytes, in {monotonic() - begun:.1f} s")


@main.command("encode")
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
def encode_command(
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
    from fst.cli.encode import Encoding
    from fst.cli.folders import Target, inputs_of
    from fst.cli.kernels import ready
    from fst.cli.outputs import OF_IDS
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    if sample and dropout:
        raise click.UsageError("--sample is for Unigram and --dropout for BPE: pass one of them")
    shape = {name: others.pop(name) for name in ("tokens", "offsets", "max_length", "stride", "append", "pack")}
    how = Reading(**others, mends=errors == "replace")
    outputs = Target(output, form, overwrite, resume).outputs(OF_IDS, files, table, how)
    text = how.text_name if keep else None
    encoding = Encoding(outputs, how, errors, {"special": not no_special_tokens, "text": text, **shape})
    tables = load(table)
    encoding.check(tables)
    total = size(inputs_of(outputs))
    how.check(inputs_of(outputs))
    at_random = {"sample": True, "alpha": alpha, "nbest_size": nbest_size} if sample else {"dropout": dropout} if dropout else {}
    hidden = output == STANDARD and standard_output().isatty()
    tokenizer = ready(tables)
    with progress("encoding", total, hidden=hidden, done=encoding.done) as advance:
        encoding.run(tokenizer, threads, at_random, seed, advance)
    for line in encoding.told():
        click.echo(line, err=True)


@main.command("count")
@table_argument
@files_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@reading_options
@encoding_options
def count_command(
    table: str, files: tuple[str, ...], as_json: bool, no_special_tokens: bool, errors: str, threads: int | None, **reading: Any
) -> None:
    """Count the documents of each file and their tokens. Files are read as `fst encode` reads them.

    \b
    Examples:
      fst count bert.npz reviews.txt
      fst count bert.npz books-*.parquet --column text --no-special-tokens
      fst count bert.npz corpus.jsonl.gz --field text --json | jq .tokens
    """
    import json

    from fst.cli.counts import Count, as_object, counting, listed
    from fst.cli.kernels import ready
    from fst.cli.pipeline import Policy
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading
    from fst.runtime.files.pieces import takes_pieces

    keep_apart([STANDARD], (table, *files))
    how = Reading(**reading, mends=errors == "replace")
    tables = load(table)
    total = size(files)
    how.check(files)
    tokenizer = ready(tables)
    how = replace(how, in_pieces=takes_pieces(tokenizer))
    policy, work, counts = Policy(errors), counting(tokenizer, add_special_tokens=not no_special_tokens, threads=threads), []
    with progress("counting", total) as advance:
        for name in files:
            with closing(policy.results(how.documents((name,), advance), work)) as results:
                counts.append(Count.of(name, results))
    show([json.dumps(as_object(counts))] if as_json else listed(counts))
    for line in policy.told():
        click.echo(line, err=True)


@main.command("search")
@table_argument
@files_argument
@click.option("--count", "counts", is_flag=True, help="Print the number of matches in each file.")
@click.option("--replace", "by", metavar="TEXT", help="Write all documents, with TEXT in place of each match.")
@click.option("--names", is_flag=True, help="Write keywords in place of their numbers.")
@output_options
@format_option("lines", "matches", "json", "npz", "arrow", "parquet", default="lines; with --names matches")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True, help="Show matches in colour.")
@reading_options
@working_options
@click.pass_context
def search_command(
    ctx: click.Context,
    /,
    table: str,
    files: tuple[str, ...],
    counts: bool,
    by: str | None,
    names: bool,
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    color: str,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Find keywords in documents, as grep does. TABLE is one of keywords, from `fst compile --kind keywords`.

    Files are read, and folders of outputs written, as by `fst encode`. The documents with a match are printed; on a terminal, matches are
    in colour, unless NO_COLOR is set. With several files, the name of the file comes first.

    \b
    --format, or the ending of the output's name, chooses what is written:
      lines        the documents with a match
      matches      a line for each match, separated by tabs: the number of the
                   document in its file, from 1, the number of the keyword, from 0,
                   the first character and one past the last; with several files,
                   the name of the file before
      json         an object a line for each document, with a match or not: its
                   fields or columns, or else text; and matches, a list of objects
                   with id, start and end                    .json, .jsonl, .ndjson
      arrow        the same as Arrow IPC; places are characters              .arrow
      parquet      the same as Parquet                                     .parquet
      npz          the arrays ids, starts and ends of all matches, and
                   row_splits, where the matches of each document begin, and the
                   last ones end                                               .npz

    --names writes the keyword in place of its number: as the member keyword in JSON, Arrow and Parquet; among matches with \\t, \\n, \\r
    and \\\\ for tabs, line ends and backslashes in it.

    --count prints the number of matches in each file, unlike `grep -c`, which counts lines: for these, count the lines that are printed.

    --replace writes all documents, with a match or not, as lines, JSON, Arrow or Parquet, with the text in its place among the fields or
    columns. Documents of plain text end as in the input: with a line feed, with the --separator, or with nothing for --document file.

    \b
    Exit codes, as grep has them:
      0    something was found; with --replace: done
      1    nothing was found
      2    failed, or wrong usage

    \b
    Examples:
      fst search names.npz reviews.txt
      fst search names.npz logs/*.gz --count
      fst search names.npz reviews.txt --names | cut -f 2 | sort | uniq -c
      fst search names.npz books.parquet --column text -o found.parquet
      fst search names.npz books.parquet --column text --replace "[NAME]" -o redacted.parquet
      fst search names.npz books/ --column text --replace "[NAME]" -o redacted/

    \b
    $ printf 'he\\nshe\\n' > words.txt; fst compile --kind keywords words.txt -o words.npz
    $ echo "ushers" | fst search words.npz --names
    1   she     1       4
    """
    from fst.cli.folders import Target, inputs_of
    from fst.cli.kernels import ready
    from fst.cli.matches import FORMS, check_options, check_replacing
    from fst.cli.search import Search
    from fst.cli.tables import load_for
    from fst.runtime.files.inputs import Reading

    if counts and (by is not None or names or form or output != STANDARD):
        raise click.UsageError("--count prints numbers alone: leave out --replace, --names, --format and --output")
    form = form or ("matches" if names and output == STANDARD else None)
    how = Reading(**reading, mends=errors == "replace")
    outputs = Target(output, form, overwrite, resume).outputs(FORMS, files, table, how, of_text="matches" if names else None)
    for each in outputs:
        check_options(each.form, names, by is not None)
    tables = load_for("Searcher", table)
    if by is not None:
        check_replacing(tables)
    total = size(inputs_of(outputs))
    how.check(inputs_of(outputs))
    searcher = ready(tables, lambda searcher: searcher.count([b"a"]))
    search = Search(searcher, how, errors, threads)
    with progress("searching", total, hidden=output == STANDARD and standard_output().isatty()) as advance:
        if counts:
            search.count(files, advance)
        for each in [] if counts else outputs:
            if by is None:
                search.find(each, advance, names=names, color=color)
            else:
                search.replace(each, advance, by)
    for line in search.told():
        click.echo(line, err=True)
    if not search.found and by is None and outputs:
        ctx.exit(1)


@main.command("segment")
@table_argument
@files_argument
@output_options
@format_option("wakati", "mecab", "json", "arrow", "parquet", default="wakati")
@reading_options
@working_options
def segment_command(
    table: str,
    files: tuple[str, ...],
    output: str,
    overwrite: bool,
    resume: bool,
    form: str | None,
    errors: str,
    threads: int | None,
    **reading: Any,
) -> None:
    """Segment documents into words of a dictionary. TABLE is one of a dictionary, from `fst compile --kind maxmatch`, jieba or mecab.

    Files are read, and folders of outputs written, as by `fst encode`. With maxmatch, a character that is in no word of the dictionary is a
    token of its own.

    \b
    --format, or the ending of the output's name, chooses what is written:
      wakati       a line for each document: its tokens, separated by blanks;
                   tokens of white space are left out
      mecab        as MeCab prints it: a line for each word, with its features
                   behind a tab, and a line EOS behind each document; for tables
                   of --kind mecab
      json         an object a line: the fields or columns of the input, or else
                   text; and tokens                          .json, .jsonl, .ndjson
      arrow        Arrow IPC: all columns of the input, and tokens, lists of
                   strings                                                   .arrow
      parquet      the same as Parquet                                     .parquet

    \b
    Examples:
      fst segment zh.npz corpus.txt > words.txt
      fst segment zh.npz books.parquet --column text -o words.parquet --threads 2
      fst segment zh.npz corpus.jsonl.gz --field text -o words.jsonl.gz
      fst segment zh.npz corpus/ --field text -o words/ --resume
      fst segment ipadic.npz corpus.txt --format mecab

    \b
    $ printf '研究\\n研究生\\n生命\\n' > dict.txt; fst compile --kind maxmatch dict.txt -o zh.npz
    $ echo "研究生命" | fst segment zh.npz
    研究生 命
    """
    from fst.cli.folders import Target, inputs_of
    from fst.cli.kernels import ready
    from fst.cli.pipeline import Policy
    from fst.cli.segments import FORMS, MECAB, segment
    from fst.cli.tables import load_for
    from fst.runtime.files.inputs import Reading

    how = Reading(**reading, mends=errors == "replace")
    outputs = Target(output, form, overwrite, resume).outputs(FORMS, files, table, how)
    tables = load_for("MecabSegmenter" if any(each.form == MECAB for each in outputs) else "Segmenter", table)
    total = size(inputs_of(outputs))
    how.check(inputs_of(outputs))
    segmenter, policy = ready(tables, lambda segmenter: segmenter.segment(b"a")), Policy(errors)
    with progress("segmenting", total, hidden=output == STANDARD and standard_output().isatty()) as advance:
        segment(outputs, how, policy, segmenter, threads, advance)
    for line in policy.told():
        click.echo(line, err=True)


@main.command("decode")
@table_argument
@files_argument
@click.option("--keep-special-tokens", is_flag=True, help="Keep [CLS], [SEP] and the like.")
def decode_command(table: str, files: tuple[str, ...], keep_special_tokens: bool) -> None:
    """Turn lines of ids, or the JSON lines of `fst encode`, into lines of text.

    \b
    Examples:
      fst decode bert.npz ids.txt
      fst encode bert.npz reviews.txt | fst decode bert.npz

    \b
    $ echo "101 14477 20961 3468 102" | fst decode bert.npz
    unaffable
    """
    from fst import Tokenizer
    from fst.cli.formats import rows
    from fst.cli.tables import load
    from fst.runtime.files.lines import read

    keep_apart([STANDARD], (table, *files))
    tokenizer = Tokenizer(load(table))
    known = set(tokenizer.get_vocab().values())
    total = size(files)
    with written(STANDARD) as out, progress("decoding", total, hidden=standard_output().isatty()) as advance:
        for block in (block for name in files for block in read(name, advance)):
            texts = tokenizer.decode_batch(rows(block, known), skip_special_tokens=not keep_special_tokens)
            out.write("".join(f"{text}\n" for text in texts).encode())
            out.flush()


@main.command("info")
@table_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info_command(table: str, as_json: bool) -> None:
    """Describe a table: its kind, its size, the options that it was compiled with, and what its source says about the model.

    Templates are spelled as in the library tokenizers: $A and $B are the texts, and the number behind a colon is a type id.

    \b
    Examples:
      fst info bert.npz
      fst info bert.npz --json | jq .options
    """
    import json

    from fst.cli.about import described, listed
    from fst.registry import load

    keep_apart([STANDARD], [table])
    description = described(load(table), table, size([table]) or 0)
    show([json.dumps(description, ensure_ascii=False)] if as_json else listed(description))


@main.command("verify")
@table_argument
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE…|-]", callback=named_files)
@click.option("--against", type=FileName(), metavar="SOURCE", help="Compare with the ids of the reference for this file or folder.")
@reading_options
@click.pass_context
def verify_command(ctx: click.Context, /, table: str, files: tuple[str, ...], against: str | None, **reading: Any) -> None:
    """Prove that a table file is whole and safe to use, or compare its ids with those of the reference.

    With --against, the reference also encodes each document of the files, without truncation and padding: `tokenizers` for a
    tokenizer.json, tiktoken for a .tiktoken file, sentencepiece for a .model. The first difference in each file is printed, and the exit
    code is 1 if there is any. Files are read as `fst encode` reads them.

    \b
    Examples:
      fst verify bert.npz
      fst verify bert.npz --against tokenizer.json reviews.txt
      fst verify bert.npz --against bert-base-uncased/ books.parquet --column text
      fst verify gpt4.npz --against cl100k_base.tiktoken reviews.txt
    """
    if files and against is None:
        raise click.UsageError("files are compared with the reference: name it with --against tokenizer.json")
    keep_apart([STANDARD], [table, *files])
    if against is None:
        from fst import registry

        registry.load(table)
        show([f"{table}: whole and safe"])
        return
    from fst.cli.against import Comparison
    from fst.cli.references import reference
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    tables = load(table)
    files, how = files or (STANDARD,), Reading(**reading)
    total = size(files)
    how.check(files)
    with remote.fetched(against) as source, progress("verifying", total) as advance:
        comparison = Comparison(tables, reference(Path(source)))
        told = list(comparison.lines(how, files, advance))
    show(told)
    if not comparison.alike:
        ctx.exit(1)


@main.command("bench")
@table_argument
@files_argument
@click.option("--against", type=click.Choice(PEERS), multiple=True, help="Time this library, too; may be repeated.")
@click.option("--source", type=FileName(), metavar="SOURCE", show_default="none", help="What --against makes tokenizers from.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", show_default="1", help="Threads of each tokenizer, with --against.")
@click.option("--chart", type=FileName(), metavar="FILE.png", show_default="none", help="Draw a picture of the speeds, with --against.")
@reading_options
def bench_command(
    table: str, files: tuple[str, ...], against: tuple[str, ...], source: str | None, threads: int | None, chart: str | None, **reading: Any
) -> None:
    """Measure how fast documents become token ids, and count the ids. Files are read as `fst encode` reads them.

    The files are read into memory, which takes about four times their size. Each time is the median of five runs after a warm-up, without
    reading and writing: on one thread, and on one thread for each core that the process may use.

    The count of tokens leaves out [CLS], [SEP] and the like. A word is a run of characters between white space.

    Words that no tokens cover become the unknown token. The ten most frequent of them are listed as they stand in the text, each with its
    count. To bound memory, rare ones are forgotten if there are more than some 65,000 different ones; a count may then be too low.

    With --against, speeds and unknown words give way to a comparison: the table and other libraries encode the documents in turns. Each
    library has a process of its own, which holds all documents, too. It is made from SOURCE: tokenizers reads a tokenizer.json, tiktoken a
    .tiktoken file, sentencepiece a .model, and gigatoken any of these. From a folder each takes the file that it reads. "all" means the
    libraries that are installed and read SOURCE.

    First, the ids of all documents are compared, without [CLS], [SEP] and the like. The figures are medians of five rounds. Some libraries
    cache: their first pass is that of a tokenizer just made, and "again" is the same pass once more. The ratio says how many times as fast
    the table is. A terminal also shows bars. --chart needs matplotlib.

    \b
    Examples:
      fst bench bert.npz reviews.txt
      head -n 100000 reviews.txt | fst bench bert.npz -
      fst bench bert.npz books.parquet --column text
      fst bench bert.npz reviews.txt --against tokenizers --source bert-base-uncased/
      fst bench gpt2.npz reviews.txt --against all --source tokenizer.json --chart speeds.png
    """
    from fst.cli.bench import documents, measured
    from fst.cli.tables import load
    from fst.runtime.files.inputs import Reading

    _check_peers(against, source=source, threads=threads, chart=chart)
    keep_apart([STANDARD, *filter(None, [chart])], (table, *files, *filter(None, [source])))
    how, tables = Reading(**reading), load(table)
    total = size(files)
    how.check(files)
    if source is not None:
        from fst.cli.bench_against import as_bars, compared, draw_chart, sources

        read = sources(against, Path(click.get_current_context().with_resource(remote.fetched(source))))
    with progress("reading", total) as advance:
        found = documents(how, files, advance)
    if source is None:
        show(list(measured(tables, found)))
        return
    result = compared(tables, found, read, against, threads or 1)
    show([*result.lines(), *(["", *as_bars(result)] if sys.stdout.isatty() else [])])
    if chart is not None:
        with written(chart) as file:
            draw_chart(file, result, files)


def _check_peers(against: tuple[str, ...], **options: Any) -> None:
    """Refuse options of `fst bench --against` that do not go together, and a chart that could not be drawn or written."""
    given = [name for name, value in options.items() if value is not None]
    if given and not against:
        raise click.UsageError(f"--{given[0]} is for a comparison: name a library with --against")
    if against and options["source"] is None:
        raise click.UsageError("--against makes tokenizers from a file: name it with --source, as in --source tokenizer.json")
    if (chart := options["chart"]) is not None:
        from fst.cli.chart import need_matplotlib

        if not chart.lower().endswith(".png"):
            raise click.UsageError(f"--chart {chart}: a chart is a PNG; name it {Path(chart).with_suffix('.png')}")
        check_target(chart)
        need_matplotlib()


@main.command("explain")
@table_argument
@click.argument("text")
def explain_command(table: str, text: str) -> None:
    """Show step by step how TEXT becomes tokens.

    Each word is shown twice. First come the steps of LinMaxMatch over the trie, with the tokens that each failure link pops, as in Table 2
    of the paper (Song et al. 2021). Then comes the transducer, into which the links are folded: one transition per character.

    For BPE: each piece, and after each of its bytes the state and the last token of the bytes so far. For Unigram: each piece, the tokens
    that begin at each of its characters, with their scores, and the sums of scores along the best path.

    \b
    Examples:
      fst explain bert.npz "unaffable"
      fst explain bert.npz -- "--text that begins with a hyphen"
    """
    from fst.cli.explain import explained
    from fst.cli.tables import load

    keep_apart([STANDARD], [table])
    show(explained(load(table), text))


main.add_command(train_group)


@main.command("warmup")
def warmup_command() -> None:
    """Compile all kernels ahead of time and keep them on disk, for images and installers (see docs/containers.md).

    One process for each core compiles, at most eight; FST_NUM_THREADS overrides the number of cores. A line counts each finished part.
    Kernels that are already kept are not compiled again.

    They are kept in the folder that NUMBA_CACHE_DIR names. If it is not set, they are kept beside the installed package, or in the user's
    cache if that folder cannot be written. If no folder can be written, the exit code is 1.

    \b
    Examples:
      RUN pip install ./fst-toolkit && fst warmup
    """
    from fst.cli.warmup import warm_up

    warm_up()
