"""The operations of the algebra as methods and operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra import choices, compose, decisions, flags, rational, sets
from fst.compile.algebra import other as others
from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.connect import connect
from fst.compile.algebra.forms.determinize import determinize
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.forms.minimize import minimize
from fst.compile.algebra.forms.subsequential import determinize_input
from fst.compile.algebra.shortest import Semiring, push, shortest_distance, shortest_path
from fst.compile.algebra.symbols import text_of
from fst.errors import VocabularyError, quoted

Machine = TypeVar("Machine", bound="Operations")


def _operand(other: object) -> Arcs:
    """The other machine of an operation."""
    if not isinstance(other, Arcs):
        raise VocabularyError(f"the other machine is {quoted(other)}; expected an Fst; make one with Fst.from_strings")
    return other


class Operations(Arcs):
    """A table of arcs with the operations of `fst.Fst`; each returns a new machine."""

    @classmethod
    def of(cls: type[Machine], arcs: Arcs) -> Machine:
        """The machine with the arrays of a table."""
        machine = object.__new__(cls)
        machine.__dict__.update(arcs.__dict__)
        return machine

    def invert(self: Machine) -> Machine:
        """Exchange input and output."""
        return type(self).of(rational.invert(self))

    def project(self: Machine, side: Literal["input", "output"]) -> Machine:
        """The acceptor of all inputs, or of all outputs.

        Raises:
            VocabularyError: `side` is not "input" or "output".
        """
        return type(self).of(rational.project(self, side))

    def __or__(self: Machine, other: Arcs) -> Machine:
        """The machine of all paths of both machines."""
        return type(self).of(rational.union([self, _operand(other)]))

    def __add__(self: Machine, other: Arcs) -> Machine:
        """The machine of all paths of this machine, each followed by a path of the other."""
        return type(self).of(rational.concatenate(self, _operand(other)))

    def __matmul__(self: Machine, other: Arcs) -> Machine:
        """The composition: the other machine reads the output of this machine. A flag diacritic that only one of them names stays at its
        place on the path, as in ``hfst-compose --harmonize-flags``, so rules for a lexicon with flags need not name them.
        """
        return type(self).of(compose.compose(self, _operand(other)))

    def __and__(self: Machine, other: Arcs) -> Machine:
        """The acceptor of all strings that both acceptors accept; weights are added."""
        return type(self).of(compose.intersect(self, _operand(other)))

    def __sub__(self: Machine, other: Arcs) -> Machine:
        """The acceptor of this acceptor's strings, with their weights, without the strings that the other accepts with any weight."""
        return type(self).of(sets.difference(self, _operand(other)))

    def complement(self: Machine, alphabet: Iterable[str] | None = None) -> Machine:
        """The acceptor of all strings over an alphabet that this acceptor does not accept with any weight.

        Args:
            alphabet: characters and symbols, such as ``f.alphabet``; None: all, by arcs for any other symbol.

        Raises:
            UnsupportedError: the machine is not an acceptor, or the result has too many states.

        Examples:
            >>> import fst
            >>> list(fst.Fst.from_strings(["a", "bb"]).complement("abc").paths(3))
            [('', '', 0.0), ('b', 'b', 0.0), ('c', 'c', 0.0)]
            >>> (fst.Fst.from_strings(["a", "é"]) & fst.Fst.from_strings(["a", "bb"]).complement()).minimize()
            <Fst: acceptor, 2 states, 1 arc>
        """
        return type(self).of(sets.complement(self, alphabet))

    def close(self: Machine, alphabet: Iterable[str]) -> Machine:
        """The machine over an alphabet: each arc for any other symbol becomes arcs for the symbols of the alphabet that the machine does
        not name.

        Args:
            alphabet: characters and symbols. The symbols that the machine names stay, also if the alphabet does not contain them.

        Raises:
            UnsupportedError: the result has too many arcs.

        Examples:
            >>> import fst
            >>> machine = fst.Fst.from_strings(["a"]).complement()
            >>> list(machine.close("ab").paths(3))
            [('', '', 0.0), ('b', 'b', 0.0), ('ba', 'ba', 0.0)]
        """
        return type(self).of(others.close(self, alphabet))

    def cross(self: Machine, other: Arcs) -> Machine:
        """The transducer from each string of this acceptor to each string of the other; weights are added.

        Raises:
            UnsupportedError: a machine is not an acceptor.

        Examples:
            >>> import fst
            >>> list(fst.Fst.from_strings(["a", "bc"]).cross(fst.Fst.from_strings(["x"])).paths())
            [('a', 'x', 0.0), ('bc', 'x', 0.0)]
        """
        return type(self).of(sets.cross(self, _operand(other)))

    def priority_union(self: Machine, other: Arcs) -> Machine:
        """All pairs of this machine, and the pairs of the other machine whose input this machine does not read.

        Raises:
            UnsupportedError: the inputs of this machine need too many states when they are determinized.

        Examples:
            >>> import fst
            >>> irregular = fst.Fst.from_strings([("go", "went")])
            >>> regular = fst.Fst.from_strings([("go", "goed"), ("walk", "walked")])
            >>> list(irregular.priority_union(regular).paths())
            [('go', 'went', 0.0), ('walk', 'walked', 0.0)]
        """
        return type(self).of(sets.priority_union(self, _operand(other)))

    def eliminate_flags(self: Machine, features: Iterable[str] | None = None) -> Machine:
        """The machine without flag diacritics. It has only the paths on which no test fails; both labels of an arc are tested.

        Args:
            features: the features whose flag diacritics are eliminated; None: all.

        Raises:
            VocabularyError: the machine has no such feature.
            UnsupportedError: a feature has more than 1,024 flag diacritics; or the result, which has a state for each value of a feature,
                has too many arcs.

        Examples:
            >>> import fst
            >>> words = ["@P.CASE.A@x@R.CASE.A@", "@P.CASE.A@y@R.CASE.B@"]
            >>> lexicon = fst.Fst.from_strings(words, symbols=["@P.CASE.A@", "@R.CASE.A@", "@R.CASE.B@"])
            >>> list(lexicon.eliminate_flags().paths())
            [('x', 'x', 0.0)]
        """
        return type(self).of(flags.eliminate_flags(self, features))

    def prune(self: Machine, weight: float | None = None, *, states: int | None = None) -> Machine:
        """The machine of the best paths.

        Args:
            weight: the largest difference to the weight of the best path; None: any.
            states: the maximum number of states; the states on the best paths are kept. None: any.

        Raises:
            VocabularyError: `weight` is not a number (NaN).
            UnsupportedError: a cycle has a negative weight.

        Examples:
            >>> import fst
            >>> list(fst.Fst.from_strings([("a", "x", 1), ("a", "y", 2), ("a", "z", 4)]).prune(1.5).paths())
            [('a', 'x', 1.0), ('a', 'y', 2.0)]
        """
        return type(self).of(choices.prune(self, weight, states))

    def randgen(self: Machine, count: int = 1, *, seed: int = 0, longest: int = 1000, by_weight: bool = False) -> Machine:
        """The machine of random paths. At each state, an arc, or the end in a final state, is drawn.

        Args:
            count: the number of paths that are drawn; equal paths become one.
            seed: the seed of random numbers. The same seed gives the same paths.
            longest: the maximum number of arcs; longer paths are left out.
            by_weight: the probabilities are proportional to ``exp(-weight)``; False: all are equal.

        Raises:
            VocabularyError: a number is negative.

        Examples:
            >>> import fst
            >>> digits = fst.Fst.from_regex("[0-9]{3}")
            >>> len(list(digits.randgen(5, seed=1).paths()))
            5
        """
        return type(self).of(choices.randgen(self, count, seed, longest, by_weight=by_weight))

    def closure(self: Machine, *, plus: bool = False) -> Machine:
        """The machine of all sequences of paths; with `plus`, of all that have at least one path."""
        return type(self).of(rational.closure(self, plus=plus))

    def reverse(self: Machine) -> Machine:
        """The machine of all paths read backwards."""
        return type(self).of(rational.reverse(self))

    def connect(self: Machine) -> Machine:
        """The machine without states that are on no path from the start to a final state."""
        return type(self).of(connect(self))

    def remove_epsilon(self: Machine) -> Machine:
        """A machine with the same paths and no arc that reads and writes nothing.

        Raises:
            UnsupportedError: a cycle of such arcs has a negative weight, or the result has too many arcs.
        """
        return type(self).of(remove_epsilon(self))

    def determinize(self: Machine) -> Machine:
        """A machine with the same paths in which no state has two arcs with the same labels. In a transducer, an input and an output label
        together count as one label.

        Raises:
            UnsupportedError: the result has too many states or arcs. Weighted machines with cycles may have no finite result.
        """
        return type(self).of(determinize(self))

    def determinize_input(self: Machine) -> Machine:
        """A machine with the same pairs and weights in which no state has two arcs that read the same label: outputs are written as soon as
        the input determines them. Strings of several labels, and the rest of an output at the end of an input, are written by arcs that
        read nothing.

        Raises:
            UnsupportedError: outputs are delayed without bound, an input has infinitely many outputs, or the result is too large.

        Examples:
            >>> import fst
            >>> late = fst.Fst.from_arcs([(0, 1, "a", "x"), (0, 2, "a", "y"), (1, 3, "b", ""), (2, 3, "c", "")], final=[3])
            >>> late.determinize_input()
            <Fst: transducer, 3 states, 3 arcs>
        """
        return type(self).of(determinize_input(self))

    def minimize(self: Machine) -> Machine:
        """The deterministic machine with the fewest states, see `determinize`; weights are pushed towards the start.

        Raises:
            UnsupportedError: determinization gives too many states or arcs, or a cycle has a negative weight.

        Examples:
            >>> import fst
            >>> fst.Fst.from_strings(["walks", "talks"]).minimize()
            <Fst: acceptor, 6 states, 6 arcs>
        """
        return type(self).of(minimize(self))

    def push(self: Machine) -> Machine:
        """The trimmed machine with weights moved towards the start: from each state, the smallest weight to the end is 0.

        Raises:
            UnsupportedError: a cycle has a negative weight.
        """
        return type(self).of(push(self))

    def optimize(self: Machine) -> Machine:
        """A smaller machine with the same paths: without ε-arcs, deterministic and minimal, if a pair of labels counts as one label.

        Raises:
            UnsupportedError: determinization gives too many states or arcs, or a cycle has a negative weight.
        """
        return type(self).of(minimize(self))

    def shortest_distance(self, *, reverse: bool = False, semiring: Semiring = "tropical") -> NDArray[np.float64]:
        """float64[states], the smallest weight of a path from the start to each state; infinity if no path leads there.

        Args:
            reverse: from each state to the end, including final weights.
            semiring: "log" adds all paths, as negative logarithms of probabilities: ``-log(sum(exp(-weight)))``.

        Raises:
            UnsupportedError: a cycle has a negative weight, or, in the log semiring, the sum of paths through a cycle is infinite.
            VocabularyError: the semiring is unknown.

        Examples:
            >>> import fst
            >>> machine = fst.Fst.from_arcs([(0, 1, "a", "a", 1), (0, 1, "b", "b", 1)], final=[1])
            >>> machine.shortest_distance()
            array([0., 1.])
            >>> machine.shortest_distance(semiring="log").round(4)
            array([0.    , 0.3069])
        """
        return shortest_distance(self, reverse=reverse, semiring=semiring)

    def shortest_path(self: Machine, count: int = 1) -> Machine:
        """The machine of the best pairs of input and output, each with its smallest weight.

        Args:
            count: the number of pairs.

        Raises:
            UnsupportedError: a cycle has a negative weight, or the search takes too long.

        Examples:
            >>> import fst
            >>> list(fst.Fst.from_strings([("a", "b", 2), ("a", "c", 1)]).shortest_path().paths())
            [('a', 'c', 1.0)]
        """
        return type(self).of(shortest_path(self, count))

    def is_functional(self) -> bool:
        """Whether each input has one output. Weights are ignored.

        Raises:
            UnsupportedError: pairs of states are too many.
        """
        return decisions.is_functional(others.sampled(self))

    def find_ambiguity(self) -> tuple[str, str, str] | None:
        """A shortest input that has two outputs, and both; None if the machine is functional.

        Raises:
            UnsupportedError: pairs of states are too many.

        Examples:
            >>> import fst
            >>> fst.Fst.from_strings([("a", "b"), ("a", "c")]).find_ambiguity()
            ('a', 'b', 'c')
        """
        machine = type(self).of(others.sampled(self))
        found = decisions.find_ambiguity(machine)
        return None if found is None else (machine._text(found.read), machine._text(found.first), machine._text(found.second))

    def is_equivalent(self, other: Arcs) -> bool:
        """Whether two machines have the same pairs of input and output, with the same weights (up to 2⁻¹⁰).

        Raises:
            UnsupportedError: the machines are transducers with several outputs for an input and over 1,024 pairs, whose equivalence is
                undecidable in general; or the determinized machines are too large; or a weighted machine cannot be determinized.

        Examples:
            >>> import fst
            >>> early = fst.Fst.from_arcs([(0, 1, "a", "x", 0.5), (1, 2, "b", "")], final=[2])
            >>> early.is_equivalent(fst.Fst.from_strings([("ab", "x", 0.5)]))
            True
        """
        return decisions.is_equivalent(self, _operand(other))

    def _text(self, labels: Iterable[int]) -> str:
        return text_of(labels, self.symbols, self.unit)
