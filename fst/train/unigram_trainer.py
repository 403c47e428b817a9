"""The trainer of Unigram, which begins with all frequent substrings of the words, and drops pieces until `vocab_size` is reached.

1. **Seeds**: the characters, and the substrings with at least two different continuations; a continuation is a letter or the end of a word
   (`fst.compile.train.unigram.lattices`).
2. **Expectation** and **maximization**, `n_sub_iterations` times: the new score of a piece is computed from its expected count: its count
   in all segmentations, weighted by the probabilities of the segmentations. Pieces with expected counts below 0.5 are dropped.
3. **Pruning**: the pieces with the smallest losses are dropped. The share `shrinking_factor` of the pieces is kept, but at least 1.1 times
   `vocab_size` pieces. Steps 2 and 3 are repeated until at most 1.1 times `vocab_size` pieces are left after step 2.
4. **End**: all characters and the best other pieces, up to `vocab_size`, become the vocabulary, sorted by score.

The kernels are in `fst.compile.train.unigram.steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil, log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.unigram.lattices import UNKNOWN, Letters, Nodes, Paths, Seeds, Sums, letters_of, seeds_of
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, VocabularyError, listed, quoted
from fst.train.control import Round
from fst.train.counting import counted
from fst.train.result import DEADLINE, NO_PAIR, SIZE, Trained
from fst.train.sentencepiece.bpe import META
from fst.train.sentencepiece.options import Options
from fst.train.sentencepiece.unigram import Settings, by_sentencepiece
from fst.train.symbols import checked, checked_initial, code_points_of

HUGGINGFACE, EXACT, SENTENCEPIECE = "huggingface", "exact", "sentencepiece"
UNKNOWN_PENALTY = 10.0  # subtracted from the minimum score to get the score of the unknown piece
STEP = 0.0001  # step between the scores of characters that are not pieces
PATIENCE = 100  # maximum number of prunings beyond the expected number; with too many characters, training by `tokenizers` never ends
UNKNOWN_PIECE = "<UNK>"  # the name of the unknown piece in the trainer of `tokenizers`
MAX_PIECE_LENGTH = (1 << 16) - 1
MAX_SEEDS = (1 << 31) - 2
KEPT, WEIGHED = 1, 2  # verdicts of `weigh`
FEW_NODES = 1 << 10
GREATEST = 1000.0  # above all |scores|: scores are logarithms of shares in fewer than 2^63 letters; sums of such numbers are finite

EXPECT, MAXIMIZE, COUNT_BEST, WEIGH = (
    Deferred("fst.compile.train.unigram.steps", name) for name in ("expect", "maximize", "count_best", "weigh")
)


class State(NamedTuple):
    """The state of a run."""

    pieces: NDArray[np.int32]  # int32[pieces], the seed of each remaining piece, in order; the first piece is seed 0, the unknown piece
    scores: NDArray[np.float64]  # float64[pieces]; NaN for seed 0
    rounds: NDArray[np.int64]  # int64[1], the number of rounds so far


def unigram(
    source: Any,
    *,
    vocab_size: int = 8000,
    special_tokens: Sequence[str] = (),
    unk_token: str | None = None,
    initial_alphabet: Collection[str] = (),
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    reference: str = "huggingface",
    options: Mapping[str, Any] | None = None,
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
    progress: Callable[[int, int], None] | None = None,
    checkpoint: str | Path | None = None,
    deadline: float | None = None,
) -> Trained:
    """Train a vocabulary of Unigram: begin with all frequent substrings of the words, and remove the least useful substrings until the
    vocabulary has the requested size.

    By default, pieces and scores equal the results of ``tokenizers`` 0.23.3, including its defects:

    - the loss of a piece is computed with a wrong sum;
    - the final cut to the size is by loss, not by score;
    - if single characters already fill `vocab_size`, all remaining pieces are kept, and the vocabulary is larger than `vocab_size`.

    Characters that are not pieces get scores that differ by 0.0001. Their order is random in ``tokenizers``; here it is the order of code
    points. Counts above 2^32 do not overflow.

    With "exact", the sum of losses is correct, the pieces with the best scores stay, characters that are not pieces follow all pieces in
    the order of frequency, and special tokens are not pieces.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of tokens at which training stops. The result is smaller if the words do not have enough pieces.
        special_tokens: the tokens with the first ids, with the score 0.
        unk_token: the token of unknown characters; if it is not in `special_tokens`, it gets the first id. None: no unknown token.
        initial_alphabet: characters that become tokens even if no word contains them; longer strings count as their first character.
        shrinking_factor: the share of pieces that each pruning keeps, at least 0 and below 1.
        n_sub_iterations: the number of times that scores are estimated before each pruning.
        max_piece_length: the maximum length of a piece in characters.
        seed_size: the maximum number of substrings and characters at the start.
        reference: "huggingface", "exact", or "sentencepiece": the pieces and scores of ``sentencepiece`` 0.2.3, bit for bit. Texts need the
            splitter "sentencepiece"; each document is a sentence. Counted words are sentences of one word, so their pieces may differ from
            those of the texts. Without `special_tokens`, the first pieces are `unk_token` or ``<unk>``, ``<s>`` and ``</s>``;
            `initial_alphabet` is its ``required_chars``. Texts of 500 MiB or more are refused.
        options: for "sentencepiece", further options of ``spm_train`` by their names there, with the same defaults:
            ``character_coverage``, ``byte_fallback``, ``split_digits``, ``split_by_unicode_script``, ``split_by_number``,
            ``split_by_whitespace``, ``allow_whitespace_only_pieces``, ``hard_vocab_limit``, ``user_defined_symbols``,
            ``max_sentence_length``, ``num_threads``, which determines the order of sums, not the number of threads that run,
            ``input_sentence_size`` with ``shuffle_input_sentence``, and ``model_type``: "unigram", or "char" or "word" for a vocabulary of
            the most frequent characters or words, of all of them with ``use_all_vocab``.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress: a function that is called with the number of steps made so far, and an estimate of the total number.
        checkpoint, deadline: see `bpe`.

    Returns:
        The tokens with their scores. Counts are from the best segmentations of the words.

    Raises:
        UnsupportedError: an option of SentencePiece is unknown or cannot be followed exactly; or for a reason listed in `bpe`.
        VocabularyError: there are no words, a word is not UTF-8, or a special token is also a piece of words; or for a reason listed in
            `bpe`.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> result = unigram({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=40, unk_token="<unk>")
        >>> [*result.vocabulary]
        ['<unk>', 'e', 's', 't', 'low', 'n', 'w', 'we', 'd', 'i', 'o', 'l', 'r']
        >>> result.scores[1:5].round(4).tolist()
        [-1.6022, -1.9555, -1.9555, -2.2233]
    """
    arguments = dict(locals())
    facts = {
        "trainer": "unigram",
        "vocab_size": vocab_size,
        "shrinking_factor": shrinking_factor,
        "n_sub_iterations": n_sub_iterations,
        "max_piece_length": max_piece_length,
        "seed_size": seed_size,
        "reference": reference,
    }
    _check(facts, options)
    if reference == SENTENCEPIECE:
        unknown = unk_token or META[0]
        return by_sentencepiece(
            source,
            splitter,
            arguments,
            settings=Settings(vocab_size, shrinking_factor, n_sub_iterations, max_piece_length, seed_size),
            special_tokens=_specials(special_tokens or (unknown, *META[1:]), unknown),
            unk_token=unknown,
            options=Options.of(options),
        )
    specials = _specials(special_tokens, unk_token)
    words, pipeline, control = corpus = counted(source, splitter, arguments)
    text = letters_of(words, *code_points_of(words, are_bytes=corpus.are_bytes))
    alphabet = _alphabet(text, initial_alphabet, specials, reference)
    capacity = vocab_size - len(specials)
    if len(alphabet) > capacity:
        raise VocabularyError(
            f"vocab_size is {vocab_size:,}; expected at least {len(specials) + len(alphabet):,}, for {len(specials):,} special tokens and "
            f"{len(alphabet):,} characters; raise it, or normalize the texts"
        )
    seeds = seeds_of(text, longest=max_piece_length, most=seed_size)
    most = max(vocab_size * 11 // 10, len(alphabet) + 1 if reference == EXACT else 0)
    run = _Run(text, seeds, most, shrinking_factor, n_sub_iterations, reference)
    digest = control.digest_of(words, facts)
    state, finished = control.run(run.begin(), run.advance, total=run.rounds, digest=digest, prove=run.prove)
    pieces, of_pieces = run.end(state, alphabet, specials, capacity)
    _refuse_pieces(specials, pieces)
    return Trained(
        kind="Unigram",
        vocabulary={token: index for index, token in enumerate([*specials, *pieces])},
        counts=np.concatenate([np.zeros(len(specials), np.int64), run.count(of_pieces, np.array([*pieces.values()]))]),
        stopped=DEADLINE if not finished else SIZE if len(pieces) >= capacity else NO_PAIR,
        scores=np.array([0.0] * len(specials) + [*pieces.values()], np.float64),
        special_tokens=tuple(special_tokens),
        pipeline=pipeline,
        model={"unk_id": None if unk_token is None else specials.index(unk_token), "byte_fallback": False},
        reference=reference,
        min_count=words.min_count,
    ).of(words)


def _check(facts: Mapping[str, object], options: Mapping[str, Any] | None) -> None:
    if facts["reference"] not in (HUGGINGFACE, EXACT, SENTENCEPIECE):
        raise UnsupportedError(f"reference is {quoted(facts['reference'])}; expected 'huggingface', 'exact' or 'sentencepiece'")
    if options is not None and facts["reference"] != SENTENCEPIECE:
        raise UnsupportedError("options are those of SentencePiece; expected reference='sentencepiece'; leave them out")
    for name in ("vocab_size", "n_sub_iterations", "max_piece_length", "seed_size"):
        value, most = facts[name], MAX_PIECE_LENGTH if name == "max_piece_length" else MAX_SEEDS
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise VocabularyError(f"{name} is {quoted(value)}; expected a whole number from 1 to {most:,}")
    factor = facts["shrinking_factor"]
    if not isinstance(factor, float | int) or not 0 <= factor < 1:
        raise VocabularyError(f"shrinking_factor is {quoted(factor)}; expected a number from 0 to below 1")


def _specials(special_tokens: Sequence[str], unk_token: str | None) -> list[str]:
    """The special tokens in the order of ids. The unknown token is added as the first token unless they already contain it."""
    specials = [*checked(special_tokens)]
    unknown = [] if unk_token is None or unk_token in specials else [*checked([unk_token])]
    if len({*specials}) < len(specials):
        raise VocabularyError(f"special_tokens are {quoted(specials)}; expected each token once")
    return [*unknown, *specials]


def _alphabet(text: Letters, initial: Collection[str], specials: Sequence[str], reference: str) -> list[str]:
    """The characters by code point. With "exact", they are sorted by frequency first, and special tokens are left out."""
    occurs = {chr(text.alphabet[letter]): count for letter, count in enumerate(text.weights) if count}
    alphabet = sorted({*occurs, *(string[0] for string in checked_initial(initial) if string)})
    if reference != EXACT:
        return alphabet
    return sorted({*alphabet} - {*specials}, key=lambda character: (-occurs.get(character, 0.0), character))


def _refuse_pieces(specials: Sequence[str], pieces: Mapping[str, float]) -> None:
    """Raise an error if a special token is also a piece: a token has only one id."""
    if repeated := [token for token in specials if token in pieces]:
        raise VocabularyError(
            f"special_tokens contain pieces of words: {listed(repeated)}; expected other strings; choose others, or reference='exact', "
            "which leaves them out of the pieces"
        )


class _Run:
    """A training run: words, options, and scratch arrays for kernels.

    Args:
        text: the words.
        seeds: the seeds of the words; the trainer changes the arrays of their lattices in place.
        most: the maximum number of pieces at the end of training.
        shrinking_factor, n_sub_iterations, reference: as in `fst.train.unigram`.
    """

    def __init__(self, text: Letters, seeds: Seeds, most: int, shrinking_factor: float, n_sub_iterations: int, reference: str) -> None:
        self.text, self.seeds, self.most, self.factor, self.iterations = text, seeds, most, shrinking_factor, n_sub_iterations
        self.is_exact = reference == EXACT
        self.lattices, self.arcs_of = seeds.lattices, len(seeds.scores)
        self.sums, self.nodes, self.paths = Sums.of(text.longest), Nodes.of(FEW_NODES), Paths.of(FEW_NODES)
        self.reserved = None if self.is_exact else self._reserved()

    @property
    def rounds(self) -> int:
        """The number of rounds if each pruning keeps exactly the share `shrinking_factor` of the pieces, for the progress callback."""
        ratio = self.most / len(self.seeds.scores)
        prunings = 0 if ratio >= 1 else 1 if self.factor == 0 else ceil(log(ratio) / log(self.factor))
        return prunings * (self.iterations + 1) + self.iterations

    def begin(self) -> State:
        """The state before the first round: all seeds are pieces."""
        return State(np.arange(len(self.seeds.scores), dtype=np.int32), self.seeds.scores, np.zeros(1, np.int64))

    def prove(self, state: State) -> None:
        """Raise an error if a state from a checkpoint does not belong to this run."""
        pieces, scores, rounds = state
        is_right = len(pieces) == len(scores) and len(rounds) == 1 and len(pieces) > 1 and pieces[0] == UNKNOWN and rounds[0] >= 0
        if not is_right or pieces.min() < 0 or pieces.max() >= len(self.seeds.scores) or len(np.unique(pieces)) < len(pieces):
            raise VocabularyError("the pieces of the checkpoint are not seeds of the words; expected each seed once; remove the checkpoint")
        if not (np.abs(scores[1:]) <= GREATEST).all():
            raise VocabularyError("the scores of the checkpoint are out of range; expected logarithms of shares; remove the checkpoint")

    def advance(self, state: State) -> Round:
        """Make one round: compute new scores, or, after `n_sub_iterations` such rounds, prune pieces."""
        if self.reserved is not None and self.reserved not in state.pieces:
            raise VocabularyError(
                f"a word contains {UNKNOWN_PIECE!r}, which makes the reference's trainer fail; expected other words; remove it from the "
                "texts, or choose reference='exact'"
            )
        if state.rounds[0] > self.rounds + PATIENCE * (self.iterations + 1):
            raise VocabularyError(
                f"training has {len(state.pieces):,} pieces that it cannot prune; expected at most {self.most:,}, 1.1 times vocab_size; "
                "raise vocab_size"
            )
        self._keep(state.pieces)
        step = int(state.rounds[0]) % (self.iterations + 1)
        pieces, scores = self._rescored(state) if step < self.iterations else self._pruned(state)
        done = state.rounds + 1
        finished = step == self.iterations - 1 and len(pieces) <= self.most
        return Round(State(pieces, scores, done), self.rounds if finished else min(int(done[0]), self.rounds), finished)

    def _keep(self, pieces: NDArray[np.int32]) -> None:
        """Drop the arcs of all seeds that are not in `pieces`, so that best paths consist only of pieces."""
        if len(pieces) < self.arcs_of:
            self.lattices, self.arcs_of = self.lattices.keep(pieces, len(self.seeds.scores)), len(pieces)

    def _reserved(self) -> int | None:
        """The seed of the string `UNKNOWN_PIECE`; -1: the string is not a seed; None: no word contains the string."""
        places = self.text.find(UNKNOWN_PIECE)
        if not len(places):
            return None
        arcs = slice(*self.lattices.first[places[0] : places[0] + 2])
        found = self.lattices.seeds[arcs][self.lattices.sizes[arcs] == len(UNKNOWN_PIECE)]
        return int(found[0]) if len(found) else -1

    def _scores_of(self, state: State) -> NDArray[np.float64]:
        """The scores by seed. The score of the unknown piece is below all other scores."""
        scores = np.full(len(self.seeds.scores), np.nan)
        scores[state.pieces] = state.scores
        scores[UNKNOWN] = state.scores[1:].min() - UNKNOWN_PENALTY
        return scores

    def _rescored(self, state: State) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The pieces with enough expected occurrences, and their new scores."""
        expected = np.zeros(len(self.seeds.scores))
        EXPECT.call(self.lattices, self._scores_of(state), self.sums.best, self.sums.second, expected)
        pieces, scores = np.empty_like(state.pieces), np.empty_like(state.scores)
        count = MAXIMIZE.call(expected, state.pieces, pieces, scores)
        if count < 2:
            raise VocabularyError("no piece has 0.5 or more expected occurrences; expected at least one such piece; add words")
        return pieces[:count].copy(), scores[:count].copy()

    def _pruned(self, state: State) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The pieces to keep: first the pieces that are never pruned, in order; then other pieces, in descending order of loss."""
        scores, counts = self._scores_of(state), np.zeros(len(self.seeds.scores))
        self._count_best(scores, counts)
        verdicts, losses = np.empty(len(state.pieces), np.uint8), np.empty(len(state.pieces))
        begin = 0
        while begin < len(state.pieces):
            begin = WEIGH.call(
                *(self.lattices, scores, self.seeds.places, self.seeds.lengths, state.pieces, begin, counts, self.is_exact),
                *(self.sums, self.nodes, self.paths, verdicts, losses),
            )
            self._enlarge(begin < len(state.pieces))
        kept, weighed = np.flatnonzero(verdicts == KEPT), np.flatnonzero(verdicts == WEIGHED)
        capacity = max(self.most, int(len(state.pieces) * self.factor)) - len(kept)
        if capacity >= 0 or self.is_exact:  # if the capacity is negative, `tokenizers` keeps all pieces
            weighed = weighed[np.argsort(-losses[weighed], kind="stable")][: max(capacity, 0)]
        stay = np.concatenate([kept, weighed])
        return state.pieces[stay], state.scores[stay]

    def _count_best(self, scores: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
        word = 0
        while word < len(self.text.counts):
            word = COUNT_BEST.call(self.lattices, scores, word, self.sums, self.nodes, counts)
            self._enlarge(word < len(self.text.counts))

    def _enlarge(self, is_full: bool) -> None:
        """Double the scratch arrays if a kernel has stopped because one is full."""
        if is_full:
            self.nodes, self.paths = Nodes.of(2 * len(self.nodes.seed)), Paths.of(2 * len(self.paths.node))

    def end(
        self, state: State, alphabet: Sequence[str], specials: Sequence[str], capacity: int
    ) -> tuple[dict[str, float], NDArray[np.int64]]:
        """The final vocabulary: all characters and the best other pieces, up to `capacity`, sorted by score.

        Args:
            state: the last state.
            alphabet: the characters; the scores of characters that are not pieces depend on this order.
            specials: the special tokens; with "exact", they are left out of the pieces.
            capacity: the number of tokens without special tokens.

        Returns:
            The score of each token except special tokens, in the order of ids; and the seed of each token, or -1.
        """
        tokens = self.text.spelled(self.seeds.places[state.pieces[1:]], self.seeds.lengths[state.pieces[1:]])
        seeds = dict(zip(tokens, state.pieces[1:].tolist(), strict=True))
        scores = dict(zip(tokens, state.scores[1:].tolist(), strict=True))
        least, penalty, step = min(scores.values()), -STEP if self.is_exact else 0.0, -STEP if self.is_exact else STEP
        chosen: dict[str, float] = {}
        for character in alphabet:
            chosen[character] = scores[character] if character in scores else least + penalty
            penalty += 0.0 if character in scores else step
        left_out = {*chosen, *(specials if self.is_exact else [UNKNOWN_PIECE])}
        others = [token for token in tokens if token not in left_out]
        if self.is_exact:
            others.sort(key=lambda token: -scores[token])
        if self.is_exact or len(chosen) < capacity:  # if characters fill the capacity, `tokenizers` adds all pieces
            others = others[: capacity - len(chosen)]
        chosen |= {token: scores[token] for token in others}
        ended = dict(sorted(chosen.items(), key=lambda pair: -pair[1]))
        letters = dict(zip(map(chr, self.text.alphabet), self.seeds.letters.tolist(), strict=True))
        return ended, np.array([seeds.get(token, letters.get(token, -1)) for token in ended], np.int64)

    def count(self, seeds: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count the tokens in the best segmentations of the words. `seeds`, `scores`: the seed of each token (-1: none) and its score."""
        known = seeds >= 0
        lattices = self.lattices.keep(seeds[known].astype(np.int32), len(self.seeds.scores))
        unknown = np.flatnonzero(lattices.seeds == UNKNOWN)
        places = np.searchsorted(lattices.first, unknown, "right") - 1
        lattices.seeds[unknown] = self.seeds.letters[self.text.letters[places]]
        by_seed, counts = np.full(len(self.seeds.scores), np.nan), np.zeros(len(self.seeds.scores))
        by_seed[UNKNOWN] = scores.min() - UNKNOWN_PENALTY
        by_seed[seeds[known]] = scores[known]
        self.lattices = lattices
        self._count_best(by_seed, counts)
        return np.where(known, counts[seeds], 0).astype(np.int64)
