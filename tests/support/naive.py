"""BERT's WordPiece and byte-pair encoding by their definitions: slow, obvious, and independent of the package that they check.

WordPiece: a text is cut at special tokens; the rest is normalised and split into words; each word is segmented by MaxMatch. What
characters are (white space, punctuation, lower case, decomposition) is asked of the reference, `tokenizers`, because
no single version of Unicode says it; `split_ascii` needs no reference.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

# What the reference's decoder replaces when it cleans up, in this order.
CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


def max_match(word: str, vocabulary: Mapping[str, int], *, unk_token: str = "[UNK]", prefix: str = "##", max_chars: int = 100) -> list[int]:
    """Segment one word: longest match first, `prefix` before every piece but the first.

    A word of more than `max_chars` characters, or one whose rest matches nothing, is one unknown token as a whole.
    """
    unknown = [vocabulary[unk_token]]
    if len(word) > max_chars:
        return unknown
    ids = []
    start = 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = (prefix if start > 0 else "") + word[start:end]
            if piece in vocabulary:
                ids.append(vocabulary[piece])
                start = end
                break
        else:
            return unknown
    return ids


def split_ascii(text: str, *, lowercase: bool = True) -> list[str]:
    """Split ASCII text as BERT does: control characters vanish, blanks separate, each punctuation mark is a word."""
    words = []
    for field in re.split(r"[ \t\n\r]", text):
        visible = "".join(char for char in field if char.isprintable())
        words += re.findall(rf"[{re.escape(string.punctuation)}]|[^{re.escape(string.punctuation)}]+", visible)
    return [word.lower() if lowercase else word for word in words]


def normalize(
    text: str,
    *,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
) -> str:
    """Normalise as the reference does; accents are stripped as `lowercase` says where `strip_accents` is None."""
    from tokenizers import normalizers

    return normalizers.BertNormalizer(
        lowercase=lowercase,
        strip_accents=strip_accents,
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
    ).normalize_str(text)


def split_bert(text: str) -> list[str]:
    """Split normalised text into words at white space, which vanishes, and punctuation, which does not."""
    from tokenizers import pre_tokenizers

    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]


def cut(text: str, special: Iterable[str]) -> list[str]:
    """Cut the raw text at special tokens, leftmost and longest first; they are every other part, from the second on."""
    longest_first = sorted(special, key=len, reverse=True)
    return re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text) if longest_first else [text]


def encode(
    text: str,
    vocabulary: Mapping[str, int],
    *,
    special: Iterable[str] = (),
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    unk_token: str = "[UNK]",
    continuing_subword_prefix: str = "##",
    max_input_chars_per_word: int = 100,
    pre_tokenizer: str = "bert",
) -> list[int]:
    """Encode a text: the tokens of `special` wherever they stand, and between them word by word.

    With `pre_tokenizer="none"` all that stands between two special tokens is one word.
    """
    ids = []
    for at, part in enumerate(cut(text, special)):
        if at % 2:
            ids.append(vocabulary[part])
            continue
        normal = normalize(
            part,
            lowercase=lowercase,
            strip_accents=strip_accents,
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
        )
        for word in split_bert(normal) if pre_tokenizer == "bert" else [normal]:
            ids += max_match(
                word,
                vocabulary,
                unk_token=unk_token,
                prefix=continuing_subword_prefix,
                max_chars=max_input_chars_per_word,
            )
    return ids


def decode(tokens: Iterable[str], *, prefix: str = "##", cleanup: bool = True) -> str:
    """Join tokens into text: before each but the first a blank, or nothing where its prefix continues a word."""
    parts = []
    for at, token in enumerate(tokens):
        part = token if at == 0 else token[len(prefix) :] if token.startswith(prefix) else " " + token
        if cleanup:
            for dirty, clean in CLEANUP:
                part = part.replace(dirty, clean)
        parts.append(part)
    return "".join(parts)


def bpe(piece: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Merge by a list: of all neighbours in it the pair of lowest rank, the leftmost of several, until there is none.

    Of a pair that is listed twice, the last rank counts.
    """
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    return merged(piece, lambda left, right: ranks.get((left, right)))


def bpe_by_ranks(piece: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merge by the ranks of tokens: the rank of a pair is that of its concatenation."""
    return merged(piece, lambda left, right: ranks.get(left + right))


def merged(piece: bytes, rank_of: Callable[[bytes, bytes], int | None]) -> list[bytes]:
    """Merge neighbours of lowest rank, the leftmost first, until no two have a rank."""
    parts = [piece[place : place + 1] for place in range(len(piece))]
    while True:
        ranks = [(rank, place) for place in range(len(parts) - 1) if (rank := rank_of(parts[place], parts[place + 1])) is not None]
        if not ranks:
            return parts
        _, place = min(ranks)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


def character_bpe(
    piece: str,
    vocabulary: Mapping[str, int],
    merges: Sequence[tuple[str, str]],
    *,
    unk_token: str | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    prefix: str = "",
    suffix: str = "",
) -> list[int]:
    """Merge the characters of a piece, as the reference's BPE does.

    A character that is no token becomes the tokens of its bytes, if there are all of them, or the unknown token. An unknown token waits
    until the next one or a known character, so that bytes in between come before it.
    """
    tokens, waiting = list[int](), list[int]()
    for place, char in enumerate(piece):
        name = prefix * (place > 0) + char + suffix * (place == len(piece) - 1)
        spelled = [f"<0x{byte:02X}>" for byte in name.encode()]
        if name in vocabulary:
            tokens += [*waiting, vocabulary[name]]
            waiting = []
        elif byte_fallback and all(byte in vocabulary for byte in spelled):
            tokens += [vocabulary[byte] for byte in spelled]
        elif unk_token is not None:
            tokens += [] if fuse_unk else waiting
            waiting = [vocabulary[unk_token]]
    tokens += waiting
    ranks, made = dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for rank, (left, right) in enumerate(merges):
        pair = vocabulary[left], vocabulary[right]
        ranks[pair], made[pair] = rank, vocabulary[left + right[len(prefix) :]]
    while found := [(ranks[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in ranks]:
        _, place = min(found)
        tokens[place : place + 2] = [made[tokens[place], tokens[place + 1]]]
    return tokens


def bpe_dropout(piece: bytes, pairs: Sequence[tuple[bytes, bytes]], dropout: float) -> dict[tuple[bytes, ...], float]:
    """The probability of each segmentation of a piece when merges are skipped at random: by going through all that may happen.

    At each step the pairs that may merge are gone through, the lowest rank first and the leftmost of several. Each is skipped with the
    probability `dropout`; the first that is not merges, and then all may merge again. It ends when all are skipped.
    """
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    found: dict[tuple[bytes, ...], float] = {}

    def go_on(parts: tuple[bytes, ...], probability: float) -> None:
        candidates = sorted((ranks[pair], place) for place, pair in enumerate(pairwise(parts)) if pair in ranks)
        for _, place in candidates:
            go_on((*parts[:place], parts[place] + parts[place + 1], *parts[place + 2 :]), probability * (1 - dropout))
            probability *= dropout
        found[parts] = found.get(parts, 0) + probability

    go_on(tuple(piece[place : place + 1] for place in range(len(piece))), 1.0)
    return found


def unigram(piece: str, scores: Mapping[str, float], unk_token: str) -> list[str]:
    """The tokens of a piece by Unigram, by dynamic programming over all its substrings. A run of unknown characters is one string.

    The first of several best paths to a place is the one whose last token begins first.
    """
    unknown = min(scores.values()) - 10
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(piece) + 1):
        found = []
        for start in range(end):
            score = scores.get(piece[start:end], unknown if end - start == 1 else None)
            if score is not None:
                found.append((score + best[start][0], start))
        best.append(max(found, key=lambda path: path[0]))
    ends = [len(piece)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    return fused([piece[start:end] for start, end in pairwise(reversed(ends))], scores, unk_token)


def fused(parts: Iterable[str], scores: Mapping[str, float], unk_token: str) -> list[str]:
    """The tokens of a segmentation: a run of unknown characters, and of the unknown token, becomes one string."""
    tokens: list[tuple[str, bool]] = []
    for token in parts:
        is_unknown = token not in scores or token == unk_token
        if tokens and is_unknown and tokens[-1][1]:
            tokens[-1] = (tokens[-1][0] + token, True)
        else:
            tokens.append((token, is_unknown))
    return [token for token, _ in tokens]


def segmentations(piece: str, scores: Mapping[str, float]) -> list[tuple[float, list[str]]]:
    """All segmentations of a piece by Unigram, each with the sum of its scores, the best first. Unknown characters are parts, too.

    Of equal sums, the one comes first whose last part is longer; of several such, the one that comes first without that part.
    """
    unknown, places = min(scores.values()) - 10, [[(0.0, list[str]())]]
    for end in range(1, len(piece) + 1):
        found = []
        for start in range(end):
            score = scores.get(piece[start:end], unknown if end - start == 1 else None)
            if score is not None:
                found += [(total + score, [*parts, piece[start:end]]) for total, parts in places[start]]
        places.append(sorted(found, key=lambda each: -each[0]))  # which keeps the order of ties
    return places[-1]


def tokens_ending(tokens: Sequence[str], data: bytes, end: int) -> list[int]:
    """The tokens that end at a byte of a text, the longest first, as their places in a list; and minus the size of a last character that
    is no token, if other tokens end with it.
    """
    if end < len(data) and data[end] & 0xC0 == 0x80:
        return []
    found = [place for place, token in enumerate(tokens) if data[:end].endswith(token.encode())]
    ending = sorted(found, key=lambda place: -len(tokens[place]))
    last = data[:end].decode()[-1]
    return [*ending, -len(last.encode())] if ending and last not in tokens else ending


def unigram_ids(piece: str, vocabulary: Sequence[tuple[str, float]], unk_id: int, byte_fallback: bool = False) -> list[int]:
    """The ids of a piece by Unigram: a string that is no token is the tokens of its bytes, or else the unknown token."""
    return ids_of_tokens(unigram(piece, dict(vocabulary), vocabulary[unk_id][0]), vocabulary, unk_id, byte_fallback)


def ids_of_tokens(tokens: Iterable[str], vocabulary: Sequence[tuple[str, float]], unk_id: int, byte_fallback: bool = False) -> list[int]:
    """The ids of strings that are tokens or not."""
    numbers, ids = {token: number for number, (token, _) in enumerate(vocabulary)}, list[int]()
    for token in tokens:
        if token in numbers:
            ids.append(numbers[token])
            continue
        names = [f"<0x{byte:02X}>" for byte in token.encode()]
        ids += [numbers[name] for name in names] if byte_fallback and all(name in numbers for name in names) else [unk_id]
    return ids


def keyword_matches(
    keywords: Sequence[str], text: str, kind: str, *, ignore_case: bool = False, whole_words: bool = False
) -> list[tuple[int, int, int]]:
    """The matches of keywords in a text, each with its first character and one past the last, by the definition of a kind of match.

    After a match, the search goes on at its end. An empty match at the end of the match before it does not count.
    """
    numbers: dict[str, list[int]] = {}
    for number, keyword in enumerate(keywords):
        numbers.setdefault(folded(keyword) if ignore_case else keyword, []).append(number)
    read, longest = folded(text) if ignore_case else text, max(map(len, keywords))
    spans = ((start, end) for start in range(len(text) + 1) for end in range(start, min(start + longest, len(text)) + 1))
    stand = [(start, end) for start, end in spans if read[start:end] in numbers and (not whole_words or is_whole(read, start, end))]
    possible = [(number, start, end) for start, end in stand for number in numbers[read[start:end]]]
    if kind == "overlapping":
        return sorted(possible, key=lambda match: (match[2], match[1], match[0]))
    orders: dict[str, Callable[[int, int, int], tuple[int, ...]]] = {
        "leftmost-longest": lambda number, start, end: (start, -end, number),
        "leftmost-first": lambda number, start, _: (start, number),
        "standard": lambda number, start, end: (end, start, number),
    }
    found, at = list[tuple[int, int, int]](), 0
    while left := [match for match in possible if match[1] >= at]:
        best = min(left, key=lambda match: orders[kind](*match))
        if found and best[1] == best[2] == found[-1][2]:
            at += 1
        else:
            found.append(best)
            at = best[2]
    return found


def folded(text: str) -> str:
    """A text with its case folded, one character for one."""
    return "".join(char.casefold() if len(char.casefold()) == 1 else char.lower() if len(char.lower()) == 1 else char for char in text)


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on beyond the ends of a part of a text."""
    edges = [place for place in (start, end) if 0 < place < len(text) and start < end]
    return not any(is_of_words(text[place - 1]) and is_of_words(text[place]) for place in edges)


def is_of_words(char: str) -> bool:
    """Whether a character is a letter, a mark, a digit or a connector, and neither ideograph nor kana."""
    name, category = unicodedata.name(char, ""), unicodedata.category(char)
    return (category[0] in "LMN" or category == "Pc") and not any(script in name for script in ("CJK", "HIRAGANA", "KATAKANA", "IDEOGRAPH"))


def jieba_block(frequencies: Mapping[str, int], total: int, block: str) -> list[str]:
    """The words of a block without letters of ASCII, by jieba's definition: all paths, the score of each summed from its end.

    Args:
        frequencies: those above 0.
        total: the sum of all frequencies that were ever given.
        block: the text.
    """

    def best(start: int) -> tuple[float, int, list[str]]:
        if start == len(block):
            return 0.0, 0, []
        ends = [end for end in range(start + 1, len(block) + 1) if block[start:end] in frequencies] or [start + 1]
        found = []
        for end in ends:
            score, _, words = best(end)
            found.append((log(frequencies.get(block[start:end], 1)) - log(total) + score, end, [block[start:end], *words]))
        return max(found)

    return best(0)[2]


class MecabDictionary(NamedTuple):
    """A small dictionary of MeCab.

    Attributes:
        words: surface, left id, right id and cost of each word.
        unknowns: category, left id, right id and cost of each entry for unknown words.
        matrix: the connection costs, by the right id of the left word and the left id of the right word.
        categories: by its name invoke, group and length of each category.
        characters: the categories of each character; others have DEFAULT.
        most: the maximum of characters after the first in a run.
    """

    words: Sequence[tuple[str, int, int, int]]
    unknowns: Sequence[tuple[str, int, int, int]]
    matrix: Sequence[Sequence[int]]
    categories: Mapping[str, tuple[bool, bool, int]]
    characters: Mapping[str, tuple[str, ...]]
    most: int

    def of(self, char: str) -> tuple[str, ...]:
        """The categories of a character."""
        return self.characters.get(char, ("DEFAULT",))

    def sorts(self, text: str, start: int) -> list[tuple[str, int, int, int]]:
        """The words and unknown words that begin at a place, with their surfaces."""
        known = [word for word in self.words if text.startswith(word[0], start)]
        first = self.of(text[start])
        invoke, group, length = self.categories[first[0]]
        if known and not invoke:
            return known
        run = start + 1
        while run < len(text) and {*self.of(text[run])} & {*self.of(text[run - 1])}:
            run += 1
        ends = [run] if group and run - start - 1 <= self.most else []
        for end in range(start + 1, start + length + 1):
            if end > len(text) or any(not {*first} & {*self.of(char)} for char in text[start:end]) or (group and end == run):
                break
            ends.append(end)
        if not known and not ends:
            ends = [start + 1]
        entries = [entry for name, *entry in self.unknowns if name == first[0]]
        return known + [(text[start:end], left, right, cost) for end in ends for left, right, cost in entries]

    def least_cost(self, text: str) -> int:
        """The cost of the best of all paths through a text; words of the dictionary have no blanks."""

        def rest(start: int, right: int) -> int:
            while start < len(text) and "SPACE" in self.of(text[start]):
                start += 1
            if start == len(text):
                return self.matrix[right][0]
            found = self.sorts(text, start)
            return min(self.matrix[right][left] + cost + rest(start + len(surface), own) for surface, left, own, cost in found)

        return rest(0, 0)


def maxmatch(words: Iterable[str], text: str, *, backward: bool = False, rules: Mapping[str, str] | None = None) -> list[str]:
    """Segment a text: from where the last token ended, the longest word, or else one character.

    A rule is a word that stands for the tokens of its right side.
    """
    rewritten = {left.replace("|", ""): right.split("|") for left, right in (rules or {}).items()}
    known = {*words, *rewritten}
    longest, found, rest = max(map(len, known)), list[str](), text
    while rest:
        sizes = range(min(longest, len(rest)), 0, -1)
        pieces = [rest[-size:] if backward else rest[:size] for size in sizes]
        token = next((piece for piece in pieces if piece in known), pieces[-1])
        rest = rest[: -len(token)] if backward else rest[len(token) :]
        tokens = rewritten.get(token, [token])
        found = [*tokens, *found] if backward else [*found, *tokens]
    return found


class Piece(NamedTuple):
    """A piece of sentencepiece: its text, its score and its type, as the fields of a ``.model`` name them."""

    text: str
    score: float
    type: int = 1


NORMAL, UNKNOWN, USER_DEFINED, UNUSED = 1, 2, 4, 5
Parts = list[tuple[str, int]]  # a text in parts, each with its id


def normal_text(
    text: str,
    *,
    charsmap: Mapping[str, str],
    own: Sequence[str],
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    escape_whitespaces: bool,
    is_suffix: bool = False,
) -> tuple[str, list[int]]:
    """A text as sentencepiece normalises it; and where each character begins in the raw text, and where the last one ends.

    With `is_suffix` the blank that is added stands behind the text. At each place stands the longest of users' own pieces, or else the
    longest string of the charsmap, or else a character.
    """

    def chunk(at: int) -> tuple[str, int]:
        for strings in ({piece: piece for piece in own}, charsmap, {text[at]: text[at]}):
            found = max((string for string in strings if text.startswith(string, at)), key=len, default="")
            if found:
                return strings[found], at + len(found)
        raise AssertionError

    at, chars, begins = 0, list[str](), list[int]()
    while remove_extra_whitespaces and at < len(text) and chunk(at)[0] == " ":
        _, at = chunk(at)
    if at == len(text):
        return "", [0]
    if add_dummy_prefix and not is_suffix:
        chars, begins = [" "], [at]
    was_blank = remove_extra_whitespaces
    while at < len(text):
        new, end = chunk(at)
        new = new.lstrip(" ") if was_blank else new
        chars += new
        begins += [at] * len(new)
        was_blank = remove_extra_whitespaces and (new.endswith(" ") if new else was_blank)
        at = end
    symbol = "▁" if escape_whitespaces else " "
    chars = [symbol if char == " " else char for char in chars]
    while remove_extra_whitespaces and chars and chars[-1] == symbol:
        chars.pop()
        at = begins.pop()
    if add_dummy_prefix and is_suffix:
        chars.append(symbol)
        begins.append(at)
    return "".join(chars), [*begins, at]


def sentencepiece(pieces: Sequence[Piece], kind: str, text: str, *, byte_fallback: bool = False) -> list[int]:
    """The ids of a normalised text by a model of sentencepiece. A run of unknown parts is one id, or the ids of all its bytes."""
    segment = {"unigram": best_path, "bpe": bpe_by_scores, "char": characters, "word": words}[kind]
    unknown = next(number for number, piece in enumerate(pieces) if piece.type == UNKNOWN)
    of_bytes = {piece.text: number for number, piece in enumerate(pieces)}
    ids: list[int] = []
    for last, (part, number) in pairwise([("", -1), *segment(pieces, unknown, text)]):
        if number == unknown and byte_fallback:
            ids += [of_bytes[f"<0x{byte:02X}>"] for byte in part.encode()]
        elif number != unknown or last[1] != unknown:
            ids.append(number)
    return ids


def best_path(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """The best path: sums of scores, in float32, from the beginning of the text. Of equal ones, the one whose last piece is longest.

    Where a piece may begin, and the sum is beyond 100,000 either way, this sum is subtracted from all sums up to there and after.
    """
    normal = [piece.score for piece in pieces if piece.type == NORMAL]
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    penalty = np.float32(min(normal, default=0)) - np.float32(10)
    best: list[tuple[np.float32, int, int] | None] = [(np.float32(0), 0, 0), *[None] * len(text)]
    for begin in range(len(text)):
        here = best[begin]
        assert here is not None
        if abs(base := here[0]) > 100_000:
            best[begin:] = [other and (other[0] - base, *other[1:]) for other in best[begin:]]
            here = (np.float32(0), *here[1:])
        ends = [end for end in range(begin + 1, len(text) + 1) if text[begin:end] in known]
        arcs = [(end, known[text[begin:end]]) for end in ends]
        arcs += [(begin + 1, unknown)] if begin + 1 not in ends else []
        for end, number in arcs:
            score, other = here[0] + _score(pieces[number], penalty), best[end]
            best[end] = other if other and not score > other[0] else (score, begin, number)
    return _read_back(best, text)


def _score(piece: Piece, penalty: np.float32) -> np.float32:
    """What a piece adds to a path. Users' own pieces nearly always win, the longer the rather."""
    if piece.type == USER_DEFINED:
        return np.float32(0.1 * (len(piece.text.encode()) - 1))
    return penalty if piece.type == UNKNOWN else np.float32(piece.score)


def _read_back(best: Sequence[tuple[np.float32, int, int] | None], text: str) -> Parts:
    parts, end = [], len(text)
    while end:
        node = best[end]
        assert node is not None
        parts.append((text[node[1] : end], node[2]))
        end = node[1]
    return parts[::-1]


def bpe_by_scores(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """Join the two neighbours whose piece has the highest score, the first of equal ones, until none are a piece.

    Users' own pieces are found before, the longest first, and are never joined. A piece that is not to be used falls apart again.
    """
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED, UNUSED)}
    own = [piece.text for piece in pieces if piece.type == USER_DEFINED]
    parts = _with_own(own, text)
    made_of: dict[str, tuple[str, str]] = {}
    while True:
        pairs = [left + right for left, right in pairwise(parts)]
        joined = [(-pieces[known[pair]].score, at) for at, pair in enumerate(pairs) if pair in known and not {*parts[at : at + 2]} & {*own}]
        if not joined:
            break
        _, at = min(joined)
        if pieces[known[pairs[at]]].type == UNUSED:
            made_of[pairs[at]] = parts[at], parts[at + 1]
        parts[at : at + 2] = [pairs[at]]
    used = {text: number for text, number in known.items() if pieces[number].type != UNUSED}
    return [(part, used.get(part, unknown)) for whole in parts for part in _apart(whole, made_of)]


def _with_own(own: Sequence[str], text: str) -> list[str]:
    """The characters of a text; but users' own pieces are whole."""
    parts, at = [], 0
    while at < len(text):
        parts.append(max((piece for piece in own if text.startswith(piece, at)), key=len, default=text[at]))
        at += len(parts[-1])
    return parts


def _apart(part: str, made_of: Mapping[str, tuple[str, str]]) -> list[str]:
    """The pieces of which a piece that is not to be used was made."""
    return [part] if part not in made_of else [piece for half in made_of[part] for piece in _apart(half, made_of)]


def characters(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """Each character is a piece; so are users' own pieces."""
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    own = [piece.text for piece in pieces if piece.type == USER_DEFINED]
    return [(part, known.get(part, unknown)) for part in _with_own(own, text)]


def words(pieces: Sequence[Piece], unknown: int, text: str) -> Parts:
    """Each word is a piece, with the ▁ before it."""
    known = {piece.text: number for number, piece in enumerate(pieces) if piece.type in (NORMAL, USER_DEFINED)}
    return [(part, known.get(part, unknown)) for part in re.split("(?=▁)", text) if part]
