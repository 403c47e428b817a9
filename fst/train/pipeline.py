"""The text pipeline of a vocabulary in training, as components of a ``tokenizer.json``.

The pipeline splits the corpus into words and is then stored with the trained vocabulary, so training and encoding split texts alike. Its
digest is stored with counted words, to refuse words that another pipeline has split.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from fst.compile.pretokens import splits
from fst.compile.sources import kinds
from fst.compile.sources.tiktoken import ENCODINGS
from fst.compile.text import sentencepiece
from fst.compile.text.components import Component
from fst.compile.text.edits.rules import RULES, of_rule
from fst.compile.text.source import TextPipeline
from fst.errors import UnsupportedError, VocabularyError, quoted, reason
from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import LETTERS

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BYTES_DECODER = {**BYTE_LEVEL, "add_prefix_space": True}
# From the tokenizer.json of Llama 3; the pattern of Qwen2 differs only in how it splits numbers.
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# From the scripts that SuperBPE's authors released, for the second phase: digits, punctuation and the end of a run of spaces.
SUPERBPE = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
O200K = ENCODINGS["o200k_base"].pattern
NAME = re.compile(r"[\w .-]*")  # a str of only these characters is the name of a splitter, not a pattern
NONE, SENTENCEPIECE = "none", "sentencepiece"
# The normalizers of `tokenizers` that remove extra whitespace like SentencePiece.
STRIPS = (
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
)
EXAMPLE = r" ?\w+|\s+"


@dataclass(frozen=True)
class Pipeline:
    """The normalizer, the pre-tokenizer and the decoder, each a component of a ``tokenizer.json`` or None.

    Attributes:
        normalizer, pre_tokenizer: the steps before the model.
        decoder: the step after the model.
        added: the added tokens of a ``tokenizer.json``, since patterns may contain such tokens. If no automaton can split texts with added
            tokens, documents must not contain added tokens.
        rule: a normalization rule of SentencePiece, see `fst.compile.text.edits.rules`; None: the pipeline has no rule. With a rule, texts
            are normalized and split as in SentencePiece with its default options, and `pre_tokenizer` is only written to a
            ``tokenizer.json``.
    """

    normalizer: Component | None = None
    pre_tokenizer: Component | None = None
    decoder: Component | None = None
    added: Sequence[str] = ()
    rule: str | None = None

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Pipeline:
        """The pipeline of a ``tokenizer.json``."""
        added = [token["content"] for token in document.get("added_tokens") or ()]
        return cls(document.get("normalizer"), document.get("pre_tokenizer"), document.get("decoder"), added)

    @property
    def parts(self) -> TextPipeline:
        """The normalizers and the pre-tokenizers, without nested sequences and in canonical form."""
        if self.rule is not None:
            parts = sentencepiece.components(of_rule(self.rule), [], **sentencepiece.DEFAULTS, are_found=True)
            return TextPipeline(parts, (sentencepiece.WORD_CUTS,))
        try:
            return kinds.BPE.text(self.normalizer, self.pre_tokenizer)
        except (TypeError, AttributeError, ValueError, RecursionError) as error:
            raise VocabularyError(f"the splitter or the normalizer is malformed: {error}") from None

    @property
    def stated(self) -> Component | None:
        """The normalizer in a ``tokenizer.json``. For a rule of SentencePiece, this is the normalizer from the converters of
        `transformers`; rare texts get other ids, because `tokenizers` replaces strings by grapheme clusters.
        """
        if self.rule is None:
            return self.normalizer
        data = of_rule(self.rule)
        charsmap = [{"type": "Precompiled", "precompiled_charsmap": b64encode(data).decode()}] if data else []
        return {"type": "Sequence", "normalizers": [*charsmap, *STRIPS]}

    @property
    def are_bytes(self) -> bool:
        """Whether the symbols of words are bytes: whether one of the pre-tokenizers is ByteLevel."""
        return splits.BYTES in self.parts.pre_tokenizers

    @property
    def digest(self) -> str:
        """A digest of the normalizer and the pre-tokenizer. Different spellings of the same components have the same digest."""
        text = json.dumps([[*self.parts.normalizers], [*self.parts.pre_tokenizers]], sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()[:16]

    def decoded_by(self, decoder: Component) -> Pipeline:
        """The pipeline with `decoder`, unless it already has a decoder."""
        return replace(self, decoder=self.decoder or decoder)

    def table(self) -> BpeTable:
        """A table whose pre-tokens are the words of a text.

        In the table's pre-tokens, a space replaces Metaspace's symbol, which is in ``metadata.model.letters.symbol``; the caller restores
        the symbol. If the table has added tokens, texts with one of these tokens cannot be split.
        """
        are_bytes = self.are_bytes
        names = LETTERS.values() if are_bytes else "a"
        # Without `ignore_merges`, the compiler would split pre-tokens into characters, because there are no merges.
        model = {"type": "BPE", "vocab": {name: at for at, name in enumerate(names)}, "merges": [], "ignore_merges": not are_bytes}
        document = {"normalizer": self.normalizer, "pre_tokenizer": self.pre_tokenizer, "model": model}
        if self.rule is not None:
            return _table(json.dumps(document), self.rule)
        try:
            return _table(json.dumps(document))
        except UnsupportedError:
            if not self.added:
                raise
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": True, "special": True}
        added = [{"id": len(names) + place, "content": content, **flags} for place, content in enumerate(self.added)]
        return _table(json.dumps({**document, "added_tokens": added}))


@lru_cache(4)  # a splitter such as "o200k" takes a second to compile
def _table(document: str, rule: str | None = None) -> BpeTable:
    from fst.compile.sources.tokenizer_json import of_document

    source = of_document(json.loads(document), Path("the splitter"))
    table: Any = (source if rule is None else replace(source, text=Pipeline(rule=rule).parts)).table()
    if len(table.byte_kinds):
        raise UnsupportedError("a pre_tokenizer after ByteLevel splits bytes, and such words cannot be counted; put it before ByteLevel")
    return cast(BpeTable, table)


def _by_pattern(pattern: str) -> Pipeline:
    """A byte-level pipeline. The words are the matches of a pattern, and the texts between matches."""
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    parts = [split, {**BYTE_LEVEL, "use_regex": False}]
    return Pipeline(pre_tokenizer={"type": "Sequence", "pretokenizers": parts}, decoder=BYTES_DECODER)


NORMALIZERS: Mapping[str, Component | None] = {
    "bert": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    "bert-cased": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False},
    **{name.lower(): {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")},
    NONE: None,
}
SPLITTERS: Mapping[str, Pipeline] = {
    "gpt2": Pipeline(pre_tokenizer=BYTE_LEVEL, decoder=BYTES_DECODER),
    "bert": Pipeline(pre_tokenizer={"type": "BertPreTokenizer"}),
    "metaspace": Pipeline(pre_tokenizer=METASPACE, decoder=METASPACE),
    SENTENCEPIECE: Pipeline(None, METASPACE, METASPACE, rule=RULES[0]),
    "whitespace": Pipeline(pre_tokenizer={"type": "WhitespaceSplit"}),
    "cl100k": _by_pattern(LLAMA3),
    "llama3": _by_pattern(LLAMA3),
    "o200k": _by_pattern(O200K),
    "qwen2": _by_pattern(QWEN2),
    "superbpe": _by_pattern(SUPERBPE),
    NONE: Pipeline(),
}

KNOWN_SPLITTERS = f"expected {', '.join(SPLITTERS)}, a regular expression such as {EXAMPLE!r}, a pre-tokenizer or a tokenizer"


def pipeline_of(splitter: Any, normalizer: Any = None) -> Pipeline:
    r"""The pipeline for the arguments `splitter` and `normalizer`.

    Args:
        splitter: a key of `SPLITTERS`; a regular expression, for byte-level vocabularies; a pre-tokenizer as a mapping or as an object of
            `tokenizers`; or a whole ``tokenizer.json`` as a mapping.
        normalizer: a key of `NORMALIZERS`, or a normalizer as a mapping or as an object of `tokenizers`; for the splitter "sentencepiece",
            also one of `RULES`, which take precedence over `NORMALIZERS`; None: the splitter's normalizer.

    Examples:
        >>> pipeline_of("whitespace", "nfkc").normalizer
        {'type': 'NFKC'}
        >>> pipeline_of(r"\w+").are_bytes
        True
    """
    found = _splitter(splitter)
    if normalizer is None:
        return found
    if isinstance(normalizer, str) and normalizer in RULES and found.rule is not None:
        return replace(found, rule=normalizer)
    return replace(found, normalizer=_normalizer(normalizer), rule=None)


def need_no_rule(kind: str, pipeline: Pipeline | None) -> None:
    """Raise an error if a rule of SentencePiece normalizes the words of a vocabulary whose files and tables cannot contain the rule."""
    if pipeline is not None and pipeline.rule is not None:
        found = f"the splitter {SENTENCEPIECE!r} runs the rule {pipeline.rule} of sentencepiece, and the vocabulary is {kind}"
        raise UnsupportedError(f"{found}; expected BPE or Unigram; pass another splitter, such as 'whitespace' with normalizer='nfkc'")


def _splitter(splitter: Any) -> Pipeline:
    if isinstance(splitter, Pipeline):
        return splitter
    if isinstance(splitter, str) and splitter in SPLITTERS:
        return SPLITTERS[splitter]
    if isinstance(splitter, str):
        if NAME.fullmatch(splitter):
            raise UnsupportedError(f"splitter {quoted(splitter)} is unknown; {KNOWN_SPLITTERS}")
        return _by_pattern(splitter)
    component = _component(splitter, "splitter", KNOWN_SPLITTERS)
    return Pipeline.of_document(component) if "model" in component else Pipeline(pre_tokenizer=component, decoder=_decoder(component))


def _normalizer(normalizer: Any) -> Component | None:
    known = f"expected {', '.join(NORMALIZERS)}, a mapping or a live normalizer"
    if isinstance(normalizer, str) and normalizer in RULES and normalizer not in NORMALIZERS:
        raise UnsupportedError(f"normalizer {normalizer!r} is a rule of sentencepiece; {known}; it needs the splitter {SENTENCEPIECE!r}")
    if isinstance(normalizer, str):
        if normalizer not in NORMALIZERS:
            raise UnsupportedError(f"normalizer {quoted(normalizer)} is unknown; {known}")
        return NORMALIZERS[normalizer]
    return _component(normalizer, "normalizer", known)


def _component(given: Any, role: str, expected: str) -> Component:
    """Convert a component, which is a mapping or an object of `tokenizers`, to a dict."""
    if isinstance(given, Mapping):
        return given
    library: Any = sys.modules.get("tokenizers")
    if library is None or not isinstance(given, library.pre_tokenizers.PreTokenizer | library.normalizers.Normalizer):
        raise UnsupportedError(f"{role} is {quoted(given)}; {expected}")
    try:
        stated: Component = json.loads(given.__getstate__())
    except Exception as error:  # `tokenizers` raises this for components that are implemented in Python
        raise UnsupportedError(f"{role} {type(given).__name__} has no stored form: {reason(error)}") from None
    return stated


def _decoder(pre_tokenizer: Component) -> Component | None:
    """The decoder that undoes a pre-tokenizer, if it is byte-level or in `SPLITTERS`; None for other pre-tokenizers."""
    if Pipeline(pre_tokenizer=pre_tokenizer).are_bytes:
        return BYTES_DECODER
    return next((known.decoder for known in SPLITTERS.values() if known.pre_tokenizer == pre_tokenizer), None)
