"""Edit distances of strings. The module ``pynini.lib.edit_transducer``."""

from __future__ import annotations

from collections.abc import Iterable

from fst.bridge.pynini.draft import NO_STATE_ID
from fst.bridge.pynini.labels import generated
from fst.bridge.pynini.lib.pynutil import insert
from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.operations import accep, closure, compose, cross, determinize, shortestdistance, shortestpath, union

DEFAULT_INSERT_COST = DEFAULT_DELETE_COST = DEFAULT_SUBSTITUTE_COST = 1.0


class Error(Exception):
    """A string has a character that is not in the alphabet, or is not within the bound."""


class EditTransducer:
    """Two machines whose composition edits strings: the first writes an operation for each edit, the second reads it. Each has half of the
    cost.

    Args:
        alphabet: the characters that are edited.
        insert_cost, delete_cost, substitute_cost: the cost of each operation.
        bound: the maximum number of edits; 0: any number.

    Raises:
        FstOpError: the bound is negative or too large.
    """

    DELETE = "<delete>"
    INSERT = "<insert>"
    SUBSTITUTE = "<substitute>"

    def __init__(
        self,
        alphabet: Iterable[FstLike],
        insert_cost: float = DEFAULT_INSERT_COST,
        delete_cost: float = DEFAULT_DELETE_COST,
        substitute_cost: float = DEFAULT_SUBSTITUTE_COST,
        bound: int = 0,
    ) -> None:
        sigma = union(*alphabet).optimize()
        edit = union(
            insert(f"[{self.INSERT}]", insert_cost / 2),
            cross(sigma, accep(f"[{self.DELETE}]", delete_cost / 2)),
            cross(sigma, accep(f"[{self.SUBSTITUTE}]", substitute_cost / 2)),
        ).optimize()
        copied = closure(sigma)
        self._e_i = (copied + (edit.ques + copied) ** bound if bound else (edit | sigma).closure()).optimize()
        inserted, deleted = generated(self.INSERT), generated(self.DELETE)
        self._e_o = self._e_i.copy().invert().relabel_pairs(ipairs=[(inserted, deleted), (deleted, inserted)])

    @staticmethod
    def check_lattice(lattice: Fst) -> None:
        """Refuse a machine without paths.

        Raises:
            Error: the machine has no paths.
        """
        if lattice.start() == NO_STATE_ID:
            raise Error("no edits lead from one string to the other; expected characters of the alphabet and a larger bound")

    def lattice(self, iexpr: FstLike, oexpr: FstLike) -> Fst:
        """The machine of all edits from one string to another.

        Raises:
            Error: there are none.
        """
        lattice = compose(compose(iexpr, self._e_i), compose(self._e_o, oexpr))
        self.check_lattice(lattice)
        return lattice


class LevenshteinDistance(EditTransducer):
    """Distances of pairs of strings."""

    def distance(self, iexpr: FstLike, oexpr: FstLike) -> float:
        """The smallest cost of edits from one string to another.

        Raises:
            Error: there are none.
        """
        lattice = self.lattice(iexpr, oexpr)
        return float(shortestdistance(lattice, reverse=True)[lattice.start()])


class LevenshteinAutomaton(LevenshteinDistance):
    """The nearest strings of a lexicon.

    Args:
        lexicon: the strings.
        alphabet, insert_cost, delete_cost, substitute_cost, bound: as in `EditTransducer`.
    """

    def __init__(
        self,
        alphabet: Iterable[FstLike],
        lexicon: Iterable[FstLike],
        insert_cost: float = DEFAULT_INSERT_COST,
        delete_cost: float = DEFAULT_DELETE_COST,
        substitute_cost: float = DEFAULT_SUBSTITUTE_COST,
        bound: int = 0,
    ) -> None:
        super().__init__(alphabet, insert_cost, delete_cost, substitute_cost, bound)
        self._l_o = compose(self._e_o, union(*lexicon)).optimize()

    def lattice(self, query: FstLike, oexpr: FstLike | None = None) -> Fst:
        """The machine of all edits from a string to strings of the lexicon.

        Raises:
            Error: there are none.
        """
        lattice = compose(compose(query, self._e_i), self._l_o)
        self.check_lattice(lattice)
        return lattice

    def closest_match(self, query: FstLike) -> str:
        """One of the nearest strings.

        Raises:
            Error: there is none.
        """
        return shortestpath(self.lattice(query)).string()

    def closest_matches(self, query: FstLike) -> list[str]:
        """All nearest strings.

        Raises:
            Error: there is none.
        """
        lattice = self.lattice(query).project("output").rmepsilon()
        return [*determinize(lattice, weight=0).paths().ostrings()]
