"""Small sources for every kind of table, which the compiler handles in different ways, and strings that contain their special cases.

Add the samples of a new machine here: the tests of frozen tables and of conformance use this file.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.machines.documents import ADDED, PIECES, TOKENS, Merges, byte_level, over_characters
from support.machines.spellers import drawn_speller
from support.machines.spelling import ALPHABET, DICTIONARIES, Dictionary, written_to
from support.sources.rwkv import written
from support.tiers import thinned

from fst.bridge.tuning import tuned
from fst.compile import best_path, bpe, cascade, guide, keywords, lattice, lookup, maxmatch, rewrite, speller, tokenizer, wordpiece
from fst.compile.algebra.machine import Fst

Json = dict[str, Any]


class Sample(NamedTuple):
    """A small table.

    Attributes:
        kind: the kind of the table.
        make: a function that compiles the table; it may write sources to the folder in its argument.
        parts: strings from which texts for the table are joined.
    """

    kind: str
    make: Callable[[Path], Any]
    parts: Sequence[str]


GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MERGES: Merges = [(b"a", b"b"), (b" ", b"ab"), (b"ab", b"ab"), (b"\xc3", b"\xa9"), (b"a", b"\xc3\xa9"), (b" ", b"a"), (b"1", b"1")]
LATE: Merges = [(b"ab", b"c"), (b"aa", b"a"), (b"a", b"b"), (b"b", b"c"), (b"a", b"a"), (b"abc", b"abc"), (b"aa", b"aa")]
CHARACTERS = [("a", "b"), ("▁", "ab"), ("ab", "ab"), ("é", "a"), ("▁", "a"), ("日", "本")]
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
CUTS = {"type": "BertPreTokenizer"}
NORMALIZERS = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}
FLAGGED: Sequence[Json] = [
    {"content": "<s>", "special": True},
    {"content": "<mask>", "special": True, "lstrip": True},
    {"content": "word", "special": False, "single_word": True},
    {"content": "late", "special": False, "normalized": True},
]
BYTE_PARTS = (
    *("a", "b", " ", "ab", "é", "e\u0301", "aé", "c", "11", "\n", "  "),
    *("<s>", "<mask>", "word", "late", "世", "\U0001f600", "'s", "A", "\0"),
)
SCORES = {
    "▁": -2.5,
    "日": -5.0,
    "a": -3.0,
    "b": -3.5,
    "▁a": -2.75,
    "ab": -5.5,
    "▁ab": -5.0,
    "ba": -6.5,
    "abab": -11.0,
    "é": -4.0,
    "日本": -4.5,
    "本": -4.25,
}
CHARACTER_PARTS = ("a", "b", " ", "ab", "▁", "é", "日", "本", "1", "\n", "\0", "☃", "<unk>", "<s>", "  ", "E", "\u0301", "<0x61>")
WORDS = ("a", "ab", "abab", "bab", "é", "世界", "b a", "K", "straße")
WORD_PARTS = ("a", "b", " ", "A", "é", "É", "世", "界", "k", "\u212a", "ſ", "-", "_", "1", "straße", "\n", "\U0001f600", "c")
CHINESE = (("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1), ("生", 0), ("ab", 2), ("1号", 9), ("C+", 2), ("命命命命", 3))
CHINESE_PARTS = ("研", "究", "生", "命", "ab", "1", "号", "C", "+", "-", "。", " ", "\r\n", "世", "\U00020bb7")
MECAB = {
    "lex.csv": "a,1,1,100,letter\nab,1,2,150,pair\nabあ,2,2,90,three\nあ,2,1,80,kana\n\U0001f600,0,1,30,smile\nb,1,1,100,letter\n",
    "unk.def": "DEFAULT,1,1,900,unknown\nDEFAULT,2,2,905,other\nONE,2,1,300,one\nSPACE,0,0,10,space\n",
    "matrix.def": "3 3\n" + "".join(f"{left} {right} {(left * 7 + right * 5) % 11 - 4}\n" for left in range(3) for right in range(3)),
    "char.def": "DEFAULT 0 1 0\nSPACE 0 1 0\nONE 1 0 2\n0x0020 SPACE\n0x0063..0x0064 ONE DEFAULT\n0x3042 DEFAULT\n",
    "dicrc": "cost-factor = 800\nbos-feature = BOS/EOS\n",
}
CODES = ("a@@", "a", "b@@", "ab", "abab@@", "é", "世@@", "s@@", "<mask>")
MECAB_PARTS = ("a", "b", "ab", "あ", "c", "d", "cd", " ", "  ", "\n", "\U0001f600", "世", "z")
JAPANESE = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "ab", "##b", "##c", "c", "あ", "##あ", "abあ", "世", "##界"),
    *("\U0001f600", "z", "##世", "1", "##1", "か", "が", "ς", "σ", "##ς", "##σ", "i", "##\u0307", "##", "##z"),
]
JAPANESE_PARTS = (
    *(*MECAB_PARTS, "界", "[MASK]", "A", "B", "Ａ", "①", "か", "\u3099", "Σ", "İ"),
    *("\0", "\u2028", "\x85", "z" * 101, "##b", "㋿"),
)
CANONICAL = [token for token in TOKENS if not any(map(unicodedata.combining, token))]
GUIDED = ("a", "b", "un", "able", "ab", "é", "世", " ", "日", "本", "x")

RULES = (
    rewrite({"ch": "tʃ", "c": "k", "é": "", "世": "世界x"}),
    rewrite(["a+ -> b / ^|c _ c|$", "(a|bc)* -> <> / b _ ."]),
    rewrite(" -> x / a _ b", direction="rtl"),
    rewrite("a -> b / b _", direction="ltr"),
    rewrite("a -> bé / _ b", direction="rtl"),
)
KEYS = {**{f"a{'bcé'[number % 3]}{number}": "x" * (number % 5) for number in range(80)}, "aab": "", "世": "bé", "ab": "世", "abch": "<ab>"}
RULE_PARTS = ("a", "b", "c", "h", "ch", "é", "世", "x", " ", "\n", "\0", "\U0001f600", "ab", "aaa", "bcbc")


LOOP = [(0, 0, "a", "x"), (0, 1, "a", "<n>"), (1, 2, "b", ""), (2, 0, "<n>", "b"), (0, 0, "\U0001f600", "é"), (1, 0, "世", "界")]
FLAGGED_LOOP = [
    *((0, 1, "@P.A.ON@", ""), (0, 1, "@N.A.ON@", ""), (1, 1, "a", "x"), (1, 2, "@U.A.OFF@", ""), (2, 3, "b", "y"), (2, 3, "b", "")),
    *((3, 4, "@D.A.ON@", ""), (3, 4, "@R.B@", ""), (4, 4, "<n>", "n"), (4, 5, "@C.A@", "z"), (3, 0, "a", "w"), (1, 4, "@R.A.ON@", "")),
]
LOOP_PARTS = ("a", "a", "b", "<n>", "世", "ab<n>", "aa", "\U0001f600", "<", "c", "")


ANY_BYTE = [(0, 0, byte, byte, 1.0) for byte in range(1, 0x100)]
ANY = Fst.from_arcs(ANY_BYTE, [0], unit="utf-8")
LETTERS = [(0, 0, letter, letter, 1.0) for letter in "ab27 m€世x\ufffd"]
BEST_PATHS = (  # each has a path for every text of `BEST_PATH_PARTS`
    (ANY | Fst.from_strings([("2 m", "two <€>", 0.5), ("€", "e", -1), ("7", "")], unit="utf-8")).closure(),
    Fst.from_arcs(
        [*LETTERS, (0, 1, "a", "", 1.5), (1, 1, "a", "á", 0.5), (1, 0, "b", "ab", -1.0), (0, 2, "", "", 0.25), (2, 0, "", "", 0.25)], [0, 1]
    ),
    Fst.from_arcs([*LETTERS, (0, 1, "", "A"), (0, 2, "", "AA"), (1, 1, "a", "x"), (2, 2, "a", "y", 0.5), (2, 0, "b", "", -1.0)], [0, 1, 2]),
)
BEST_PATH_PARTS = ("a", "b", "aa", "2 m", "2", "7", " ", "m", "€", "世", "x", "aaaaaab")


def _drawn_speller(number: int, _: Path) -> Any:
    return drawn_speller(random.Random(number))


def _speller(dictionary: Dictionary, folder: Path) -> Any:
    return speller(written_to(folder, dictionary))


def _document(document: Json) -> Callable[[Path], Any]:
    """A function that compiles a given tokenizer.json."""

    def make(folder: Path) -> Any:
        path = folder / "tokenizer.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return tokenizer(path)

    return make


def _with_added(document: Json, parts: Iterable[Json] = FLAGGED) -> Json:
    """A sample from a tokenizer.json to which more added tokens are added."""
    added = document.get("added_tokens", [])
    first = len(document["model"]["vocab"]) + len(added)
    return {**document, "added_tokens": [*added, *({"id": first + place, **part} for place, part in enumerate(parts))]}


def _wordpiece(pre_tokenizer: Json, normalizer: Json, *, model: str = "WordPiece", added: Sequence[str] = (), **options: Any) -> Json:
    """A tokenizer.json of WordPiece or WordLevel."""
    tokens = [*dict.fromkeys(TOKENS)]
    return {
        "added_tokens": [{"id": len(tokens) + place, "content": content, "special": True} for place, content in enumerate(added)],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": model, "vocab": {token: number for number, token in enumerate(tokens)}, "unk_token": "[UNK]", **options},
    }


def _lacking(document: Json, characters: str) -> Json:
    """A tokenizer.json of byte-level BPE that has an unknown token, because the tokens of some bytes are removed."""
    model = document["model"]
    kept = [token for token in model["vocab"] if not set(token) & set(characters)]
    merges = [merge for merge in model["merges"] if not set("".join(merge)) & set(characters)]
    vocabulary = {token: number for number, token in enumerate([*kept, "<unk>"])}
    return {**document, "added_tokens": [], "model": {**model, "vocab": vocabulary, "merges": merges, "unk_token": "<unk>"}}


def unigram_document(scores: Mapping[str, float] = SCORES, *, fallback: bool = False, **parts: Any) -> Json:
    """A tokenizer.json of Unigram."""
    more = {f"<0x{byte:02X}>": -0.5 for byte in range(256)} if fallback else {}
    vocabulary = [[piece, score] for piece, score in {"<unk>": 0.0, **scores, **more}.items()]
    return {
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": fallback, "vocab": vocabulary},
        **parts,
    }


def _affixes() -> Json:
    """A tokenizer.json of BPE with a suffix at the end of words."""
    names = ["a", "b", "c", "a</w>", "b</w>", "c</w>", "ab", "ab</w>", "abc</w>", "abab</w>"]
    merges = [["a", "b"], ["a", "b</w>"], ["ab", "c</w>"], ["ab", "ab</w>"]]
    model = {"type": "BPE", "vocab": {name: number for number, name in enumerate(["<unk>", *names])}, "merges": merges}
    return {
        "added_tokens": [],
        "normalizer": BERT,
        "pre_tokenizer": CUTS,
        "model": {**model, "unk_token": "<unk>", "end_of_word_suffix": "</w>"},
    }


def _tiktoken(folder: Path) -> Any:
    """Compile ranks in `tiktoken`'s format."""
    from base64 import b64encode

    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b" ab", b"abab", "é".encode(), b"11"]
    path = folder / "small.tiktoken"
    path.write_bytes(b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens)))
    return bpe(path, pattern=GPT2, special={"<s>": 300, "<mask>": 301})


def _longest_match(folder: Path) -> Any:
    """Compile a vocabulary of RWKV."""
    return bpe(written(folder, [b"ab", b" ab", b"abab1", "é".encode(), "aé".encode(), b"11", b"\xe4\xb8"]))


def _codes(folder: Path) -> Any:
    """Compile codes of fastBPE, with a vocabulary that lacks the names of several subwords."""
    for name, lines in {"bpe.codes": ("a b", "b é</w>", "a b</w>", "ab ab", "ab ab</w>"), "dict.txt": CODES}.items():
        (folder / name).write_text("".join(f"{line} 1\n" for line in lines), encoding="utf-8")
    return bpe(folder)


def _model(kind: str, **trainer: Any) -> Callable[[Path], Any]:
    """A function that compiles a model of `sentencepiece`."""

    def make(folder: Path) -> Any:
        from sentencepiece import sentencepiece_model_pb2

        schema: Any = sentencepiece_model_pb2
        made = schema.ModelProto()
        made.trainer_spec.model_type = {"unigram": 1, "bpe": 2, "word": 3, "char": 4}[kind]
        for name, value in trainer.items():
            setattr(made.trainer_spec, name, value)
        pieces = {"<unk>": 2, "<s>": 3, "</s>": 3, **({f"<0x{byte:02X}>": 6 for byte in range(256)} if trainer else {}), "late": 4}
        for piece, type_ in pieces.items():
            made.pieces.add(piece=piece, score=0, type=type_)
        for place, (piece, score) in enumerate(SCORES.items()):
            made.pieces.add(piece=piece, score=-place if kind == "bpe" else score, type=1)
        made.normalizer_spec.add_dummy_prefix = True
        path = folder / "small.model"
        path.write_bytes(made.SerializeToString())
        return tokenizer(path)

    return make


def _other_ids(folder: Path) -> Any:
    """Compile a folder of Marian: some pieces have no id, a run of unknown characters is a token, and codes begin texts."""
    _model("unigram")(folder)
    (folder / "small.model").rename(folder / "source.spm")
    (folder / "target.spm").write_bytes((folder / "source.spm").read_bytes())
    pieces = [piece for place, piece in enumerate(SCORES) if place % 4 != 3]
    tokens = ["<unk>", "</s>", "<pad>", "late", ">>a<<", "世", "世界", *reversed(pieces)]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}), encoding="utf-8")
    return tokenizer(folder)


def _jieba_with_model(_: Path) -> Any:
    """Compile a dictionary of `jieba` with parts of speech, and with the models for unknown words."""
    pytest.importorskip("jieba")
    return lattice.jieba([(*entry, "n") for entry in CHINESE], hmm=True, tags=True)


def _mecab(folder: Path, **options: Any) -> Any:
    """Compile a dictionary of MeCab."""
    for name, content in MECAB.items():
        (folder / name).write_text(content, encoding="utf-8")
    return lattice.mecab(folder, **options)


def japanese(folder: Path, **settings: Any) -> Path:
    """Write a folder of `BertJapaneseTokenizer`, which also contains a dictionary of MeCab."""
    words = {"word_tokenizer_type": "mecab", "subword_tokenizer_type": "wordpiece", "mecab_kwargs": {"mecab_dic": "ipadic"}}
    config = {"tokenizer_class": "BertJapaneseTokenizer", **words, **settings}
    files = {**MECAB, "vocab.txt": "".join(f"{token}\n" for token in JAPANESE), "tokenizer_config.json": json.dumps(config)}
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
    return folder


def _japanese(**settings: Any) -> Callable[[Path], Any]:
    """A function that compiles a folder of `BertJapaneseTokenizer` with some settings."""
    return lambda folder: tokenizer(japanese(folder, **settings), dictionary=folder)


def _tuned(sample: Sample) -> Sample:
    """A sample whose table is tuned to texts that are joined from its strings."""

    def make(folder: Path) -> Any:
        draw = random.Random(47)
        return tuned(sample.make(folder), ["".join(draw.choices(sample.parts, k=12)) for _ in range(60)])

    return sample._replace(make=make)


BYTES = byte_level(GPT2, MERGES, [b"abba"], ["<s>x"])
OVER_BYTES, UNKNOWN = (over_characters(CHARACTERS, "▁abé日本", ["<s>"], has_bytes=has_bytes) for has_bytes in (True, False))
FOUND_IN_TEXT = [content for content in ADDED if not content[0].isalnum()]
EDITS = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Prepend", "prepend": "a"},
        {"type": "Replace", "pattern": {"String": "é"}, "content": "b"},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ],
}
DROPPING = {
    "type": "Sequence",
    "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "Removed", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
    ],
}
SYMBOLS = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SPACES = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, SYMBOLS]}
UNTUNED: Mapping[str, Sample] = {
    **{
        f"wordpiece {layout}": Sample("wordpiece", lambda _, layout=layout: wordpiece([*TOKENS], layout=layout), PIECES)  # type: ignore[misc]
        for layout in ("auto", "compact", "linked")
    },
    "wordpiece added": Sample("wordpiece", _document(_wordpiece(CUTS, BERT, added=FOUND_IN_TEXT)), PIECES),
    "wordpiece flagged": Sample("wordpiece", _document(_with_added(_wordpiece(CUTS, BERT))), (*PIECES, *BYTE_PARTS)),
    "wordpiece composed": Sample("wordpiece", _document(_wordpiece(CUTS, {"type": "NFC"})), PIECES),
    "wordpiece one word": Sample("wordpiece", lambda _: wordpiece([*TOKENS], pre_tokenizer="none"), PIECES),
    "word level": Sample("wordpiece", _document(_wordpiece({"type": "Whitespace"}, {"type": "Lowercase"}, model="WordLevel")), PIECES),
    "bpe automaton": Sample("bpe", _document(BYTES), BYTE_PARTS),
    "bpe queue": Sample("bpe", _document(byte_level(r"[\s\S]+", LATE)), BYTE_PARTS),
    "bpe ignored merges": Sample("bpe", _document(byte_level(GPT2, MERGES, [b"abba"], ignore_merges=True)), BYTE_PARTS),
    "bpe dropout": Sample("bpe", _document(byte_level(GPT2, MERGES, dropout=0.25)), BYTE_PARTS),
    "bpe normalized": Sample("bpe", _document(_with_added({**BYTES, "normalizer": NORMALIZERS})), BYTE_PARTS),
    "bpe affixes": Sample("bpe", _document(_affixes()), BYTE_PARTS),
    "bpe codes": Sample("bpe", _codes, BYTE_PARTS),
    "bpe ranks": Sample("bpe", _tiktoken, BYTE_PARTS),
    "bpe longest match": Sample("bpe", _longest_match, BYTE_PARTS),
    "bpe edits": Sample("bpe", _document(_with_added({**BYTES, "normalizer": EDITS})), BYTE_PARTS),
    "bpe dropped text": Sample("bpe", _document({**BYTES, "pre_tokenizer": DROPPING}), BYTE_PARTS),
    "bpe missing bytes": Sample("bpe", _document(_lacking(BYTES, "11\u00a9")), BYTE_PARTS),
    "bpe characters": Sample("bpe", _document(UNKNOWN), CHARACTER_PARTS),
    "bpe characters and bytes": Sample("bpe", _document(OVER_BYTES), CHARACTER_PARTS),
    "bpe model": Sample("bpe", _model("bpe", byte_fallback=True), CHARACTER_PARTS),
    "bpe model of suffixes": Sample("bpe", _model("bpe", byte_fallback=True, treat_whitespace_as_suffix=True), CHARACTER_PARTS),
    "bpe model of characters": Sample("bpe", _model("char"), CHARACTER_PARTS),
    "unigram": Sample("unigram", _document(unigram_document()), CHARACTER_PARTS),
    "unigram bytes": Sample("unigram", _document(unigram_document(fallback=True)), CHARACTER_PARTS),
    "unigram normalized": Sample("unigram", _document(_with_added(unigram_document(normalizer=NORMALIZERS))), CHARACTER_PARTS),
    "unigram long": Sample("unigram", _document(unigram_document(normalizer=SPACES, pre_tokenizer=None)), CHARACTER_PARTS),
    "unigram model": Sample("unigram", _model("unigram"), CHARACTER_PARTS),
    "unigram other ids": Sample("unigram", _other_ids, (*CHARACTER_PARTS, ">>a<<", ">>b<<", "世", "世界", "</s>")),
    "unigram words": Sample("unigram", _model("word"), CHARACTER_PARTS),
    "unigram model and bytes": Sample("unigram", _model("unigram", byte_fallback=True), CHARACTER_PARTS),
    **{
        f"keywords {kind}": Sample(
            "overlapping-keywords" if kind == "overlapping" else "keywords",
            lambda _, kind=kind: keywords([*WORDS, "ab"], match_kind=kind),  # type: ignore[misc]
            WORD_PARTS,
        )
        for kind in ("leftmost-longest", "leftmost-first", "standard", "overlapping")
    },
    "keywords folded": Sample("keywords", lambda _: keywords(WORDS, ignore_case=True), WORD_PARTS),
    "keywords whole": Sample("keywords", lambda _: keywords(WORDS, whole_words=True, match_kind="leftmost-first"), WORD_PARTS),
    "keywords normalized": Sample("keywords", lambda _: keywords(WORDS, normalizer={"type": "NFKC"}, ignore_case=True), WORD_PARTS),
    "keywords overlapping folded whole": Sample(
        "overlapping-keywords", lambda _: keywords(WORDS, match_kind="overlapping", ignore_case=True, whole_words=True), WORD_PARTS
    ),
    "keywords overlapping normalized": Sample(
        "overlapping-keywords", lambda _: keywords(WORDS, match_kind="overlapping", normalizer={"type": "NFKC"}), WORD_PARTS
    ),
    "lookup": Sample("lookup", lambda _: lookup({"a": ["ab", "x"], "b": "é", "aa": ["a", "b"], "": "nothing"}), LOOP_PARTS),
    "lookup generating": Sample("lookup", lambda _: lookup(Fst.from_arcs(LOOP, final=[0, 2]), inverse=True), LOOP_PARTS),
    "lookup flags": Sample("lookup", lambda _: lookup(Fst.from_arcs(FLAGGED_LOOP, final=[4, 5])), LOOP_PARTS),
    "lookup weights": Sample(
        "lookup", lambda _: lookup(Fst.from_arcs([(*arc, place / 4) for place, arc in enumerate(LOOP)], final={0: 1, 2: -1})), LOOP_PARTS
    ),
    "maxmatch": Sample("maxmatch", lambda _: maxmatch(WORDS), WORD_PARTS),
    "maxmatch backward": Sample("maxmatch", lambda _: maxmatch(WORDS, "backward"), WORD_PARTS),
    "maxmatch rules": Sample("maxmatch", lambda _: maxmatch(["ab", "bab", "a"], rules={"ab|bab": "a|b|bab"}), WORD_PARTS),
    "jieba": Sample("jieba", lambda _: lattice.jieba(CHINESE), CHINESE_PARTS),
    "jieba user": Sample("jieba", lambda _: lattice.jieba(CHINESE, user=[("命研", 7), ("究生", 0)]), CHINESE_PARTS),
    "jieba model": Sample("jieba", _jieba_with_model, CHINESE_PARTS),
    "mecab": Sample("mecab", _mecab, MECAB_PARTS),
    "mecab short": Sample("mecab", lambda folder: _mecab(folder, max_grouping_size=1), MECAB_PARTS),
    "mecab spaces": Sample("mecab", lambda folder: _mecab(folder, skip_spaces=False, max_grouping_size=2), MECAB_PARTS),
    "mecab wordpiece": Sample("mecab-wordpiece", _japanese(), JAPANESE_PARTS),
    "mecab wordpiece in lower case": Sample("mecab-wordpiece", _japanese(do_lower_case=True, never_split=["AB"]), JAPANESE_PARTS),
    "mecab characters": Sample("mecab-wordpiece", _japanese(subword_tokenizer_type="character"), JAPANESE_PARTS),
    "mecab wordpiece without normalization": Sample("mecab-wordpiece", _japanese(mecab_kwargs={"normalize_text": False}), JAPANESE_PARTS),
    "best path over bytes": Sample("best-path", lambda _: best_path(BEST_PATHS[0]), BEST_PATH_PARTS),
    "best path with a cycle of ε-arcs": Sample("best-path", lambda _: best_path(BEST_PATHS[1]), BEST_PATH_PARTS),
    "best path with late outputs": Sample("best-path", lambda _: best_path(BEST_PATHS[2]), BEST_PATH_PARTS),
    "guide of words": Sample("guide", lambda _: guide(wordpiece([*TOKENS]), regex="(un|a|b)*(able)?"), GUIDED),
    "guide of bytes": Sample("guide", lambda folder: guide(_tiktoken(folder), regex="[ab]{1,9}é|世*"), GUIDED),
    "guide of characters": Sample("guide", lambda folder: guide(_document(OVER_BYTES)(folder), regex="(ab|日本?)( [ab]+)?"), GUIDED),
    "guide of canonical tokens": Sample("guide", lambda _: guide(wordpiece(CANONICAL), regex="(un|a|b)*(able)?", canonical=True), GUIDED),
    "rules of strings": Sample("rules", lambda _: RULES[0], RULE_PARTS),
    "rules in parallel": Sample("rules", lambda _: RULES[1], RULE_PARTS),
    "rules from right to left": Sample("rules", lambda _: RULES[2], RULE_PARTS),
    "rules of many strings": Sample("rules", lambda _: rewrite(KEYS), RULE_PARTS),
    "rules of many strings in a cascade": Sample("rules", lambda _: cascade(RULES[2], rewrite(KEYS, direction="rtl")), RULE_PARTS),
    **{
        f"speller of lexicon {number}": Sample("zhfst", partial(_drawn_speller, number), ("a", "b", "ab", "x")) for number in range(3)
    },
    **{
        f"speller of {name}": Sample("speller", partial(_speller, dictionary), ALPHABET) for name, dictionary in DICTIONARIES.items()
    },
    "rules in a cascade": Sample("rules", lambda _: cascade(*RULES), RULE_PARTS),
}
TUNED = ("bpe automaton", "bpe queue", "bpe dropped text", "bpe affixes", "unigram", "unigram model and bytes")
SAMPLES = {**UNTUNED, **{f"{name} tuned": _tuned(UNTUNED[name]) for name in TUNED}}
OTHERS = ("guide", "zhfst")  # kinds that do not read texts and write ids
ENCODING = [name for name, sample in SAMPLES.items() if sample.kind not in OTHERS]


def each(names: Iterable[str], seed: int) -> pytest.MarkDecorator:
    """A decorator that runs a test for samples: by default for one in four samples of each kind, drawn with `seed`; in the slow tier for
    half of the other samples; with ``--cases all`` for all samples.
    """
    of_kind: dict[str, list[str]] = {}
    for name in names:
        of_kind.setdefault(SAMPLES[name].kind, []).append(name)
    draw = random.Random(seed)
    kept = {name for some in of_kind.values() for name in draw.sample(some, -(-len(some) // 4))}
    names_in_order = [name for some in of_kind.values() for name in some]
    others = [pytest.param(name, marks=pytest.mark.slow) for name in names_in_order if name not in kept]
    return pytest.mark.parametrize("name", [*(name for name in names_in_order if name in kept), *thinned(others, 2)])
