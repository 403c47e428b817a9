"""The metadata of byte-level BPE tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fst.automata.rows import MAX_NEXT, MAX_OUTPUT
from fst.core.json_fields import FLAG, TEXT, number, or_null, record, stored_as, stored_unless_none, whole
from fst.pretokens.header import PretokenText
from fst.pretokens.token_letters import Letters
from fst.pretokens.tuned_words import TUNING, Tuning
from fst.tables.header import AddedTokens, Sections, Settings, Templates
from fst.tables.ids import IDS
from fst.tables.sentencepiece_info import SENTENCEPIECE_INFO, SentencePieceInfo


@dataclass(frozen=True)
class BpeAutomaton:
    """The layout of the automaton.

    Attributes:
        kind: the kind of machine.
        states: the number of states of the automaton; 0 if the table has no automaton.
        window_bits: the number of bits of a symbol in a window.
    """

    kind: str = stored_as(TEXT)
    states: int = stored_as(whole(0, MAX_NEXT))
    window_bits: int = stored_as(whole(2, 6))


@dataclass(frozen=True)
class BpeModel:
    """The model. The fields are named as in Hugging Face's ``tokenizers``.

    Attributes:
        model_tokens: the number of the model's tokens, which are the first tokens of the table.
        vocabulary_tokens: the number of names in the source's vocabulary: the model's tokens, followed by other names. All later tokens are
            added tokens.
        dropout: the source's probability of skipping a merge, stored only for information; 0 if the source has no dropout.
        ignore_merges: whether a whole pre-token that equals a token becomes this token, regardless of merges.
        continuing_subword_prefix, end_of_word_suffix: see `fst.machines.bpe.affixes`; empty if the source has none.
        long_pretokens: with `ignore_merges`, the ids of tokens that no merges make and that are not in the table of words, mostly because
            they are too long.
        letters: the spelling of the model's tokens; it also determines whether symbols are bytes or characters.
        fallbacks: the number of tokens such as ``<0x0A>``, for the bytes of characters without tokens; these tokens are the last of the
            model's tokens.
        joins_words: see `fst.pretokens.table.PretokenTable`.
        missing_bytes: the number of *missing bytes*: bytes that a text may contain, but that have no token; 0 for nearly all vocabularies.
        unk_id: the token for missing bytes, or for characters with missing bytes; None if no bytes are missing, or if missing bytes are
            removed.
        unk_token: the source's name for the unknown token; None if the source has no unknown token.
        fuse_unk: whether a run of missing bytes or characters becomes one `unk_id`.
        byte_fallback: whether the source has fallback tokens for bytes.
        sentencepiece: the types and scores of the pieces in a model of ``sentencepiece``; None for other sources.
        tuning: the number and the origin of tuned words; None if the table is not tuned.
        longest_match: True if texts become the longest tokens from left to right, without merges; None for BPE.
    """

    model_tokens: int = stored_as(whole(1, 1 << 31))
    vocabulary_tokens: int = stored_as(whole(1, 1 << 31))
    dropout: float = stored_as(number(0, 1))
    ignore_merges: bool = stored_as(FLAG)
    letters: Letters = stored_as(record(Letters, "a mapping of 'are_bytes', true or false, and 'symbol', a character or nothing"))
    fallbacks: int = stored_as(whole(0, 256))
    joins_words: bool = stored_as(FLAG)
    missing_bytes: int = stored_as(whole(0, 256))
    unk_id: int | None = stored_as(or_null(whole(0, MAX_OUTPUT)))
    unk_token: str | None = stored_as(or_null(TEXT))
    fuse_unk: bool = stored_as(FLAG)
    byte_fallback: bool = stored_as(FLAG)
    continuing_subword_prefix: str = stored_as(TEXT)
    end_of_word_suffix: str = stored_as(TEXT)
    long_pretokens: Sequence[int] = stored_as(IDS, "long_pieces")
    sentencepiece: SentencePieceInfo | None = stored_as(SENTENCEPIECE_INFO)
    tuning: Tuning | None = stored_unless_none(TUNING)
    longest_match: bool | None = stored_unless_none(FLAG)


@dataclass(frozen=True)
class BpeMetadata(Sections):
    """The metadata of a byte-level BPE table, in sections."""

    automaton: BpeAutomaton
    model: BpeModel
    text: PretokenText
    added_tokens: AddedTokens
    templates: Templates
    settings: Settings
