"""Groups of commands. A failed command prints one line and sets an exit code; it never prints a traceback."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from fst.cli.files.progress import noting
from fst.cli.files.streams import drop_output, flush_output
from fst.cli.leaving import INTERRUPTED
from fst.cli.signals import end_if_waiting, unwind_when_ended
from fst.errors import FstError, ReadingError, UnsupportedError

ARGUMENT = re.compile(r"(?<![\w.'\"(-])([a-z]+(?:_[a-z]+)*)(=True\b|=False\b|=None\b|=| is None\b|(?![\w='\"(]))")  # in a message
SIMILAR = 0.7  # the least similarity of names in a message, as in `difflib`
ABSENT = " is None"
WITHOUT = ("=False", "=None")  # values that an argument has if its option is left out
LIKE_GREP = ("search",)  # commands with the exit codes of grep, which are 1 for no match and 2 for a failure
REMEDIES = {
    errno.ENOENT: "check the name",
    errno.ENOTDIR: "check the name",
    errno.EISDIR: "name a file in it",
    errno.EACCES: "check its permissions",
    errno.EROFS: "write elsewhere",
    errno.ELOOP: "check its links, which form a circle",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOSPC: "free some space",
}


class CliCommand(click.Command):
    """A command whose help shows its options in sections. Wrong options for reading files are usage errors."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the headings of their sections; see `fst.cli.options.with_options`."""
        for heading, records in self.sections(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options of each section, by heading, and the help of each option."""
        found: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (record := option.get_help_record(ctx)):
                found.setdefault(getattr(option, "section", "Options"), []).append(record)
        return found

    def call(self, arguments: Sequence[str]) -> None:
        """Run the command in this process, for Python code. A usage error becomes an `UnsupportedError`, which can be pickled."""
        try:
            self.main([*arguments], prog_name=f"fst {self.name}", standalone_mode=False)
        except click.ClickException as error:
            raise UnsupportedError(error.format_message()) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A message of a function names arguments; here, it is changed to name the options."""
        try:
            with as_usage(ctx):
                return super().invoke(ctx)
        except FstError as error:
            error.args = (with_options_named(str(error), ctx), *error.args[1:])
            raise
        except click.UsageError as error:
            if type(error) is not click.UsageError:
                raise
            raise click.UsageError(with_options_named(error.message, ctx), error.ctx) from None


def with_options_named(message: str, ctx: click.Context) -> str:
    """A message in which the options of a command replace the arguments of functions: ``--column 'a'`` replaces ``column='a'``, ``--hmm``
    replaces ``hmm=True``, ``--splitter is missing`` replaces ``splitter is None``. If the option is given, ``--vocab-size is 3`` replaces
    ``vocab_size is 3``. Other words are unchanged.
    """
    options = {option.name: max(option.opts, key=len) for option in ctx.command.params if isinstance(option, click.Option)}

    def named(found: re.Match[str]) -> str:
        name, value = found.groups()
        is_argument = value or (("_" in name or not found.start()) and ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE)
        if name not in options or not is_argument:
            return found[0]
        if value == ABSENT:
            return f"{options[name]} is missing"
        is_followed = value == "=" and message[found.end() : found.end() + 1].strip(" ;,:.)")
        return f"{'no ' * (value in WITHOUT)}{options[name]}{' ' if is_followed else ''}"

    return ARGUMENT.sub(named, message)


@contextmanager
def as_usage(ctx: click.Context) -> Iterator[None]:
    """Turn errors about wrong options for reading files into usage errors of a command."""
    try:
        yield
    except ReadingError as error:
        raise click.UsageError(str(error), ctx) from None


class CommandGroup(click.Group):
    """A group of commands; the error for an unknown command contains similar names."""

    command_class = CliCommand

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            raise click.UsageError(f"no such command: {name!r}{similar(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


def similar(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: "; did you mean …?" with similar names, or an empty string."""
    found = get_close_matches(name, names, cutoff=SIMILAR)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


class LazyGroup(CommandGroup):
    """A group that imports the module of a command at the command's first use. `modules`: name of a command → its module, in the order of
    the help. Each module has the attribute `command`.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """The names of all commands."""
        return [*self._modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click passes it
        """The command with this name, or None."""
        module = self._modules.get(cmd_name)
        command: click.Command | None = import_module(module).command if module else None
        return command


class CliGroup(LazyGroup):
    """The group of all commands, which turns errors into messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            unwind_when_ended(ctx)
            _check_environment()
            try:
                with noting():
                    return super().invoke(ctx)
            finally:
                end_if_waiting()
        except KeyboardInterrupt:
            drop_output()
            code = INTERRUPTED
        except BrokenPipeError:
            code = 0
        except FstError as error:
            raise _failure(ctx, str(error)) from None
        except OSError as error:
            raise _failure(ctx, _reason(error)) from None
        finally:
            flush_output()
        raise click.exceptions.Exit(code)


class ExitTwo(click.ClickException):
    """A failure of a command in which exit code 1 has another meaning, as in grep."""

    exit_code = 2


def _failure(ctx: click.Context, message: str) -> click.ClickException:
    return (ExitTwo if ctx.invoked_subcommand in LIKE_GREP else click.ClickException)(message)


def _check_environment() -> None:
    from fst.core.threads import thread_count

    try:
        thread_count()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _reason(error: OSError) -> str:
    """The message for an error of the operating system: the file, the error and advice."""
    parts = [os.fsdecode(error.filename)] if isinstance(error.filename, str | bytes) else []
    return "; ".join([": ".join([*parts, error.strerror or str(error)]), *filter(None, [REMEDIES.get(error.errno or 0)])])
