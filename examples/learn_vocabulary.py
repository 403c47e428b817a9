"""Learn a WordPiece vocabulary from text files, a token a line, as `fst compile` takes it.

The vocabulary beside this script, ``english-uncased-8000.txt``, was learnt by it from 20 MB of English books in the public domain::

    python examples/learn_vocabulary.py books.txt --size 8000 -o examples/english-uncased-8000.txt
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def learn(files: list[Path], size: int, lowercase: bool) -> list[str]:
    """The tokens in the order of their ids."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train([str(file) for file in files], trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIALS))
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=lambda token: vocabulary[token])


def main() -> None:
    """Read the command line, learn, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--size", type=int, default=8000, help="tokens, special ones and single characters included")
    parser.add_argument("--cased", action="store_true", help="keep capitals and accents")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    tokens = learn(arguments.files, arguments.size, lowercase=not arguments.cased)
    arguments.output.write_text("".join(f"{token}\n" for token in tokens), encoding="utf-8")


if __name__ == "__main__":
    main()
