"""Learn a WordPiece vocabulary from text files, a token a line, as `fst compile` takes it: the arguments are the files and the output.

    python examples/learn_vocabulary.py books.txt english.txt

The vocabulary beside this script, ``english-uncased-8000.txt``, is of 20 MB of English books in the public domain. The library `tokenizers`
learnt it, which orders the tokens of one continuing letter at random; in this order, training gives the same bytes.
"""

import sys

from fst import train

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

if __name__ == "__main__":
    *files, output = sys.argv[1:]
    train.wordpiece(files, splitter="bert", normalizer="bert", vocab_size=8000, special_tokens=SPECIALS).save(output)
