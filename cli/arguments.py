"""Types of arguments and options of commands."""

from __future__ import annotations

from math import isnan
from typing import Any

import click

from fst import remote
from fst.cli.streams import STANDARD


class Name(click.Path):
    """The name of a file, which may be a URL, or "-"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of a file of this machine, also for its URL."""
        return super().convert(remote.plain(value), param, ctx)


class FileName(Name):
    """The name of a file; standard input and output cannot take its place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse "-"."""
        if value == STANDARD:
            self.fail("'-' is not supported here; name a file", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number of some range, which NaN is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is no number."""
        if isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def special_tokens(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> dict[str, int] | None:
    """Split each TOKEN=ID at its last "="; None if none is given."""
    found = {}
    for text in given:
        token, _, number = text.rpartition("=")
        if not token or not (number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{text!r} is not TOKEN=ID, such as '<|endoftext|>=50256'")
        found[token] = int(number)
    return found or None


def component(_ctx: click.Context, _param: click.Parameter, given: str | None) -> dict[str, Any] | None:
    """A component of a tokenizer.json: its JSON, or its type alone."""
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
