"""The command `fst compile`: it compiles a tokenizer unless the first argument is the name of a subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fst.cli.commands.compile.hints import COMMANDS
from fst.cli.commands.compile.tokenizer import tokenizer
from fst.cli.group import LazyGroup, similar

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FIRST = "fst.compile.first"  # the key under which a context stores the first argument


class CompileGroup(LazyGroup):
    """A group that is also a command: arguments that do not begin with the name of a subcommand go to `tokenizer`.

    The group and `tokenizer` have the same help text.
    """

    ignore_unknown_options = True  # options that the group does not know belong to `tokenizer`

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand with the name in the first argument, or else `tokenizer`, which has no name."""
        ctx.meta[FIRST] = args[0]
        return super().resolve_command(ctx, args) if args[0] in COMMANDS else (None, tokenizer, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. If an argument is missing, but a file has the subcommand's name, the message explains how to compile this file. If
        the arguments of `tokenizer` are wrong, the message contains similar names of subcommands.
        """
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            first = ctx.meta.get(FIRST, "")
            if name is None and not Path(first).exists() and (likely := similar(first, COMMANDS)):
                raise click.UsageError(f"{error.format_message().removesuffix('.')}{likely}", error.ctx) from None
            if not isinstance(error, click.MissingParameter) or name is None or not Path(name).exists():
                raise
            raise click.UsageError(f"{error.format_message()} To compile the tokenizer {name}, name it ./{name}.", error.ctx) from None

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage of the group and of `tokenizer`."""
        formatter.write_usage(ctx.command_path, " ".join(tokenizer.collect_usage_pieces(ctx)))
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix=" " * len("Usage: "))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of `tokenizer` and the list of subcommands."""
        tokenizer.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the options and the source of `tokenizer`, and the names of subcommands."""
        source, *_ = tokenizer.params
        files = [] if incomplete.startswith("-") else source.shell_complete(ctx, incomplete)
        return [*files, *tokenizer.shell_complete(ctx, incomplete), *super().shell_complete(ctx, incomplete)]


command = CompileGroup("compile", modules=COMMANDS, help=tokenizer.help)
