"""What a byte-level BPE table says beside its arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fst.forms import FLAG, IDS, TEXT, number, or_null, stored_as, whole
from fst.metadata import COMPONENTS, AddedTokens, Sections, Settings, Templates, form_of
from fst.rewriting import Rewriting
from fst.rows import MAX_NEXT


@dataclass(frozen=True)
class BpeAutomaton:
    """How the machine is laid out.

    Attributes:
        kind: the kind of machine.
        states: how many states the automaton of the merges has; 0 without one.
        window_bits: of a symbol in a window.
    """

    kind: str = stored_as(TEXT)
    states: int = stored_as(whole(0, MAX_NEXT))
    window_bits: int = stored_as(whole(2, 6))


@dataclass(frozen=True)
class BpeModel:
    """The model, named as in Hugging Face's ``tokenizers``.

    Attributes:
        model_tokens: how many tokens the model has; the table's other tokens are added ones.
        dropout: the probability to skip a merge that the source states, for information; 0 if it states none.
        ignore_merges: whether a whole piece that is a token is that token, whatever the merges say.
        continuing_subword_prefix, end_of_word_suffix: see `fst.affixes`; empty if there is none.
        long_pieces: with `ignore_merges`, the ids of tokens that no merges make and that the table of words does not hold. Most are too
            long for it.
        unk_id, unk_token: no text has an unknown token; the source may name one.
    """

    unk_id: ClassVar[None] = None
    model_tokens: int = stored_as(whole(1, 1 << 31))
    dropout: float = stored_as(number(0, 1))
    ignore_merges: bool = stored_as(FLAG)
    unk_token: str | None = stored_as(or_null(TEXT))
    continuing_subword_prefix: str = stored_as(TEXT)
    end_of_word_suffix: str = stored_as(TEXT)
    long_pieces: Sequence[int] = stored_as(IDS)


@dataclass(frozen=True)
class BpeText:
    """What happens to a text before the model reads it.

    Attributes:
        normalizers, pre_tokenizers: the components, as a tokenizer.json writes them.
        rewriting: what happens to the text of a table before it is split; None: nothing, beside finding the special tokens.
        trimming: whether offsets leave out the blanks at the ends of tokens; if so, whether the first blank of a text stays; else None.
    """

    normalizers: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "normalizer_parts")
    pre_tokenizers: Sequence[Mapping[str, Any]] | None = stored_as(COMPONENTS, "pre_tokenizer_parts")
    rewriting: Rewriting | None = stored_as(form_of(Rewriting))
    trimming: bool | None = stored_as(or_null(FLAG))


@dataclass(frozen=True)
class BpeMetadata(Sections):
    """All that a byte-level BPE table says beside its arrays."""

    SECTIONS = (BpeAutomaton, BpeModel, BpeText, AddedTokens, Templates, Settings)

    automaton: BpeAutomaton
    model: BpeModel
    text: BpeText
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings
