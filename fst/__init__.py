"""fst-toolkit: vocabularies compiled into finite-state tables, and tables that turn text into token ids.

>>> import fst
>>> from fst.compile import wordpiece
>>> tok = fst.Tokenizer(wordpiece(["[UNK]", "un", "##aff", "##able"]))
>>> tok.tokenize("unaffable")
['un', '##aff', '##able']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fst.core.version import VERSION
from fst.errors import FstError, ReadingError, TableError, TextError, UnsupportedError, VocabularyError

if TYPE_CHECKING:
    from fst.bridge import train
    from fst.runtime.compat.sentencepiece.processor import sentencepiece
    from fst.runtime.compat.tiktoken.encoding import Encoding as tiktoken  # noqa: N813 - is called as the library is
    from fst.runtime.compat.transformers.backend import tokenizers
    from fst.runtime.compat.transformers.hf import hf
    from fst.runtime.load import load
    from fst.runtime.machines.keywords.searcher import Match, Matches, MatchStream, Searcher
    from fst.runtime.machines.segmentation.segmenter import Segmenter, Segments, SegmentStream
    from fst.runtime.rows.batch import Batch
    from fst.runtime.stream import Part, Stream
    from fst.runtime.tokenizer import Tokenizer

__version__ = VERSION
__all__ = [
    "Batch",
    "FstError",
    "Match",
    "MatchStream",
    "Matches",
    "Part",
    "ReadingError",
    "Searcher",
    "SegmentStream",
    "Segmenter",
    "Segments",
    "Stream",
    "TableError",
    "TextError",
    "Tokenizer",
    "UnsupportedError",
    "VocabularyError",
    "hf",
    "load",
    "sentencepiece",
    "tiktoken",
    "tokenizers",
    "train",
]


def __getattr__(name: str) -> Any:
    # The runtime is fetched when it is first asked for, so that the compiler and the command line can do without it.
    if name == "Tokenizer":
        from fst.runtime.tokenizer import Tokenizer

        return Tokenizer
    if name == "Batch":
        from fst.runtime.rows.batch import Batch

        return Batch
    if name == "train":
        from fst.bridge import train

        return train
    if name == "load":
        from fst.runtime.load import load

        return load
    if name == "hf":
        from fst.runtime.compat.transformers.hf import hf

        return hf
    if name == "sentencepiece":
        from fst.runtime.compat.sentencepiece.processor import sentencepiece

        return sentencepiece
    if name == "tiktoken":
        from fst.runtime.compat.tiktoken.encoding import Encoding

        return Encoding
    if name == "tokenizers":
        from fst.runtime.compat.transformers.backend import tokenizers

        return tokenizers
    if name in ("Match", "MatchStream", "Matches", "Searcher"):
        from fst.runtime.machines.keywords import searcher

        return getattr(searcher, name)
    if name in ("SegmentStream", "Segmenter", "Segments"):
        from fst.runtime.machines.segmentation import segmenter

        return getattr(segmenter, name)
    if name in ("Part", "Stream"):
        from fst.runtime import stream

        return getattr(stream, name)
    raise AttributeError(f"module 'fst' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
