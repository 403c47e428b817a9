"""The metadata of Unigram tables."""

from __future__ import annotations

from dataclasses import dataclass
from sys import float_info
from typing import ClassVar

from fst.automata.rows import MAX_NEXT, MAX_OUTPUT
from fst.core.json_fields import FLAG, TEXT, number, one_of, or_null, stored_as, stored_unless_none, whole
from fst.machines.unigram.viterbi import MAX_DEPTH, RESTARTS, SCOPES
from fst.pretokens.header import PretokenText
from fst.pretokens.tuned_words import TUNING, Tuning
from fst.tables.header import AddedTokens, Sections, Settings, Templates
from fst.tables.sentencepiece_info import SENTENCEPIECE_INFO, SentencePieceInfo


@dataclass(frozen=True)
class UnigramTrie:
    """The layout of the machine.

    Attributes:
        kind: the kind of machine.
        states: the number of states of the trie.
        longest: the maximum number of bytes of a token in the trie.
        window_bits: the number of bits of a symbol in a window.
        restarts: the positions where sums restart, or "word" if there are no sums, see `fst.machines.unigram.viterbi`.
    """

    kind: str = stored_as(TEXT)
    states: int = stored_as(whole(1, MAX_NEXT))
    longest: int = stored_as(whole(1, MAX_DEPTH))
    window_bits: int = stored_as(whole(2, 6))
    restarts: str = stored_as(one_of(*RESTARTS))


@dataclass(frozen=True)
class UnigramModel:
    """The model. The fields are named as in Hugging Face's ``tokenizers``.

    Attributes:
        model_tokens: the number of tokens in the model; their ids are 0 to ``model_tokens - 1``.
        unk_id: the id of the unknown token, for characters that are not tokens; None: a text with such a character has no ids.
        unk_token: the content of the unknown token; None if `unk_id` is None.
        byte_fallback: whether tokens like ``<0x0A>`` represent the bytes of characters that are not tokens.
        scope: the score scope, which also selects the reference and the dtype of sums, see `fst.machines.unigram.viterbi`.
        sentencepiece: the types and scores of the pieces in a model of SentencePiece; None for other sources.
        unknown_score: the score of a character that is not a token; None: the least score of all tokens minus
            `fst.machines.unigram.viterbi.PENALTY`.
        tuning: the number and the origin of tuned words; None if the table is not tuned.
    """

    unknown_is_text: ClassVar[bool] = True  # the name of an unknown token is its text, not `unk_token`

    model_tokens: int = stored_as(whole(1, 1 << 31))
    unk_id: int | None = stored_as(or_null(whole(0, MAX_OUTPUT)))
    unk_token: str | None = stored_as(or_null(TEXT))
    byte_fallback: bool = stored_as(FLAG)
    scope: str = stored_as(one_of(*SCOPES), "sums")
    sentencepiece: SentencePieceInfo | None = stored_as(SENTENCEPIECE_INFO)
    unknown_score: float | None = stored_unless_none(number(-float_info.max, float_info.max))
    tuning: Tuning | None = stored_unless_none(TUNING)


@dataclass(frozen=True)
class UnigramMetadata(Sections):
    """The metadata of a Unigram table, in sections."""

    automaton: UnigramTrie
    model: UnigramModel
    text: PretokenText
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings
