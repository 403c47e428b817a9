"""The compiler: a WordPiece vocabulary becomes tables.

Vocabulary → alphabet and trie → failure links and pops → transducer → rows and classes → tables: each step is one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.alphabet import BREAK, Alphabet
from fst.compile.classes import classify
from fst.compile.rows import lay_out
from fst.compile.sources import vocabulary as vocabularies
from fst.compile.sources.vocabulary import Vocabulary
from fst.compile.text import normalizers, pre_tokenizers
from fst.compile.text.added_tokens import LateToken, context, patterns, spelled
from fst.compile.text.alphabets import alphabet as alphabet_of
from fst.compile.text.components import Component
from fst.compile.word_hash import word_table
from fst.errors import TableError, UnsupportedError, quoted, reason
from fst.failure import link
from fst.forms import read, written
from fst.machines.wordpiece import Tables
from fst.metadata import (
    CONTEXTUAL_FLAGS,
    FLAGS,
    LAYOUTS,
    RULES,
    AddedTokens,
    Automaton,
    ContextualToken,
    Metadata,
    Model,
    Normalizer,
    PreTokenizer,
    Settings,
    Templates,
)
from fst.transducer import Transducer, fold
from fst.trie import Trie, build

MODEL = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")  # settings of the model


def wordpiece(
    source: str | Path | Sequence[str],
    *,
    lowercase: bool | None = None,
    strip_accents: bool | None = None,
    clean_text: bool | None = None,
    handle_chinese_chars: bool | None = None,
    unk_token: str | None = None,
    continuing_subword_prefix: str | None = None,
    max_input_chars_per_word: int | None = None,
    pre_tokenizer: str | None = None,
    layout: str = "auto",
) -> Tables:
    """Compile a WordPiece vocabulary.

    Normalisation, pre-tokenisation and WordPiece become one transducer over the characters of raw text, whose ids are those of
    ``tokenizers.Tokenizer.from_file`` for every string, and for a folder those of ``transformers.AutoTokenizer.from_pretrained``. An option
    that is None is what the source says; a ``vocab.txt`` or a list of tokens says nothing, and then BERT's own settings count, which are
    given in brackets.

    Args:
        source: a ``vocab.txt`` (one token a line); a ``tokenizer.json``; a folder with one of these, ``tokenizer_config.json`` and the
            like; as a str the name of a model on the Hugging Face Hub, where no such file is; or the tokens in the order of their ids.
        lowercase: lower-case the text [True].
        strip_accents: decompose characters and drop the accents [what `lowercase` is].
        clean_text: drop control characters, and take all white space for blanks [True].
        handle_chinese_chars: make each CJK ideograph a word [True].
        unk_token: the token for a word that has no segmentation ["[UNK]"].
        continuing_subword_prefix: what tokens begin with that continue a word; any string, also "" ["##"].
        max_input_chars_per_word: a word of more characters, once normalised, is one unknown token [100].
        pre_tokenizer: "bert" splits at blanks and punctuation; with "none" the whole text is one word ["bert"].
        layout: "dense" makes one transition look-up a character, "compact" at most two from a much smaller table; "auto" chooses.

    Raises:
        VocabularyError: the source is not a vocabulary, or does not hold the unknown token; or the Hub does not have it or is out of reach.
        UnsupportedError: it asks for something that this version does not do; the message names it. Or huggingface_hub is not installed.
        OSError: the source cannot be read.

    Example:
        >>> tables = wordpiece(["[UNK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz"])
        >>> tables.run("abcdz abcd")
        [1, 3, 4, 6, 0]

    Source: Song et al. 2021, *Fast WordPiece Tokenization*, Sections 3.4, 3.6 and 4.
    """
    layouts = ("auto", *LAYOUTS)
    if layout not in layouts:
        raise UnsupportedError(f"layout {quoted(layout)}: there are {', '.join(map(repr, layouts))}")
    options = {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "clean_text": clean_text,
        "handle_chinese_chars": handle_chinese_chars,
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix,
        "max_input_chars_per_word": max_input_chars_per_word,
        "pre_tokenizer": pre_tokenizer,
    }
    return assemble(vocabularies.read(source, options), layout)


def automaton(vocabulary: Vocabulary) -> tuple[Alphabet, Transducer]:
    """The readable form of the machine: the alphabet, and the transducer with the trie and the failure links that it is made of."""
    alphabet = alphabet_of(vocabulary.normalizers, vocabulary.pre_tokenizers, vocabulary.specials)
    trie = build(
        list(vocabulary.tokens),
        list(vocabulary.tokens.values()),
        vocabulary.continuing_subword_prefix,
        alphabet.readable(),
        vocabulary.max_input_chars_per_word,
    )
    return alphabet, fold(link(trie))


def assemble(vocabulary: Vocabulary, layout: str) -> Tables:
    """The tables of a vocabulary."""
    alphabet, transducer = automaton(vocabulary)
    rows = lay_out(transducer, _visits(transducer.trie), layout)
    late = patterns(alphabet, vocabulary.late, normalizers.normalization(vocabulary.normalizers)) if vocabulary.late else []
    other_ids = [vocabulary.unk_id, *(token.id for token in vocabulary.late.values())]
    apart = {symbol for pattern in late for symbol in pattern}.difference([BREAK])
    classes = classify(alphabet, transducer.trie, rows, _words_of_one(vocabulary), other_ids, apart)
    inside = [tuple(classes.of_symbol[list(pattern)].tolist()) for pattern in late if max(pattern) < BREAK]
    words, displacements = word_table(transducer.trie, classes.of_label, inside)
    everything = {**vocabulary.tokens, **vocabulary.added_ids}
    encoded = [token.encode() for token in everything]
    metadata = Metadata(
        automaton=Automaton(Tables.kind, rows.layout, len(rows.slots), int(rows.columns.max(initial=0)) + 1, int(rows.slots[-1])),
        model=Model(unk_id=vocabulary.unk_id, model_tokens=len(vocabulary.tokens), **_kept(vocabulary, MODEL)),
        normalizer=Normalizer(
            **_kept(vocabulary, FLAGS), parts=vocabulary.normalizer_parts, composition=alphabet.composition, placing=alphabet.placing
        ),
        pre_tokenizer=PreTokenizer(vocabulary.pre_tokenizer, vocabulary.pre_tokenizer_parts),
        added_tokens=AddedTokens(
            specials=dict(vocabulary.specials),
            contextual=_contextual(vocabulary),
            context=context(alphabet, vocabulary.late),
            skipped=sorted(vocabulary.added_ids[token] for token in vocabulary.skipped),
        ),
        templates=Templates(vocabulary.single, vocabulary.pair),
        settings=read(Settings, _kept(vocabulary, RULES)),
    )
    return Tables(
        about=metadata.to_json(),
        pages=classes.pages,
        blocks=classes.blocks,
        classes=classes.classes,
        symbols=classes.symbols,
        entries=rows.entries,
        pool=rows.pool,
        specials=classes.specials,
        words=words,
        displacements=displacements,
        token_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        token_ends=np.cumsum([len(token) for token in encoded], dtype=np.int64),
        token_ids=np.array(list(everything.values()), np.int32),
    )


def _kept(vocabulary: Vocabulary, names: Iterable[str]) -> dict[str, Any]:
    """The fields of a vocabulary that the metadata keeps as they are."""
    return {name: getattr(vocabulary, name) for name in names}


def _contextual(vocabulary: Vocabulary) -> dict[str, ContextualToken]:
    """The contextual tokens with their spelling in decoded text."""
    if not vocabulary.late:
        return {}
    normal = normalizers.normalization(vocabulary.normalizers)
    return {
        content: ContextualToken(**asdict(token), decoded=spelled(normal, content, token)) for content, token in vocabulary.late.items()
    }


def vocabulary_of(tables: Tables) -> Vocabulary:
    """The vocabulary that tables were compiled from."""
    metadata = tables.metadata
    added, templates, model = metadata.added_tokens, metadata.templates, metadata.model
    late = {content: LateToken(token.id, **_flags(token)) for content, token in added.contextual.items()}
    tokens = dict(list(zip(tables.tokens, tables.token_ids.tolist(), strict=True))[: model.model_tokens])
    return Vocabulary(
        tokens=tokens,
        specials=added.specials,
        late=late,
        skipped=frozenset(token for token, number in added.ids.items() if number in added.skipped),
        single=templates.single,
        pair=templates.pair,
        pre_tokenizer=metadata.pre_tokenizer.name,
        normalizer_parts=_components(normalizers.components, "normalizers", metadata.normalizer.parts),
        pre_tokenizer_parts=_components(pre_tokenizers.components, "pretokenizers", metadata.pre_tokenizer.parts),
        **{name: getattr(model, name) for name in MODEL},
        **{name: getattr(metadata.normalizer, name) for name in FLAGS},
        **written(metadata.settings),
    )


def _flags(token: ContextualToken) -> dict[str, bool]:
    return {flag: getattr(token, flag) for flag in CONTEXTUAL_FLAGS}


def _components(of: Callable[[Component], Any], listed: str, parts: Any) -> Any:
    """Components from a table, which may come from strangers."""
    try:
        return None if parts is None else of({"type": "Sequence", listed: parts})
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{listed}: {reason(error)}") from None


def _visits(trie: Trie) -> NDArray[np.float64]:
    """How often each state is expected to be visited: vocabularies are in order of frequency, and Zipf's law gives the rest."""
    tokens = np.flatnonzero(trie.token >= 0)
    visits = np.zeros(len(trie))
    visits[tokens] = 1 / (1 + np.argsort(np.argsort(trie.token[tokens])))
    for level in range(int(trie.level[-1]), 0, -1):
        nodes = np.flatnonzero(trie.level == level)
        visits += np.bincount(trie.parent[nodes], visits[nodes], minlength=len(trie))
    return visits


def _words_of_one(vocabulary: Vocabulary) -> dict[str, int]:
    """The ids of the characters that are a whole word."""
    if vocabulary.max_input_chars_per_word == 0:
        return {}
    return {token: number for token, number in vocabulary.tokens.items() if len(token) == 1}
