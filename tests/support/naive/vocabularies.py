"""The vocabulary of a tokenizer for token masks, token by token: the slow twin of `fst.machines.guide.vocabulary.vocabulary_of`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from itertools import takewhile
from operator import or_
from typing import Any, NamedTuple

from fst.errors import UnsupportedError
from fst.machines.guide.arguments import GROUPS
from fst.machines.guide.item_arguments import ESCAPED, OUTSIDE, PLAIN, QUOTED
from fst.machines.guide.vocabulary import Trie
from fst.machines.guide.written import END_NAMES
from fst.tables.cleanup import first_piece_of, piece_of
from fst.tables.decoder_steps import ALL, METASPACE, PIECES, SUFFIX, plan
from fst.tables.header import ByteLevelDecoder, StepsDecoder
from fst.tables.words_decoder import WordsDecoder

# A character of a string of JSON, unescaped or escaped; and ends of characters, by which every cut character becomes a whole one.
CHARACTER = re.compile(
    rb"[\x20\x21\x23-\x5B\x5D-\x7F]|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]"
    rb"|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}"
    rb'|\\(?:["\\/bfnrt]|u(?:(?:[0-9A-CEFa-cef][0-9A-Fa-f]|[Dd][0-7])[0-9A-Fa-f]{2}|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}))'
)
WHOLE = (b"\xEF\x80\x80", b"\xE0\xA0\x80", b"\xF0\x90\x80\x80", b"\xF1\x80\x80\x80", b"\\n", b"\\u0000", b"\\uD800\\uDC00")
RESTS = {whole[size:] for whole in WHOLE for size in range(1, len(whole))}

Rows = tuple[list[bytes], list[bytes], bool]  # the bytes of tokens at later positions and at the first one; see `Written.keeps_first`


def written(table: Any) -> Rows:
    """The bytes that decoding each token writes, see `fst.machines.guide.written.written_by`."""
    names, decoder, size = _names(table), table.metadata.settings.decoder, int(table.token_ids.max()) + 1
    if isinstance(decoder, ByteLevelDecoder) and hasattr(table, "decoded_differently"):
        later = first = _byte_level(table)
    elif isinstance(decoder, StepsDecoder):
        return _by_steps(names, decoder, size)
    elif isinstance(decoder, WordsDecoder):
        raise UnsupportedError("a token writes text that depends on the tokens after it")
    else:
        later = {number: piece_of(name, decoder).encode() for number, name in names.items()}
        first = {number: first_piece_of(name, decoder).encode() for number, name in names.items()}
    rows = [[found.get(number, b"") if number in names else b"" for number in range(size)] for found in (later, first)]
    return rows[0], rows[1], False


def end_of(table: Any) -> int | None:
    """The id of the token that ends a text, see `fst.machines.guide.written.Written`."""
    named = table.metadata.settings.named_tokens.get("eos_token")
    special = {*table.metadata.added_tokens.skipped}
    ids = dict(zip(table.tokens, table.token_ids.tolist(), strict=True))
    if named in ids:
        return int(ids[named])
    return next((int(ids[name]) for name in END_NAMES if ids.get(name) in special), None)


class Node(NamedTuple):
    """A node of a trie, with the bytes of its path; the other fields are those of `fst.machines.guide.vocabulary.Trie`."""

    path: bytes
    skip: int
    token: int | None
    longest_below: int
    groups_below: int


def nodes(contents: Mapping[int, bytes]) -> list[Node]:
    """The nodes of the trie of some tokens, in depth-first order."""
    ids = {content: number for number, content in sorted(contents.items(), reverse=True)}
    paths = sorted({content[:size] for content in contents.values() for size in range(1, len(content) + 1)})
    found = list[Node]()
    for place, path in enumerate(paths):
        below = [*takewhile(lambda other, path=path: other.startswith(path), paths[place + 1 :])]  # type: ignore[misc]
        groups = reduce(or_, (int(GROUPS[byte]) for other in below for byte in other[len(path) :]), 0)
        longest = max(len(each) for each in (path, *below))
        found.append(Node(path, place + 1 + len(below), ids.get(path), longest, groups))
    return found


def nodes_of(trie: Trie, none: int) -> list[Node]:
    """The nodes of a trie; a token of at least `none` is None."""
    found, path = list[Node](), b""
    arrays = (trie.labels, trie.skips, trie.tokens, trie.longest_below, trie.groups_below)
    for label, skip, token, longest, groups in zip(*(array.tolist() for array in arrays), strict=True):
        path = path[: label >> 8] + bytes([label & 0xFF])
        found.append(Node(path, skip, token if token < none else None, longest, groups))
    return found


def twins(contents: Mapping[int, bytes]) -> list[list[int]]:
    """Each token with the same bytes as an earlier token, and the first of these."""
    ids = dict[bytes, int]()
    return [[number, ids[content]] for number, content in contents.items() if content and ids.setdefault(content, number) != number]


def classify(token: bytes) -> tuple[int, int | None, int | None]:
    """The kind of a token, its number of characters and the place of its quotation mark; None where
    `fst.runtime.machines.guide.kernels.strings.classify` defines none.
    """
    place, count, kind = 0, 0, PLAIN if token else OUTSIDE
    while place < len(token):
        if token[place : place + 1] == b'"':
            return QUOTED, count, place
        is_escaped, found = token[place : place + 1] == b"\\", CHARACTER.match(token, place)
        if found is None and not any(CHARACTER.fullmatch(token[place:] + rest) for rest in RESTS):
            return OUTSIDE, None, None
        kind, count, place = ESCAPED if is_escaped else kind, count + 1, found.end() if found else len(token)
    return kind, count, None


def _names(table: Any) -> dict[int, str]:
    """The tokens by id, without special tokens and unknown tokens."""
    metadata, model = table.metadata, table.metadata.model
    named = dict(zip(table.token_ids.tolist(), table.tokens, strict=True))
    named |= {token.id: token.decoded for token in metadata.added_tokens.contextual.values()}
    for number in {*metadata.added_tokens.skipped, model.unk_id}:
        named.pop(number, None)
    return {number: name for number, name in named.items() if name != model.unk_token}


def _byte_level(table: Any) -> dict[int, bytes]:
    contents = [*table.contents]
    for place, data in table.decoded_differently().items():
        contents[place] = data
    return dict(zip(table.token_ids.tolist(), contents, strict=True))


def _by_steps(names: dict[int, str], decoder: StepsDecoder, size: int) -> Rows:
    by = plan(decoder.steps)
    if by is None or any(step["type"] == SUFFIX for step in by.alone) or not by.drops_at_most_one:
        raise UnsupportedError("the bytes of a token depend on other tokens")
    later = [by.content(names[number]) if number in names else b"" for number in range(size)]
    if not by.tail and not any(step["type"] in (PIECES, METASPACE) for step in by.alone):
        return later, later, False
    first = [by.first(names[number]) if number in names else b"" for number in range(size)]
    return later, first, any(step["type"] == PIECES and step["leading"] == ALL for step in by.alone)
