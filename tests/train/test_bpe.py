"""The trainer of BPE and of WordPiece by frequency, and the deadlines, checkpoints and interrupts of training runs."""

from __future__ import annotations

import io
import json
import signal
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.trainers import symbols_in
from support.naive.training import bpe_by_first_occurrence, bpe_by_recount
from support.shared_data import SHARED, needs_shared

import fst
from fst import train
from fst.compile.train.merges import merging
from fst.counting.words import Words
from fst.pretokens.byte_letters import bytes_of
from fst.train import bpe, merges, wordpiece
from fst.train.checkpoints import members_of
from fst.train.control import Control, Round
from fst.train.pipeline import SPLITTERS
from fst.train.result import Trained


class Count(NamedTuple):
    """The state of a toy trainer that counts to ten."""

    number: Any


def count(state: Count) -> Round:
    """Run one round of the toy trainer, which adds one to the state."""
    state.number[0] += 1
    done = int(state.number[0])
    return Round(state, done, done == 10)


def accept(_: Count) -> None:
    """Accept any state; used as the proof of toy states."""


def count_under(control: Control, digest: str = "ten") -> tuple[int, bool]:
    """Run the toy trainer under a control, which sets its deadline and its checkpoint."""
    state, finished = control.run(Count(np.zeros(1, np.int64)), count, total=10, digest=digest, prove=accept)
    return int(state.number[0]), finished


def test_run_resumes_from_its_checkpoint_and_removes_it(tmp_path: Path) -> None:
    """A run whose deadline has passed writes a checkpoint, and the next run continues from this checkpoint and then removes it."""
    path, seen = tmp_path / "run.npz", list[int]()
    for number in range(1, 4):
        assert count_under(Control(deadline=0, checkpoint=path)) == (number, False)
    assert count_under(Control(lambda done, _: seen.append(done), checkpoint=path)) == (10, True)
    assert seen == [*range(4, 11)]
    assert not path.exists()


@pytest.fixture
def _heeded() -> Iterator[None]:
    """Heed SIGINT, which a shell ignores for the programs in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heeded")
def test_interrupt_writes_the_checkpoint(tmp_path: Path) -> None:
    """Ctrl-C makes a run finish the current round, write a checkpoint, and then raise KeyboardInterrupt."""
    path, before = tmp_path / "run.npz", signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        count_under(Control(lambda *_: signal.raise_signal(signal.SIGINT), checkpoint=path))
    assert signal.getsignal(signal.SIGINT) is before
    assert count_under(Control(deadline=0, checkpoint=path)) == (2, False)


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    """A file is refused as a checkpoint if it belongs to another run, is compressed, or is not a checkpoint, and the message contains
    the file.
    """
    path = tmp_path / "run.npz"
    count_under(Control(deadline=0, checkpoint=path))
    with pytest.raises(fst.VocabularyError, match=r"run\.npz is a checkpoint of other words or options"):
        count_under(Control(checkpoint=path), "eleven")
    np.savez_compressed(path, digest=np.array("ten"), number=np.zeros(1, np.int64))
    with pytest.raises(fst.VocabularyError, match="is damaged or not a checkpoint"):
        count_under(Control(checkpoint=path))
    with pytest.raises(fst.VocabularyError, match="/dev/null is damaged or not a checkpoint"):
        count_under(Control(checkpoint="/dev/null"))
    path.write_bytes(b"no archive")
    with pytest.raises(fst.VocabularyError, match="is damaged or not a checkpoint"):
        count_under(Control(checkpoint=path))


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    """A changed byte in the archive directory of a checkpoint raises a VocabularyError if it is detected, and never raises another
    error.
    """
    path, refused = tmp_path / "run.npz", 0
    count_under(Control(deadline=0, checkpoint=path))
    whole = path.read_bytes()
    for place in range(whole.index(b"PK\1\2"), len(whole)):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        try:
            count_under(Control(deadline=0, checkpoint=path))
        except fst.VocabularyError:
            refused += 1
    assert refused > 50


def test_checkpoint_with_endless_elements_is_refused(tmp_path: Path) -> None:
    """A checkpoint that declares elements of 0 bytes is refused as damaged, because a small file could declare any number of them."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|V0", "fortran_order": False, "shape": (1 << 30,)})
    with zipfile.ZipFile(tmp_path / "run.npz", "w") as file:
        file.writestr("number.npy", header.getvalue())
    with pytest.raises(fst.VocabularyError, match="is damaged or not a checkpoint"):
        count_under(Control(checkpoint=tmp_path / "run.npz"))


def test_changed_checkpoints_are_refused(tmp_path: Path) -> None:
    """A checkpoint in which a number is changed is refused, even if a run could have reached the changed state."""
    path = tmp_path / "run.npz"
    count_under(Control(deadline=0, checkpoint=path))
    with np.load(path) as stored:
        members = dict(stored)
    np.savez(path, **{**members, "number": members["number"] + 1})
    with pytest.raises(fst.VocabularyError, match=r"run\.npz is damaged; expected the arrays written by a run"):
        count_under(Control(checkpoint=path))


def test_deadline_must_not_be_negative() -> None:
    """A negative deadline is refused."""
    with pytest.raises(fst.UnsupportedError, match="deadline is -1"):
        Control(deadline=-1)


# --- BPE

LETTERS = "abé汉"
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
WORKED: list[tuple[dict[str, int], dict[str, Any], str]] = [  # words, options, and the expected merged tokens in their order
    ({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, {}, "ug un hug pun pug hugs bun"),
    ({"low": 5, "lower": 2, "newest": 6, "widest": 3}, {}, "es est lo low ew new newest dest idest widest er lower"),
    ({"low": 1, "lower": 1, "hard": 1, "harder": 1}, {}, "ar er har lo hard low harder lower"),
    ({"aaabdaaabace": 1}, {}, "aa ab aaab ac"),
    ({"aaaa": 1, "aaa": 1, "aa": 1}, {}, "aa aaa aaaa"),
]


def reference_of(pairs: Mapping[str, int], model: str = "BPE", **options: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the tokens and merges that `tokenizers` learns from words without whitespace."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE() if model == "BPE" else models.WordPiece())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer if model == "BPE" else trainers.WordPieceTrainer
    texts = (word for word, count in pairs.items() for _ in range(count))
    tokenizer.train_from_iterator(texts, trainer(show_progress=False, **options))
    learned = json.loads(tokenizer.to_str())["model"]
    return sorted(learned["vocab"], key=learned["vocab"].__getitem__), [(left, right) for left, right in learned.get("merges", ())]


def learned(result: Trained) -> tuple[list[str], list[tuple[str, str]]]:
    """Check that the ids of a result have no gaps, and return its tokens and merges."""
    assert [*result.vocabulary.values()] == [*range(len(result.vocabulary))]
    return [*result.vocabulary], [*result.merges]


def random_words(random: Random, letters: str) -> dict[str, int]:
    """Draw a dozen words of a few letters."""
    sizes = (random.randint(1, 8) for _ in range(random.randint(1, 12)))
    return {"".join(random.choices(letters, k=size)): random.randint(1, 6) for size in sizes}


def random_options(random: Random, letters: str) -> dict[str, Any]:
    """Draw options of BPE, some of them with special tokens that merges can also make."""
    special = ("".join(random.choices(letters + "x", k=random.randint(1, 4))) for _ in range(random.choice([0, 0, 2, 4])))
    options: dict[str, Any] = {"vocab_size": random.randint(20, 60), "special_tokens": [*dict.fromkeys(special)]}
    options |= {"min_frequency": random.randint(0, 5)} if random.random() < 0.4 else {}
    return options | ({"initial_alphabet": ["b", "z", "q"]} if random.random() < 0.3 else {})


short_words = st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 5), max_size=8)


@given(
    words=short_words,
    size=st.integers(5, 30),
    least=st.integers(0, 3),
    longest=st.none() | st.integers(0, 5),
    special=st.sampled_from([[], ["ab"], ["<s>", "aa", "b"], ["ba", "aab", "c"]]),
)
@settings(max_examples=60, deadline=None)
def test_bpe_equals_a_recount_after_every_merge(
    words: dict[str, int], size: int, least: int, longest: int | None, special: list[str]
) -> None:
    """BPE learns the same tokens and merges as a trainer that counts all pairs again after every merge, even if pairs overlap or are
    tied.
    """
    alphabet = [letter for letter in sorted({*"".join(words)}) if letter not in special]
    options = {"min_frequency": least, "max_token_length": longest}
    result = bpe(Words.of_pairs(words.items()), vocab_size=size + len(special), special_tokens=special, **options)  # type: ignore[arg-type]
    assert learned(result) == bpe_by_recount(words, size + len(special), special + alphabet, least, longest)


@given(text=st.lists(st.text("abc", min_size=1, max_size=9), max_size=12), merges=st.integers(0, 30))
@settings(max_examples=80, deadline=None)
def test_first_of_equally_frequent_pairs_is_merged(text: list[str], merges: int) -> None:
    """With `ties="first"`, the pair that occurs first in the words of a text is merged, as in a trainer that counts all pairs again after
    every merge.
    """
    result = bpe([" ".join(text)], splitter="whitespace", vocab_size=len({*"".join(text)}) + merges, ties="first")
    assert [*result.merges] == bpe_by_first_occurrence(text, merges)


@pytest.mark.parametrize("rare", [0, 4])
def test_first_ties_equal_those_of_tiktoken(rare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `ties="first"`, the merges of a text equal those of the trainer that `tiktoken` contains for teaching."""
    from tiktoken._educational import bpe_train

    monkeypatch.setattr(merging, "RARE", rare)
    random = Random(rare)
    text = "".join(random.choices(" abé汉", k=600))
    ranks = bpe_train(text, 330, r" ?\S+|\s+", visualise=None)
    result = bpe([text], splitter=r" ?\S+|\s+", vocab_size=330, ties="first")
    assert [bytes_of(left + right) for left, right in result.merges] == [*ranks][256:]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("rare", [0, 4])
@pytest.mark.parametrize("seed", range(3))
def test_bpe_equals_tokenizers_on_random_words(seed: int, rare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """BPE learns the same tokens and merges as `tokenizers` from random words, with any options."""
    monkeypatch.setattr(merging, "RARE", rare)
    random = Random(seed)
    for _ in range(25):
        letters = LETTERS[: random.randint(1, 4)]
        words, options = random_words(random, letters), random_options(random, letters)
        options |= {"max_token_length": random.randint(0, 6)} if random.random() < 0.4 else {}
        assert learned(bpe(Words.of_pairs(words.items()), **options)) == reference_of(words, **options)


@pytest.mark.parametrize("seed", range(4))
def test_prefix_and_suffix_may_occur_in_the_text(seed: int) -> None:
    """If the prefix and the suffix also occur in words, BPE learns the same tokens and merges as `tokenizers`, given the same order of
    symbols.
    """
    random = Random(seed)
    for _ in range(25):
        letters = random.choice(["ab", "a#", "ab#", "a##"])
        words, options = random_words(random, letters), random_options(random, letters)
        affixes = random.choice([("#", ""), ("##", ""), ("", "#"), ("", "##"), ("#", "#"), ("a", "")])
        options |= {name: affix for name, affix in zip(AFFIXES, affixes, strict=True) if affix}
        tokens, merges = reference_of(words, **options)
        with symbols_in(tokens):
            assert learned(bpe(Words.of_pairs(words.items()), **options)) == (tokens, merges)


def test_limited_alphabet_deletes_rare_characters() -> None:
    """Characters beyond `limit_alphabet` are deleted, so their neighbours become adjacent; if frequencies are equal, smaller code points
    are kept.
    """
    words = {"axb": 5, "ab": 2, "yaz": 1}
    assert learned(bpe(Words.of_pairs(words.items()), limit_alphabet=2)) == reference_of(words, limit_alphabet=2)
    assert [*bpe(Words.of_pairs([("cab", 1)]), limit_alphabet=2, vocab_size=2).vocabulary] == ["a", "b"]
    assert [*bpe(Words.of_pairs([("aab", 9)]), limit_alphabet=1, initial_alphabet="z", vocab_size=1).vocabulary] == ["z"]


@pytest.mark.parametrize(("words", "options", "tokens"), WORKED, ids=[str(number) for number in range(len(WORKED))])
def test_worked_examples(words: dict[str, int], options: dict[str, Any], tokens: str) -> None:
    """For the worked examples of several courses, the merged tokens equal those that the courses list."""
    result = bpe(Words.of_pairs(words.items()), **options)
    merged = ["".join(pair) for pair in result.merges]
    assert merged[: len(tokens.split())] == tokens.split()


def test_worked_example_of_first_ties() -> None:
    """For the worked example of a course that merges the first of equally frequent pairs, the merges are those that the course lists."""
    result = bpe(["low lower hard harder"], splitter="whitespace", ties="first")
    assert ["".join(pair) for pair in result.merges][:6] == ["lo", "low", "er", "ha", "har", "hard"]


def test_counts_are_occurrences_when_a_token_was_made() -> None:
    """The count of a symbol is its number of occurrences, the count of a merged token its number of merges, and of a special token 0."""
    result = bpe(Words.of_pairs([("aaa", 2), ("ab", 3)]), special_tokens=["<s>"])
    assert dict(zip(result.vocabulary, result.counts.tolist(), strict=True)) == {"<s>": 0, "a": 9, "b": 3, "aa": 2, "ab": 3, "aaa": 2}


@pytest.mark.parametrize(
    ("options", "stopped"),
    [({"vocab_size": 4}, "size"), ({}, "no pair"), ({"min_frequency": 4}, "min_frequency"), ({"min_frequency": 9}, "min_frequency")],
)
def test_result_states_why_training_stopped(options: dict[str, Any], stopped: str) -> None:
    """`stopped` contains the reason why training ended: the size was reached, no pair was left, or the best pair was too rare."""
    assert bpe(Words.of_pairs([("abc", 3), ("bc", 2)]), **options).stopped == stopped


def test_no_words_give_special_tokens_and_alphabet() -> None:
    """If there are no words, the vocabulary consists of the special tokens and the initial alphabet."""
    result = bpe(Words.of_pairs([]), special_tokens=["<s>"], initial_alphabet="ba")
    assert ([*result.vocabulary], result.stopped) == (["<s>", "a", "b"], "no pair")


def test_bytes_follow_the_letters_of_byte_level() -> None:
    """In a byte-level pipeline, words consist of bytes, and all 256 letters that ByteLevel uses for bytes have ids, in the order of the
    letters.
    """
    from tokenizers import pre_tokenizers

    words = Words.of_pairs([(" ca\u00e9".encode(), 3), (b" ca\xff", 2), (b"ca", 2)])
    result = bpe(words, splitter=SPLITTERS["gpt2"], vocab_size=259, special_tokens=["<s>"])
    assert [*result.vocabulary][:257] == ["<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    assert [*result.merges] == [("c", "a"), ("Ġ", "ca")]


def test_byte_tokens_follow_the_special_tokens() -> None:
    """With `byte_fallback`, a token for each byte follows the special tokens."""
    result = bpe(Words.of_pairs([("ab", 1)]), byte_fallback=True, special_tokens=["<s>"], vocab_size=260)
    assert [*result.vocabulary][:3] == ["<s>", "<0x00>", "<0x01>"]
    assert [*result.vocabulary][256:] == ["<0xFF>", "a", "b", "ab"]


def test_numbers_of_numpy_are_numbers() -> None:
    """An option that is a number may be an integer of numpy."""
    options: dict[str, Any] = {"vocab_size": np.int64(3)}
    assert len(bpe(Words.of_pairs([("abab", 1)]), **options).vocabulary) == 3


def test_decoder_belongs_to_the_model() -> None:
    """Decoded texts omit the suffix of BPE and the prefix of WordPiece, as in `tokenizers`."""
    tokenizers = pytest.importorskip("tokenizers")
    options: dict[str, Any] = {"special_tokens": ["[UNK]"], "unk_token": "[UNK]", "vocab_size": 30}
    for result in (
        train.bpe(["hug hugs pug"], splitter="bert", **options),
        train.bpe(["hug hugs pug"], splitter="bert", end_of_word_suffix="</w>", **options),
        train.wordpiece(["hug hugs pug"], splitter="bert", continuing_subword_prefix="@@", min_frequency=2, **options),
        train.wordpiece(["hug hugs pug"], splitter="whitespace", min_frequency=2, **options),
    ):
        tokenizer, library = result.tokenizer(), tokenizers.Tokenizer.from_str(json.dumps(result.to_json()))
        ids = tokenizer.encode("hugs pug")
        assert tokenizer.decode(ids) == library.decode(ids) == "hugs pug"


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ([("abc", 1)], {"vocab_size": 3, "special_tokens": ["<s>"]}, r"vocab_size is 3; expected at least 4"),
        ([("abc", 1)], {"vocab_size": -1}, r"vocab_size is -1"),
        ([(b"a\xff", 1)], {}, r"word 0, b'a\\xff', is not UTF-8"),
        ([(b"\xc3", 1), (b"\xa4", 1)], {}, r"is not UTF-8"),
        ([("abc", 1)], {"unk_token": "<unk>"}, r"unk_token is '<unk>'; expected one of special_tokens"),
        ([("abc", 1)], {"special_tokens": [""]}, r"a special token is ''"),
        ([("abc", 1)], {"limit_alphabet": -1}, r"limit_alphabet is -1"),
        ([("abc", 1)], {"special_tokens": "<s>"}, r"special_tokens is '<s>'; expected a list"),
        ([("abc", 1)], {"special_tokens": [b"<s>"]}, r"a special token is b'<s>'"),
        ([("abc", 1)], {"special_tokens": ["\ud800"]}, r"a special token is '\\ud800'; expected text"),
        ([("abc", 1)], {"initial_alphabet": [7]}, r"initial_alphabet contains 7"),
        ([("abc", 1)], {"continuing_subword_prefix": None}, r"continuing_subword_prefix is None; expected text"),
        ([("abc", 1)], {"vocab_size": "10"}, r"vocab_size is '10'; expected a whole number"),
        ([("abc", 1)], {"min_frequency": 1 << 63}, r"min_frequency is 9223372036854775808; expected a whole number"),
        ([("abc", 1)], {"max_token_length": 1.5}, r"max_token_length is 1.5; expected a whole number"),
        ([("a", 1), ("abc" * 9, 1 << 61)], {}, r"symbols by their counts, of which 6.226e\+19 are of b'(abc)+'; expected"),
    ],
)
def test_bad_words_and_options_are_named(words: list[tuple[str | bytes, int]], options: dict[str, Any], message: str) -> None:
    """Invalid words and options are refused, and the message contains them."""
    with pytest.raises(fst.VocabularyError, match=message):
        bpe(Words.of_pairs(words), **options)


def test_unsupported_options_are_refused() -> None:
    """An unknown `reference` is refused, and so is `max_token_length` with a prefix."""
    words = Words.of_pairs([("abc", 1)])
    with pytest.raises(fst.UnsupportedError, match="reference is 'exact'"):
        bpe(words, reference="exact")
    with pytest.raises(fst.UnsupportedError, match="max_token_length is combined"):
        bpe(words, max_token_length=4, continuing_subword_prefix="##")
    with pytest.raises(fst.UnsupportedError, match="ties is 'text'"):
        bpe(words, ties="text")
    with pytest.raises(fst.UnsupportedError, match="ties is 'first', and there is a reference"):
        bpe(words, ties="first", end_of_word_suffix="</w>")


@pytest.mark.parametrize("more", [{}, {"continuing_subword_prefix": "##"}, {"ties": "first"}], ids=["ids", "prefix", "first"])
def test_run_in_pieces_gives_equal_bytes(more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops after every merge and continues from its checkpoint gives the same result as an uninterrupted run."""
    random, path = Random(1), tmp_path / "run.npz"
    words = Words.of_pairs(random_words(random, "ab#").items())
    options: dict[str, Any] = {"vocab_size": 24, "special_tokens": ["ab", "ba"], **more}
    whole = bpe(words, **options)
    monkeypatch.setattr(merges, "STEPS", 1)
    runs = 0
    while (part := bpe(words, deadline=0, checkpoint=path, **options)).stopped == "deadline":
        assert [*part.vocabulary] == [*whole.vocabulary][: len(part.vocabulary)]
        runs += 1
    assert runs > 5
    assert (learned(part), part.counts.tolist()) == (learned(whole), whole.counts.tolist())
    assert not path.exists()


def test_damaged_checkpoints_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that contains an index out of range is refused, and the message contains the array."""
    monkeypatch.setattr(merges, "STEPS", 1)
    path, words = tmp_path / "run.npz", Words.of_pairs([("abcabc", 3), ("bcb", 2)])
    bpe(words, deadline=0, checkpoint=path)
    with np.load(path) as stored:
        arrays = dict(stored)
    digest, _ = str(arrays.pop("digest")), arrays.pop("seal")
    for name, place, value in [("cells", 2, 99), ("pool", 0, 1 << 20), ("heap_records", 0, -5), ("lengths", 0, 7), ("numbers", 0, 1 << 40)]:
        changed = arrays[name].copy()
        changed[place] = value
        np.savez(path, allow_pickle=False, **members_of(digest, {**arrays, name: changed}))
        with pytest.raises(fst.VocabularyError, match="of the checkpoint is out of range"):
            bpe(words, checkpoint=path)


# --- WordPiece by frequency


@pytest.mark.parametrize("seed", range(2))
def test_wordpiece_by_frequency_equals_tokenizers(seed: int) -> None:
    """WordPiece by frequency learns the same ids as `tokenizers`, given the same order of symbols."""
    random = Random(seed)
    for _ in range(20):
        words, options = random_words(random, LETTERS), random_options(random, LETTERS)
        tokens, _ = reference_of(words, "WordPiece", **options)
        with symbols_in(tokens):
            assert learned(wordpiece(Words.of_pairs(words.items()), **options)) == (tokens, [])


def test_continuing_symbols_follow_the_alphabet_by_code_point() -> None:
    """Symbols with the prefix for continuations follow the other symbols, in the order of their code points."""
    assert [*wordpiece(Words.of_pairs([("cab", 1), ("bc", 1)]), vocab_size=7).vocabulary][:6] == ["a", "b", "c", "##a", "##b", "##c"]


def test_wordpiece_refuses_an_unknown_criterion() -> None:
    """A criterion other than "frequency" or "score" is refused."""
    with pytest.raises(fst.UnsupportedError, match="criterion is 'size'"):
        wordpiece(Words.of_pairs([]), criterion="size")


# --- Corpora


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("splitter", ["gpt2", "whitespace"])
@pytest.mark.parametrize("name", ["docs_zh.md", "docs_ar.md", "docs_hi.md", "docs_ko.md", "code_python.txt"])
def test_bpe_equals_tokenizers_on_corpora(name: str, splitter: str) -> None:
    """From texts in several scripts, BPE learns the same ids and merges as `tokenizers`, over bytes and over characters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    part = byte_level if splitter == "gpt2" else pre_tokenizers.WhitespaceSplit()
    tokenizer.pre_tokenizer = part
    with (SHARED / "corpora" / name).open(encoding="utf-8", newline="\n") as file:
        lines = [line for line, _ in zip(file, range(3000), strict=False)]
    alphabet = byte_level.alphabet() if splitter == "gpt2" else []
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=6000, show_progress=False, initial_alphabet=alphabet))
    model = json.loads(tokenizer.to_str())["model"]
    counts = Counter(word for line in lines for word, _ in part.pre_tokenize_str(line))
    pairs = [(bytes_of(word) if splitter == "gpt2" else word, count) for word, count in counts.items()]
    tokens, learned_merges = learned(bpe(Words.of_pairs(pairs), vocab_size=6000, splitter=SPLITTERS[splitter]))  # type: ignore[arg-type]
    assert tokens == sorted(model["vocab"], key=model["vocab"].__getitem__)
    assert learned_merges == [(left, right) for left, right in model["merges"]]


# --- From texts


@pytest.mark.slow
def test_counted_words_keep_their_splitter() -> None:
    """Words that were counted with a named splitter can be used for training without `splitter`, and give the same vocabulary as their
    texts.
    """
    texts = ["Ein Café, zwei Cafés!", "drei"]
    whole = train.bpe(texts, splitter="gpt2", vocab_size=270)
    assert learned(train.bpe(train.words(texts, splitter="gpt2"), vocab_size=270)) == learned(whole)
    words = train.words(texts, splitter=r"\w+")
    with pytest.raises(fst.VocabularyError, match="pass the splitter that made the words"):
        train.bpe(words)
    assert learned(train.bpe(words, splitter=r"\w+", vocab_size=258))[0] == [*train.bpe(texts, splitter=r"\w+", vocab_size=258).vocabulary]


def test_progress_counts_tokens() -> None:
    """The callback `progress` gets the number of tokens so far and the final number."""
    seen = list[tuple[int, int]]()
    train.bpe({"abc": 1}, vocab_size=5, progress=lambda *numbers: seen.append(numbers))
    assert seen == [(2, 2)]
