"""Compile kernels ahead of time, by using small tables of every kind."""

from __future__ import annotations

import json
import struct
import zipfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.core.jit import destination

if TYPE_CHECKING:
    from fst.tables.table import Table
MECAB = {  # a dictionary of minimal size
    "words.csv": "ab,0,0,1,\n",
    "matrix.def": "1 1\n0 0 0\n",
    "char.def": "DEFAULT 0 1 0\nSPACE 0 1 0\n",
    "unk.def": "DEFAULT,0,0,1,\nSPACE,0,0,1,\n",
}


class Compiler:
    """The worker of a `Process` that compiles kernels."""

    def compile(self, part: str) -> tuple[bool, str]:
        """Compile the kernels of a part, a key of `PARTS`; return the result of `fst.core.jit.destination`."""
        with TemporaryDirectory() as folder:
            PARTS[part](Path(folder))
        from fst.runtime.machines.wordpiece.kernels import encode as kernels

        return destination(kernels.encode_rows)


def _compile_wordpiece(folder: Path) -> None:
    tokenizer = _used(_wordpiece(), folder)
    tokenizer(["ab"], return_tensors="np")


def _compile_wordpiece_with_composed_letters(folder: Path) -> None:
    _read_twice(folder, {"normalizer": {"type": "NFC"}}, "a\u0301")


def _compile_wordpiece_with_long_added_tokens(folder: Path) -> None:
    # an added token with too many nodes for `matching.link`, and a word that is too long for a kernel
    _read_twice(folder, {"added_tokens": [{"id": 3, "content": "a" * 600, "normalized": True}]}, "a" * 101)


def _wordpiece() -> Any:
    from fst.compile import wordpiece

    return wordpiece(["[UNK]", "a", "##b"], layout="compact")


def _read_twice(folder: Path, part: dict[str, Any], text: str) -> None:
    """Use a WordPiece tokenizer whose tokenizer.json has an additional part, on a text that the kernels read twice."""
    from fst import Tokenizer
    from fst.compile import wordpiece
    from fst.runtime.compat.transformers.document import document

    source = folder / "tokenizer.json"
    source.write_text(json.dumps({**document(_wordpiece()), **part}))
    read_twice = Tokenizer(wordpiece(source))
    read_twice.encode("a")
    for offsets in (False, True):
        read_twice.encode_batch([text], offsets=offsets)


def _compile_bpe(folder: Path) -> None:
    from fst.compile import bpe
    from fst.runtime import decoder

    tokenizer = _used(bpe(_bpe(folder)), folder)
    _streamed(tokenizer)
    for dtype in decoder.TYPES:
        tokenizer.decode_bytes(np.zeros(1, dtype))
    source = folder / "letters.tiktoken"
    source.write_text("".join(f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)))
    bpe(source, encoding="gpt2", no_special=True)


def _compile_dropout_of_bpe(folder: Path) -> None:
    from fst import Dropout, Tokenizer
    from fst.compile import bpe

    for offsets in (False, True):
        Tokenizer(bpe(_bpe(folder))).encode_batch(["ab"], offsets=offsets, randomness=Dropout(1))


def _compile_bpe_by_merges(folder: Path) -> None:
    from fst.compile import bpe

    # merges for which no automaton gives exactly the right tokens
    tokenizer = _used(bpe(_bpe(folder, ["ab", "aba"], [["ab", "a"], ["a", "b"]], normalizer={"type": "NFC"})), folder)
    for offsets in (False, True):
        tokenizer.encode_batch(["a\u0301"], offsets=offsets)
    _streamed(tokenizer)


def _bpe(folder: Path, tokens: Sequence[str] = ("ab",), merges: Sequence[Sequence[str]] = (("a", "b"),), **parts: Any) -> Path:
    """A tokenizer.json of byte-level BPE."""
    from fst.pretokens.byte_letters import spelled

    vocab = {token: number for number, token in enumerate([*(spelled(bytes([byte])) for byte in range(256)), *tokens])}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    source, model = folder / "tokenizer.json", {"type": "BPE", "vocab": vocab, "merges": merges}
    source.write_text(json.dumps({"model": model, "pre_tokenizer": byte_level, **parts}))
    return source


def _streamed(tokenizer: Any) -> None:
    stream = tokenizer.stream()
    stream.write("ab")
    stream.read()


def _compile_unigram(folder: Path) -> None:
    from fst.compile import tokenizer

    _used(tokenizer(_unigram(folder)), folder)


def _compile_sampling_of_unigram(folder: Path) -> None:
    from fst import Sampling, Tokenizer
    from fst.compile import tokenizer

    used: Any = Tokenizer(tokenizer(_unigram(folder)))
    used.nbest("ab", 2)
    for offsets in (False, True):
        for nbest_size in (-1, 2):
            used.encode_batch(["ab"], offsets=offsets, randomness=Sampling(nbest_size=nbest_size))


def _unigram(folder: Path) -> Path:
    """A tokenizer.json of Unigram."""
    source = folder / "tokenizer.json"
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["\u2581", -2], ["ab", -3]]}
    source.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}}))
    return source


def _compile_unigram_of_sentencepiece(folder: Path) -> None:
    from fst.compile.machines.unigram.compiler import assemble
    from fst.compile.machines.unigram.model import UnigramModel
    from fst.compile.sources.templates import BARE
    from fst.compile.text.sentencepiece import WORD_CUTS
    from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
    from fst.machines.unigram.viterbi import NORMAL, TEXT_SCOPE, UNKNOWN
    from fst.tables.header import AddedTokens

    for is_word_type, cuts in ((False, ()), (True, (WORD_CUTS,))):
        whole = UnigramModel(["<unk>", "a"], [0.0, -1.0], 0, scope=TEXT_SCOPE, types=[UNKNOWN, NORMAL], is_word_type=is_word_type)
        _used(assemble(Source(whole, TextPipeline([], cuts), AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS), "auto"), folder)


def _compile_search(folder: Path) -> None:
    import fst
    from fst.compile import keywords

    for kind in ("standard", "leftmost-longest", "overlapping"):
        keywords(["ab", "b"], match_kind=kind).save(folder / "keywords.npz")
        searcher = fst.Searcher.load(folder / "keywords.npz")
        searcher.find_batch(["ab"])
        searcher.count([b"ab"])
        searcher.find("ab")
    fst.Searcher(keywords(["ab"])).replace(["ab" * 99], "b")


def _compile_search_of_spelled_texts(_: Path) -> None:
    import fst
    from fst.compile import keywords

    for options in ({"ignore_case": True}, {"whole_words": True, "normalizer": {"type": "NFC"}}):
        searcher = fst.Searcher(keywords(["ab"], **options))
        stream = searcher.stream()
        stream.write("a\u0301 ab a")
        stream.read()
        searcher.count(["a\u0301"])


def _compile_maxmatch(folder: Path) -> None:
    from fst.compile import maxmatch

    for direction in ("forward", "backward"):
        _segment(maxmatch(["ab", "b"], direction), folder)


def _compile_jieba(folder: Path) -> None:
    from fst.compile import lattice

    _segment(lattice.jieba([("ab", 1)]), folder)


def _compile_mecab(folder: Path) -> None:
    from fst.compile import lattice

    for name, content in MECAB.items():
        (folder / name).write_text(content)
    _segment(lattice.mecab(folder), folder)


def _compile_mecab_and_wordpiece(folder: Path) -> None:
    from fst.compile import tokenizer

    config = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab"}
    lines = "".join(f"{token}\n" for token in ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "ab"))
    for name, content in {**MECAB, "vocab.txt": lines, "tokenizer_config.json": json.dumps(config)}.items():
        (folder / name).write_text(content)
    _used(tokenizer(folder, dictionary=folder), folder)


def _compile_lookup(folder: Path) -> None:
    import fst
    from fst.compile import lookup
    from fst.runtime.machines.lookup.lines import LINES

    lookup({"ab": "b"}).save(folder / "lookup.npz")
    for words in (["ab"], [b"ab"]):
        fst.Lookup.load(folder / "lookup.npz").lookup_batch(words).strings()
    loaded = fst.Lookup.load(folder / "lookup.npz")
    for form in LINES:
        loaded.lookup_batch(["ab"]).lines([b"ab"], form)
    loaded("ab")
    [*loaded.lookup_batch(["ab"] * 8)]  # enough analyses for the kernel that makes lists
    loaded._encoder.encode_batch(["ab"], offsets=True)
    loaded.to_apertium(["ab"])


def _compile_speller(folder: Path) -> None:
    import fst
    from fst.compile import speller

    (folder / "words.aff").write_text("SET UTF-8\n")
    (folder / "words.dic").write_text("1\nab\n")
    speller(folder / "words.aff").save(folder / "speller.npz")
    loaded = fst.Speller.load(folder / "speller.npz")
    for words in (["ab"], [b"ab"]):
        loaded.check_batch(words)
    loaded.check("ab")
    loaded.check_text("ab")
    loaded.suggest("abb")


def _compile_zhfst(folder: Path) -> None:
    import fst
    from fst.compile import speller

    header = struct.pack("<HHIIII9I", 2, 2, 3, 2, 1, 1, 1, *[0] * 8)
    index = struct.pack("<HIHIHI", 0xFFFF, 0, 0xFFFF, 0xFFFFFFFF, 1, 1 << 31)
    arcs = struct.pack("<HHIfHHIf", 1, 1, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0)
    with zipfile.ZipFile(folder / "a.zhfst", "w") as file:
        for name in ("acceptor.default.hfst", "errmodel.default.hfst"):
            file.writestr(name, header + b"\0a\0" + index + arcs)  # a machine that reads any number of "a"
    fst.Speller(speller(folder / "a.zhfst")).suggest("a")


def _compile_rules(_: Path) -> None:
    import fst
    from fst.compile import rewrite

    rewriter = fst.Rewriter(rewrite("a -> b", direction="rtl"))
    rewriter.apply_batch(["a" * 400] * 8)  # enough matches for both passes, and enough rows for the kernel that makes lists
    rewriter.align_batch([b"a"])
    fst.Rewriter(rewrite({f"{number:9}": "" for number in range(99)})).apply("a")


def _compile_best_path(_: Path) -> None:
    import fst
    from fst.compile import best_path

    fst.Rewriter(best_path(fst.Fst.from_strings(["a"]))).apply("a")


def _compile_guide(folder: Path) -> None:
    import fst
    from fst.compile import guide, tokenizer, wordpiece
    from fst.compile.machines.guide.mask_store import Masks
    from fst.runtime.machines.guide.late_states import Copies

    table = guide(_wordpiece(), regex="(ab)*")
    late: Any = fst.Guide(_wordpiece(), regex="[a-z]+")
    late.mask(late.step(late.start, 1))
    late.mask(late.start, max_tokens=9)
    states = late._masks._states
    Copies(states._walker, states._walker).number(states._first)  # used only for masks that several threads make
    opening = wordpiece(["[UNK]", "[", "{"])  # the first characters of the schemas
    strings = {"a": {"type": "string", "pattern": "a", "not": {"const": "ab"}}, "b": {"type": "string", "maxLength": 900}}  # many states
    guide(opening, schema={"properties": strings}, depth=1)
    table.save(folder / "guide.npz")
    loaded = fst.load(folder / "guide.npz")
    assert isinstance(loaded, fst.Guide)
    loaded.masks([loaded.step(loaded.start, 1)], out=np.empty((1, 1), np.bool_))
    for tokens in (_wordpiece(), tokenizer(_bpe(folder, decoder={"type": "ByteLevel"}))):
        canonical = fst.Guide(tokens, regex="a", canonical=True)
        canonical.advance(canonical.start, canonical.allowed(canonical.start)[:1])
        canonical.mask(canonical.start, max_tokens=9)
        guide(tokens, regex="a{1,40}", canonical=True)  # enough places and nodes that the hash tables must grow
    masks = Masks(1)
    for number in range(99):  # enough masks that the hash table must grow
        masks.add(np.array([number], np.uint32))


def _compile_counting_of_words(folder: Path) -> None:
    from fst import train

    numbers = " ".join(map(str, range(1 << 15)))  # enough words that the hash table must grow
    lines = folder / "lines.txt"
    lines.write_text(numbers)
    for normalizer in ("none", "nfkc"):
        train.words([numbers, "\ufb01"], splitter="gpt2", normalizer=normalizer)
        train.words([lines], splitter="gpt2", normalizer=normalizer)


def _compile_training(folder: Path) -> None:
    from fst import train
    from fst.compile.train.scores import state

    letters = np.random.default_rng(0).integers(97, 101, 1 << 16, np.uint8).tobytes()
    words = {letters[first : first + 12]: 20 for first in range(0, len(letters), 12)}  # enough pairs that the hash table must grow
    for criterion in ("frequency", "score"):
        train.wordpiece(words, vocab_size=600, criterion=criterion, min_frequency=10)
    train.unigram(words, vocab_size=600)
    train.unigram({"▁abab": 2, "▁ab": 1}, vocab_size=9, reference="sentencepiece", options={"hard_vocab_limit": False})
    for deadline in (0, None):  # the second run reads and verifies the checkpoint of the first run
        train.wordpiece({b"ab" * (1 << 21): 1}, vocab_size=20, deadline=deadline, checkpoint=folder / "run.npz")
    state.is_tiled.call(np.zeros(1, np.int32), np.ones(1, np.int32))  # used only for checkpoints of training by score


def _segment(table: Table, folder: Path) -> None:
    """Segment texts with the table of a dictionary."""
    import fst

    table.save(folder / "dictionary.npz")
    segmenter = fst.Segmenter.load(folder / "dictionary.npz")
    segmenter.segment("ab")
    segmenter.count([b"ab"])


def _used(table: Table, folder: Path) -> Any:
    """A tokenizer whose table is loaded from a file, after each of its kernels has run once."""
    import fst
    from fst.runtime.rows import texts

    table.save(folder / "table.npz")
    tokenizer = fst.Tokenizer.load(folder / "table.npz")
    tokenizer.encode(b"ab")  # bytes need a kernel that str does not need
    tokenizer.encode("ab")
    tokenizer.encode_batch(["ab"], offsets=True)
    column = np.empty(2 + texts.PAST_END, texts.UNIT_TYPES[table.unit])
    texts.of_utf_8(np.frombuffer(b"ab", np.uint8), np.array([0, 2]), column)  # the kernel for Arrow columns
    return tokenizer


def _compile_algebra(_folder: Path) -> None:
    from fst import Fst
    from fst.compile.algebra.build.paths import END, Paths

    machine = Fst.from_strings([("ab", "c", 0.5), ("b", "")])
    silent = machine.closure().project("input")
    (machine @ machine.invert()).find_ambiguity()
    silent.is_equivalent(silent.minimize() | silent)
    machine.shortest_distance(semiring="log")
    paths = Paths()
    root = paths.root()
    paths.add(root, "a", END)
    paths.machine(root)  # used for dictionaries of Hunspell, and for lexc


PARTS: dict[str, Callable[[Path], None]] = {  # the slowest part is first
    compile_part.__name__.removeprefix("_compile_").replace("_", " "): compile_part
    for compile_part in (
        _compile_speller,
        _compile_zhfst,
        _compile_bpe,
        _compile_unigram,
        _compile_wordpiece,
        _compile_sampling_of_unigram,
        _compile_dropout_of_bpe,
        _compile_search,
        _compile_unigram_of_sentencepiece,
        _compile_bpe_by_merges,
        _compile_mecab,
        _compile_mecab_and_wordpiece,
        _compile_jieba,
        _compile_maxmatch,
        _compile_lookup,
        _compile_search_of_spelled_texts,
        _compile_rules,
        _compile_best_path,
        _compile_algebra,
        _compile_guide,
        _compile_training,
        _compile_counting_of_words,
        _compile_wordpiece_with_composed_letters,
        _compile_wordpiece_with_long_added_tokens,
    )
}
