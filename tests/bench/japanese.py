"""Speed of Japanese BERT relative to `transformers`, with a vocabulary of the characters and words of a text; processor time of one thread.

    python tests/bench/japanese.py ../shared/data/corpora/ja_wagahai.txt

It needs `transformers`, `fugashi` and `ipadic` or `unidic-lite`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import fst
from fst.compile import tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SHARE = 8  # the reference reads one line in this number of lines


def timed(function: Any, *given: Any, **named: Any) -> tuple[float, Any]:
    """The processor time of a call, and its result."""
    start = process_time()
    found = function(*given, **named)
    return process_time() - start, found


def main(path: str) -> None:
    """Print the ratio of each dictionary and kind of subwords."""
    from transformers import BertJapaneseTokenizer

    lines = Path(path).read_text(encoding="utf-8").splitlines()
    chars = [char for char, _ in Counter("".join(lines)).most_common(6000) if not char.isspace()]
    for package in filter(find_spec, ("ipadic", "unidic_lite")):
        for subword in ("wordpiece", "character"):
            with TemporaryDirectory() as folder:
                config = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab", "subword_tokenizer_type": subword}
                tokens = [*SPECIALS, *chars, *(f"##{char}" for char in chars)]
                Path(folder, "vocab.txt").write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")
                Path(folder, "tokenizer_config.json").write_text(json.dumps({**config, "mecab_kwargs": {"mecab_dic": package}}))
                reference, own = BertJapaneseTokenizer.from_pretrained(folder), fst.Tokenizer(tokenizer(folder))
            own.encode_batch(lines[:9], threads=1)
            taken, found = timed(own.encode_batch, lines, threads=1)
            some = range(0, len(lines), SHARE)
            theirs, wanted = timed(lambda: [reference(lines[row])["input_ids"] for row in some])  # noqa: B023 - called at once
            assert wanted == [found[row].tolist() for row in some]
            size = sum(len(line.encode()) for line in lines)
            part = sum(len(lines[row].encode()) for row in some)
            print(f"{package}, {subword}: {size / taken / 1e6:.1f} MB/s, {theirs / part / (taken / size):.0f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
