"""Several transducers of an archive, applied one after the other. The module ``pynini.lib.rule_cascade``."""

from __future__ import annotations

from collections.abc import Iterable

from fst.bridge.pynini.draft import NO_STATE_ID
from fst.bridge.pynini.far import Far
from fst.bridge.pynini.labels import TokenType, checked, default_token_type
from fst.bridge.pynini.lib import rewrite
from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.operations import intersect


class Error(Exception):
    """The archive has no transducer of a name, or no names were given."""


class RuleCascade:
    """A cascade of transducers of an archive.

    Args:
        far_path: the archive.
    """

    def __init__(self, far_path: str) -> None:
        self.far = Far(far_path, "r")
        self.rules: list[Fst] = []

    def set_rules(self, rules: Iterable[str]) -> None:
        """Choose the transducers.

        Raises:
            Error: the archive lacks one of them.
        """
        self.rules = []
        for rule in rules:
            if not self.far.find(rule):
                raise Error(f"the archive has no rule {rule!r}; expected one of its keys")
            self.rules.append(self.far.get_fst())

    def _lattice(self, string: FstLike, token_type: TokenType | None) -> Fst:
        """The acceptor of all results."""
        if not self.rules:
            raise Error("no rules are chosen; call set_rules first")
        first, *others = self.rules
        lattice = rewrite.rewrite_lattice(string, first, token_type)
        for rule in others:
            lattice = rewrite.rewrite_lattice(lattice, rule, token_type)
        return lattice

    def matches(
        self,
        istring: FstLike,
        ostring: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
    ) -> bool:
        """Whether one of the results is a given string."""
        lattice = self._lattice(istring, input_token_type)
        with default_token_type(checked(output_token_type)):
            return intersect(lattice, ostring).start() != NO_STATE_ID

    def rewrites(
        self,
        string: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
        state_multiplier: int = 4,
    ) -> list[str]:
        """All results."""
        lattice = rewrite.lattice_to_dfa(self._lattice(string, input_token_type), optimal_only=False)
        return rewrite.lattice_to_strings(lattice, output_token_type)

    def top_rewrites(
        self, string: FstLike, nshortest: int, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
    ) -> list[str]:
        """The best results."""
        lattice = rewrite.lattice_to_nshortest(self._lattice(string, input_token_type), nshortest)
        return rewrite.lattice_to_strings(lattice, output_token_type)

    def top_rewrite(
        self, string: FstLike, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
    ) -> str:
        """One of the best results."""
        return rewrite.lattice_to_top_string(self._lattice(string, input_token_type), output_token_type)

    def one_top_rewrite(
        self,
        string: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
        state_multiplier: int = 4,
    ) -> str:
        """The best result.

        Raises:
            rewrite.Error: there are several.
        """
        lattice = rewrite.lattice_to_dfa(self._lattice(string, input_token_type), optimal_only=True)
        return rewrite.lattice_to_one_top_string(lattice, output_token_type)

    def optimal_rewrites(
        self,
        string: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
        state_multiplier: int = 4,
    ) -> list[str]:
        """All results of the smallest weight."""
        lattice = rewrite.lattice_to_dfa(self._lattice(string, input_token_type), optimal_only=True)
        return rewrite.lattice_to_strings(lattice, output_token_type)
