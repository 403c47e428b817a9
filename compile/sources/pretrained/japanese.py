"""Read a folder of ``BertJapaneseTokenizer``: a ``vocab.txt``, the settings of its words, and a dictionary of MeCab.

The reference is the class of ``transformers``, version 5.24, with `fugashi`. The class has no fast tokenizer, so the folder has no
``tokenizer.json``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fst.compile.files import read_text
from fst.compile.machines.segmentation.lattice import DEFAULT_GROUPING
from fst.compile.machines.segmentation.mecab import MAX_FILE_BYTES, settings_of
from fst.compile.machines.segmentation.pieces import PieceModel
from fst.compile.sources import live
from fst.compile.sources.inputs import CONFIG, VOCABULARY
from fst.compile.sources.pretrained.conventions import BERT_NAMES
from fst.compile.sources.pretrained.folder import OTHER_INPUTS, Json, config_of, refuse_settings, settings, without_vocabulary
from fst.compile.sources.pretrained.special_tokens import SpecialTokens, special_tokens
from fst.compile.sources.templates import bert
from fst.compile.text.added_tokens import added_tokens
from fst.compile.text.components import mapping
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.core.json_fields import is_text
from fst.core.regular_files import contents
from fst.errors import UnsupportedError, VocabularyError, listed, quoted, reason
from fst.machines.segmentation.mecab import MAX_GROUPING
from fst.machines.segmentation.pieces import CHARACTER, MAX_KEPT, WORDPIECE
from fst.tables.header import Decoder

CLASS = "BertJapaneseTokenizer"
REFERENCE = "transformers 5.24.0"
PACKAGES = {"ipadic": "ipadic", "unidic_lite": "unidic-lite", "unidic": "unidic"}  # value of `mecab_dic`, the name of a module → package
USUAL_PACKAGE = "unidic_lite"  # the value of `mecab_dic` if a folder has none
ELSE = "use the class of transformers for this model"
# Kinds of words → what differs from MeCab's words.
OTHER_WORDS = {
    "basic": "BERT's words are cut at spaces and punctuation, so 今日は晴れ。 is 今日は晴れ and 。",
    "sudachi": "Sudachi has other words, such as 選挙管理委員会, which MeCab cuts into several",
    "jumanpp": "Juman++ ranks words by a neural network, so it cuts 外国人参政権 in another way",
}
SENTENCEPIECE, PIECES = "sentencepiece", "spiece.model"
OTHER_SUBWORDS = {SENTENCEPIECE: "SentencePiece begins each word with ▁, so 猫 becomes ▁猫"}
TOGETHER = "do_lower_case with subword_tokenizer_type 'character'", "H\u0331 becomes ẖ, one character"
UNCHANGED = "normalize_text false with subword_tokenizer_type 'character'", "① becomes 1 after words are found"
# Options of MeCab. The last value of an option counts; the format has no effect on words.
FORMAT = ("-O", "--output-format-type")
SETTINGS = ("-r", "--rcfile")
DICTIONARY = ("-d", "--dicdir")
GROUPING = ("-M", "--max-grouping-size")


def names_class(folder: Path) -> bool:
    """Whether the files of a folder name ``BertJapaneseTokenizer``, and are complete or of a kind that is refused by name."""
    is_complete = (folder / VOCABULARY).is_file()
    config = config_of(folder) if is_complete or (folder / PIECES).is_file() else {}
    is_known = is_complete or config.get("subword_tokenizer_type") == SENTENCEPIECE
    return is_known and config.get("tokenizer_class") == CLASS


def read(folder: Path, dictionary: str | Path | None) -> Source[PieceModel]:
    """Read a folder.

    Args:
        folder: a folder with ``vocab.txt`` and ``tokenizer_config.json``.
        dictionary: the folder of a dictionary of MeCab; None: the package that the setting ``mecab_dic`` names.
    """
    try:
        return _read(folder, dictionary)
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a {CLASS}: {reason(error)}") from None


def _read(folder: Path, dictionary: str | Path | None) -> Source[PieceModel]:
    files = without_vocabulary(folder)
    config = {**files.config, **dict.fromkeys(("word_tokenizer_type", "subword_tokenizer_type", "never_split"))}
    refuse_settings(config)
    subword = _subword(files.config)
    words = mapping(files.config.get("mecab_kwargs") or {}, "mecab_kwargs")
    if unknown := sorted(words.keys() - {"mecab_dic", "mecab_option", "normalize_text"}):
        raise UnsupportedError(f"mecab_kwargs has {listed(unknown)}; expected mecab_dic, mecab_option or normalize_text; {ELSE}")
    lowercase, is_normal = (_flag(group, name, usual) for group, name, usual in _flags(files.config, words))
    for is_refused, (what, example) in ((lowercase, TOGETHER), (not is_normal, UNCHANGED)):
        if is_refused and subword == CHARACTER:
            raise UnsupportedError(f"{CONFIG} has {what}, where {example}; expected one of the two; {ELSE}")
    options = _options(words.get("mecab_option"))
    tokens = _vocabulary(folder / VOCABULARY)
    specials = special_tokens(files.config, files.specials, files.added, {}, BERT_NAMES, ())
    parts = [_plain(part) for part in specials.added_in_python(tokens)]
    added = added_tokens(parts, {part["content"]: part["id"] for part in parts})
    ids = {**tokens, **added.ids}
    kept = _never_split(files.config, specials) if lowercase else ()
    place = _dictionary(dictionary, words.get("mecab_dic", USUAL_PACKAGE), options)
    live.asked.add(folder)  # the table depends on the dictionary, too
    model = PieceModel(
        tokens,
        specials.content("unk_token"),
        place,
        content=_content(place),
        subword=subword,
        lowercase=lowercase,
        is_normalized=is_normal,
        never_split=kept,
        max_grouping_size=int(_last(options, GROUPING) or DEFAULT_GROUPING),
    )
    own = settings(files, OTHER_INPUTS, specials, is_class_known=True)
    return Source(
        model,
        TextPipeline([], []),
        added,
        bert(*(ids[specials.content(name)] for name in ("cls_token", "sep_token"))),
        replace(NO_SETTINGS, decoder=Decoder("##", cleanup=own.get("clean_up_tokenization_spaces", False)), **own),
        reference=REFERENCE,
    )


def _flags(config: Json, words: Mapping[str, Any]) -> Iterable[tuple[Mapping[str, Any], str, bool]]:
    return (config, "do_lower_case", False), (words, "normalize_text", True)


def _flag(group: Mapping[str, Any], name: str, usual: bool) -> bool:
    value = group.get(name, usual)
    if not isinstance(value, bool | None):
        raise ValueError(f"{name} is {quoted(value)}; expected true or false")
    return bool(value)


def _subword(config: Json) -> str:
    """The kind of subwords; kinds of words and subwords other than those of this package are refused."""
    for name in ("do_word_tokenize", "do_subword_tokenize"):
        if config.get(name, True) is not True:
            raise UnsupportedError(f"{name} is {quoted(config[name])}; expected true; {ELSE}")
    words, subword = config.get("word_tokenizer_type", "basic"), config.get("subword_tokenizer_type", WORDPIECE)
    if words != "mecab":
        raise UnsupportedError(f"word_tokenizer_type is {quoted(words)}; expected 'mecab'{_difference(OTHER_WORDS, words)}; {ELSE}")
    if subword not in (WORDPIECE, CHARACTER):
        expected = f"expected {WORDPIECE!r} or {CHARACTER!r}{_difference(OTHER_SUBWORDS, subword)}"
        raise UnsupportedError(f"subword_tokenizer_type is {quoted(subword)}; {expected}; {ELSE}")
    return str(subword)


def _difference(known: Mapping[str, str], kind: Any) -> str:
    return f": {known[kind]}" if isinstance(kind, str) and kind in known else ""


def _never_split(config: Json, specials: SpecialTokens) -> list[str]:
    """The words that keep their case: those of the setting, and all special tokens."""
    stated = config.get("never_split") or []
    if not isinstance(stated, list) or not all(map(is_text, stated)):
        raise ValueError(f"never_split is {quoted(stated)}; expected a list of strings")
    kept = [*dict.fromkeys([*stated, *(token.content for token in (*specials.named.values(), *specials.extras))])]
    if len(kept) > MAX_KEPT:
        what = f"never_split and the special tokens are {len(kept):,} strings"
        raise UnsupportedError(f"{what}; expected at most {MAX_KEPT:,}; {ELSE}")
    return kept


def _plain(part: dict[str, Any]) -> dict[str, Any]:
    """An added token, which the class finds in raw text, whatever its flag ``normalized``. Tokens with other flags are refused."""
    for flag in ("single_word", "lstrip", "rstrip"):
        if part[flag]:
            example = f"'a {part['content']} b' loses its spaces in the class, also U+001C, which a table keeps"
            raise UnsupportedError(f"added token {quoted(part['content'])} has {flag}: {example}; expected no such flag; {ELSE}")
    return {**part, "normalized": False}


def _options(stated: Any) -> list[tuple[str, str]]:
    """The options of MeCab in the setting ``mecab_option``, each with its value. Options that change words in other ways are refused."""
    parts, found = shlex.split(stated or ""), list[tuple[str, str]]()
    while parts:
        name = parts.pop(0)
        if name.startswith("--"):
            name, equals, value = name.partition("=")
        else:
            name, equals, value = name[:2], name[2:], name[2:]
        if name not in (*FORMAT, *SETTINGS, *DICTIONARY, *GROUPING):
            raise UnsupportedError(f"mecab_option has {quoted(name)}, which may change words; expected -d, -r, -O or -M; {ELSE}")
        if not equals and not parts:
            raise ValueError(f"mecab_option has {quoted(name)} without a value")
        found.append((name, value if equals else parts.pop(0)))
    for name, value in found:
        if name in GROUPING and not (value.isdecimal() and value.isascii() and 1 <= int(value) <= MAX_GROUPING):
            raise ValueError(f"mecab_option has {name} {quoted(value)}; expected 1 to {MAX_GROUPING:,}")
    own = _last(found, SETTINGS)
    if own is not None and Path(own).is_file() and settings_of(Path(own)).get(b"userdic"):
        raise UnsupportedError(f"mecab_option has -r {quoted(own)}, whose userdic adds words; expected a file without userdic; {ELSE}")
    return found


def _last(options: Sequence[tuple[str, str]], names: Sequence[str]) -> str | None:
    """The last value of an option of MeCab, which counts; None if it is missing."""
    return next((value for name, value in reversed(options) if name in names), None)


def _dictionary(given: str | Path | None, package: Any, options: Sequence[tuple[str, str]]) -> Path:
    """The folder of the dictionary: that of the compiler's option, of MeCab's option ``-d``, or of a package, in this order."""
    stated = _last(options, DICTIONARY) if given is None else given
    if stated is not None:
        return _folder(Path(stated))
    if package is None:
        remedy = "pass dictionary= with the folder of MeCab's dictionary (fst compile: --dictionary)"
        raise UnsupportedError(f"mecab_dic is null, and mecab_option has no -d; expected the folder of a dictionary; {remedy}")
    if package not in PACKAGES:
        raise UnsupportedError(f"mecab_dic is {quoted(package)}; expected {', '.join(PACKAGES)} or null; {ELSE}")
    if find_spec(package) is None:
        remedy = f"pip install {PACKAGES[package]}, or pass dictionary= with the folder of this dictionary (fst compile: --dictionary)"
        raise UnsupportedError(f"the dictionary {package} is not installed; expected the package {PACKAGES[package]}; {remedy}")
    return _folder(Path(import_module(package).DICDIR))


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise VocabularyError(f"{path} is not a folder; expected a dictionary of MeCab with sys.dic, or with its CSV files and matrix.def")
    return path


def _content(place: Path) -> str:
    """The digest of the files of a dictionary."""
    digest = sha256()
    names = (path for path in place.iterdir() if path.suffix in (".dic", ".bin", ".csv", ".def") or path.name == "dicrc")
    for path in sorted(filter(Path.is_file, names)):  # no pipe, which may block
        digest.update(path.name.encode())
        digest.update(contents(path, MAX_FILE_BYTES, VocabularyError))
    return digest.hexdigest()


def _vocabulary(path: Path) -> dict[str, int]:
    r"""The tokens of a ``vocab.txt``. Unlike for BERT, "\r" also ends a line, and whitespace at the end of a line is part of its token."""
    lines = read_text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {line: number for number, line in enumerate(lines if lines[-1] else lines[:-1])}
