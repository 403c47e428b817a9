"""The compiler's public functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fst.compile.compilers import assembled
from fst.compile.sources.read import read
from fst.errors import UnsupportedError, quoted
from fst.machines.wordpiece import Tables
from fst.metadata import LAYOUTS


def wordpiece(
    source: str | Path | Sequence[str],
    *,
    lowercase: bool | None = None,
    strip_accents: bool | None = None,
    clean_text: bool | None = None,
    handle_chinese_chars: bool | None = None,
    unk_token: str | None = None,
    continuing_subword_prefix: str | None = None,
    max_input_chars_per_word: int | None = None,
    pre_tokenizer: str | None = None,
    layout: str = "auto",
) -> Tables:
    """Compile a WordPiece vocabulary.

    Normalisation, pre-tokenisation and WordPiece become one transducer over the characters of raw text. For every string its ids equal
    those of ``tokenizers.Tokenizer.from_file``, and for a folder those of ``transformers.AutoTokenizer.from_pretrained``. An option that
    is None is taken from the source. A ``vocab.txt`` and a list of tokens state no options; BERT's, given in brackets, apply to them.

    Args:
        source: a ``vocab.txt`` (one token a line); a ``tokenizer.json``; a folder with one of these and files such as
            ``tokenizer_config.json``; the tokens in the order of their ids; or a str that names no file but a model on the Hugging Face
            Hub.
        lowercase: lower-case the text [True].
        strip_accents: decompose characters and drop the accents [the value of `lowercase`].
        clean_text: drop control characters and turn all white space into blanks [True].
        handle_chinese_chars: make each CJK ideograph a word [True].
        unk_token: the token for a word without a segmentation ["[UNK]"].
        continuing_subword_prefix: the first characters of tokens that continue a word; any string, also "" ["##"].
        max_input_chars_per_word: a normalised word with more characters is one unknown token [100].
        pre_tokenizer: "bert" splits at blanks and punctuation; with "none" the whole text is one word ["bert"].
        layout: "dense" takes one transition look-up a character, "compact" at most two from a much smaller table; "auto" chooses.

    Raises:
        VocabularyError: the source is not a vocabulary or lacks the unknown token, or the Hub does not have it or is out of reach.
        UnsupportedError: the source asks for something that this version does not do; the message names it. Or huggingface_hub is not
            installed.
        OSError: the source cannot be read.

    Example:
        >>> tables = wordpiece(["[UNK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz"])
        >>> tables.run("abcdz abcd")
        [1, 3, 4, 6, 0]

    Source: Song et al. 2021, *Fast WordPiece Tokenization*, Sections 3.4, 3.6 and 4.
    """
    layouts = ("auto", *LAYOUTS)
    if layout not in layouts:
        raise UnsupportedError(f"layout {quoted(layout)}: there are {', '.join(map(repr, layouts))}")
    options = {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "clean_text": clean_text,
        "handle_chinese_chars": handle_chinese_chars,
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix,
        "max_input_chars_per_word": max_input_chars_per_word,
        "pre_tokenizer": pre_tokenizer,
    }
    return assembled(read(source, options), layout)
