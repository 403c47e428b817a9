"""Read a folder of codes and a vocabulary.

If the files name a class of `transformers`, the reference is this class, version 5.24, which runs in Python. Other folders, with
``bpe.codes`` and a list of tokens and counts, are read as by `fairseq` with fastBPE or subword-nmt: words are separated by spaces or line
breaks, and ``</s>`` ends a text. Unlike `fairseq`, tables do not cut tokens at other white space.

Source: transformers 5.24, ``models/*/tokenization_*.py``; fairseq 0.12.2, ``data/dictionary.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fst.automata.rows import WHITE_SPACE
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.sources.codes import files as codes
from fst.compile.sources.codes.files import Pair
from fst.compile.sources.codes.source import Naming, model_of, split, with_separator, with_suffix
from fst.compile.sources.counted_lines import ids_of_lines
from fst.compile.sources.inputs import CODES, CONFIG, DICTIONARY, DOCUMENT, IDS, MERGES, VOCABULARY
from fst.compile.sources.pretrained import folder as pretrained
from fst.compile.sources.pretrained.conventions import ROBERTA_NAMES
from fst.compile.sources.pretrained.folder import OTHER_INPUTS, Files
from fst.compile.sources.pretrained.special_tokens import AddedToken, SpecialTokens, special_tokens
from fst.compile.sources.templates import after, before, bert, roberta
from fst.compile.text.added_tokens import added_tokens
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, listed, quoted, reason
from fst.tables.header import FIRST, SECOND, TRANSFORMERS, Templates
from fst.tables.words_decoder import WordsDecoder

Templating = Callable[[SpecialTokens, Mapping[str, int]], Templates]

SEPARATORS = "\x1c\x1d\x1e\x1f"  # white space in Python's `re` and `str.split`, and not in Unicode
JOINED = WordsDecoder(" ", "@@ ", "")  # the decoder of names with the separator
SUFFIXED = WordsDecoder("", "</w>", " ")  # the decoder of names with the suffix
FIRST_IDS = ("bos_token", "pad_token", "eos_token", "unk_token")  # the special tokens before those of a list of tokens and counts
CONTEXTUAL = ("single_word", "lstrip", "rstrip")
NORMALIZED = (
    f"{CONFIG} has normalization true, by which Python code rewrites tweets: '@me http://a.b' becomes '@USER HTTPURL'; expected false; "
    "normalize texts before they are encoded, and compile without it"
)


FAIRSEQ = "fairseq 0.12.2"  # the reference of folders without a class
WHITESPACE = "whitespace"  # the value of the option `pre_tokenizer` for texts that are already split into words


def _class(characters: str) -> str:
    return "".join(f"\\x{{{ord(char):X}}}" for char in characters)


BETWEEN_WORDS = split(f"[{_class(WHITE_SPACE + SEPARATORS)}]", inverts=False)


def _with_break(white_space: str) -> dict[str, Any]:
    r"""The split of ``re.findall(r"\S+\n?", text)``: a line break after a word belongs to the word."""
    return split(rf"[^{_class(white_space)}]+\n?", inverts=True)


def _roberta(tokens: SpecialTokens, ids: Mapping[str, int]) -> Templates:
    return roberta(ids[tokens.content("cls_token")], ids[tokens.content("sep_token")])


def _counted(path: Path, tokens: SpecialTokens) -> dict[str, int]:
    return ids_of_lines(path, [tokens.content(name) for name in FIRST_IDS], strips_begins=path.name != DICTIONARY)


def _numbered(path: Path, _: SpecialTokens) -> dict[str, int]:
    return codes.numbered_tokens(path)


@dataclass(frozen=True)
class CodesFamily:
    """A class of tokenizers.

    Attributes:
        names: the special tokens, unless a setting overrides them.
        files: the names of the file of codes and of the vocabulary.
        merges: the function that reads the codes.
        vocabulary: the function that reads the vocabulary; its second argument is the special tokens.
        name, decoder: the names of subwords, and how decoding joins them.
        templates: the special tokens around texts.
        splitter: the words of a text; None if Python code splits a text by rules that no splitter has.
        python: the rules of this code, and a text whose words it changes.
        extras: the special tokens without a name, unless a setting overrides them.
    """

    names: Mapping[str, str]
    files: tuple[str, str]
    merges: Callable[[Path], list[Pair]]
    vocabulary: Callable[[Path, SpecialTokens], dict[str, int]]
    name: Naming
    decoder: WordsDecoder
    templates: Templating
    splitter: Mapping[str, Any] | None = None
    python: str = ""
    extras: tuple[str, ...] = ()


_ROBERTA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", **ROBERTA_NAMES}
PHOBERT = CodesFamily(
    _ROBERTA,
    (CODES, VOCABULARY),
    lambda path: codes.pairs(path, codes.counted),
    _counted,
    with_separator,
    JOINED,
    _roberta,
    _with_break(WHITE_SPACE + SEPARATORS),
)
CTRL = CodesFamily(
    {"unk_token": "<unk>"},
    (MERGES, IDS),
    lambda path: codes.pairs(path, str.split, skipped=1),
    _numbered,
    with_separator,
    JOINED,
    lambda *_: Templates(((FIRST, 0),), ((FIRST, 0), (SECOND, 0))),
    _with_break(WHITE_SPACE),
)
PLAIN = CodesFamily(
    {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"},
    (CODES, DICTIONARY),
    codes.plain_pairs,
    _counted,
    with_separator,
    JOINED,
    lambda tokens, ids: after(ids[tokens.content("eos_token")]),
    split(r"[ \n\r]", inverts=False),
)
_XLM = {name: token for name, token in _ROBERTA.items() if name != "eos_token"} | {"cls_token": "</s>", "mask_token": "<special1>"}
XLM = CodesFamily(
    _XLM,
    (MERGES, IDS),
    lambda path: codes.pairs(path, codes.first_two),
    _numbered,
    with_suffix,
    SUFFIXED,
    lambda tokens, ids: bert(ids[tokens.content("bos_token")], ids[tokens.content("sep_token")]),
    python="normalizes texts and splits words as Moses does: 'Don’t, José!' becomes the words don, 't, the comma, jose and the mark",
    extras=tuple(f"<special{number}>" for number in range(10)),
)
FLAUBERT = replace(XLM, python="normalizes texts and splits words as Moses does: \"L'été!\" becomes the words L', été and the mark")
BIOGPT = replace(
    XLM,
    names={"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>", "pad_token": "<pad>"},
    templates=lambda tokens, ids: before(ids[tokens.content("sep_token")]),
    python="splits words as Moses does: 'a p-value' becomes the words a, p, @-@ and value",
    extras=(),
)
FAMILIES = {
    "PhobertTokenizer": PHOBERT,
    "BertweetTokenizer": PHOBERT,
    "CTRLTokenizer": CTRL,
    "XLMTokenizer": XLM,
    "FlaubertTokenizer": FLAUBERT,
    "BioGptTokenizer": BIOGPT,
}
FSMT = "FSMTTokenizer"
# The type of model in config.json → the class, if no file names a class.
MODEL_TYPES = {
    "ctrl": "CTRLTokenizer",
    "xlm": "XLMTokenizer",
    "flaubert": "FlaubertTokenizer",
    "biogpt": "BioGptTokenizer",
    "fsmt": FSMT,
}


def family_of(folder: Path) -> CodesFamily | None:
    """How to read a folder of codes; None for a folder without codes."""
    files = pretrained.without_vocabulary(folder)
    named = files.config.get("tokenizer_class") or files.model.get("tokenizer_class")
    stated = named or MODEL_TYPES.get(str(files.model.get("model_type")))
    if stated == FSMT:
        two = "encodes and decodes with two vocabularies, so the id of 'a' is another token when it is decoded"
        raise UnsupportedError(f"{folder}: tokenizer_class {FSMT} {two}; expected one vocabulary; encode with transformers")
    if stated:
        return FAMILIES.get(str(stated))
    is_plain = (folder / CODES).is_file() and not (folder / DOCUMENT).is_file() and not files.model.get("model_type")
    return PLAIN if is_plain else None


def read(folder: Path, family: CodesFamily, pre_tokenizer: str | None) -> Source[BpeModel]:
    """Read a folder.

    Args:
        folder: the folder.
        family: how to read it, from `family_of`.
        pre_tokenizer: `WHITESPACE` for texts that are already split into words as the class does, else None.
    """
    try:
        splitter = _splitter(family, pre_tokenizer)
        return _source(folder, family, pretrained.without_vocabulary(folder), splitter)
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a tokenizer: {reason(error)}") from None


def _splitter(family: CodesFamily, pre_tokenizer: str | None) -> Mapping[str, Any]:
    """The splitter of a class, or that of texts which are already split."""
    if pre_tokenizer not in (None, WHITESPACE):
        raise UnsupportedError(f"pre_tokenizer is {quoted(pre_tokenizer)}; expected {WHITESPACE!r}; correct the option or leave it out")
    if family.splitter is not None:
        if pre_tokenizer:
            raise UnsupportedError(f"pre_tokenizer is {WHITESPACE!r}; expected none, because the folder defines it; leave the option out")
        return family.splitter
    if not pre_tokenizer:
        option = f"compile with pre_tokenizer={WHITESPACE!r} (--pre-tokenizer {WHITESPACE}) and encode texts that are split already"
        raise UnsupportedError(f"Python code of its class {family.python}; expected words between white space; {option}")
    return BETWEEN_WORDS


def _source(folder: Path, family: CodesFamily, files: Files, splitter: Mapping[str, Any]) -> Source[BpeModel]:
    pretrained.refuse_settings(files.config)
    if files.config.get("normalization"):
        raise UnsupportedError(NORMALIZED)
    tokens = special_tokens(files.config, files.specials, files.added, {}, family.names, ())
    if not tokens.lists_extras:
        tokens = replace(tokens, extras=[*tokens.extras, *(AddedToken(content, special=True) for content in family.extras)])
    merges, names = family.merges(_file(folder, family.files[0])), family.vocabulary(_vocabulary(folder, family), tokens)
    unk_token = tokens.content("unk_token")
    if unk_token not in names:
        raise ValueError(f"unk_token is {quoted(unk_token)}; expected a token of {family.files[1]}")
    added = tokens.added_in_python(names)
    for token in added:
        flags = [flag for flag in CONTEXTUAL if token[flag]]
        if flags:
            raise UnsupportedError(f"added token {quoted(token['content'])} has {listed(flags)}, which Python code applies; expected none")
    ids = {**names, **{token["content"]: token["id"] for token in added}}
    settings = pretrained.settings(files, OTHER_INPUTS, tokens, is_class_known=True)
    return Source(
        model_of(merges, names, unk_token, family.name),
        TextPipeline((), (splitter,)),
        added_tokens(added, ids),
        family.templates(tokens, ids),
        replace(NO_SETTINGS, decoder=family.decoder, **settings),
        reference=FAIRSEQ if family is PLAIN else TRANSFORMERS,
    )


def _vocabulary(folder: Path, family: CodesFamily) -> Path:
    """The vocabulary; that of a folder without a class may have either name."""
    name = family.files[1]
    return _file(folder, VOCABULARY if family is PLAIN and not (folder / name).is_file() else name)


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise VocabularyError(f"{folder} has no {name}; expected the codes and the vocabulary of its tokenizer; copy this file, too")
    return path
