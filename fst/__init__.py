"""fst-toolkit: vocabularies, keywords, dictionaries and rules, compiled into tables that tokenize, search, segment and rewrite text.

>>> import fst
>>> from fst.compile import wordpiece
>>> tok = fst.Tokenizer(wordpiece(["[UNK]", "un", "##aff", "##able"]))
>>> tok.tokenize("unaffable")
['un', '##aff', '##able']
"""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar, overload

from fst.core.version import VERSION
from fst.errors import FstError, FstWarning, KernelError, ReadingError, TableError, TextError, UnsupportedError, VocabularyError

if TYPE_CHECKING:
    from fst import compile as compile  # noqa: A004 - an attribute of `fst`, which hides no function of Python
    from fst import outlines, pynini, sglang, train, vllm
    from fst.compile.algebra.machine import Fst, read_att, read_dix, read_hfstol, read_hunspell, read_lexc, read_openfst, write_far
    from fst.machines.bpe.dropout import Dropout
    from fst.machines.unigram.sampling import Sampling
    from fst.runtime.compat.transformers.backend import tokenizers
    from fst.runtime.compat.transformers.hf import hf
    from fst.runtime.compat.transformers.logits import LogitsProcessor
    from fst.runtime.compat.transformers.patch import patch_transformers, unpatch_transformers
    from fst.runtime.machines.bpe.tokenizer import BpeTokenizer
    from fst.runtime.machines.guide.guide import Guide
    from fst.runtime.machines.keywords.searcher import Match, Matches, MatchStream, Searcher
    from fst.runtime.machines.lookup.analyses import Analyses
    from fst.runtime.machines.lookup.lookup import Lookup
    from fst.runtime.machines.segmentation.lattice import JiebaSegmenter, MecabSegmenter
    from fst.runtime.machines.segmentation.segmenter import Segmenter, Segments, SegmentStream
    from fst.runtime.machines.speller.speller import Misspelling, Speller
    from fst.runtime.machines.unigram.tokenizer import UnigramTokenizer
    from fst.runtime.public_class import PublicClass
    from fst.runtime.rewriting.rewriter import Rewriter, Rewritten
    from fst.runtime.rewriting.stream import RewriteStream
    from fst.runtime.rows.batch import Batch
    from fst.runtime.sessions.covers import Covers, Ending
    from fst.runtime.sessions.edits import Change
    from fst.runtime.sessions.session import Session
    from fst.runtime.stream import Part, Stream
    from fst.runtime.tokenizer import Tokenizer
    from fst.sentencepiece import SentencepieceModule
    from fst.tiktoken import TiktokenModule

    sentencepiece: SentencepieceModule
    tiktoken: TiktokenModule

Loaded = TypeVar("Loaded", bound="PublicClass")

__version__ = VERSION
__all__ = [
    "Analyses",
    "Batch",
    "BpeTokenizer",
    "Change",
    "Covers",
    "Dropout",
    "Ending",
    "Fst",
    "FstError",
    "FstWarning",
    "Guide",
    "JiebaSegmenter",
    "KernelError",
    "LogitsProcessor",
    "Lookup",
    "Match",
    "MatchStream",
    "Matches",
    "MecabSegmenter",
    "Misspelling",
    "Part",
    "ReadingError",
    "RewriteStream",
    "Rewriter",
    "Rewritten",
    "Sampling",
    "Searcher",
    "SegmentStream",
    "Segmenter",
    "Segments",
    "Session",
    "Speller",
    "Stream",
    "TableError",
    "TextError",
    "Tokenizer",
    "UnigramTokenizer",
    "UnsupportedError",
    "VocabularyError",
    "hf",
    "load",
    "outlines",
    "patch_transformers",
    "pynini",
    "read_att",
    "read_dix",
    "read_hfstol",
    "read_hunspell",
    "read_lexc",
    "read_openfst",
    "sentencepiece",
    "sglang",
    "tiktoken",
    "tokenizers",
    "train",
    "unpatch_transformers",
    "vllm",
    "write_far",
]

# Each public name → the full dotted name of its object. An object is imported at its first use, because the compiler and the command line
# do not need the runtime.
_OBJECTS = {
    "Analyses": "fst.runtime.machines.lookup.analyses.Analyses",
    "Batch": "fst.runtime.rows.batch.Batch",
    "BpeTokenizer": "fst.runtime.machines.bpe.tokenizer.BpeTokenizer",
    "Change": "fst.runtime.sessions.edits.Change",
    "Covers": "fst.runtime.sessions.covers.Covers",
    "Dropout": "fst.machines.bpe.dropout.Dropout",
    "Ending": "fst.runtime.sessions.covers.Ending",
    "Fst": "fst.compile.algebra.machine.Fst",
    "Guide": "fst.runtime.machines.guide.guide.Guide",
    "JiebaSegmenter": "fst.runtime.machines.segmentation.lattice.JiebaSegmenter",
    "LogitsProcessor": "fst.runtime.compat.transformers.logits.LogitsProcessor",
    "Lookup": "fst.runtime.machines.lookup.lookup.Lookup",
    "Match": "fst.runtime.machines.keywords.searcher.Match",
    "MatchStream": "fst.runtime.machines.keywords.searcher.MatchStream",
    "Matches": "fst.runtime.machines.keywords.searcher.Matches",
    "MecabSegmenter": "fst.runtime.machines.segmentation.lattice.MecabSegmenter",
    "Misspelling": "fst.runtime.machines.speller.speller.Misspelling",
    "Part": "fst.runtime.stream.Part",
    "RewriteStream": "fst.runtime.rewriting.stream.RewriteStream",
    "Rewriter": "fst.runtime.rewriting.rewriter.Rewriter",
    "Rewritten": "fst.runtime.rewriting.rewriter.Rewritten",
    "Sampling": "fst.machines.unigram.sampling.Sampling",
    "Searcher": "fst.runtime.machines.keywords.searcher.Searcher",
    "SegmentStream": "fst.runtime.machines.segmentation.segmenter.SegmentStream",
    "Segmenter": "fst.runtime.machines.segmentation.segmenter.Segmenter",
    "Segments": "fst.runtime.machines.segmentation.segmenter.Segments",
    "Session": "fst.runtime.sessions.session.Session",
    "Speller": "fst.runtime.machines.speller.speller.Speller",
    "Stream": "fst.runtime.stream.Stream",
    "Tokenizer": "fst.runtime.tokenizer.Tokenizer",
    "UnigramTokenizer": "fst.runtime.machines.unigram.tokenizer.UnigramTokenizer",
    "hf": "fst.runtime.compat.transformers.hf.hf",
    "compile": "fst.compile",
    "outlines": "fst.outlines",
    "patch_transformers": "fst.runtime.compat.transformers.patch.patch_transformers",
    "pynini": "fst.pynini",
    "read_att": "fst.compile.algebra.machine.read_att",
    "read_dix": "fst.compile.algebra.machine.read_dix",
    "read_hfstol": "fst.compile.algebra.machine.read_hfstol",
    "read_hunspell": "fst.compile.algebra.machine.read_hunspell",
    "read_lexc": "fst.compile.algebra.machine.read_lexc",
    "read_openfst": "fst.compile.algebra.machine.read_openfst",
    "sentencepiece": "fst.sentencepiece",
    "sglang": "fst.sglang",
    "tiktoken": "fst.tiktoken",
    "tokenizers": "fst.runtime.compat.transformers.backend.tokenizers",
    "train": "fst.train",
    "unpatch_transformers": "fst.runtime.compat.transformers.patch.unpatch_transformers",
    "vllm": "fst.vllm",
    "write_far": "fst.compile.algebra.machine.write_far",
}


@overload
def load(path: str | Path | bytes) -> Any: ...


@overload
def load(path: str | Path | bytes, expected: type[Loaded]) -> Loaded: ...


def load(path: str | Path | bytes, expected: type[Loaded] | None = None) -> Any:
    """Load a table file of any kind. Return a `fst.Tokenizer` for a vocabulary, a `fst.Searcher` for keywords, a `fst.Segmenter` for a
    dictionary, a `fst.Lookup` for a transducer, a `fst.Rewriter` for rewrite rules, a `fst.Guide` for token masks.

    The file is memory-mapped, so processes share its memory. Before the file is used, it is proven to be complete and safe to run. A pickle
    of the result contains the absolute path and the digest of the file. If the file has changed or is gone when the result is pickled, the
    pickle contains the whole table.

    Args:
        path: a file from ``fst compile`` or from a table's ``save``; or its URL, such as ``s3://bucket/t5.npz``. fsspec reads the URL; each
            process fetches the file into its own memory. Or the name of a table in the package fst-tables, such as "gpt2"; an existing file
            comes first. Or the bytes of the file; pickles of the result then contain the whole table.
        expected: the class of the result, such as `fst.Tokenizer`, or one of its subclasses, such as `fst.BpeTokenizer`. A table of another
            class is refused, and type checkers know the type of the result. None: any class.

    Returns:
        An object of the table's public class.

    Raises:
        TypeError: `expected` is not a class of this package that has a table.
        UnsupportedError: the table belongs to another class than `expected`; or fsspec, or its plug-in for the URL, is not installed.
        TableError: the file is not a table, has another version, is damaged, or is hostile; the message contains the fault and its
            position.
        OSError: the file cannot be read, or there is no table of this name.

    Examples:
        >>> import fst
        >>> fst.compile.wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##able"]).save("tiny.npz")
        >>> fst.load("tiny.npz").encode("Unable!")
        array([1, 3, 4, 0, 2], dtype=int32)
        >>> fst.load("tiny.npz", fst.Tokenizer).tokenize("Unable!")
        ['un', '##able', '[UNK]']
    """
    from fst.runtime.public_class import load as loaded

    return loaded(path, expected)


def __getattr__(name: str) -> Any:
    if name not in _OBJECTS:
        raise AttributeError(f"module 'fst' has no attribute {name!r}")
    return resolve_name(_OBJECTS[name])


def __dir__() -> list[str]:
    return [*__all__, "compile"]  # which ``from fst import *`` leaves out, because it would hide the function of Python
