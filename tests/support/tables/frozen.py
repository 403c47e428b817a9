"""The digests of compiled tables of every kind.

After a deliberate change of the file format or of the compiler, rewrite the digests::

    cd tests && python -m support.tables.frozen
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.conformance.samples import SAMPLES
from support.shared_data import SHARED

from fst.compile import keywords, lattice, maxmatch, tokenizer, wordpiece

FILE = Path(__file__).with_name("frozen_tables.json")
Digests = dict[str, str]
WORDPIECE = [
    *("KR-BERT", "all-minilm-l6-v2", "bert-base-cased", "bert-base-chinese", "bert-base-japanese/vocab.txt"),
    *("bert-base-multilingual-cased", "bert-base-multilingual-uncased", "bert-base-uncased", "bge-small-en"),
]
TOKENIZERS = [
    *(f"vocab_bpe/{name}/tokenizer.json" for name in ("clip", "gpt2", "gpt_neox", "hw_doc_summarizer", "mistral01", "sqlpilot")),
    *(f"vocab_bpe/{name}/{name}.tiktoken" for name in ("cl100k_base", "o200k_base", "p50k_base")),
    *("vocab_bpe/roberta", "vocab_bpe/mistral01/tokenizer.model", "vocab_bpe/qwen3/tokenizer.json.gz"),
    *("vocab_bpe/tekken_240718/tekken.json.gz", "vocab_bpe/spm_fixtures/test_sentencepiece_bpe.model"),
    "vocab_bpe/spm_fixtures/test_sentencepiece_bpe_char.model",
    *("vocab_unigram/albert/tokenizer.json", "vocab_unigram/albert/spiece.model", "vocab_unigram/t5/tokenizer.json"),
    *("vocab_unigram/t5/spiece.model", "vocab_unigram/xlm-r/tokenizer.json.gz"),
    "vocab_unigram/spm_fixtures/test_sentencepiece_with_bytefallback.model",
]
ENGLISH, CHINESE = "dict/american-english-huge.txt", "dict/jieba_dict.txt"
VOCABULARIES: Mapping[str, Callable[[], Any]] = {
    **{f"vocab/{name}": partial(wordpiece, SHARED / "vocab" / name, layout="compact") for name in WORDPIECE},
    **{name: partial(tokenizer, SHARED / name) for name in TOKENIZERS},
    f"{ENGLISH} leftmost-longest": partial(keywords, SHARED / ENGLISH),
    f"{ENGLISH} overlapping folded whole": partial(
        keywords, SHARED / ENGLISH, match_kind="overlapping", ignore_case=True, whole_words=True
    ),
    f"{ENGLISH} maxmatch": partial(maxmatch, SHARED / ENGLISH),
    f"{CHINESE} jieba": partial(lattice.jieba, SHARED / CHINESE),
    "oracles/toolkit/vibrato_dict": partial(lattice.mecab, SHARED / "oracles/toolkit/vibrato_dict"),
}


def of_sample(name: str, folder: Path) -> str:
    """The digest of the table of a sample."""
    return sha256(SAMPLES[name].make(folder).dumps()).hexdigest()


def of_vocabulary(name: str) -> str:
    """The digest of the table of a real vocabulary."""
    return sha256(VOCABULARIES[name]().dumps()).hexdigest()


def read() -> dict[str, Digests]:
    """Read the stored digests: those of samples, and those of vocabularies."""
    found: dict[str, Digests] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write() -> None:
    """Write the digests of all tables to the file."""
    samples: Digests = {}
    for name in SAMPLES:
        with TemporaryDirectory() as folder:
            samples[name] = of_sample(name, Path(folder))
    found = {"samples": samples, "vocabularies": {name: of_vocabulary(name) for name in VOCABULARIES}}
    FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
