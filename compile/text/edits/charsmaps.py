"""Read the normalizer `Precompiled`, which is a charsmap of SentencePiece; see `fst.text.charsmap`."""

from __future__ import annotations

from base64 import b64decode
from functools import cache

from fst.compile.text.characters import reference
from fst.compile.text.components import Component
from fst.errors import VocabularyError
from fst.text.charsmap import CLUSTERS, Charsmap
from fst.text.clusters import FEED, NAMES, RETURN, SYLLABLE, Runs


def of_component(part: Component) -> Charsmap:
    """Read the charsmap of a normalizer, by which `tokenizers` replaces grapheme clusters."""
    try:
        data = b64decode(part["precompiled_charsmap"], validate=True)
    except ValueError as error:
        raise VocabularyError(f"normalizer Precompiled with a charsmap that is not in base 64: {error}") from None
    return of_bytes(data, CLUSTERS)


def of_bytes(data: bytes, manner: str) -> Charsmap:
    """Read a charsmap, for use as in `tokenizers` if `manner` is `CLUSTERS`, and as in `sentencepiece` otherwise."""
    found = Charsmap(data, manner, _classes() if manner == CLUSTERS else ())
    try:
        found.need_sound()
    except ValueError as error:
        raise VocabularyError(f"normalizer Precompiled with {error}; take the vocabulary's file from its source again") from None
    return found


@cache
def _classes() -> Runs:
    """The classes of characters that determine grapheme clusters, as in `tokenizers`."""
    numbers = {name: number for number, name in enumerate(NAMES)} | {"syllable": SYLLABLE}
    found = [(first, last, numbers[name]) for first, last, name in reference.properties()["cluster"]]
    return tuple(sorted([*found, (ord("\r"), ord("\r"), RETURN), (ord("\n"), ord("\n"), FEED)]))
