"""WordPiece vocabularies without settings: a ``vocab.txt`` with one token per line, or a list of tokens. All settings are BERT's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fst.automata.rows import WHITE_SPACE
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.pretrained.conventions import BERT_INPUTS, named_tokens
from fst.compile.sources.templates import BARE, bert
from fst.compile.text.source import NO_SETTINGS, Source, TextPipeline
from fst.tables.header import AddedTokens, Decoder

BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BERT_TEXT = TextPipeline(
    ({"type": "BertNormalizer", "lowercase": True, "strip_accents": None, "clean_text": True, "handle_chinese_chars": True},),
    ({"type": "BertPreTokenizer"},),
)


def parse_lines(text: str) -> dict[str, int]:
    r"""Read the tokens of a ``vocab.txt`` as `tokenizers` does.

    Only "\n" ends a line, whitespace at the end of a line is dropped, and of equal tokens, the last is used.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return {line.rstrip(WHITE_SPACE): number for number, line in enumerate(lines)}


def of_tokens(tokens: dict[str, int], given: Mapping[str, Any]) -> Source[WordPieceModel]:
    """Make a source from tokens, with the same settings as ``BertWordPieceTokenizer`` of `tokenizers`. `tokens`: token → id. `given`:
    options of the compiler; special tokens depend on ``unk_token``, and decoding depends on the prefix.
    """
    model = WordPieceModel(tokens, given.get("unk_token", "[UNK]"))
    specials = {token: tokens[token] for token in dict.fromkeys([*BERT_SPECIALS, model.unk_token]) if token and token in tokens}
    templates = bert(tokens["[CLS]"], tokens["[SEP]"]) if "[CLS]" in tokens and "[SEP]" in tokens else BARE
    settings = replace(
        NO_SETTINGS,
        decoder=Decoder(given.get("continuing_subword_prefix", "##"), cleanup=True),
        named_tokens=named_tokens(specials, model.unk_token, None),
        model_input_names=list(BERT_INPUTS),
    )
    added = AddedTokens(specials, contextual={}, context=None, skipped=tuple(sorted(specials.values())), normalized=())
    return Source(model, BERT_TEXT, added, templates, settings)
