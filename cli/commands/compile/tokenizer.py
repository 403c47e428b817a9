"""The command `fst compile SOURCE`, for tokenizers."""

from __future__ import annotations

from typing import Any

import click

from fst.cli.commands.compile.table import output_option, write_table
from fst.cli.group import CliCommand
from fst.cli.options import FileName, special_tokens, with_options


class Unnamed(click.Context):
    """The context of a command without a name; the usage message shows the name of the command's group instead."""

    @property
    def command_path(self) -> str:
        """The command line in usage messages: `fst compile`, as for the group."""
        assert self.parent is not None
        return self.parent.command_path


class TokenizerCommand(CliCommand):
    """The command that `fst compile` runs if the first argument is not the name of a subcommand."""

    context_class = Unnamed

    def get_help(self, ctx: click.Context) -> str:
        """Return the help of the group, because both have the same help."""
        assert ctx.parent is not None
        return ctx.parent.get_help()


wordpiece_options = with_options(
    click.option("--lowercase/--no-lowercase", default=None, show_default="on", help="Lower-case the text."),
    click.option("--strip-accents/--no-strip-accents", default=None, show_default="as --lowercase", help="Drop accents."),
    click.option(
        "--clean-text/--no-clean-text", default=None, show_default="on", help="Drop control characters."
    ),
    click.option("--handle-chinese-chars/--no-handle-chinese-chars", default=None, show_default="on", help="Split at CJK ideographs."),
    click.option("--unk-token", metavar="TOKEN", show_default="[UNK]", help="The unknown token."),
    click.option("--continuing-subword-prefix", metavar="PREFIX", show_default="##", help="The prefix inside words."),
    click.option(
        "--max-input-chars-per-word", type=click.IntRange(min=0), metavar="N", show_default="100", help="Longest known word."
    ),
    click.option(
        "--pre-tokenizer",
        type=click.Choice(["bert", "none", "whitespace"]),
        metavar="NAME",
        show_default="bert",
        help="bert, none or whitespace.",
    ),
    click.option("--layout", type=click.Choice(["auto", "compact", "linked"]), show_default="auto", help="The layout of the table."),
    section="Options for WordPiece (defaults are for a vocab.txt; other sources contain their own)",
)
tiktoken_options = with_options(
    click.option("--encoding", metavar="NAME", show_default="by name", help="An encoding, such as cl100k_base."),
    click.option("--pattern", metavar="REGEX", show_default="the encoding's", help="The pattern of pre-tokens."),
    click.option(
        "--special",
        multiple=True,
        callback=special_tokens,
        metavar="TOKEN=ID",
        show_default="none",
        help="A special token; may be repeated.",
    ),
    click.option("--no-special", is_flag=True, default=None, help="Leave out the encoding's own special tokens."),
    section="Options for .tiktoken files",
)


@click.command(cls=TokenizerCommand)
@click.argument("source", type=FileName())
@output_option
@wordpiece_options
@tiktoken_options
@click.option("--tune", type=FileName(), metavar="FILE", help="Texts for which BPE or Unigram is made faster.")
@click.option(
    "--dictionary",
    type=FileName(),
    metavar="FOLDER",
    help="MeCab's dictionary, for Japanese BERT.",
)
def tokenizer(source: str, output: str, **options: Any) -> None:
    """Compile a tokenizer, keywords, a dictionary or rules into a table.

    SOURCE is a vocabulary: tokenizer.json, vocab.txt, NAME.tiktoken, tekken.json, NAME.model, NAME.gguf, rwkv_vocab.txt; a folder, as for
    AutoTokenizer; or a name on the Hub. Other tables have COMMANDs.

    \b
    Examples:
      fst compile bert-base-uncased/ -o bert.npz
      fst compile openai-community/gpt2 -o gpt2.npz --tune books.txt
      fst compile ranks.tiktoken -o own.npz --pattern ' ?[^ ]+| +' --special '<|end|>=50256'
    """
    from fst.cli.commands.compile.hints import hint
    from fst.errors import VocabularyError

    try:
        write_table("fst.compile:tokenizer", source, output, named=str, **options)
    except VocabularyError as error:
        raise VocabularyError(f"{error}{hint(source)}") from None
