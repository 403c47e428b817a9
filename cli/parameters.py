"""Types of arguments and options of commands."""

from __future__ import annotations

from math import isnan
from typing import Any

import click

from fst.core import remote
from fst.runtime.files.streams import STANDARD


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
