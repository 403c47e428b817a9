"""jieba's model for unknown words: a hidden Markov model over Chinese characters, as ``jieba.finalseg`` runs it.

If the best path of a block has several single characters in a row, jieba searches them for words that the dictionary lacks:

- If all of them together are a word of the dictionary, they stay single characters.
- In any other, each run of Chinese characters has the states of its most probable path (Viterbi 1967): a character begins a word, is in
  its middle, ends it, or is one alone. Sums are those of rounded logarithms, from left to right, so the order of operations is part of the
  definition: ``(sum + transition) + emission``. Of several states with equal sums, the one whose letter in ``BMES`` comes last in the
      alphabet wins.
- Between these runs, letters and digits are joined, also with one ``.`` that digits follow, and a ``%`` after that. Other adjacent signs
  are one token.

A word that was added with the frequency 0 is *forced apart*: if the model finds it, its characters are the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fst.automata.rows import Array
from fst.tables.proof import need, need_none

STATES = BEGIN, MIDDLE, END, SINGLE = range(4)
BEFORE = (END, SINGLE), (BEGIN, MIDDLE), (BEGIN, MIDDLE), (END, SINGLE)  # the states that come before each one; the second wins a tie
LAST_STATES = END, SINGLE  # of a run; likewise
HAN = range(0x4E00, 0x9FD5 + 1)  # the characters of the model
CHANCES = len(STATES) + len(STATES) * 2  # the states in which a run begins; and into each state, those of `BEFORE`
LEAST = -1e101  # a logarithm; jieba's own for what never happens is -3.14e100, and a sum of them is still finite
POINT, PERCENT = ord("."), ord("%")
DIGITS = range(ord("0"), ord("9") + 1)


def word_ends(run: Sequence[int], emits: Array, chances: Array) -> Iterator[int]:
    """The ends of the words in a run of Chinese characters, in slow and plain Python.

    Args:
        run: its units.
        emits: float64[characters, states], the logarithm of the probability of each character of `HAN` in each state.
        chances: float64[CHANCES].
    """
    rows = [emits[unit - HAN.start] for unit in run]
    sums, choices = [chances[state] + rows[0][state] for state in STATES], list[list[int]]()
    for row in rows[1:]:
        found = [
            max((sums[before] + chances[len(STATES) + 2 * state + at] + row[state], at) for at, before in enumerate(BEFORE[state]))
            for state in STATES
        ]
        sums = [total for total, _ in found]
        choices.append([BEFORE[state][at] for state, (_, at) in enumerate(found)])
    _, state = max((sums[state], state) for state in LAST_STATES)
    states = [state]
    for before in reversed(choices):
        state = before[state]
        states.append(state)
    yield from (at + 1 for at, state in enumerate(reversed(states)) if state in LAST_STATES)


def end_of_signs(run: Sequence[int], are_letters: Sequence[bool], at: int) -> int:
    r"""The end of a token of letters, digits and signs: a match of ``[a-zA-Z0-9]+(?:\.\d+)?%?``, or the text between two of these.

    Args:
        run: the units of a run without Chinese characters.
        are_letters: whether each is a letter or digit.
        at: where the token begins.
    """

    def after(place: int, is_letter: bool) -> int:
        return next((end for end in range(place, len(run)) if are_letters[end] != is_letter), len(run))

    if not are_letters[at]:
        return after(at, False)
    end = after(at, True)
    digits = next((place for place in range(end + 1, len(run)) if run[place] not in DIGITS), len(run))
    if run[end : end + 1] == [POINT] and digits > end + 1:
        end = digits
    return end + (run[end : end + 1] == [PERCENT])


def prove(emits: Array, chances: Array, forced: Array, is_taken: Array) -> None:
    """Prove what kernels may assume: that there is a logarithm for each character and state, and that words are slots in ascending order.

    Args:
        emits, chances, forced: those of a `fst.machines.segmentation.jieba.JiebaTable`.
        is_taken: bool[slots], whether the trie has a transition there.

    Raises:
        TableError: the message states the fault.
    """
    rows = len(HAN) if len(chances) else 0
    need(len(chances) in (0, CHANCES), f"there are {len(chances)} chances, not {CHANCES}")
    need(emits.shape == (rows, len(STATES)), f"emits has the shape {emits.shape}, not {(rows, len(STATES))}")
    _prove_logarithms(emits.ravel(), "emits")
    _prove_logarithms(chances, "chances")
    need(len(chances) or not len(forced), "words are forced apart, and there is no model that would find them")
    need_none(forced[1:] <= forced[:-1], lambda at: f"word {at + 1} that is forced apart does not come after word {at}")
    is_word = (forced >= 0) & (forced < len(is_taken)) & is_taken.take(forced, mode="clip")
    need_none(~is_word, lambda at: f"word {at} to force apart is none")


def _prove_logarithms(values: Array, name: str) -> None:
    """Prove that numbers are logarithms of probabilities, without infinite sums."""
    need_none(~((values >= LEAST) & (values <= 0)), lambda at: f"element {at} of {name} is {values[at]}")
