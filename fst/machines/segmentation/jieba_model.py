"""jieba's model for unknown words: a hidden Markov model over Chinese characters, as in ``jieba.finalseg``.

If the best path of a block has several single characters in a row, jieba searches these characters for words that the dictionary lacks:

- If the whole sequence is a word of the dictionary, the characters stay single.
- Otherwise, each run of Chinese characters gets the states of its most probable path (Viterbi 1967). A character begins a word, is in the
  middle of a word, ends a word, or is a single-character word. Logarithms are added from left to right and sums are rounded, so the order
  of operations is part of the definition: ``(sum + transition) + emission``. If states have equal sums, the state whose letter in ``BMES``
  comes last in the alphabet wins.
- Between runs of Chinese characters, adjacent letters and digits are joined. The token includes a following ``.`` with digits, and then a
  following ``%``. Adjacent other signs are one token.

A word that was added with the frequency 0 is *forced apart*: if the model finds it, its characters are separate tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fst.automata.rows import Array
from fst.tables.proof import need, need_none

STATES = BEGIN, MIDDLE, END, SINGLE = range(4)
BEFORE = (END, SINGLE), (BEGIN, MIDDLE), (BEGIN, MIDDLE), (END, SINGLE)  # possible previous states of each state; in a tie, the second wins
LAST_STATES = END, SINGLE  # possible states at the end of a run; in a tie, the second wins
HAN = range(0x4E00, 0x9FD5 + 1)  # the characters that the model knows
CHANCES = len(STATES) + len(STATES) * 2  # number of probabilities: of first states, then of the transitions from `BEFORE` to each state
LEAST = -1e101  # minimum logarithm; jieba uses -3.14e100 for impossible events, and sums of logarithms must be finite
POINT, PERCENT = ord("."), ord("%")
DIGITS = range(ord("0"), ord("9") + 1)


def word_ends(run: Sequence[int], emits: Array, chances: Array) -> Iterator[int]:
    """The ends of the words in a run of Chinese characters. This function is part of the slow walk.

    Args:
        run: the units of the run.
        emits: float64[characters, states], the logarithm of the probability of each character of `HAN` in each state.
        chances: float64[CHANCES], the logarithms of the probabilities of first states and of transitions.
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
    r"""The end of a token of letters, digits and signs: a match of ``[a-zA-Z0-9]+(?:\.\d+)?%?``, or the text between two matches.

    Args:
        run: the units of a run without Chinese characters.
        are_letters: for each unit, whether it is a letter or digit.
        at: the start of the token.
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
    """Prove what kernels may assume: each character has a logarithm for each state, and `forced` contains slots of the trie in ascending
    order.

    Args:
        emits, chances, forced: the arrays of a `fst.machines.segmentation.jieba.JiebaTable`.
        is_taken: bool[slots], whether the slot has a transition of the trie.
    """
    rows = len(HAN) if len(chances) else 0
    need(len(chances) in (0, CHANCES), f"there are {len(chances)} chances, not {CHANCES}")
    need(emits.shape == (rows, len(STATES)), f"emits has the shape {emits.shape}, not {(rows, len(STATES))}")
    _prove_logarithms(emits.ravel(), "emits")
    _prove_logarithms(chances, "chances")
    need(len(chances) or not len(forced), "words are forced apart, and there is no model that would find them")
    need_none(forced[1:] <= forced[:-1], lambda at: f"word {at + 1} that is forced apart does not come after word {at}")
    is_word = (forced >= 0) & (forced < len(is_taken)) & is_taken.take(forced, mode="clip")
    need_none(~is_word, lambda at: f"word {at} that is forced apart is not in the trie")


def _prove_logarithms(values: Array, name: str) -> None:
    """Prove that values are logarithms of probabilities, and that their sums are finite."""
    need_none(~((values >= LEAST) & (values <= 0)), lambda at: f"element {at} of {name} is {values[at]}")
