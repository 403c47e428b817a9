"""The public functions that compile tokenizers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.unigram.model import UnigramModel
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.read import read
from fst.compile.text.source import Source
from fst.errors import UnsupportedError, VocabularyError, not_one_of
from fst.machines.bpe.table import BpeTable
from fst.machines.unigram.table import UnigramTable
from fst.machines.wordpiece.table import WordPieceTable
from fst.pretokens.table import PretokenTable
from fst.tables.header import LAYOUTS
from fst.tables.table import Table


def wordpiece(
    source: Any,
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
) -> WordPieceTable:
    """Compile a WordPiece vocabulary.

    Normalization, pre-tokenization and WordPiece become one transducer over the characters of raw text. Every string gets the same ids as
    from ``tokenizers.Tokenizer.from_file`` or, for a folder, from ``transformers.AutoTokenizer.from_pretrained``. If an option is None, the
    source determines the value. A ``vocab.txt`` or a list of tokens contains no options; for these sources, the default is BERT's value,
    which is given below in brackets.

    Args:
        source: a ``vocab.txt`` (one token per line); a ``tokenizer.json``; a folder with one of these files, and with others such as
            ``tokenizer_config.json``; the tokens in the order of their ids; a live tokenizer of tokenizers or transformers; or the name of
            a model on the Hugging Face Hub, if no file has this name.
        lowercase: convert the text to lower case [True].
        strip_accents: decompose characters and drop the accents [the value of `lowercase`].
        clean_text: drop control characters and replace all whitespace by spaces [True].
        handle_chinese_chars: make each CJK ideograph a word [True].
        unk_token: the token for a word without a segmentation ["[UNK]"].
        continuing_subword_prefix: the first characters of tokens that continue a word; it may be "" ["##"].
        max_input_chars_per_word: a normalized word with more characters is one unknown token [100].
        pre_tokenizer: "bert" splits at spaces and punctuation; with "none", the complete text is one word ["bert"].
        layout: "compact": at most two transition look-ups per character; "linked": at most three, because failure links replace most
            transitions, for alphabets of thousands of characters; "auto": chosen by the compiler.

    Raises:
        VocabularyError: the source is not a vocabulary or lacks the unknown token, or the Hub lacks the model or cannot be reached.
        UnsupportedError: the source needs an unsupported feature, which the message names, or huggingface_hub is not installed.
        OSError: the source cannot be read.

    Examples:
        >>> tables = wordpiece(["[UNK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz"])
        >>> tables.run("abcdz abcd")
        [1, 3, 4, 6, 0]

    Source: Song et al. 2021, *Fast WordPiece Tokenization*, Sections 3.4, 3.6 and 4.
    """
    options = dict(locals())
    del options["source"], options["layout"]
    _need_layout(layout)
    tables = made_of(source, read(source, options, WordPieceModel.kind), layout)
    assert isinstance(tables, WordPieceTable)
    return tables


def bpe(
    source: Any,
    *,
    encoding: str | None = None,
    pattern: str | None = None,
    special: Mapping[str, int] | None = None,
    no_special: bool | None = None,
    pre_tokenizer: str | None = None,
    tune: Iterable[str | bytes] | None = None,
) -> BpeTable:
    """Compile a BPE vocabulary, over bytes or over characters.

    Every string gets the same ids as from the library that defines the source: ``tokenizers.Tokenizer.from_file`` for a ``tokenizer.json``,
    ``transformers.AutoTokenizer.from_pretrained`` for a folder, `tiktoken` for its encodings, `mistral-common` for a ``tekken.json``,
    `sentencepiece` for a ``.model``, and `rwkv` for a ``rwkv_vocab_NAME.txt``, whose texts become the longest tokens from left to right.

    A ``.tiktoken`` file contains neither the pattern of pre-tokens nor the special tokens, so pass them as options. A file with the name of
    an encoding, such as ``cl100k_base.tiktoken``, needs no options. Other sources are complete, and accept no options except
    `pre_tokenizer` and `tune`.

    Args:
        source: a ``tokenizer.json``, a ``.tiktoken`` file, a ``tekken.json``, a ``.model`` of `sentencepiece` or a vocabulary of RWKV,
            possibly packed with gzip; a folder with one of these files, or with ``vocab.json`` and ``merges.txt``; a ``tiktoken.Encoding``;
            a live tokenizer of `tokenizers` or `transformers`; or the name of a model on the Hugging Face Hub, if no file has this name.
        encoding: the encoding of a ``.tiktoken`` file: "cl100k_base", "o200k_base", "o200k_harmony", "p50k_base", "r50k_base", "gpt2",
            "qwen" or "hy" (Hunyuan).
        pattern: the regular expression whose matches are the pre-tokens, in the syntax of tiktoken; it replaces the pattern of the
            encoding.
        special: additional special tokens and their ids.
        no_special: leave out the special tokens of the encoding; texts that contain their strings are then encoded as ordinary text.
        pre_tokenizer: "whitespace" for a folder of XLM, FlauBERT or BioGPT, whose texts are then already split into words by Moses.
        tune: texts, as an iterable of str or of bytes in UTF-8, such as an open file. Their frequent pre-tokens of several tokens become
            words of the table, at most 65,536, so that similar texts are encoded faster. Every text keeps its ids. The table contains these
            strings of the texts, and a SHA-256 of all texts.

    Raises:
        VocabularyError: the source is not a vocabulary or is incomplete, or the Hub lacks the model or cannot be reached.
        UnsupportedError: the source needs an unsupported feature, which the message names, or huggingface_hub is not installed.
        TextError: an item of `tune` is not text.
        OSError: the source cannot be read.
    """
    options = dict(locals())
    del options["source"], options["tune"]
    table = made_of(source, read(source, options, BpeModel.kind), tune=tune)
    assert isinstance(table, BpeTable)
    return table


def unigram(source: Any, *, tune: Iterable[str | bytes] | None = None) -> UnigramTable:
    """Compile a Unigram vocabulary, such as the vocabularies of T5, XLM-R and ALBERT.

    Every string gets the same ids as from ``tokenizers.Tokenizer.from_file``; for a folder, as from
    ``transformers.AutoTokenizer.from_pretrained``; for a ``.model``, as from `sentencepiece`.

    Args:
        source: a ``tokenizer.json`` or a ``.model`` of sentencepiece, possibly packed with gzip; a folder with one of these files; a live
            tokenizer of tokenizers or transformers; or the name of a model on the Hugging Face Hub, if no file has this name.
        tune: texts, as in `fst.compile.bpe`.

    Raises:
        VocabularyError: the source is not a vocabulary, or the Hub lacks the model or cannot be reached.
        UnsupportedError: the source needs an unsupported feature, which the message names, or huggingface_hub is not installed.
        TextError: an item of `tune` is not text.
        OSError: the source cannot be read.

    Source: Kudo 2018, *Subword Regularization*.
    """
    table = made_of(source, read(source, {}, UnigramModel.kind), tune=tune)
    assert isinstance(table, UnigramTable)
    return table


def tokenizer(
    source: Any,
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
    encoding: str | None = None,
    pattern: str | None = None,
    special: Mapping[str, int] | None = None,
    no_special: bool | None = None,
    tune: Iterable[str | bytes] | None = None,
    dictionary: str | Path | None = None,
) -> Table:
    """Compile a vocabulary of any kind; the source determines the kind.

    Args:
        source: any source of `fst.compile.wordpiece`, `fst.compile.bpe` or `fst.compile.unigram`; also a WordLevel vocabulary, and a folder
            of ``BertJapaneseTokenizer``.
        lowercase, strip_accents, clean_text, handle_chinese_chars, unk_token, continuing_subword_prefix, max_input_chars_per_word,
            pre_tokenizer, layout: for a WordPiece source, as in `fst.compile.wordpiece`; they override the values in the source.
            `pre_tokenizer` also for a folder of codes, as in `fst.compile.bpe`.
        encoding, pattern, special, no_special: for a ``.tiktoken`` file, as in `fst.compile.bpe`.
        tune: for a source of BPE or Unigram: texts, as in `fst.compile.bpe`.
        dictionary: for a folder of ``BertJapaneseTokenizer``: the folder of MeCab's dictionary, as in `fst.compile.lattice.mecab`. None:
            the dictionary of MeCab's option ``-d``, or of the installed package ``ipadic``, ``unidic-lite`` or ``unidic`` that the folder
            names.

    Raises:
        VocabularyError: the source is not a vocabulary, or the Hub lacks the model or cannot be reached.
        UnsupportedError: the source needs an unsupported feature, an option does not fit the kind of the source (the message names the
            feature or the option), or huggingface_hub is not installed.
        TextError: an item of `tune` is not text.
        OSError: the source cannot be read.

    Examples:
        >>> tokenizer(["[UNK]", "un", "##able"], unk_token="[UNK]").kind
        'wordpiece'
    """
    options = dict(locals())
    del options["source"], options["layout"], options["tune"]
    _need_layout(layout)
    return made_of(source, read(source, options), layout, tune)


def made_of(source: Any, found: Source[Any], layout: str = "auto", tune: Iterable[str | bytes] | None = None) -> Table:
    """Compile a source that `fst.compile.sources.read.read` returned; errors name the source's file or folder."""
    if tune is not None:
        _need_tunable(found.model.kind, tune)
    try:
        table = found.table(layout)
    except (UnsupportedError, VocabularyError) as error:
        if not isinstance(source, str | Path):
            raise
        raise type(error)(f"{source}: {error}") from None
    if tune is None:
        return table
    from fst.bridge.tuning import tuned

    return tuned(cast(PretokenTable, table), tune)


def _need_tunable(kind: str, tune: object) -> None:
    if kind not in (BpeModel.kind, UnigramModel.kind):
        raise UnsupportedError(f"tune: the vocabulary is {kind}; expected {BpeModel.kind} or {UnigramModel.kind}; leave tune out")
    if isinstance(tune, str | bytes):
        raise TypeError(f"tune is {type(tune).__name__}; expected an iterable of texts; pass a list of texts or an open file")


def _need_layout(layout: str) -> None:
    layouts = ("auto", *LAYOUTS)
    if layout not in layouts:
        raise UnsupportedError(not_one_of("layout", layout, layouts))
