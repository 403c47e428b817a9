"""Small tables of all kinds. A release compiles the modules of all exports from them, see `fst.compile.export.released`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fst.cli.commands.export.layouts import LAYOUTS
from fst.cli.commands.export.program import Loaded, kernels_of, loaded
from fst.compile.export.native import Kernel
from fst.compile.export.program import Module, Program, joined
from fst.pretokens.byte_letters import spelled

Json = dict[str, Any]
# Special tokens around a text: with them, only arrays that kernels may write to have forms of such arrays.
BERT = {"type": "BertProcessing", "cls": ["<s>", 0], "sep": ["<s>", 0]}
SPECIAL = [{"id": 0, "content": "<s>", "special": True}]
NFC = {"type": "NFC"}


def families() -> list[tuple[Module, dict[str, Kernel]]]:
    """The modules of a release: one for each kernel that encodes texts, or for each machine without one, with all kernels that such tables
    need. Returns also the kernels of each module, by key.
    """
    programs: dict[str, list[Program]] = {}
    for found in _loaded():
        encode = found.of.calls.get("encode")
        programs.setdefault(found.of.keys[encode[0].value.constant - 1] if encode else found.host, []).append(found.of)
    return [
        (joined(program.module for program in same), {key: kernel for program in same for key, kernel in kernels_of(program).items()})
        for same in programs.values()
    ]


def _loaded() -> Iterator[Loaded]:
    """Small tables in all layouts."""
    with TemporaryDirectory() as name:
        for table in _tables(Path(name)):
            table.save(Path(name, "table.npz"))
            for layout in LAYOUTS:
                yield loaded(Path(name, "table.npz"), layout)


def _tables(folder: Path) -> Iterator[Any]:
    """Tables of all kinds, with all parts that need a kernel: letters that compose, trimmed offsets, fallback to bytes."""
    from fst.cli.commands.warmup.kernels import MECAB
    from fst.compile import best_path, guide, keywords, lattice, lookup, maxmatch, rewrite, tokenizer, wordpiece
    from fst.compile.algebra.machine import Fst
    from fst.compile.machines.unigram.compiler import assemble
    from fst.compile.machines.unigram.model import UnigramModel
    from fst.compile.sources.templates import bert
    from fst.compile.text.sentencepiece import WORD_CUTS
    from fst.compile.text.source import NO_SETTINGS, SENTENCEPIECE, Source, TextPipeline
    from fst.machines.unigram.viterbi import BYTE, NORMAL, TEXT_SCOPE, UNKNOWN
    from fst.tables.header import AddedTokens

    for document in _documents():
        source = folder / "tokenizer.json"
        source.write_text(json.dumps({"added_tokens": SPECIAL, "post_processor": BERT, **document}), encoding="utf-8")
        yield tokenizer(source)
    tokens = ["<s>", "a", *(f"<0x{byte:02X}>" for byte in range(256))]
    types = [UNKNOWN, NORMAL, *[BYTE] * 256]
    for is_word_type, cuts in ((False, ()), (True, (WORD_CUTS,))):
        model = UnigramModel(tokens, [0.0] * 258, 0, scope=TEXT_SCOPE, types=types, is_word_type=is_word_type, byte_fallback=True)
        text, added = TextPipeline([NFC], cuts), AddedTokens({}, {}, None, (), ())
        yield assemble(Source(model, text, added, bert(0, 0), NO_SETTINGS, reference=SENTENCEPIECE), "auto")
    yield keywords(["ab"])
    yield from (maxmatch(["ab"], direction) for direction in ("forward", "backward"))
    yield lattice.jieba([("ab", 1)])
    for name, content in MECAB.items():
        (folder / name).write_text(content, encoding="utf-8")
    yield lattice.mecab(folder)
    yield rewrite("a -> b", direction="rtl")
    yield rewrite({f"{number:9}": "" for number in range(99)})
    yield best_path(Fst.from_strings(["a"]))
    yield lookup({"ab": "b"})
    yield guide(wordpiece(["[UNK]", "a", "##b"]), regex="(ab)*")


def _documents() -> Iterator[Json]:
    """Several tokenizer.json, without special tokens and the templates that add them."""
    yield {"model": {"type": "WordPiece", "vocab": {"<s>": 0, "a": 1, "##b": 2}, "unk_token": "<s>"}, "normalizer": NFC}
    letters = ["<s>", *(spelled(bytes([byte])) for byte in range(256)), "ab"]
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(letters)}, "merges": [["a", "b"]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    common = {"model": model, "decoder": {"type": "ByteLevel"}, "pre_tokenizer": byte_level}
    yield common
    roberta = {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False, "cls": ["<s>", 0], "sep": ["<s>", 0]}
    yield {**common, "pre_tokenizer": {**byte_level, "trim_offsets": True}, "normalizer": NFC, "post_processor": roberta}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["<s>", 0], ["\u2581", -2], ["ab", -3]]}
    yield {"model": unigram, "pre_tokenizer": metaspace, "decoder": metaspace}
