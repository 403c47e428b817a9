"""Several transducers of an archive, applied one after the other. The module ``pynini.lib.rule_cascade``."""

from __future__ import annotations

from collections.abc import Iterable

from fst.bridge.pynini.far import Far
from fst.bridge.pynini.labels import TokenType
from fst.bridge.pynini.lib import rewrite
from fst.bridge.pynini.machine import Fst, FstLike


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

    def _last_step(self, string: FstLike, token_type: TokenType | None) -> tuple[FstLike, Fst]:
        """The results of all transducers but the last one, and the last one.

        Raises:
            Error: no transducers are chosen.
        """
        if not self.rules:
            raise Error("no rules are chosen; call set_rules first")
        *others, last = self.rules
        for rule in others:
            string = rewrite.rewrite_lattice(string, rule, token_type)
        return string, last

    def matches(
        self,
        istring: FstLike,
        ostring: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
    ) -> bool:
        """Whether one of the results is a given string."""
        string, rule = self._last_step(istring, input_token_type)
        return rewrite.matches(string, ostring, rule, input_token_type, output_token_type)

    def rewrites(
        self,
        string: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
        state_multiplier: int = 4,
    ) -> list[str]:
        """All results."""
        return rewrite.rewrites(*self._last_step(string, input_token_type), input_token_type, output_token_type)

    def top_rewrites(
        self, string: FstLike, nshortest: int, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
    ) -> list[str]:
        """The best results."""
        return rewrite.top_rewrites(*self._last_step(string, input_token_type), nshortest, input_token_type, output_token_type)

    def top_rewrite(
        self, string: FstLike, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
    ) -> str:
        """One of the best results."""
        return rewrite.top_rewrite(*self._last_step(string, input_token_type), input_token_type, output_token_type)

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
        return rewrite.one_top_rewrite(*self._last_step(string, input_token_type), input_token_type, output_token_type)

    def optimal_rewrites(
        self,
        string: FstLike,
        input_token_type: TokenType | None = None,
        output_token_type: TokenType | None = None,
        state_multiplier: int = 4,
    ) -> list[str]:
        """All results of the smallest weight."""
        return rewrite.optimal_rewrites(*self._last_step(string, input_token_type), input_token_type, output_token_type)
