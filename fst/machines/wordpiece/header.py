"""The metadata of WordPiece tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fst.core.json_fields import FLAG, or_null, record, stored_as
from fst.errors import TableError
from fst.tables.header import COMPONENTS, RUNS, AddedTokens, Automaton, Model, PreTokenizer, Sections, Settings, Templates, form_of
from fst.text.normalizer import NormalizerSteps


@dataclass(frozen=True)
class Suspects:
    """Characters whose symbols depend on neighbouring characters, or that change the symbols of neighbouring characters. The sets are
    stored as runs, each by its first and its last code point.

    Attributes:
        ids: the alphabet may give wrong ids for a text with one of these characters.
        spans: the alphabet may give wrong offsets for a text with one of these characters.
    """

    ids: Sequence[int] = stored_as(RUNS)
    spans: Sequence[int] = stored_as(RUNS)


SUSPECTS = record(Suspects, "a mapping of 'ids' and 'spans' to ascending runs")


@dataclass(frozen=True)
class Normalizer:
    """The normalization of text.

    Attributes:
        lowercase, strip_accents, clean_text, handle_chinese_chars: the settings of BertNormalizer; if `parts` is set, these settings are
            only a summary of `parts`.
        parts: the components, unless the only component is a BertNormalizer.
        steps: the normalizers one by one, for texts whose normalization the alphabet cannot express; None if the alphabet can express all
            texts.
        suspects: the characters by which texts for `steps` are recognised; None if `steps` is None.
    """

    lowercase: bool = stored_as(FLAG)
    strip_accents: bool | None = stored_as(or_null(FLAG))
    clean_text: bool = stored_as(FLAG)
    handle_chinese_chars: bool = stored_as(FLAG)
    parts: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "normalizer_parts")
    steps: NormalizerSteps | None = stored_as(form_of(NormalizerSteps), "composition")
    suspects: Suspects | None = stored_as(or_null(SUSPECTS), "placing")


@dataclass(frozen=True)
class Metadata(Sections):
    """The metadata of a WordPiece table."""

    automaton: Automaton
    model: Model
    normalizer: Normalizer
    pre_tokenizer: PreTokenizer
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Metadata:
        """The metadata of a file; see `Sections.from_json`."""
        found = super().from_json(stored)
        if found.pre_tokenizer.name == "other" and found.pre_tokenizer.parts is None:
            raise TableError("pre_tokenizer is 'other', but pre_tokenizer_parts is null")
        return found
