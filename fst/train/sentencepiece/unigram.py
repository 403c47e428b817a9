"""The trainer of Unigram that learns the same pieces and scores as SentencePiece, bit for bit.

1. **Seeds**: the characters and substrings of `fst.train.sentencepiece.seeds`.
2. **Estimation**, `n_sub_iterations` times, and **pruning**, as in `fst.train.unigram_trainer`, but in float32, with the sums of
   `fst.compile.train.unigram.single`. Both are repeated until at most 1.1 times `vocab_size` pieces are left.
3. **End**: pieces that other pieces always replace are dropped. The required characters and the best other pieces stay, sorted by score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.sources.sentencepiece.model_file import BYTES
from fst.compile.train.unigram.lattices import UNKNOWN, Letters, Nodes, Paths, Seeds, Sums
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.train.control import Control, Round
from fst.train.result import DEADLINE, NO_PAIR, SIZE, Trained
from fst.train.sentencepiece.options import UNIGRAM, Options
from fst.train.sentencepiece.seeds import END, seeds_of, units_of_sentences, units_of_words
from fst.train.sentencepiece.sentences import Sentences, read
from fst.train.sentencepiece.shares import pieces_of

PENALTY = np.float32(10.0)  # subtracted from the minimum score to get the score of the unknown piece
STEP = np.float32(0.0001)  # step between the scores of characters that are not pieces
PATIENCE = 100  # maximum number of prunings beyond the expected number; with too many characters, SentencePiece's training never ends
PATHS = 101_000  # above the number of paths at which `second_best` gives up, with the paths that one step adds
RANGES = {"max_piece_length": (1, 512), "n_sub_iterations": (1, 10), "shrinking_factor": (0.5, 0.95)}
DROPPED, KEPT, WEIGHED = 0, 1, 2

EXPECT, MAXIMIZE, COUNT, WEIGH, FIND_UNREACHABLE = (
    Deferred("fst.compile.train.unigram.single", name)
    for name in ("expect_share", "maximize", "count_share", "weigh", "find_unreachable")
)


class State(NamedTuple):
    """The state of a run."""

    pieces: NDArray[np.int32]  # int32[pieces], the seed of each remaining piece, in order
    scores: NDArray[np.float32]  # float32[pieces]
    rounds: NDArray[np.int64]  # int64[1], the number of rounds so far


class Settings(NamedTuple):
    """The arguments of `fst.train.unigram` that SentencePiece's trainer also has."""

    vocab_size: int
    shrinking_factor: float
    n_sub_iterations: int
    max_piece_length: int
    seed_size: int


def by_sentencepiece(
    source: Any,
    splitter: Any,
    arguments: Mapping[str, Any],
    *,
    settings: Settings,
    special_tokens: Sequence[str],
    unk_token: str,
    options: Options,
) -> Trained:
    """Learn the same pieces and scores as SentencePiece's trainer of ``model_type``. `arguments`: all arguments of `fst.train.unigram`, by
    name. For the other arguments, see there.
    """
    _check(settings)
    symbols = {symbol: {"special": False} for symbol in options.symbols}
    meta = [*special_tokens, *options.symbols, *(BYTES if options.byte_fallback else ())]
    if len({*meta}) < len(meta):
        raise VocabularyError(f"special tokens and symbols are {quoted(meta)}; expected each once")
    sentences, pipeline, control, min_count, is_partial = read(source, splitter, arguments, meta, arguments["initial_alphabet"], options)
    room = settings.vocab_size - len(meta)
    if options.model_type == UNIGRAM:
        pieces, counts, finished = _learned(sentences, control, settings, meta, options)
    elif room < 0:
        raise VocabularyError(f"vocab_size is {settings.vocab_size:,}; expected at least {len(meta):,}, for the special tokens; raise it")
    else:
        pieces, counts, finished = *pieces_of(sentences, options, room), True
    return Trained(
        kind=options.model_type.capitalize(),
        vocabulary={token: index for index, token in enumerate([*meta, *pieces])},
        counts=np.concatenate([np.zeros(len(meta), np.int64), counts]),
        stopped=DEADLINE if is_partial or not finished else SIZE if len(pieces) >= room else NO_PAIR,
        scores=np.array([0.0] * len(meta) + [*pieces.values()], np.float64),
        special_tokens=[*special_tokens, *symbols],
        pipeline=pipeline,
        model={"unk_id": meta.index(unk_token), "byte_fallback": options.byte_fallback},
        reference="sentencepiece",
        min_count=min_count,
        flags=symbols,
    )


def _learned(
    sentences: Sentences, control: Control, settings: Settings, meta: Sequence[str], options: Options
) -> tuple[dict[str, float], NDArray[np.int64], bool]:
    """The score of each piece of Unigram, in the order of ids; the counts of the pieces; and whether training is finished."""
    room = settings.vocab_size - len(meta)
    if len(sentences.required) > room:
        raise VocabularyError(
            f"vocab_size is {settings.vocab_size:,}; expected at least {len(meta) + len(sentences.required):,}, for {len(meta):,} special "
            f"tokens and {len(sentences.required):,} characters; raise it, or lower character_coverage"
        )
    if options.split_by_whitespace:
        units = units_of_words(*sentences.words(options))
    else:
        units = units_of_sentences(sentences.texts, sentences.counts)
    text, seeds = seeds_of(units, options, longest=settings.max_piece_length, most=settings.seed_size)
    if len(seeds.scores) == 1:  # only the unknown piece
        raise VocabularyError("the texts have no covered characters except special tokens; expected some; raise character_coverage")
    run = _Run(text, seeds, settings, options.num_threads)
    digest = sentences.digest([settings, meta, repr(options)]) if control.checkpoint is not None else ""
    state, finished = control.run(run.begin(), run.advance, total=run.rounds, digest=digest, prove=run.prove)
    pieces, numbers = run.end(state, sentences.required, room)
    if finished and options.hard_vocab_limit and len(pieces) < room:
        raise VocabularyError(
            f"vocab_size is {settings.vocab_size:,}; expected at most {len(meta) + len(pieces):,}, since the texts have no more pieces; "
            "lower it, or pass options={'hard_vocab_limit': False}"
        )
    return pieces, run.count(numbers, np.array([*pieces.values()], np.float32)), finished


def _check(settings: Settings) -> None:
    """Raise an error if SentencePiece does not allow the value of an argument."""
    for name, (least, most) in RANGES.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            raise VocabularyError(f"{name} is {quoted(value)}; expected {least} to {most}, as in SentencePiece")


class _Run:
    """A training run: words, options, and scratch arrays for kernels.

    Args:
        text: the words.
        seeds: the seeds of the words; the trainer changes the arrays of their lattices in place.
        settings: the arguments of the trainer.
        shares: the number of shares of the words.
    """

    def __init__(self, text: Letters, seeds: Seeds, settings: Settings, shares: int) -> None:
        self.text, self.seeds, self.settings, self.shares = text, seeds, settings, shares
        self.most = int(settings.vocab_size * 1.1)
        self.lattices, self.arcs_of = seeds.lattices, len(seeds.scores)
        longest, words = settings.max_piece_length, int(np.diff(seeds.lattices.starts).max())
        self.sums = Sums.of(max(words, longest), np.float32)
        self.nodes = Nodes.of(longest * (longest + 1) // 2 + longest + 2, np.float32)
        self.paths = Paths.of(PATHS, np.float32)

    @property
    def rounds(self) -> int:
        """The number of rounds if each pruning keeps exactly the share `shrinking_factor` of the pieces, for the progress callback."""
        ratio, factor = self.most / (len(self.seeds.scores) - 1), self.settings.shrinking_factor
        prunings = 1 if ratio >= 1 or factor == 0 else max(1, ceil(log(ratio) / log(factor)))
        return prunings * (self.settings.n_sub_iterations + 1)

    def begin(self) -> State:
        """The state before the first round: all seeds are pieces."""
        seeds = np.arange(1, len(self.seeds.scores), dtype=np.int32)
        return State(seeds, self.seeds.scores[1:].astype(np.float32), np.zeros(1, np.int64))

    def prove(self, state: State) -> None:
        """Raise an error if a state from a checkpoint does not belong to this run."""
        pieces, scores, rounds = state
        is_right = len(pieces) == len(scores) and len(rounds) == 1 and len(pieces) > 0 and rounds[0] >= 0
        if not is_right or pieces.min() < 1 or pieces.max() >= len(self.seeds.scores) or len(np.unique(pieces)) < len(pieces):
            raise VocabularyError("the pieces of the checkpoint are not seeds of the words; expected each seed once; remove the checkpoint")
        if not np.isfinite(scores).all():
            raise VocabularyError("the scores of the checkpoint are not finite; expected logarithms of shares; remove the checkpoint")

    def advance(self, state: State) -> Round:
        """Make one round: compute new scores, or, after `n_sub_iterations` such rounds, prune pieces."""
        steps = self.settings.n_sub_iterations + 1
        if state.rounds[0] > self.rounds + PATIENCE * steps:
            raise VocabularyError(
                f"training has {len(state.pieces):,} pieces that it cannot prune; expected at most {self.most:,}, 1.1 times vocab_size; "
                "raise vocab_size"
            )
        if len(state.pieces) < self.arcs_of:
            self.lattices, self.arcs_of = self.lattices.keep(state.pieces, len(self.seeds.scores)), len(state.pieces)
        is_last = int(state.rounds[0]) % steps == steps - 1
        pieces, scores = self._pruned(state) if is_last else self._rescored(state)
        if not len(pieces):
            raise VocabularyError("no piece has 0.5 or more expected occurrences; expected at least one such piece; add texts")
        done = state.rounds + 1
        finished = is_last and len(pieces) <= self.most
        return Round(State(pieces, scores, done), self.rounds if finished else min(int(done[0]), self.rounds), finished)

    def _scores_of(self, state: State) -> NDArray[np.float32]:
        """The scores by seed. The score of the unknown piece is below all other scores."""
        scores = np.full(len(self.seeds.scores), np.nan, np.float32)
        scores[state.pieces] = state.scores
        scores[UNKNOWN] = state.scores.min() - PENALTY
        return scores

    def _rescored(self, state: State) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The pieces with enough expected occurrences, and their new scores."""
        scores, expected = self._scores_of(state), np.zeros(len(self.seeds.scores), np.float32)
        for share in range(self.shares):
            own = np.zeros_like(expected)
            EXPECT.call(self.lattices, scores, share, self.shares, state.pieces[0], self.sums.best, self.sums.second, own)
            expected += own
        pieces, found = np.empty_like(state.pieces), np.empty_like(state.scores)
        count = MAXIMIZE.call(expected, state.pieces, pieces, found)
        return pieces[:count].copy(), found[:count].copy()

    def _pruned(self, state: State) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The pieces to keep: first the pieces that are never pruned, in order; then other pieces, in descending order of loss."""
        scores = self._scores_of(state)
        verdicts, losses = np.empty(len(state.pieces), np.uint8), np.empty(len(state.pieces), np.float32)
        own = scores, self.seeds.places, self.seeds.lengths, state.pieces
        decided = WEIGH.call(self.lattices, *own, self._counted(scores, state.pieces), self.sums, self.nodes, self.paths, verdicts, losses)
        if decided < len(state.pieces):
            seed = state.pieces[decided : decided + 1]
            piece = self.text.spelled(self.seeds.places[seed], self.seeds.lengths[seed])[0]
            raise UnsupportedError(
                f"the piece {quoted(piece)} has too many segmentations, for which SentencePiece's result depends on the time; lower "
                "max_piece_length"
            )
        kept, weighed = np.flatnonzero(verdicts == KEPT), np.flatnonzero(verdicts == WEIGHED)
        size = max(self.most, int(np.float32(self.settings.shrinking_factor) * np.float32(len(state.pieces))))
        weighed = weighed[np.argsort(-losses[weighed], kind="stable")]
        if len(kept) <= size:  # if more pieces are kept, SentencePiece prunes nothing
            weighed = weighed[: size - len(kept)]
        stay = np.concatenate([kept, weighed])
        return state.pieces[stay], state.scores[stay]

    def _counted(self, scores: NDArray[np.float32], pieces: NDArray[np.int32]) -> NDArray[np.float32]:
        """The count of each seed in the best segmentations of the words."""
        counts = np.zeros(len(self.seeds.scores), np.float32)
        for share in range(self.shares):
            own = np.zeros_like(counts)
            COUNT.call(self.lattices, scores, share, self.shares, pieces[0], self.sums, own)
            counts += own
        return counts

    def end(self, state: State, required: Mapping[str, int], room: int) -> tuple[dict[str, float], NDArray[np.int64]]:
        """The final vocabulary: the required characters and the best other pieces, sorted by score.

        Args:
            state: the last state.
            required: the characters that must be pieces; the scores of characters that are not pieces depend on their order.
            room: the maximum number of pieces.

        Returns:
            The score of each piece, in the order of ids; and the seed of each piece, or -1.
        """
        if len(state.pieces) < self.arcs_of:
            self.lattices, self.arcs_of = self.lattices.keep(state.pieces, len(self.seeds.scores)), len(state.pieces)
        verdicts = np.empty(len(state.pieces), np.uint8)
        own = self._scores_of(state), self.seeds.places, self.seeds.lengths, state.pieces
        FIND_UNREACHABLE.call(self.lattices, *own, self.sums, verdicts)
        stay = verdicts == KEPT
        pieces, found = state.pieces[stay], state.scores[stay]
        names = self.text.spelled(self.seeds.places[pieces], self.seeds.lengths[pieces])
        scores, least, penalty = dict(zip(names, found, strict=True)), found.min(), np.float32(0.0)
        chosen = dict[str, np.float32]()
        for character in required:
            chosen[character] = scores[character] if character in scores else least + penalty
            penalty += np.float32(0.0) if character in scores else STEP
        others = sorted((name for name in names if name not in chosen), key=lambda name: (-scores[name], name))
        chosen |= {name: scores[name] for name in others[: max(room - len(chosen), 0)]}
        ended = {name: float(chosen[name]) for name in sorted(chosen, key=lambda name: (-chosen[name], name))}
        seeds = dict(zip(names, pieces.tolist(), strict=True))
        letters = dict(zip(map(chr, self.text.alphabet[self.text.alphabet < END]), self.seeds.letters.tolist(), strict=False))
        return ended, np.array([seeds.get(name, letters.get(name, -1)) for name in ended], np.int64)

    def count(self, seeds: NDArray[np.int64], scores: NDArray[np.float32]) -> NDArray[np.int64]:
        """Count the pieces in the best segmentations of the words. `seeds`, `scores`: the seed of each piece (-1: none) and its score."""
        known = seeds > 0
        pieces = seeds[known].astype(np.int32)
        self.lattices = self.lattices.keep(pieces, len(self.seeds.scores))
        unknown = np.flatnonzero(self.lattices.seeds == UNKNOWN)
        places = np.searchsorted(self.lattices.first, unknown, "right") - 1
        self.lattices.seeds[unknown] = self.seeds.letters[self.text.letters[places]]
        by_seed = np.full(len(self.seeds.scores), np.nan, np.float32)
        by_seed[UNKNOWN] = scores.min() - PENALTY
        by_seed[pieces] = scores[known]
        counts = self._counted(by_seed, np.zeros(1, np.int32))
        return np.where(known, counts[np.maximum(seeds, 0)], 0).astype(np.int64)
