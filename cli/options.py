"""Arguments and options of several commands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import isnan
from typing import Any, TypeVar

import click

from fst.cli.group import as_usage
from fst.core import remote
from fst.runtime.files.streams import STANDARD
from fst.tables import ready

READING = "Options for reading FILE"  # the name of a section in the help

Command = TypeVar("Command", bound=Callable[..., Any])


class Name(click.Path):
    """The name or the URL of a file, or "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Replace the URL of a file on this machine by its path."""
        return super().convert(remote.plain(value), param, ctx)


class FileName(Name):
    """The name or the URL of a file, but not "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse "-"."""
        if value == STANDARD:
            self.fail("'-' is not supported here; name a file", param, ctx)
        return super().convert(value, param, ctx)


class TableName(FileName):
    """The file or the URL of a table, or the name of a table in fst-tables."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Replace the name of a table by its file. Other names are kept: loading them fails with an error."""
        with suppress(FileNotFoundError):
            return str(ready.place_of(super().convert(value, param, ctx)))
        return value


class Number(click.FloatRange):
    """A number in a range, but not NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN."""
        if isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def special_tokens(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, int] | None:
    """Split each TOKEN=ID at its last "="; return None for an empty tuple."""
    found = {}
    for text in given:
        token, _, number = text.rpartition("=")
        if not token or not (number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{text!r} is not TOKEN=ID, such as '<|endoftext|>=50256'")
        found[token] = int(number)
    return found or None


def component(_ctx: click.Context, _param: click.Parameter, given: str | None) -> dict[str, Any] | None:
    """A component of a tokenizer.json, such as a normalizer, from its JSON or from its type alone."""
    import json

    if given is None:
        return None
    if not given.lstrip().startswith("{"):
        return {"type": given}
    try:
        found: dict[str, Any] = json.loads(given)
    except ValueError as error:
        raise click.BadParameter(f"{given!r} is not JSON: {error}") from None
    return found


table_argument = click.argument("table", type=TableName())


def named_files(ctx: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """The files that the arguments of a command name; folders and patterns are expanded."""
    from fst.runtime.files.names import named

    with as_usage(ctx):
        return named(names)


def named_or_standard(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """The files that the arguments of a command name; standard input if there are no arguments."""
    return named_files(ctx, parameter, names) or (STANDARD,)


files_argument = click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE…|-]", callback=named_or_standard)


def with_options(*options: Callable[[Command], Command], section: str = "") -> Callable[[Command], Command]:
    """A decorator that adds options to a command, in this order. `options`: the decorators of the options. `section`: the heading of these
    options in the help; empty: the heading "Options".
    """

    def add(command: Command) -> Command:
        before = len(parameters_of(command))
        for option in reversed(options):
            command = option(command)
        for parameter in parameters_of(command)[before:] if section else ():
            parameter.section = section
        return command

    return add


def parameters_of(command: Any) -> list[Any]:
    """The parameters that decorators have added so far."""
    found: list[Any] = getattr(command, "__click_params__", [])
    return found


reading_options = with_options(
    click.option(
        "--input-format",
        type=click.Choice(["text", "json", "arrow", "parquet"]),
        show_default="by first bytes and name",
        help="The format of all files.",
    ),
    click.option("--field", metavar="NAME", help="The field of JSON lines with the text."),
    click.option("--column", metavar="NAME", help="The column of Parquet or Arrow with the text."),
    click.option("--separator", metavar="TEXT", show_default="line feed", help="The text between documents of plain text."),
    click.option(
        "--document", type=click.Choice(["line", "file"]), default="line", show_default=True, help="A document is a line or a whole file."
    ),
    section=READING,
)
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", show_default="FST_NUM_THREADS, or all cores", help="The number of threads."
)
errors_option = with_options(
    click.option(
        "--errors",
        type=click.Choice(["strict", "replace", "skip"]),
        default="strict",
        show_default=True,
        help="At a document that is not text: stop, replace malformed bytes by U+FFFD, or skip it.",
    ),
    section=READING,
)
working_options = with_options(errors_option, threads_option)
encoding_options = with_options(
    click.option("--no-special-tokens", is_flag=True, help="Add no special tokens such as [CLS] and [SEP]."), working_options
)
output_options = with_options(
    click.option(
        "-o",
        "--output",
        default=STANDARD,
        show_default="standard output",
        type=Name(),
        metavar="FILE|FOLDER/",
        help="A file, or a folder for one file per input.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace existing files in FOLDER."),
    click.option("--resume", is_flag=True, help="Keep complete outputs in FOLDER whose input and TABLE did not change."),
)


def format_option(*forms: str, default: str) -> Callable[[Any], Any]:
    """The option --format of a command; `default` is the format of standard output, and of files with an ending that belongs to no
    format.
    """
    shown = f"by the ending of FILE; {default} for other endings"
    return click.option("--format", "form", type=click.Choice(forms), show_default=shown, help="The format of the output.")
