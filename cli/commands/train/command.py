"""The options and the help of the commands ``fst train …``; `fst.cli.commands.train.work` does the work."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from fst.cli.group import CliCommand, CommandGroup
from fst.cli.options import READING, FileName, Number, files_argument, reading_options, threads_option, with_options

Option = Callable[[Any], Any]

corpus_options = with_options(
    reading_options,
    with_options(
        click.option(
            "--errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="At a document that is not text: stop, or replace malformed bytes by U+FFFD.",
        ),
        section=READING,
    ),
    threads_option,
    click.option(
        "--min-count",
        type=click.IntRange(min=1),
        metavar="N",
        default=1,
        show_default="1: none",
        help="Ignore words that occur less than N times.",
    ),
)
splitter_options = with_options(
    click.option("--splitter", metavar="NAME|PATTERN|FILE", help="The splitter of texts; counted words may need none."),
    click.option(
        "--normalizer",
        metavar="NAME|JSON",
        show_default="that of the splitter",
        help="The normalizer, such as nfkc or bert.",
    ),
)
output_option = click.option("-o", "--output", required=True, type=FileName(), metavar="FILE|FOLDER/", help="The file or folder to write.")
writing_options = with_options(
    output_option,
    click.option("--overwrite", is_flag=True, help="Replace files that exist in FOLDER."),
    with_options(
        click.option("--report", type=FileName(), metavar="HELD_OUT", help="Print figures on the texts of this file."),
        click.option("--by", metavar="NAME", help="Print figures for each value of this column or field."),
        section="Options for a report",
    ),
)
deadline_option = click.option(
    "--deadline",
    type=Number(min=0),
    metavar="SECONDS",
    show_default="none",
    help="Stop after this time, write the result so far, and exit with code 124.",
)
run_options: Option = with_options(
    click.option(
        "--checkpoint",
        type=FileName(),
        metavar="FILE",
        help="The file for the state of a run; a later run continues from it.",
    ),
    deadline_option,
)
size_option = click.option("--vocab-size", type=click.IntRange(min=1), metavar="N", required=True, help="The number of tokens.")
special_option = click.option("--special-tokens", multiple=True, metavar="TOKEN", help="A special token; repeat the option for more.")
frequency_option = click.option(
    "--min-frequency",
    type=click.IntRange(min=0),
    metavar="N",
    show_default="0",
    help="Make no token from pairs or words that occur less than N times.",
)
initial_option = click.option(
    "--initial-alphabet",
    metavar="CHARACTERS",
    show_default="of bytes: all; else none",
    callback=lambda _ctx, _parameter, given: given and list(given),
    help="Characters that become tokens in any case.",
)
alphabet_options = with_options(
    initial_option,
    click.option(
        "--limit-alphabet", type=click.IntRange(min=0), metavar="N", show_default="all", help="Keep the N most frequent characters."
    ),
)
affix_options = with_options(
    click.option("--continuing-subword-prefix", metavar="PREFIX", show_default="wordpiece: ##; bpe: none", help="The prefix inside words."),
    click.option("--end-of-word-suffix", metavar="SUFFIX", show_default="none", help="The suffix at the ends of words."),
)
fallback_option = click.option("--byte-fallback", is_flag=True, help="Add a token for each byte, for unknown characters.")
length_option = click.option(
    "--max-token-length",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="any; sentencepiece: 16",
    help="Make no token of N symbols or more (sentencepiece: of more than N).",
)
criterion_option = click.option(
    "--criterion",
    type=click.Choice(["frequency", "score"]),
    default="frequency",
    show_default=True,
    help="How to choose the next pair to merge.",
)


ties_option = click.option(
    "--ties",
    type=click.Choice(["ids", "first"]),
    default="ids",
    show_default=True,
    help="Of equally frequent pairs, merge that with the smallest ids, or the first in the texts.",
)


def reference_option(*names: str) -> Option:
    """The option for the library whose results a trainer reproduces; the default is the first library."""
    return click.option(
        "--reference", type=click.Choice(names), default=names[0], show_default=True, help="The implementation to reproduce."
    )


def _parsed(_ctx: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> dict[str, Any] | None:
    """The names and values of the options NAME=VALUE; a value is JSON or, if it is not, text. None: there are no options."""
    found = dict[str, Any]()
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise click.BadParameter(f"{each!r} has no '='; expected NAME=VALUE, such as character_coverage=1.0")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found or None


spm_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_parsed,
    help="sentencepiece: an option of spm_train, such as model_type=char; repeat the option for more.",
)


class Trainer(CliCommand):
    """A trainer, whose help names the options for reading files in one line, because many commands have them."""

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options of each section, by heading."""
        found = super().sections(ctx)
        names = ", ".join(record.split()[0] for record, _ in found[READING])
        return {**found, READING: [(names, "As for fst encode, whose help describes them.")]}


class Trainers(CommandGroup):
    """The group of the training commands; the help lists them in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """The names of all commands."""
        return [*self.commands]


@click.group("train", cls=Trainers)
def command() -> None:
    """Train vocabularies on texts, or change existing ones.

    \b
    Examples:
      fst train bpe corpus/ --column text --splitter gpt2 --vocab-size 32000 -o english/
      fst train words corpus.txt --splitter bert -o words.parquet
      fst train wordpiece words.parquet --vocab-size 30000 -o vocab.txt
      fst train like gpt2.npz corpus.txt -o mine/

    FILE is plain text, JSON lines (with --field), Parquet or Arrow IPC (with --column), compressed or not, as for `fst encode`. A folder
    means all files in it; '-', or no FILE, is standard input. Parquet files from `fst train words` are read as counted words if there is
    no --column.

    \b
    --splitter is one of these:
      a name         gpt2, cl100k, o200k, llama3, qwen2, superbpe: words of bytes; bert;
                     metaspace or sentencepiece; whitespace; none: a document is a word
      a pattern      a regular expression that matches words; words are bytes
      a file         a tokenizer.json, a table, or the folder of a tokenizer, for
                     its splitter and its normalizer

    \b
    The name after -o determines the format; a file gets its name when it is complete:
      FOLDER/        tokenizer.json; for BPE also vocab.json and merges.txt, for
                     WordPiece vocab.txt, if these can express the vocabulary
      X.json         a tokenizer.json
      X.txt          the tokens of WordPiece, one per line
      X.tiktoken     the ranks of byte-level BPE
      X.model        a model of sentencepiece, for Unigram or BPE
      X.npz          a table, as `fst compile` writes it

    Existing files in FOLDER are an error; --overwrite replaces them. A single file is always replaced.

    With --checkpoint, training writes its state every 3 minutes, and when --deadline, Ctrl-C, SIGTERM or SIGHUP stops it; the same command
    resumes it. The result is the same, bit for bit, as without a stop. The paths of the checkpoint and of the output are tried before any
    input is read.

    The result of a run that --deadline stops is incomplete: the exit code is 124, and the model in tokenizer.json has "stopped":
    "deadline". No checkpoint is written if not all words were counted; count them with `fst train words` first.
    """


@command.command("words")
@files_argument
@output_option
@splitter_options
@corpus_options
@click.option(
    "--partition", type=click.IntRange(min=0), metavar="N", default=0, show_default=True, help="The number of this part of a corpus."
)
@deadline_option
def words_command(**options: Any) -> None:
    """Count the words of texts, or merge counted parts, and write them as Parquet.

    All trainers accept this file as FILE. Its columns are word, count, first and split. Parts of a corpus can be counted separately, each
    with its own --partition. If each FILE is such a part, the parts are merged with bounded memory. Any engine can do this, too: group by
    word and split, with sum(count) and min(first).

    \b
    Examples:
      fst train words corpus.txt --splitter bert --normalizer bert -o words.parquet
      fst train words part7/ --column text --splitter gpt2 --partition 7 -o words-7.parquet
      fst train words words-*.parquet -o words.parquet
      zcat corpus.gz | fst train words --splitter metaspace -o words.parquet
    """
    from fst.cli.commands.train.work import count

    count(**options)


def trainer(name: str, *options: Option) -> Callable[[Callable[..., None]], click.Command]:
    """A decorator that makes the command of a trainer, with its own options and the common options of all trainers."""
    add = with_options(*options, files_argument, writing_options, corpus_options)
    return lambda function: command.command(name, cls=Trainer)(add(function))


def new_options(unknown: str) -> Option:
    """The options of new vocabularies. `unknown`: the default of --unk-token."""
    unknown_option = click.option("--unk-token", metavar="TOKEN", show_default=unknown, help="The special token for unknown text.")
    return with_options(size_option, special_option, unknown_option, splitter_options)


@trainer(
    "bpe",
    new_options("none; sentencepiece: <unk>"),
    frequency_option,
    alphabet_options,
    affix_options,
    fallback_option,
    length_option,
    reference_option("huggingface", "sentencepiece"),
    ties_option,
    run_options,
)
def bpe_command(**options: Any) -> None:
    """Train byte-pair encoding: merge the most frequent pair, repeatedly.

    \b
    Examples:
      fst train bpe corpus.txt --splitter gpt2 --vocab-size 32000 --special-tokens '<|endoftext|>' -o english/
      fst train bpe corpus/ --column text --splitter o200k --vocab-size 100000 --checkpoint run.npz -o ranks.tiktoken
      fst train bpe words.parquet --vocab-size 32000 -o gpt2.npz --report held-out.txt
    """
    from fst.cli.commands.train.work import train

    train("bpe", **options)


@trainer("wordpiece", new_options("[UNK]"), criterion_option, frequency_option, alphabet_options, affix_options, run_options)
def wordpiece_command(**options: Any) -> None:
    """Train WordPiece: merge pairs by frequency or by score.

    By frequency, the tokens are those of the library tokenizers. The score of a pair is count(ab) / (count(a) * count(b)). By score, texts
    have more tokens; --min-frequency 10 or more reduces their number.

    \b
    Examples:
      fst train wordpiece corpus.txt --splitter bert --normalizer bert --vocab-size 30000 --special-tokens '[UNK]' -o vocab.txt
      fst train wordpiece words.parquet --criterion score --min-frequency 10 --vocab-size 8000 -o out/
    """
    from fst.cli.commands.train.work import train

    train("wordpiece", **options)


@trainer(
    "unigram",
    new_options("none; sentencepiece: <unk>"),
    initial_option,
    reference_option("huggingface", "exact", "sentencepiece"),
    spm_option,
    run_options,
)
def unigram_command(**options: Any) -> None:
    """Train Unigram: drop the least useful of all frequent substrings.

    With --reference sentencepiece, pieces and scores are those of spm_train, and each document is a sentence. Counted words are sentences
    of one word, so their pieces may differ from those of the texts.

    \b
    Examples:
      fst train unigram corpus.txt --splitter metaspace --vocab-size 8000 --special-tokens '<unk>' --unk-token '<unk>' -o out/
      fst train unigram corpus.txt --splitter sentencepiece --reference sentencepiece --vocab-size 8000 -o own.model
    """
    from fst.cli.commands.train.work import train

    train("unigram", **options)


@trainer("wordlevel", new_options("<unk>"), frequency_option)
def wordlevel_command(**options: Any) -> None:
    """Make the most frequent words tokens.

    \b
    Examples:
      fst train wordlevel corpus.txt --splitter whitespace --vocab-size 50000 --special-tokens '<unk>' --unk-token '<unk>' -o out/
    """
    from fst.cli.commands.train.work import train

    train("wordlevel", **options)


def number_option(name: str, description: str, default: str | None = None) -> Option:
    """The option for a number of tokens; required if it has no default."""
    kind = click.IntRange(min=1)
    return click.option(name, type=kind, metavar="N", required=default is None, show_default=default or False, help=description)


base_argument = click.argument("base", type=FileName())


@trainer("like", base_argument, number_option("--vocab-size", "The number of tokens.", "that of BASE"), run_options)
def like_command(**options: Any) -> None:
    """Train a vocabulary like BASE on other texts.

    BASE is a table, a tokenizer.json or the folder of a tokenizer. The new vocabulary has the same kind of model, the same splitter and the
    same special tokens.

    \b
    Examples:
      fst train like bert-base-uncased/ corpus.txt --vocab-size 20000 -o own/
    """
    from fst.cli.commands.train.work import train

    train("like", **options)


superword_options = with_options(
    click.option(
        "--splitter", metavar="NAME|PATTERN|FILE", show_default="that of BASE", help="The new splitter of texts: BPE learns superwords."
    ),
    click.option(
        "--max-words",
        type=click.IntRange(min=0),
        metavar="N",
        show_default="any",
        help="Make no token of more than N words, or with a space after a colon; SuperBPE: 4.",
    ),
)


@trainer("extend", base_argument, number_option("--add", "The number of new tokens."), superword_options, run_options)
def extend_command(**options: Any) -> None:
    """Add tokens to a vocabulary; its tokens, ids and merges stay. BASE is a table, a tokenizer.json or the folder of a tokenizer.

    \b
    Examples:
      fst train extend gpt2.npz corpus.txt --add 2000 -o own/
      fst train extend subwords/ corpus.txt --splitter superbpe --max-words 4 --add 120000 -o superwords/
    """
    from fst.cli.commands.train.work import train

    train("extend", **options)


@command.command("trim")
@base_argument
@files_argument
@writing_options
@number_option("--keep", "The number of tokens that stay.")
@click.option("--ids", type=FileName(), metavar="FILE.npy", help="Write the new id of each old id, -1 if removed: to cut embeddings.")
@corpus_options
def trim_command(**options: Any) -> None:
    """Remove the tokens that texts use least. BASE is a table, a tokenizer.json or the folder of a tokenizer.

    \b
    Examples:
      fst train trim gpt2.npz corpus.txt --keep 16000 --ids ids.npy -o small/
    """
    from fst.cli.commands.train.work import trim

    trim(**options)
