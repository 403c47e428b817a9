"""BPE training by SentencePiece's rules gives the same results as the trainer of `sentencepiece` 0.2.3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.shared_data import SHARED, needs_shared

import fst
from fst.compile.train.bpe import bpe
from fst.compile.train.control import Control
from fst.compile.train.merges import run
from fst.compile.train.pipeline import SPLITTERS
from fst.compile.train.result import Trained
from fst.counting.words import Words


def reference_of(words: Mapping[str, int], folder: Path, **options: Any) -> list[tuple[str, float]]:
    """Return the pieces and scores that `sentencepiece` learns from words without ▁."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path, model = folder / "words.tsv", BytesIO()
    path.write_text("".join(f"{word}\t{count}\n" for word, count in words.items()), encoding="utf-8")
    fixed = {"model_type": "bpe", "normalization_rule_name": "identity", "hard_vocab_limit": False, "minloglevel": 2}
    options = {"character_coverage": 1.0, **options}
    sentencepiece.SentencePieceTrainer.train(input=str(path), input_format="tsv", model_writer=model, **fixed, **options)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [(processor.id_to_piece(number), processor.get_score(number)) for number in range(processor.get_piece_size())]


def learned(words: Mapping[str, int], **options: Any) -> list[tuple[str, float]]:
    """Return the pieces and scores that this package learns."""
    return pieces_of(bpe(marked(words), reference="sentencepiece", **options))


def marked(words: Mapping[str, int]) -> Words:
    """Put ▁ before each word."""
    return Words.of_pairs(("▁" + word, count) for word, count in words.items())


def pieces_of(result: Trained) -> list[tuple[str, float]]:
    """Return the pieces and scores of a result."""
    return [*zip(result.vocabulary, result.scores.tolist(), strict=True)]


@pytest.mark.parametrize("letters", ["a", "ab", "abcd", "aé1", "a漢ア", "ab-'1", "aе́"])
def test_pieces_equal_those_of_sentencepiece(letters: str, tmp_path: Path) -> None:
    """From random words, the trainer learns the same pieces as `sentencepiece`, with the same order and scores, including pieces that
    never occur.
    """
    random = Random(letters)
    for _ in range(25):
        size = random.choice([4, 9, 20])
        words = {"".join(random.choices(letters, k=random.randint(1, size))): random.randint(1, 6) for _ in range(random.randint(1, 14))}
        vocab_size = len({*"".join(words)}) + 4 + random.randint(1, 40)
        assert learned(words, vocab_size=vocab_size) == reference_of(words, tmp_path, vocab_size=vocab_size)


def test_pieces_that_never_occur_fill_the_vocabulary() -> None:
    """A pair that existed only for a short time, while a run of letters merged, becomes a piece although it does not occur in the
    result.
    """
    result = bpe(marked({"aaaa": 1}), vocab_size=20, reference="sentencepiece")
    assert dict(zip(result.vocabulary, result.counts.tolist(), strict=True))["aaa"] == 0


def test_special_tokens_and_bytes_come_first(tmp_path: Path) -> None:
    """Special tokens and the tokens of bytes are the first pieces, and a special token inside a word splits the word."""
    words = {"a<s>b": 5, "ab": 2}
    assert learned(words, vocab_size=12) == reference_of(words, tmp_path, vocab_size=12)
    found = learned(words, vocab_size=270, byte_fallback=True)
    assert found == reference_of(words, tmp_path, vocab_size=270, byte_fallback=True)
    assert [piece for piece, _ in found][2:5] == ["</s>", "<0x00>", "<0x01>"]


def test_words_with_the_reserved_character_are_skipped(tmp_path: Path) -> None:
    """A word that contains U+2585 is ignored."""
    words = {"ba\u2585ba": 9, "\u2585": 3, "aab": 2, "ab": 1}
    assert learned(words, vocab_size=9) == reference_of(words, tmp_path, vocab_size=9)


def test_length_of_pieces_is_limited(tmp_path: Path) -> None:
    """A piece has at most 16 characters, or `max_token_length` characters if this option is set."""
    words = {"abcdefghijklmnopqrstuvwxyz": 3}
    assert learned(words, vocab_size=60) == reference_of(words, tmp_path, vocab_size=60)
    assert learned(words, vocab_size=60, max_token_length=3) == reference_of(words, tmp_path, vocab_size=60, max_sentencepiece_length=3)


def test_limited_alphabet_ends_words_at_rare_characters(tmp_path: Path) -> None:
    """A character beyond `limit_alphabet` ends a word, like rare characters in `sentencepiece`."""
    words = {"abcab": 99, "abzab": 1}
    found = reference_of(words, tmp_path, vocab_size=20, character_coverage=0.99)
    assert ("z", found[-1][1]) not in found
    assert learned(words, vocab_size=20, limit_alphabet=4) == found


def test_run_in_pieces_gives_equal_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that stops after every merge and continues gives the same pieces as an uninterrupted run."""
    random, path = Random(3), tmp_path / "run.npz"
    words = marked({"".join(random.choices("ab", k=random.randint(1, 9))): 2 for _ in range(12)})
    options: dict[str, Any] = {"vocab_size": 30, "reference": "sentencepiece"}
    whole = bpe(words, **options)
    monkeypatch.setattr(run, "STEPS", 1)
    while (part := bpe(words, control=Control(deadline=0, checkpoint=path), **options)).stopped == "deadline":
        pass
    assert (pieces_of(part), part.merges) == (pieces_of(whole), whole.merges)


def test_options_without_a_counterpart_are_refused() -> None:
    """Words of bytes, options that `sentencepiece` does not have, and a size that is too small are refused."""
    words = marked({"ab": 1})
    with pytest.raises(fst.UnsupportedError, match="words of text, not of bytes"):
        bpe(words, reference="sentencepiece", pipeline=SPLITTERS["gpt2"])
    with pytest.raises(fst.UnsupportedError, match="SentencePiece has no min_frequency"):
        bpe(words, reference="sentencepiece", min_frequency=2)
    with pytest.raises(fst.VocabularyError, match="vocab_size is 5; expected at least 6"):
        bpe(words, reference="sentencepiece", vocab_size=5)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["docs_zh.md", "docs_ar.md", "docs_hi.md", "docs_ja.md", "docs_ko.md", "multi_sentences_500.jsonl"])
def test_pieces_of_corpora(name: str, tmp_path: Path) -> None:
    """From texts in several scripts, the trainer learns the same pieces as `sentencepiece`."""
    text = (SHARED / "corpora" / name).read_text(encoding="utf-8")[:600_000].replace("\t", " ").replace("▅", "")
    words = Counter(text.split())
    assert learned(words, vocab_size=9000) == reference_of(words, tmp_path, vocab_size=9000)
