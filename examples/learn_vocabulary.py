"""Train a WordPiece vocabulary on text files, and write one token per line, for `fst compile`. The arguments are the files and the output.

    python examples/learn_vocabulary.py books.txt english.txt

The vocabulary next to this script, ``english-uncased-8000.txt``, was trained on 20 MB of English books in the public domain, by the library
`tokenizers`. That library puts the single-letter continuation tokens in random order. Given the same order, this package writes the same
file.
"""

import sys

from fst import train

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

if __name__ == "__main__":
    *files, output = sys.argv[1:]
    train.wordpiece(files, splitter="bert", normalizer="bert", vocab_size=8000, special_tokens=SPECIALS).save(output)
