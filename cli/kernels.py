"""Compile kernels ahead of time."""

from __future__ import annotations

import gc
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.jit import destination, no_collector

if TYPE_CHECKING:
    from fst.table import Table
MECAB = {  # a dictionary, as small as it can be
    "words.csv": "ab,0,0,1,\n",
    "matrix.def": "1 1\n0 0 0\n",
    "char.def": "DEFAULT 0 1 0\nSPACE 0 1 0\n",
    "unk.def": "DEFAULT,0,0,1,\nSPACE,0,0,1,\n",
}


def ready(tables: Table, first_use: Callable[[Any], object] = lambda tokenizer: tokenizer.encode(b"a")) -> Any:
    """The face of a table, whose kernels are loaded or compiled.

    Args:
        tables: the table.
        first_use: uses the face with bytes, as commands do; by default, it encodes as a tokenizer.

    The garbage collector skips the objects that numba makes, now and when the process ends: it would take a fifth of the time of a short
    run.
    """
    with no_collector():
        from fst.runtime.tokenizer import face_of

        face = face_of(tables)(tables)
        first_use(face)
        gc.freeze()
    return face


def compile_all(*, backward: bool = False) -> tuple[bool, str]:
    """Compile every kernel by using it as with a table file. Return the result of `fst.jit.destination`.

    Args:
        backward: begin with the last group of kernels. Of two processes that start together, one should: a process waits for a kernel that
            another one compiles.
    """
    from fst.runtime.kernels import wordpiece as kernels

    groups = [_compile_wordpiece, _compile_bpe, _compile_unigram, _compile_search, _compile_segmentation]
    with TemporaryDirectory() as folder:
        for compile_group in reversed(groups) if backward else groups:
            compile_group(Path(folder))
    return destination(kernels.encode_rows)


def _compile_wordpiece(folder: Path) -> None:
    from fst import Tokenizer
    from fst.compile import wordpiece
    from fst.runtime.transformers.document import document

    tables, source = wordpiece(["[UNK]", "a", "##b"], layout="compact"), folder / "tokenizer.json"
    tokenizer = _used(tables, folder)
    tokenizer(["ab"], return_tensors="np")
    # Letters that compose; and an added token of too many nodes for `matching.link`, with a word too long for a kernel.
    added = {"id": 3, "content": "a" * 600, "normalized": True}
    for part, text in (({"normalizer": {"type": "NFC"}}, "a\u0301"), ({"added_tokens": [added]}, "a" * 101)):
        source.write_text(json.dumps({**document(tables), **part}))
        read_twice = Tokenizer(wordpiece(source))
        for offsets in (False, True):
            read_twice.encode_batch([text], offsets=offsets)


def _compile_bpe(folder: Path) -> None:
    from fst.compile import bpe
    from fst.machines.byte_letters import spelled
    from fst.runtime import decoding

    source, letters = folder / "tokenizer.json", [spelled(bytes([byte])) for byte in range(256)]
    model: Any = {"type": "BPE", "vocab": {token: number for number, token in enumerate([*letters, "ab"])}, "merges": [["a", "b"]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    source.write_text(json.dumps({"model": model, "pre_tokenizer": byte_level}))
    tokenizer = _used(bpe(source), folder)
    _streamed(tokenizer)
    for dtype in decoding.TYPES:
        tokenizer.decode_bytes(np.zeros(1, dtype))
    for offsets in (False, True):
        tokenizer.encode_batch(["ab"], offsets=offsets, dropout=1)
    model["merges"] = [["ab", "a"], ["a", "b"]]  # of which no automaton is exact
    model["vocab"]["aba"] = 257
    source.write_text(json.dumps({"model": model, "pre_tokenizer": byte_level, "normalizer": {"type": "NFC"}}))
    tokenizer = _used(bpe(source), folder)
    for offsets in (False, True):
        tokenizer.encode_batch(["a\u0301"], offsets=offsets)
    _streamed(tokenizer)
    source = folder / "letters.tiktoken"
    source.write_text("".join(f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)))
    bpe(source, encoding="gpt2", no_special=True)


def _streamed(tokenizer: Any) -> None:
    stream = tokenizer.stream()
    stream.write("ab")
    stream.read()


def _compile_unigram(folder: Path) -> None:
    from fst.compile import tokenizer
    from fst.compile.sources.source import NO_SETTINGS, Source, TextPipeline
    from fst.compile.sources.templates import BARE
    from fst.compile.text.sentencepiece import WORD_CUTS
    from fst.compile.unigram import UnigramModel, assemble
    from fst.metadata import AddedTokens
    from fst.unigram import NORMAL, UNKNOWN, WHOLE

    source = folder / "tokenizer.json"
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["\u2581", -2], ["ab", -3]]}
    source.write_text(json.dumps({"model": model, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}}))
    for has_words, cuts in ((False, ()), (True, (WORD_CUTS,))):
        whole = UnigramModel(["<unk>", "a"], [0.0, -1.0], 0, sums=WHOLE, types=[UNKNOWN, NORMAL], has_words=has_words)
        _used(assemble(Source(whole, TextPipeline([], cuts), AddedTokens({}, {}, None, (), ()), BARE, NO_SETTINGS), "auto"), folder)
    used = _used(tokenizer(source), folder)
    used.nbest("ab", 2)
    for offsets in (False, True):
        for nbest_size in (-1, 2):
            used.encode_batch(["ab"], offsets=offsets, sample=True, nbest_size=nbest_size)


def _compile_search(folder: Path) -> None:
    import fst
    from fst.compile import keywords

    for kind in ("standard", "leftmost-longest", "overlapping"):
        keywords(["ab", "b"], match_kind=kind).save(folder / "keywords.npz")
        searcher = fst.load(folder / "keywords.npz")
        searcher.find_batch(["ab"])
        searcher.count([b"ab"])
        searcher.find("ab")
    fst.Searcher(keywords(["ab"])).replace(["ab" * 99], "b")
    for options in ({"ignore_case": True}, {"whole_words": True, "normalizer": {"type": "NFC"}}):
        searcher = fst.Searcher(keywords(["ab"], **options))
        stream = searcher.stream()
        stream.write("a\u0301 ab a")
        stream.read()
        searcher.count(["a\u0301"])


def _compile_segmentation(folder: Path) -> None:
    import fst
    from fst.compile import lattice, maxmatch

    for name, content in MECAB.items():
        (folder / name).write_text(content)
    directions = ("forward", "backward")
    for table in (*(maxmatch(["ab", "b"], direction) for direction in directions), lattice.jieba([("ab", 1)]), lattice.mecab(folder)):
        table.save(folder / "dictionary.npz")
        segmenter = fst.load(folder / "dictionary.npz")
        segmenter.segment("ab")
        segmenter.count([b"ab"])


def _used(tables: Table, folder: Path) -> Any:
    """A tokenizer with a table, loaded from a file, after each of its kernels has run."""
    import fst
    from fst.runtime import texts

    tables.save(folder / "table.npz")
    tokenizer = fst.load(folder / "table.npz")
    tokenizer.encode(b"ab")  # which takes the kernels for str, and one more
    tokenizer.encode("ab")
    tokenizer.encode_batch(["ab"], offsets=True)
    room = np.empty(2 + texts.PAST_END, texts.UNIT_TYPES[tables.unit])
    texts.of_utf_8(np.frombuffer(b"ab", np.uint8), np.array([0, 2]), room)  # a column
    return tokenizer
