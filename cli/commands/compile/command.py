"""The command `fst compile`."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import click

from fst.cli.commands.compile.kinds import DEFAULT, KINDS, compiled
from fst.cli.files.progress import note
from fst.cli.files.streams import check_target, is_device, keep_apart
from fst.cli.group import CliCommand
from fst.cli.parameters import FileName, component, special_tokens
from fst.core import remote
from fst.runtime.files.streams import size

SOURCES = "as SOURCE says; vocab.txt alone: {}"  # the default of an option of `fst compile`
MATCH_KINDS = ("leftmost-longest", "leftmost-first", "standard", "overlapping")
DIRECTIONS = ("forward", "backward")
WORD_FORMATS = ("lines", "jieba", "csv", "tsv", "parquet", "arrow")


@click.command("compile", cls=CliCommand)
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
def command(source: str, output: str, kind: str, user: str | None, **options: Any) -> None:
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


def _files_in(folder: Path) -> list[str]:
    """The files of a folder that a vocabulary may be read from."""
    from fst.compile.sources.pretrained.folder import FILES
    from fst.compile.sources.read import single_files

    return [str(path) for path in (*(folder / name for name in FILES), *single_files(folder))]
