"""The kinds of tables that `fst compile` makes. A new kind is one entry of `KINDS`, and a new option one declaration in `fst.cli.main`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import click

DEFAULT = "tokenizer"


class Kind(NamedTuple):
    """A function that compiles.

    Attributes:
        function: its name, as `pkgutil.resolve_name` takes it.
        options: those of its parameters that `fst compile` has options for.
        source: what it takes for the name of a source: a path, or a str that need not be one.
    """

    function: str
    options: tuple[str, ...]
    source: Callable[[str], Any] = Path


WORDPIECE = ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars", "unk_token", "continuing_subword_prefix")
SPELLING = ("ignore_case", "whole_words", "normalizer")
WORDS = ("format", "column")
KINDS = {
    DEFAULT: Kind(
        "fst.compile:tokenizer",
        (*WORDPIECE, "max_input_chars_per_word", "pre_tokenizer", "layout", "encoding", "pattern", "special", "no_special"),
        str,
    ),
    "keywords": Kind("fst.compile:keywords", ("match_kind", *SPELLING, "allow_empty", *WORDS)),
    "maxmatch": Kind("fst.compile:maxmatch", ("direction", *WORDS)),
    "jieba": Kind("fst.compile.machines.segmentation.lattice:jieba", ("user", "hmm")),
    "mecab": Kind("fst.compile.machines.segmentation.lattice:mecab", ("user", "encoding")),
}
SPELLINGS = {"format": "--input-format"}  # of options that are not called like the parameter


def compiled(kind: str, source: str, options: Mapping[str, Any]) -> Any:
    """The table of a source.

    Args:
        kind: a key of `KINDS`.
        source: the name of the source.
        options: options by the names of parameters; those that are None were not given.

    Raises:
        click.UsageError: an option is for other kinds, or has a value that it cannot have.
        FstError, OSError: the source cannot be compiled, or not be read.
    """
    function, known, named = KINDS[kind]
    given = {name: value for name, value in options.items() if value is not None}
    for name in (name for name in given if name not in known):
        kinds = " or ".join(other for other, (_, options, _) in KINDS.items() if name in options)
        raise click.UsageError(f"{_spelled(name)} is for --kind {kinds}, and this is {kind}")
    try:
        return resolve_name(function)(named(source), **given)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _spelled(name: str) -> str:
    return SPELLINGS.get(name, f"--{name.replace('_', '-')}")
