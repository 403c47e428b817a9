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


def max_match(
    word: str, vocabulary: Mapping[str, int], *, unk_token: str = "[UNK]", prefix: str = "##", max_chars: int = 100
) -> list[int]:
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
