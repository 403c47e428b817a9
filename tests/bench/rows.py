"""The rows of the benchmarks: texts, the vocabulary that encodes them, and the number of texts per call."""

from __future__ import annotations

import json
import random
import string
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"

UNCASED, CASED = "vocab/bert-base-uncased", "vocab/bert-base-multilingual-cased"
GPT2, CL100K, O200K = "vocab_bpe/gpt2", "vocab_bpe/cl100k_base", "vocab_bpe/o200k_base"
MISTRAL, T5, ALBERT, XLM_R = "vocab_bpe/mistral01", "vocab_unigram/t5", "vocab_unigram/albert", "vocab_unigram/xlm-r"
RANDOM = "random letters"
BOOKS, CODE, SENTENCES = "en_books_20MB.txt", "code_python.txt", "multi_sentences_500.jsonl"
CHINESE, JAPANESE = "docs_zh.md", "docs_ja.md"

EVERYONE = ("fst", "fst, AVX2", "tokenizers", "nanotoken, first pass", "nanotoken, replay", "flash-tokenizer", "BlingFire", "TF Text")
WAYS = ("fst", "fst, `bytes` in", "fst, two threads")
LATENCY = ("fst", "tokenizers", "nanotoken, replay")
RANKS = ("fst", "fst, AVX2", "tiktoken", "gigatoken, first pass", "gigatoken, replay")  # peers that read a .tiktoken file
MERGES = (
    "fst",
    "fst, AVX2",
    "tokenizers",
    "tiktoken",
    "gigatoken, first pass",
    "gigatoken, replay",
    "fastokens, first pass",
    "fastokens, replay",
    "tokie, first pass",
    "tokie, replay",
)
PIECES = ("fst", "fst, AVX2", "tokenizers", "sentencepiece", "tokie, first pass", "tokie, replay")
PIECES_MERGED = (*PIECES[:4], "gigatoken, first pass", "gigatoken, replay", *PIECES[4:])


@dataclass(frozen=True)
class Row:
    """A row of the benchmark's table.

    Attributes:
        name: the name of the row.
        vocabulary: a folder with ``tokenizer.json`` and ``vocab.txt``, or with a ``.tiktoken`` file.
        source: a file of texts, or RANDOM.
        language: the value of the field "lang" of the JSON lines to use; empty: all.
        call: the number of texts per call; None: all texts in one call. A single text is passed to the function for one text.
        peers: the peers to measure.
        reference: the peer whose ids are correct by definition.
        without: a special token; texts that contain it are left out, because some peers read it as a token and others as text.
    """

    name: str
    vocabulary: str
    source: str
    language: str = ""
    call: int = 0
    peers: tuple[str, ...] = EVERYONE
    reference: str = "tokenizers"
    without: str = ""

    @property
    def unit(self) -> str:
        """The unit of figures: microseconds for calls with a few texts, otherwise megabytes of UTF-8 per second."""
        return "µs" if self.call else "MB/s"

    def texts(self, folder: Path) -> list[str]:
        """The texts, reduced to a multiple of the number per call."""
        found = random_texts() if self.source == RANDOM else documents(folder / "corpora" / self.source, self.language)
        found = [text for text in found if not self.without or self.without not in text]
        return found[: len(found) // self.call * self.call] if self.call else found


def documents(path: Path, language: str = "") -> list[str]:
    """The documents of a file: its lines, or the field "text" of JSON lines, for one language or all."""
    lines = path.read_text(encoding="utf-8").split("\n")
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in lines if line]
        return [record["text"] for record in records if language in ("", record["lang"])]
    return lines


def random_texts(size: int = 2_000_000, length: int = 300, whitespace: float = 0.15) -> list[str]:
    """Random letters and spaces, the same in every run. Their words have many tokens, and are in no cache."""
    letter = (1 - whitespace) / len(string.ascii_lowercase)
    weights = [*[letter] * len(string.ascii_lowercase), whitespace]
    letters = random.Random(0).choices(string.ascii_lowercase + " ", weights, k=size)
    return ["".join(letters[start : start + length]) for start in range(0, size, length)]


WORDPIECE = (
    Row("English books", UNCASED, BOOKS),
    Row("Python code", UNCASED, CODE),
    Row("Random letters", UNCASED, RANDOM),
    Row("109 languages", CASED, SENTENCES),
    Row("Chinese", CASED, CHINESE),
    Row("Japanese", CASED, JAPANESE),
    Row("Korean", CASED, SENTENCES, "kor"),
    Row("Hindi", CASED, SENTENCES, "hin"),
    Row("Arabic", CASED, SENTENCES, "ara"),
    Row("Russian", CASED, SENTENCES, "rus"),
    Row("German", CASED, SENTENCES, "deu"),
    Row("English books, in other ways", UNCASED, BOOKS, peers=WAYS),
    Row("`encode` of one sentence", UNCASED, SENTENCES, "eng", call=1, peers=LATENCY),
    Row("`encode_batch` of 32 sentences", UNCASED, SENTENCES, "eng", call=32, peers=LATENCY),
)

END_OF_TEXT = "<|endoftext|>"
TEXTS = {"English books": BOOKS, "Python code": CODE, "Random letters": RANDOM, "109 languages": SENTENCES}
BPE = (
    *(Row(name, GPT2, source, peers=MERGES, without=END_OF_TEXT) for name, source in TEXTS.items()),
    *(
        Row(name, ranks, source, peers=RANKS, reference="tiktoken", without=END_OF_TEXT)
        for ranks in (CL100K, O200K)
        for name, source in TEXTS.items()
    ),
)

SENTENCEPIECE = (
    *(Row("English books", pieces, BOOKS, peers=PIECES, without="<") for pieces in (T5, ALBERT, XLM_R)),
    *(Row("109 languages", pieces, SENTENCES, peers=PIECES) for pieces in (T5, XLM_R)),
    *(Row(name, XLM_R, source, peers=PIECES) for name, source in (("Chinese", CHINESE), ("Japanese", JAPANESE))),
    Row("Random letters", XLM_R, RANDOM, peers=PIECES),
    *(Row(name, MISTRAL, source, peers=PIECES_MERGED) for name, source in TEXTS.items()),
    Row("Japanese", MISTRAL, JAPANESE, peers=PIECES_MERGED),
)
ROWS = {"wordpiece": WORDPIECE, "bpe": BPE, "sentencepiece": SENTENCEPIECE}
