"""Rewriting of strings by a transducer. The module ``pynini.lib.rewrite``."""

from __future__ import annotations

from fst.bridge.pynini.draft import NO_STATE_ID
from fst.bridge.pynini.labels import TokenType, checked, default_token_type
from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.operations import compose, determinize, intersect, shortestpath
from fst.errors import quoted


class Error(Exception):
    """A string is not rewritten, or several results have the same weight."""


def rewrite_lattice(string: FstLike, rule: Fst, token_type: TokenType | None = None) -> Fst:
    """The acceptor of all results.

    Raises:
        Error: there is none.
    """
    with default_token_type(checked(token_type)):
        lattice = compose(string, rule)
    if lattice.start() == NO_STATE_ID:
        raise Error(f"the transducer does not rewrite {quoted(string)}; expected a string that it reads")
    return lattice.project("output").rmepsilon()


def lattice_to_dfa(lattice: Fst, optimal_only: bool, state_multiplier: int = 4) -> Fst:
    """The deterministic acceptor of all results, or of the best ones. Its size is not limited by `state_multiplier`."""
    return determinize(lattice, weight=0 if optimal_only else None)


def lattice_to_nshortest(lattice: Fst, nshortest: int) -> Fst:
    """The acceptor of the best results."""
    return shortestpath(lattice, nshortest=nshortest, unique=True)


def lattice_to_top_string(lattice: Fst, token_type: TokenType | None = None) -> str:
    """One of the best results."""
    return shortestpath(lattice).string(token_type)


def lattice_to_strings(lattice: Fst, token_type: TokenType | None = None) -> list[str]:
    """All results of an acceptor without cycles."""
    return [*lattice.paths(output_token_type=token_type).ostrings()]


def lattice_to_one_top_string(lattice: Fst, token_type: TokenType | None = None) -> str:
    """The only result.

    Raises:
        Error: there are several.
    """
    paths = lattice.paths(output_token_type=token_type)
    result = paths.ostring()
    paths.next()
    if not paths.done():
        raise Error(f"Multiple top rewrites found: {result!r} and {paths.ostring()!r} (weight: {paths.weight()})")
    return result


def matches(
    istring: FstLike,
    ostring: FstLike,
    rule: Fst,
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
) -> bool:
    """Whether one of the results is a given string.

    Raises:
        Error: there is no result.
    """
    lattice = rewrite_lattice(istring, rule, input_token_type)
    with default_token_type(checked(output_token_type)):
        return intersect(lattice, ostring).start() != NO_STATE_ID


def rewrites(
    string: FstLike,
    rule: Fst,
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
    state_multiplier: int = 4,
) -> list[str]:
    """All results.

    Raises:
        Error: there is none.
    """
    return lattice_to_strings(lattice_to_dfa(rewrite_lattice(string, rule, input_token_type), optimal_only=False), output_token_type)


def top_rewrites(
    string: FstLike,
    rule: Fst,
    nshortest: int,
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
) -> list[str]:
    """The best results.

    Raises:
        Error: there is none.
    """
    return lattice_to_strings(lattice_to_nshortest(rewrite_lattice(string, rule, input_token_type), nshortest), output_token_type)


def top_rewrite(
    string: FstLike, rule: Fst, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
) -> str:
    """One of the best results.

    Raises:
        Error: there is none.
    """
    return lattice_to_top_string(rewrite_lattice(string, rule, input_token_type), output_token_type)


def one_top_rewrite(
    string: FstLike,
    rule: Fst,
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
    state_multiplier: int = 4,
) -> str:
    """The best result.

    Raises:
        Error: there is none, or there are several.
    """
    lattice = rewrite_lattice(string, rule, input_token_type)
    return lattice_to_one_top_string(lattice_to_dfa(lattice, optimal_only=True), output_token_type)


def optimal_rewrites(
    string: FstLike,
    rule: Fst,
    input_token_type: TokenType | None = None,
    output_token_type: TokenType | None = None,
    state_multiplier: int = 4,
) -> list[str]:
    """All results of the smallest weight.

    Raises:
        Error: there is none.
    """
    return lattice_to_strings(lattice_to_dfa(rewrite_lattice(string, rule, input_token_type), optimal_only=True), output_token_type)
