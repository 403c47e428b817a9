"""Draw configurations of tokenizers, as a `tokenizer.json` with a small trained vocabulary, from the components of `tokenizers`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from support.sources.drawn_parts import DECODERS, LOOSE, NORMALIZERS, PRE_TOKENIZERS, Part, Weighted
from support.sources.families import LINES, trained

KINDS = {"bytes": 42, "characters": 18, "unigram": 18, "wordpiece": 17, "words": 5}  # the kind of a model, and its weight
MODELS = {"bytes": "BPE", "characters": "BPE", "unigram": "Unigram", "wordpiece": "WordPiece", "words": "WordLevel"}
SPECIALS = {
    "bytes": ("<s>", "</s>", "<pad>", "<|endoftext|>"),
    "characters": ("<s>", "</s>", "<unk>", "<pad>"),
    "unigram": ("<s>", "</s>", "<unk>", "<pad>", "<mask>"),
    "wordpiece": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
}
SPECIALS["words"] = SPECIALS["wordpiece"]
ADDED = ["<|im_start|>", "<extra_id_0>", "    ", "\n\n", "<|é|>", "hello", "New York", "ing", "[X]", "日本", "http", "▁<x>", "1984", "İ"]
ADDED_FLAGS = ("single_word", "lstrip", "rstrip")
PIECES = [
    *"".join(LINES),
    *LINES[0].split(),
    *LINES[2].split(),
    *("  ", "   ", "\n", "\t", "\r\n", " \n ", "\n\n", "\u3000", "\xa0", "\u200b", "\ufeff", "\x00", "\x85", "\x1f"),
    *("▁", "▁▁", "``", "''", "…", "...", "##", "Ġ", "</w>", "_", "'ll", "’s", "<s", "s>", "[", "]", "<0x0A>"),
    *("1", "23", "٣", "²", "Ⅷ", "½", "1984", "12345", "a1", "http://a.b/c"),
    *("É", "e\u0301", "\u0301", "q\u0323\u0307", "\u0307\u0323", "İ", "ß", "ﬁ", "ﷺ", "각", "\u1112\u1161\u11ab", "क़", "㍿", "Ａ", "Å"),
    *("👩‍👩‍👧", "🇩🇪", "☃️", "\ufffd", "\U000e0041", "hello", "Hello", "world", "HELLO", "ing", "New York", "日本", "x" * 40, "ab ab"),
]


def drawn(seed: int) -> dict[str, Any]:
    """Draw the tokenizer.json of a number."""
    chance = random.Random(seed)
    (kind,) = chance.choices([*KINDS], [*KINDS.values()])
    normalizers = _of(chance, NORMALIZERS[kind])
    if chance.random() < 0.15:
        more = [part for _ in range(chance.choice((1, 1, 2))) for part in _of(chance, LOOSE)]
        normalizers = normalizers + more if chance.random() < 0.5 else more + normalizers
    model = _model(chance, kind)
    specials = [*SPECIALS[kind]]
    document: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(content, number, special=True) for number, content in enumerate(specials)],
        "normalizer": _whole(normalizers, "normalizers"),
        "pre_tokenizer": _whole(_of(chance, PRE_TOKENIZERS[kind]), "pretokenizers"),
        "post_processor": None,
        "decoder": _whole(_of(chance, DECODERS[kind]), "decoders"),
        "model": model,
    }
    document = trained(document, **_training(chance, kind, model))
    _after_training(chance, kind, document)
    document["post_processor"] = _post_processor(chance, kind, specials)
    _add(chance, document)
    return document


def texts(document: dict[str, Any], seed: int, count: int) -> list[str]:
    """Draw texts of words, signs, whitespace, marks, added tokens and tokens of the vocabulary."""
    chance = random.Random(seed)
    vocabulary = document["model"]["vocab"]
    tokens = [token if isinstance(token, str) else token[0] for token in vocabulary]
    own = [*(token["content"] for token in document["added_tokens"]), *chance.sample(tokens, min(40, len(tokens)))]
    rows = ["", " ", "  ", *LINES, *(f" {content} a{content}b{content}" for content in own[:12])]
    return rows + ["".join(chance.choices(PIECES + own, k=chance.randrange(1, 25))) for _ in range(count)]


def _of(chance: random.Random, weighted: Weighted) -> list[Part]:
    (found,) = chance.choices([parts for _, parts in weighted], [weight for weight, _ in weighted])
    return [{**part} for part in found]


def _whole(parts: Sequence[Part], inside: str) -> Part | None:
    """A component of `parts`; None if there are no parts."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"type": "Sequence", inside: [*parts]}


def _added(content: str, number: int, **flags: bool) -> Part:
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return {"id": number, "content": content, **usual, **flags}


def _model(chance: random.Random, kind: str) -> dict[str, Any]:
    """The fields of an untrained model."""
    if kind in ("wordpiece", "words"):
        prefix = chance.choices(("##", "", "▁"), (92, 5, 3))[0]
        more = {"continuing_subword_prefix": prefix, "max_input_chars_per_word": chance.choice((100, 100, 100, 20))}
        return {"type": MODELS[kind], "unk_token": "[UNK]", "vocab": {"[UNK]": 0}, **(more if kind == "wordpiece" else {})}
    falls_back = chance.random() < {"bytes": 0.02, "characters": 0.5, "unigram": 0.15}[kind]
    if kind == "unigram":
        return {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": falls_back}
    is_bytes = kind == "bytes"
    unknown = chance.choices((None, "<unk>" if not is_bytes else "<|endoftext|>"), (85, 15) if is_bytes else (15, 85))[0]
    suffix = chance.choices((None, "", "</w>"), (84, 10, 6) if is_bytes else (70, 10, 20))[0]
    return {
        "type": "BPE",
        "dropout": chance.choices((None, 0.1), (97, 3))[0],
        "unk_token": unknown,
        "continuing_subword_prefix": chance.choices((None, "", "##"), (86, 12, 2))[0],
        "end_of_word_suffix": suffix if not falls_back else None,
        "fuse_unk": chance.random() < (0.05 if is_bytes else 0.5),
        "byte_fallback": falls_back,
        "ignore_merges": chance.random() < (0.15 if is_bytes else 0.05),
        "vocab": {},
        "merges": [],
    }


def _training(chance: random.Random, kind: str, model: dict[str, Any]) -> dict[str, Any]:
    """The options of the trainer."""
    fallbacks = [f"<0x{byte:02X}>" for byte in range(256)] if model.get("byte_fallback") else []
    options: dict[str, Any] = {"vocab_size": chance.choice((300, 500, 700)), "special_tokens": [*SPECIALS[kind], *fallbacks]}
    if kind == "bytes" and chance.random() < 0.12:
        options["initial_alphabet"] = []
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            options[name] = model[name]
    return options


def _after_training(chance: random.Random, kind: str, document: dict[str, Any]) -> None:
    """Change a trained model as files are changed by hand."""
    model = document["model"]
    if kind == "unigram" and chance.random() < 0.05:
        model["unk_id"] = None
    if kind in ("unigram", "characters") and not model["byte_fallback"] and chance.random() < 0.03:
        model["byte_fallback"] = True


def _post_processor(chance: random.Random, kind: str, specials: Sequence[str]) -> Part | None:
    begin, end = (2, 3) if kind in ("wordpiece", "words") else (0, 1)
    first, last = [specials[begin], begin], [specials[end], end]
    trims, prefix = chance.random() < 0.6, chance.random() < 0.5
    template: Part = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": first[0], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {first[0]: {"id": first[0], "ids": [begin], "tokens": [first[0]]}},
    }
    if chance.random() < 0.5:
        template["single"] += [{"SpecialToken": {"id": last[0], "type_id": 0}}]
        template["special_tokens"][last[0]] = {"id": last[0], "ids": [end], "tokens": [last[0]]}
    bytes_of = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trims, "use_regex": True}
    roberta = {"type": "RobertaProcessing", "sep": last, "cls": first, "trim_offsets": trims, "add_prefix_space": prefix}
    both = {"type": "Sequence", "processors": [bytes_of, template]}
    choices: dict[str, list[tuple[float, Part | None]]] = {
        "bytes": [(40, bytes_of), (20, None), (12, template), (14, roberta), (14, both)],
        "wordpiece": [(60, template), (15, {"type": "BertProcessing", "sep": last, "cls": first}), (25, None)],
    }
    found = choices.get(kind, [(70, template), (30, None)])
    return chance.choices([part for _, part in found], [weight for weight, _ in found])[0]


def _add(chance: random.Random, document: dict[str, Any]) -> None:
    """Give flags to some special tokens, and add tokens that follow the vocabulary."""
    vocabulary = document["model"]["vocab"]
    names = {token if isinstance(token, str) else token[0] for token in vocabulary}
    if chance.random() < 0.25:
        document["added_tokens"][-1]["lstrip"] = True
    following = len(vocabulary)
    for content in chance.sample(ADDED, chance.choices((0, 1, 2, 4), (60, 15, 15, 10))[0]):
        if content not in names:
            flags = {name: chance.random() < 0.12 for name in ADDED_FLAGS}
            flags |= {"normalized": chance.random() < 0.3, "special": chance.random() < 0.5}
            document["added_tokens"].append(_added(content, following, **flags))
            following += 1
