"""WordPiece gives the same ids as `tokenizers` for texts of every kind.

The kernel reads every text as str and as bytes, in batches that are large enough for two threads. Most ids of `tokenizers` are stored
between runs, see `answers.py`.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from support import tiers
from support.kept import wordpiece
from support.machines.wordpiece import (
    CASED,
    CONTEXTS,
    EXAMPLE,
    FLAGS,
    KEPT,
    OF_ALL_KINDS,
    SETTINGS,
    UNCASED,
    Pair,
    golden_texts,
    hostile,
    letters,
    mixed,
    pair_of,
    sentences,
    texts_of_all_kinds,
    words_by_script,
)
from support.shared_data import SHARED, needs_shared
from support.text.every_character import EVERY_CHARACTER, swept_characters
from support.tiers import sample, thinned
from tokenizers import Tokenizer

import fst

FIRST = (UNCASED, CASED)
SLOW = ("bert-base-chinese", "bert-base-japanese", "KR-BERT", "bert-base-cased", "bert-base-multilingual-uncased")
SAME_TOKENS = ("all-minilm-l6-v2", "bge-small-en")  # these have the vocabulary of bert-base-uncased, but a different tokenizer.json

each_vocabulary = pytest.mark.parametrize(
    "name",
    [
        EXAMPLE.stem,
        *(pytest.param(name, marks=needs_shared) for name in FIRST),
        *(pytest.param(name, marks=[needs_shared, pytest.mark.slow]) for name in sample((*SLOW, *SAME_TOKENS), 18)),
    ],
)


def in_context(context: str, chars: Sequence[str]) -> list[str]:
    """Put each character into a separate text, between given strings."""
    return [context.format(char) for char in chars]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "context"),
    [pair for context in CONTEXTS for pair in sample([*itertools.product(SETTINGS, [context])], 4, context)],
)
def test_every_character_in_a_vocabulary_of_characters(setting: str, context: str, reference: Callable[..., Tokenizer]) -> None:
    """With a vocabulary of single characters, every character becomes the same tokens as in `tokenizers`."""
    # In most contexts, a few characters of each group that the normalizer treats in the same way are sufficient.
    is_whole = tiers.ALL and (setting == "uncased" or context == "alone")
    chars = EVERY_CHARACTER if is_whole else swept_characters()
    pair_of_letters(setting, reference).check(in_context(CONTEXTS[context], chars))


@functools.lru_cache(maxsize=1)
def pair_of_letters(setting: str, reference: Callable[..., Tokenizer]) -> Pair:
    """Make a tokenizer of this package and a tokenizer of `tokenizers` from a vocabulary of single characters and one set of options."""
    return Pair(reference(letters(), **SETTINGS[setting]), fst.Tokenizer(wordpiece(letters(), **SETTINGS[setting])))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "context"),
    sample(
        [
            pytest.param(name, context, id=f"{name}-{key}", marks=[] if name.startswith(EXAMPLE.stem) else needs_shared)
            for name in (UNCASED, CASED, "bert-base-multilingual-uncased", "bert-base-chinese", EXAMPLE.stem, f"{EXAMPLE.stem} cased")
            for key, context in CONTEXTS.items()
        ],
        18,
    ),
)
def test_every_character_in_context(name: str, context: str) -> None:
    """With well-known vocabularies, every character gets the same ids as in `tokenizers`, next to letters and between marks."""
    pair_of(name).check(in_context(context, swept_characters()))


BETWEEN = {
    "nothing": "",
    "a mark that is stripped": "\u0301",
    "two marks that are stripped": "\u0344",
    "a mark that nothing moves past": "\u0901",
    "a kept mark of a rank in between": "\u302e",
    "a format character": "\u200b",
    "a control character": "\u0000",
    "U+FFFD": "\ufffd",
    "a letter": "a",
    "a letter with an accent": "é",
    "a letter that is lowered to two": "İ",
    "a syllable": "각",
    "an ideograph": "中",
    "a full stop": ".",
    "a blank": " ",
    "a blank of two bytes": "\u00a0",
    "a private character": "\ue000",
    "an unassigned character": "\u0378",
    "a special token": "[UNK]",
}


@pytest.mark.slow
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_order_of_two_marks(between: str, reference: Callable[..., Tokenizer]) -> None:
    """Two marks are reordered if and only if `tokenizers` reorders them, whatever character is between them."""
    pairs = itertools.product(KEPT, repeat=2)
    pair_of_letters("uncased", reference).check([f"a{first}{between}{second}" for first, second in pairs])


@pytest.mark.slow
def test_order_of_marks_in_runs(reference: Callable[..., Tokenizer]) -> None:
    """Runs of marks, with dropped and separating characters between them, are put in the same order as in `tokenizers`."""
    rng = random.Random(9)
    chars = [*KEPT, *KEPT, *(other for other in BETWEEN.values() if len(other) == 1)]
    texts = ["".join(rng.choices(chars, k=rng.randint(1, 30))) for _ in range(40_000)]
    texts += ["".join(rng.choices(KEPT, k=size)) for size in (98, 99, 100, 101, 1000)]
    pair_of_letters("uncased", reference).check(texts)


@needs_shared
@each_vocabulary
def test_hostile_texts(name: str) -> None:
    """Texts that were made to break programs get the same ids as in `tokenizers`."""
    pair_of(name).check([*sample(hostile(), 4)])


@needs_shared
@pytest.mark.parametrize("name", [*FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_golden_ids(name: str) -> None:
    """This package and `tokenizers` both give the recorded ids."""
    with gzip.open(SHARED / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as stream:
        lines = list(stream)
    batch = pair_of(name).tokenizer.encode_batch(golden_texts(), add_special_tokens=False)
    assert len(batch) == len(lines) > 20_000
    assert [row for row in sample(range(len(lines)), 8) if batch[row].tolist() != json.loads(lines[row])["ids"]] == []
    pair_of(name).check(golden_texts())


@needs_shared
@each_vocabulary
def test_special_ids(name: str) -> None:
    """The special tokens around a text equal those of `tokenizers`."""
    texts = ["", " ", "unaffable", "[CLS] a [SEP]", "\u0301"]
    batch = pair_of(name).tokenizer.encode_batch(texts)
    assert [ids.tolist() for ids in batch] == [encoding.ids for encoding in pair_of(name).reference.encode_batch_fast(texts)]


@pytest.mark.slow
@each_vocabulary
def test_mixed_scripts(name: str) -> None:
    """Texts of adjacent random words of random scripts get the same ids as in `tokenizers`."""
    rng = random.Random(1)
    pair_of(name).check([*mixed(words_by_script(rng), rng, 20_000)])


def glued_tokens(tokens: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Yield an endless sequence of words that are joined from 1 to 5 tokens, some with a part removed or in capitals."""
    while True:
        word = "".join(token.removeprefix("##") for token in rng.choices(tokens, k=rng.randint(1, 5)))
        if rng.random() < 0.4:
            start = rng.randint(0, len(word))
            word = word[:start] + word[start + rng.randint(1, 3) :]
        yield word.upper() if rng.random() < 0.1 else word


@pytest.mark.mostly_slow
@each_vocabulary
def test_words_made_of_tokens(name: str) -> None:
    """Words that are joined from tokens of the vocabulary, some of which are cut, get the same ids as in `tokenizers`."""
    rng = random.Random(2)
    tokens = sorted(pair_of(name).reference.get_vocab())
    words = glued_tokens(tokens, rng)
    pair_of(name).check([*itertools.islice(words, 60_000), *mixed(words, rng, 10_000)])


LONG = (
    *("a", "A", "é", "e\u0301", "ş", "İ", "ß", "ﬁ", "각", "가", "한", "中", "か", "が", "か\u3099", "ก", "я", "א", "𐐀"),
    *("\u0344", "\u0301", "\U0001d165", "\u302f\U0001e000", "a\u200b", "a\u0000", "\u0901", "1", ".", "a.", " ", "≠", "ab", "the", "##"),
)


@each_vocabulary
def test_longest_words(name: str) -> None:
    """A word of 100 characters is segmented, but a word of 101 is unknown, and characters are counted as in `tokenizers`."""
    rng = random.Random(3)
    words = glued_tokens(sorted(pair_of(name).reference.get_vocab()), rng)
    sizes = range(98, 103)
    texts = [(char * size)[:size] for char in LONG for size in (*sizes, *(3 * size for size in sizes))]
    for part in (32, 33, 34, 35, 48, 49, 50, 51):
        texts += [char * part + tail for char in LONG for tail in ("", "a", "b", "ab", "." + "a" * part)]
    texts += [f"a{texts_of}b {texts_of}[SEP]{texts_of}" for texts_of in texts]
    for size in sizes:
        for _ in range(1000):
            text = ""
            while len(text) < size:
                text += next(words)
            texts.append(text[:size])
    pair_of(name).check(texts)


@each_vocabulary
def test_large_texts(name: str) -> None:
    """A text of half a million characters, with or without spaces, gets the same ids as in `tokenizers`."""
    rng = random.Random(4)
    words = glued_tokens(sorted(pair_of(name).reference.get_vocab()), rng)
    pair_of(name).check([" ".join(itertools.islice(words, 30_000)), "".join(itertools.islice(words, 30_000)), "a" * 500_000, ""])


@needs_shared
@each_vocabulary
def test_sentences_in_many_languages(name: str) -> None:
    """Sentences in 109 languages get the same ids as in `tokenizers`."""
    pair_of(name).check(sentences())


@functools.cache
def corpora() -> list[str]:
    """Read the lines of all text and Markdown files in the corpora."""
    paths = [path for path in sorted((SHARED / "corpora").iterdir()) if path.suffix in (".txt", ".md")]
    return [line for path in paths for line in path.read_text(encoding="utf-8", errors="replace").split("\n")]


@pytest.mark.slow
@needs_shared
@each_vocabulary
def test_corpora(name: str) -> None:
    """Every fifth line of books, documentation and source code gets the same ids as in `tokenizers`."""
    pair_of(name).check(corpora()[::5])


@pytest.mark.mostly_slow
@pytest.mark.parametrize("options", thinned((dict(zip(FLAGS, values, strict=True)) for values in itertools.product(*FLAGS.values())), 16))
def test_options(options: dict[str, Any], reference: Callable[..., Tokenizer]) -> None:
    """Every combination of options gives the same ids as `tokenizers`."""
    pair = Pair(reference(OF_ALL_KINDS, **options), fst.Tokenizer(wordpiece(OF_ALL_KINDS, **options)))
    pair.check(texts_of_all_kinds())
