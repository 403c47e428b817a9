"""Compile dictionaries of `jieba` and MeCab for segmentation by the best path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import NULL, Ints
from fst.compile.dictionary_words import Words, read_words
from fst.compile.machines.segmentation.jieba_model import dictionary as installed_dictionary
from fst.compile.machines.segmentation.jieba_model import read_model, tag_model
from fst.compile.machines.segmentation.jieba_user import Frequencies, tag_of, user_words
from fst.compile.machines.segmentation.mecab import (
    DEFAULT,
    UTF_8,
    Categories,
    Entries,
    read_categories,
    read_entries,
    read_matrix,
    read_settings,
)
from fst.compile.machines.segmentation.mecab_compiled import (
    CHARACTERS,
    MATRIX,
    UNKNOWNS,
    WORDS,
    is_compiled,
    read_compiled_categories,
    read_compiled_matrix,
    read_compiled_words,
)
from fst.compile.machines.segmentation.unit_tries import unit_trie
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.machines.segmentation.jieba import CHINESE, LETTER, MAX_LENGTH, MAX_SLOT, NO_WORD, OTHER, SPACE, JiebaTable, header
from fst.machines.segmentation.jieba_model import STATES
from fst.machines.segmentation.jieba_tags import NO_TAG, NO_TAG_MODEL
from fst.machines.segmentation.mecab import MAX_GROUPING, MecabSettings, MecabTable, packed_words
from fst.machines.segmentation.mecab import MAX_LENGTH as MAX_MECAB_LENGTH
from fst.machines.segmentation.mecab import header as mecab_header
from fst.machines.segmentation.unit_trie import MAX_VALUE, UNITS
from fst.tables.strings import stored

MAX_FREQUENCY = 10**18  # maximum frequency of a word; frequencies in files have at most 18 digits
DEFAULT_GROUPING = 24  # MeCab's default for `max_grouping_size`
Entry = tuple[str, int] | tuple[str, int, str]
UserEntry = str | tuple[str, int | None] | tuple[str, int | None, str]

JIEBA_SIGNS = "+#&._%-"  # signs that `jieba` groups with ASCII letters, digits, and U+4E00 to U+9FD5
FIRST_CHINESE, LAST_CHINESE = 0x4E00, 0x9FD5


def jieba(
    dictionary: str | Path | Iterable[Entry] | None = None,
    *,
    user: str | Path | Iterable[UserEntry] | None = None,
    hmm: bool = False,
    tags: bool = False,
) -> JiebaTable:
    """Compile a dictionary for jieba's segmentation. The tokens are the same as from ``jieba.cut(text, HMM=False)`` or, with `hmm`, from
    ``jieba.cut(text)``.

    Args:
        dictionary: the path of a file in jieba's format, for example jieba's ``dict.txt``, with ``word frequency part-of-speech`` per line;
            or pairs (word, frequency), or triples (word, frequency, part of speech); None: the dictionary of an installed jieba. The number
            of a word is its position.
        user: further words, with the same effect as ``jieba.load_userdict(path)`` or ``jieba.add_word(word, frequency)``: the path of a
            file with lines ``word``, ``word frequency`` or ``word frequency part-of-speech``; or words, and pairs or triples as above. If a
            frequency is missing or None, it is computed as in jieba, so that the word is not cut. The numbers of these words follow the
            numbers of the dictionary's words. Of equal words, the last is used.
        hmm: whether to find words that the dictionary lacks, with jieba's hidden Markov model, as jieba does by default. The compiler reads
            the model from an installed jieba. The table contains the model, so segmentation does not need jieba.
        tags: whether the table keeps the parts of speech, for `fst.JiebaSegmenter.tag`. With `hmm`, the table then also contains the model
            of ``jieba.posseg``.

    Raises:
        VocabularyError: a word is empty or not text; a frequency is not a whole number; no frequency is greater than 0; or with `tags`, a
            word of the dictionary has no part of speech. The message gives the position.
        UnsupportedError: a word has more than 511 UTF-16 units; there are more than 4 million words; or jieba is not installed, although
            `hmm` is True or `dictionary` is None.
        OSError: a file cannot be read.

    Examples:
        >>> import fst
        >>> segmenter = fst.Segmenter(jieba([("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1)]))
        >>> segmenter.segment("研究生命")
        ['研究', '生命']

    Source: jieba 0.42.1, ``Tokenizer.cut`` and ``finalseg``.
    """
    found = _entries(installed_dictionary() if dictionary is None else dictionary)
    words, frequencies = [*found.words], [*(found.frequencies or ())]
    for place, word in enumerate(words):
        _check_word(word, found.place(place))
    own, parts = len(words), _parts_of_speech(found, words) if tags else {}
    if user is not None:
        _add_words(user, words, frequencies, parts)
    if len(words) > MAX_VALUE:
        raise UnsupportedError(f"there are {len(words):,} words; a table has room for {MAX_VALUE:,}")
    numbers = {word: number for number, word in enumerate(words)}
    numbers = {word: number for word, number in numbers.items() if frequencies[number]}
    if not numbers:
        raise VocabularyError("the dictionary has no word with a frequency above 0; expected lines 'word frequency'")
    places = np.fromiter(numbers.values(), np.int64, len(numbers))
    different, values = np.unique(np.array(frequencies)[places], return_inverse=True)
    # The hidden Markov model never finds a word that the user adds with frequency 0, even if the word is added again with another
    # frequency.
    apart = {word for word, number in zip(words[own:], frequencies[own:], strict=True) if not number} if hmm and user is not None else set()
    listed = [*numbers, *sorted(apart - numbers.keys())]
    trie = unit_trie(listed, np.append(1 + values, np.zeros(len(listed) - len(numbers), np.int64)))
    if len(trie.entries) > MAX_SLOT + 1:
        raise UnsupportedError(f"the trie of these words takes {len(trie.entries):,} slots; a table has room for {MAX_SLOT + 1:,}")
    log_total = log(sum(frequencies))  # the same order of floating-point operations as in `jieba`
    scores = np.array([log(frequency) - log_total for frequency in [1, *different.tolist()]])
    numbers_at = np.full(len(trie.entries), NO_WORD, np.int32)
    numbers_at[trie.slots[: len(places)]] = places
    emits, chances = read_model() if hmm else (np.empty((0, len(STATES))), np.empty(0))
    names, model = tag_model(set(parts.values()), hmm=hmm) if tags else ([], NO_TAG_MODEL)
    numbers_of_tags = {name: number for number, name in enumerate(names)}
    tag_bytes, tag_ends = stored(names)
    word_bytes, word_ends = stored(words)
    return JiebaTable(
        header(len(frequencies), trie.longest, hmm=hmm),
        units=trie.units(_jieba_kinds()),
        entries=trie.entries,
        word_bytes=word_bytes,
        word_ends=word_ends,
        scores=scores,
        numbers=numbers_at,
        emits=emits,
        chances=chances,
        forced=np.sort(trie.slots[[word in apart for word in listed]]).astype(np.int32),
        tag_bytes=tag_bytes,
        tag_ends=tag_ends,
        tags=np.array([numbers_of_tags.get(parts.get(word, ""), NO_TAG) for word in words] if tags else [], np.int16),
        **{f"tag_{name}": array for name, array in model._asdict().items()},
    )


def mecab(
    folder: str | Path,
    *,
    user: str | Path | Sequence[str | Path] = (),
    encoding: str | None = None,
    max_grouping_size: int = DEFAULT_GROUPING,
    skip_spaces: bool = True,
) -> MecabTable:
    """Compile a dictionary of MeCab. The segmentation has the same words, features and total cost as MeCab's best path.

    Args:
        folder: the folder of the dictionary, for example IPADIC. Its sources: all ``*.csv``, ``matrix.def``, ``char.def``, ``unk.def``, and
            optionally ``dicrc``; the number of a word is its position in all CSV files, in the order of their names, then in ``unk.def``.
            Or its compiled files, as in the packages ``ipadic`` and ``unidic-lite``: ``sys.dic``, ``unk.dic``, ``matrix.bin`` and
            ``char.bin``; the number of a word is its position in ``sys.dic``, then in ``unk.dic``.
        user: CSV files with more words, in UTF-8 or the encoding of the dictionary. The numbers of these words follow the numbers of the
            dictionary.
        encoding: the encoding of the files. None: ``dictionary-charset`` or ``config-charset`` in ``dicrc`` or, if both are missing, UTF-8;
            for compiled files, the charset in their headers.
        max_grouping_size: the maximum length of an unknown word that groups characters of a category, not counting the first character,
            like MeCab's option ``--max-grouping-size``. (MeCab ignores this setting in ``dicrc``.)
        skip_spaces: whether to skip spaces before words, as MeCab does. If False, spaces are ordinary characters, as in Vibrato by default,
            and spaces before a surface in CSV files are part of the surface.

    Raises:
        VocabularyError: a file is missing or malformed; the message names file, line and word.
        UnsupportedError: the left or right id of an entry is -1, which MeCab replaces by looking up the features; a limit is exceeded; or
            the encoding is unknown.
        ValueError: `max_grouping_size` is out of range.
        OSError: a file cannot be read.

    Source: MeCab 0.996, ``mecab-dict-index`` and ``tokenizer.cpp``.
    """
    if not 1 <= max_grouping_size <= MAX_GROUPING:
        raise ValueError(f"max_grouping_size={max_grouping_size:,}: it can be 1 to {MAX_GROUPING:,}")
    path = Path(folder)
    read = read_dictionary(path, user, encoding, skip_spaces=skip_spaces)
    arrays, longest = lattice_arrays(read, path)
    settings = MecabSettings(
        kind=MecabTable.kind,
        words=len(read.entries.surfaces),
        unknowns=len(read.unknowns.surfaces),
        longest=longest,
        max_grouping_size=max_grouping_size,
        bos_feature=read.bos_feature,
    )
    word_bytes, word_ends = stored(read.entries.surfaces + read.unknowns.surfaces)
    feature_bytes, feature_ends = stored(read.entries.features + read.unknowns.features)
    return MecabTable(
        mecab_header(settings),
        word_bytes=word_bytes,
        word_ends=word_ends,
        feature_bytes=feature_bytes,
        feature_ends=feature_ends,
        **arrays,
    )


class Dictionary(NamedTuple):
    """The content of a folder of MeCab's dictionary."""

    entries: Entries
    unknowns: Entries  # the entries of ``unk.def`` or ``unk.dic``
    categories: Categories
    matrix: NDArray[np.int16]
    bos_feature: str


def read_dictionary(
    path: Path,
    user: str | Path | Sequence[str | Path] = (),
    encoding: str | None = None,
    *,
    skip_spaces: bool = True,
    with_features: bool = True,
) -> Dictionary:
    """Read a dictionary from its sources or from its compiled files.

    Args:
        path: the folder.
        user, encoding, skip_spaces: as in `mecab`.
        with_features: whether to read the features of a compiled dictionary; otherwise, they are empty.
    """
    settings = read_settings(path, encoding)
    entries, unknowns = Entries.none(), Entries.none()
    if is_compiled(path):
        matrix = read_compiled_matrix(path / MATRIX)
        categories = read_compiled_categories(path / CHARACTERS, skip_spaces=skip_spaces)
        entries, unknowns = (
            read_compiled_words(path / name, encoding, matrix.shape, with_features=with_features) for name in (WORDS, UNKNOWNS)
        )
    else:
        matrix = read_matrix(path / "matrix.def")
        categories = read_categories(path / "char.def", settings.encoding, skip_spaces=skip_spaces)
        for file in sorted(path.glob("*.csv")):
            read_entries(file, [settings.encoding], into=entries, shape=matrix.shape, keep_spaces=not skip_spaces)
    for more in [user] if isinstance(user, str | Path) else user:
        encodings = [UTF_8, settings.encoding]
        read_entries(Path(more), encodings, into=entries, shape=matrix.shape, keep_spaces=not skip_spaces)
    if not entries.surfaces:
        raise VocabularyError(f"{path}: there are no words, neither in *.csv nor in user=")
    if not is_compiled(path):
        read_entries(path / "unk.def", [settings.encoding], into=unknowns, shape=matrix.shape)
    features = [settings.unk_feature or feature for feature in unknowns.features]
    return Dictionary(entries, unknowns._replace(features=features), categories, matrix, settings.bos_feature)


def lattice_arrays(read: Dictionary, path: Path) -> tuple[dict[str, NDArray[Any]], int]:
    """Lay out the lists of words: one list for each surface, then one list of unknown words for each category. Returns the arrays of a
    `MecabTable` by name, without its strings; and the number of UTF-16 units of the longest word.
    """
    entries, unknowns, categories = read.entries, read.unknowns, read.categories
    numbers = {surface: number for number, surface in enumerate(dict.fromkeys(entries.surfaces))}
    longest = max(len(surface.encode("utf-16-le")) // 2 for surface in numbers)
    if longest > MAX_MECAB_LENGTH:
        raise UnsupportedError(f"{path}: a word has {longest:,} UTF-16 units; at most {MAX_MECAB_LENGTH:,} are possible")
    found = {name: number for number, name in enumerate(categories.names)}
    own_file, other_file = (UNKNOWNS, CHARACTERS) if is_compiled(path) else ("unk.def", "char.def")
    for place, name in enumerate(unknowns.surfaces):
        if name not in found:
            raise VocabularyError(f"{path / own_file}, entry {place + 1}: the category {quoted(name)} is not in {other_file}")
    if DEFAULT not in unknowns.surfaces:
        raise VocabularyError(f"{path / own_file}: there is no entry for the category {DEFAULT}")
    lists = [numbers[surface] for surface in entries.surfaces] + [len(numbers) + found[name] for name in unknowns.surfaces]
    columns = (np.array(one + other, np.int64) for one, other in zip(entries[1:4], unknowns[1:4], strict=True))
    words, ids, firsts = _lists(np.array(lists), *columns)
    if len(words) > MAX_VALUE:
        raise UnsupportedError(f"{path}: there are {len(words):,} different words; a table has room for {MAX_VALUE:,}")
    trie = unit_trie([*numbers], 1 + firsts[: len(numbers)])
    own = np.append(firsts[len(numbers) :], np.full(len(found), NULL))[: len(found)]
    # A category without unknown words uses the unknown words of DEFAULT, but only at positions where no other word begins.
    kinds = [kind if own[kind.first] != NULL else kind._replace(length=0, group=False, invoke=False) for kind in categories.kinds]
    arrays: dict[str, NDArray[Any]] = {
        "units": trie.units(categories.kind_of),
        "entries": trie.entries,
        "lists": words,
        "numbers": ids.astype(np.int32),
        "kinds": np.array([kind.packed() for kind in kinds], np.uint32),
        "unknowns": np.where(own == NULL, own[found[DEFAULT]], own).astype(np.int32),
        "matrix": read.matrix,
    }
    return arrays, trie.longest


def _lists(lists: Ints, lefts: Ints, rights: Ints, costs: Ints) -> tuple[NDArray[np.uint64], Ints, Ints]:
    """Sort words by list. Of words in a list with the same left and right ids, only the word of least cost can be on a best path, so the
    other words are dropped. Returns the words that are kept, the number of each word, and the start of each list (`NULL` for an empty
    list).
    """
    ids = np.arange(len(lists))
    kept = np.lexsort((ids, costs, rights, lefts, lists))
    keys = np.stack([lists, lefts, rights])[:, kept]
    is_best = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
    order = np.sort(kept[is_best])[::-1]
    order = order[np.argsort(lists[order], kind="stable")]
    own = lists[order]
    firsts = np.full(int(lists.max()) + 1, NULL)
    begins = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
    firsts[own[begins]] = begins
    are_last = np.append(own[1:] != own[:-1], True)
    return packed_words(lefts[order], rights[order], costs[order], are_last), order, firsts


def _entries(source: Any) -> Words:
    """Read words from a file in jieba's format, or from pairs."""
    if isinstance(source, str | Path):
        return read_words(source, form="jieba")
    pairs = [*islice(source, MAX_VALUE + 1)]
    for place, pair in enumerate(pairs):
        if not isinstance(pair, Sequence) or len(pair) < 2 or isinstance(pair, str) or type(pair[1]) is not int:
            raise VocabularyError(f"entry {place} is {quoted(pair)}, not a word and its frequency")
        if not 0 <= pair[1] < MAX_FREQUENCY:
            raise VocabularyError(f"entry {place}, {quoted(pair[0])}: the frequency is {quoted(pair[1])}; it can be 0 to 10**18 - 1")
    tags = [tag_of(pair, f"entry {place}") for place, pair in enumerate(pairs)]
    return Words([pair[0] for pair in pairs], [pair[1] for pair in pairs], tags, origin="entry")


def _parts_of_speech(found: Words, words: Sequence[str]) -> dict[str, str]:
    """The part of speech of each word of a dictionary; of equal words, the last one counts."""
    tags = found.tags or ()
    for place, tag in enumerate(tags):
        if not tag:
            fault = f"{found.place(place)}: {quoted(words[place])} has no part of speech"
            raise VocabularyError(f"{fault}; expected one such as n; add it, or leave out tags=True")
    return dict(zip(words, tags, strict=True))


def _add_words(source: str | Path | Iterable[UserEntry], words: list[str], frequencies: list[int], parts: dict[str, str]) -> None:
    """Append the words of a user and their frequencies, and set their parts of speech."""
    known = Frequencies(words[:], frequencies)
    for word, given, place, tag in islice(user_words(source, MAX_FREQUENCY - 1), MAX_VALUE + 1):
        _check_word(word, place)
        frequency = known.suggested(word) if given is None else given
        known.add(word, frequency)
        words.append(word)
        frequencies.append(frequency)
        if tag:
            parts[word] = tag


def _check_word(word: Any, where: str) -> None:
    if not isinstance(word, str):
        raise VocabularyError(f"{where}: a word is {type(word).__name__}, not str")
    if not word:
        raise VocabularyError(f"{where}: the word is empty")
    try:
        length = len(word.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise VocabularyError(f"{where}: {quoted(word)} has a lone surrogate") from None
    if length > MAX_LENGTH:
        raise UnsupportedError(f"{where}: {quoted(word)} has {length:,} UTF-16 units; at most {MAX_LENGTH} are possible")


def _jieba_kinds() -> NDArray[np.uint32]:
    """The kind of each UTF-16 unit, according to jieba's patterns ``re_han_default``, ``re_skip_default`` and ``re_eng``."""
    kinds = np.full(UNITS, OTHER, np.uint32)
    kinds[[code for code in range(UNITS) if chr(code).isspace()]] = SPACE
    kinds[FIRST_CHINESE : LAST_CHINESE + 1] = CHINESE
    kinds[[ord(char) for char in JIEBA_SIGNS]] = CHINESE
    kinds[[code for code in range(128) if chr(code).isalnum()]] = LETTER
    return kinds
