"""The metadata of Unigram tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fst.automata.rows import MAX_NEXT, MAX_OUTPUT
from fst.core.json_fields import FLAG, TEXT, one_of, stored_as, whole
from fst.machines.unigram.viterbi import MAX_DEPTH, RESTARTS, SUMS
from fst.pretokens.header import PretokenText
from fst.tables.header import AddedTokens, Sections, Settings, Templates
from fst.tables.sentencepiece_info import SENTENCEPIECE_INFO, SentencePieceInfo


@dataclass(frozen=True)
class UnigramTrie:
    """The layout of the machine.

    Attributes:
        kind: the kind of machine.
        states: the number of states of the trie.
        longest: the most bytes of a token in the trie.
        window_bits: the number of bits of a symbol in a window.
        restarts: the places where sums begin again, or that there are no sums, see `fst.machines.unigram.viterbi`.
    """

    kind: str = stored_as(TEXT)
    states: int = stored_as(whole(1, MAX_NEXT))
    longest: int = stored_as(whole(1, MAX_DEPTH))
    window_bits: int = stored_as(whole(2, 6))
    restarts: str = stored_as(one_of(*RESTARTS))


@dataclass(frozen=True)
class UnigramModel:
    """The model, named as in Hugging Face's ``tokenizers``.

    Attributes:
        model_tokens: the number of tokens that the model has; their ids are those below.
        unk_id: the token for characters that are no tokens.
        unk_token: its name.
        byte_fallback: whether tokens such as ``<0x0A>`` represent the bytes of such characters.
        sums: how sums of scores are added, as one of two references does, see `fst.machines.unigram.viterbi`.
        sentencepiece: the facts about pieces of a model of sentencepiece; None for other sources.
    """

    unknown_is_text: ClassVar[bool] = True  # the name of an unknown token is its text

    model_tokens: int = stored_as(whole(1, 1 << 31))
    unk_id: int = stored_as(whole(0, MAX_OUTPUT))
    unk_token: str = stored_as(TEXT)
    byte_fallback: bool = stored_as(FLAG)
    sums: str = stored_as(one_of(*SUMS))
    sentencepiece: SentencePieceInfo | None = stored_as(SENTENCEPIECE_INFO)


@dataclass(frozen=True)
class UnigramMetadata(Sections):
    """The metadata of a Unigram table, section by section."""

    SECTIONS = (UnigramTrie, UnigramModel, PretokenText, AddedTokens, Templates, Settings)

    automaton: UnigramTrie
    model: UnigramModel
    text: PretokenText
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings
