"""BERT's WordPiece, byte-pair encoding and Unigram by their definitions: slow, obvious, and independent of the package under test.

WordPiece: a text is cut at special tokens; the rest is normalized and split into words; each word is segmented by MaxMatch. The properties
of characters (whitespace, punctuation, lower case, decomposition) come from the reference, `tokenizers`, because they match no single
version of Unicode. `split_ascii` needs no reference.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

# The replacements of `tokenizers` for cleanup, in this order.
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
    """Segment a word into the longest tokens from left to right; all tokens except the first have the `prefix`.

    The result is one unknown token if the word has more than `max_chars` characters, or if no token matches at some position.
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
    """Split ASCII text as BERT does: control characters are deleted, whitespace separates words, and each punctuation mark is a word."""
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
    """Normalize as `tokenizers` does; if `strip_accents` is None, the value of `lowercase` determines whether accents are stripped."""
    from tokenizers import normalizers

    return normalizers.BertNormalizer(
        lowercase=lowercase,
        strip_accents=strip_accents,
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
    ).normalize_str(text)


def split_bert(text: str) -> list[str]:
    """Split normalized text into words at whitespace, which is deleted, and at punctuation marks, which become words."""
    from tokenizers import pre_tokenizers

    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]


def cut(text: str, special: Iterable[str]) -> list[str]:
    """Cut raw text at its special tokens, the leftmost and longest first; the parts alternate between text and special tokens."""
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
    """Encode a text: special tokens have their ids, and the text between them is encoded word by word.

    With `pre_tokenizer="none"`, the text between two special tokens is one word.
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
    """Join tokens into text. A space precedes each token except the first token and tokens with the `prefix`; the prefix is removed."""
    parts = []
    for at, token in enumerate(tokens):
        part = token if at == 0 else token[len(prefix) :] if token.startswith(prefix) else " " + token
        if cleanup:
            for dirty, clean in CLEANUP:
                part = part.replace(dirty, clean)
        parts.append(part)
    return "".join(parts)


def bpe(piece: bytes, pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    """Merge bytes by a list of pairs: repeatedly merge the two neighbours with the lowest rank, the leftmost of equal pairs.

    If a pair is listed twice, the rank of its last occurrence is used.
    """
    ranks = {pair: rank for rank, pair in enumerate(pairs)}
    return merged(piece, lambda left, right: ranks.get((left, right)))


def bpe_by_ranks(piece: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merge bytes by the ranks of tokens: the rank of a pair is the rank of the joined token."""
    return merged(piece, lambda left, right: ranks.get(left + right))


def merged(piece: bytes, rank_of: Callable[[bytes, bytes], int | None]) -> list[bytes]:
    """Repeatedly merge the leftmost neighbours with the lowest rank, until no neighbours have a rank."""
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
    """Merge the characters of a pre-token as the BPE of `tokenizers` does.

    A character that is not a token becomes the tokens of its bytes if all of them exist, otherwise the unknown token. An unknown token is
    written only when the next unknown token or known character is read, so tokens of bytes between them come first.
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
    """The probability of each segmentation of a pre-token when merges are skipped at random, computed from all possible cases.

    At each step, the pairs that can merge are tried, the lowest rank first, and of equal ranks the leftmost first. Each pair is skipped
    with the probability `dropout`. The first pair that is not skipped is merged, and the next step begins with all pairs. The process ends
    when all pairs are skipped.
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
    """Segment a pre-token by Unigram, with dynamic programming over all substrings; a run of unknown characters is one string.

    Of several best paths to a position, the path whose last token begins first is used.
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
    """Join each run of unknown characters and unknown tokens in a segmentation to one string."""
    tokens: list[tuple[str, bool]] = []
    for token in parts:
        is_unknown = token not in scores or token == unk_token
        if tokens and is_unknown and tokens[-1][1]:
            tokens[-1] = (tokens[-1][0] + token, True)
        else:
            tokens.append((token, is_unknown))
    return [token for token, _ in tokens]


def segmentations(piece: str, scores: Mapping[str, float]) -> list[tuple[float, list[str]]]:
    """All Unigram segmentations of a pre-token with their scores, the best first; each unknown character is a separate part.

    Of segmentations with equal sums, the one with the longer last part comes first; if the last parts are equal, the order is that of the
    segmentations without this part.
    """
    unknown, places = min(scores.values()) - 10, [[(0.0, list[str]())]]
    for end in range(1, len(piece) + 1):
        found = []
        for start in range(end):
            score = scores.get(piece[start:end], unknown if end - start == 1 else None)
            if score is not None:
                found += [(total + score, [*parts, piece[start:end]]) for total, parts in places[start]]
        places.append(sorted(found, key=lambda each: -each[0]))  # a stable sort preserves the order of ties
    return places[-1]


def tokens_ending(tokens: Sequence[str], data: bytes, end: int) -> list[int]:
    """The indices of the tokens that end at a byte of a text, the longest first.

    If tokens end with the last character, but this character alone is not a token, the list ends with its negative number of bytes.
    """
    if end < len(data) and data[end] & 0xC0 == 0x80:
        return []
    found = [place for place, token in enumerate(tokens) if data[:end].endswith(token.encode())]
    ending = sorted(found, key=lambda place: -len(tokens[place]))
    last = data[:end].decode()[-1]
    return [*ending, -len(last.encode())] if ending and last not in tokens else ending


def unigram_ids(piece: str, vocabulary: Sequence[tuple[str, float]], unk_id: int, byte_fallback: bool = False) -> list[int]:
    """The ids of a pre-token's best Unigram segmentation; a string that is not a token becomes the tokens of its bytes, or the unknown
    token.
    """
    return ids_of_tokens(unigram(piece, dict(vocabulary), vocabulary[unk_id][0]), vocabulary, unk_id, byte_fallback)


def ids_of_tokens(tokens: Iterable[str], vocabulary: Sequence[tuple[str, float]], unk_id: int, byte_fallback: bool = False) -> list[int]:
    """The ids of strings; a string that is not a token becomes the tokens of its bytes, or the unknown token."""
    numbers, ids = {token: number for number, (token, _) in enumerate(vocabulary)}, list[int]()
    for token in tokens:
        if token in numbers:
            ids.append(numbers[token])
            continue
        names = [f"<0x{byte:02X}>" for byte in token.encode()]
        ids += [numbers[name] for name in names] if byte_fallback and all(name in numbers for name in names) else [unk_id]
    return ids
