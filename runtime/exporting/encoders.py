"""Exports of machines that write ids: tokenizers, searchers and segmenters."""

from __future__ import annotations

from functools import partial
from typing import Any

from fst.errors import UnsupportedError
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.calls import Calls, calls
from fst.runtime.exporting.contents import contents, contents_of
from fst.runtime.exporting.export import Export
from fst.runtime.machines.keywords.searcher import Searcher
from fst.runtime.machines.segmentation.segmenter import Segmenter
from fst.runtime.tokenizer import Tokenizer


def of_tokenizer(tok: Tokenizer) -> Export:
    """Export a tokenizer."""
    tokens = contents(tok)
    return Export(partial(calls, tok), tokens, builds(tok, tokens))


def of_searcher(searcher: Searcher) -> Export:
    """Export a searcher.

    Raises:
        UnsupportedError: a keyword is empty.
    """
    if searcher._matcher._empties:
        raise UnsupportedError("a keyword is empty; expected keywords with characters, because exports find no empty matches")
    return Export(partial(calls, searcher._matcher))


def of_segmenter(segmenter: Segmenter) -> Export:
    """Export a segmenter; if its words have features, an id is decoded to them."""
    features: Any = getattr(segmenter, "features", None)
    tokens = contents_of(map(str.encode, features)) if features else None
    return Export(partial(segmenter_calls, segmenter), tokens, builds(segmenter._encoder, tokens), "segmenter")


def segmenter_calls(segmenter: Segmenter, units: int) -> Calls:
    """Prepare the calls of a segmenter; see `calls`. Without streams, the calls "encode_part" and "encode_part_spans" are not made."""
    found = calls(segmenter._encoder, units)
    return found if segmenter._table.streams else found._replace(calls=found.calls | dict.fromkeys(("encode_part", "encode_part_spans")))
