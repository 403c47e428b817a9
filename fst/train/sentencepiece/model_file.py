"""Write a SentencePiece ``.model``, with the protobuf schema from the package `sentencepiece`.

`fst.compile.sources.sentencepiece.model_file` reads these files. SentencePiece merges pieces by score, and does not split texts into words.
If ▁ occurs only at the beginning of pieces, splitting texts into words does not change the ids.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fst.compile.machines.bpe.score_merges import last_merge
from fst.compile.sources.sentencepiece.model_file import (
    BYTE,
    BYTES,
    CONTROL,
    KINDS,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Normalizer,
    SentencePieceModel,
    check,
    description,
    parse,
)
from fst.compile.text.components import Component
from fst.compile.text.edits.rules import of_rule
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import quoted
from fst.text.whitespace import SPACE

WHERE = "the .model"  # the name of the file in messages
RUNS = {"Regex": " {2,}"}
TRAINED = {"Nmt": "nmt_nfkc", "NFKC": "nfkc"}  # normalizer → the similar rule of SentencePiece, which differs for rare characters
ROLES = {"bos": "<s>", "eos": "</s>", "pad": "<pad>"}  # role → the piece that has the role by default
UNK_SURFACE = " \u2047 "  # the default of SentencePiece
PREFIXES = {"always": True, "first": True, "never": False}  # ``prepend_scheme`` of Metaspace → whether ▁ is put before a text


def model_of(document: Mapping[str, Any], scores: Sequence[float] | None, rule: str | None) -> SentencePieceModel:
    """The content of a ``.model``.

    Args:
        document: the value of a ``tokenizer.json`` with a model BPE or Unigram, or a similar value with a model Char or Word.
        scores: the scores of BPE, by id; None: the scores are the negative ranks of the merges.
        rule: the rule of SentencePiece by which texts are normalized, see `fst.compile.text.edits.rules`; None: the normalizer and the
            pre-tokenizer of the document determine it.
    """
    model = document["model"]
    if model["type"].lower() not in KINDS.values():
        raise ValueError(f"its model is {model['type']}")
    pieces, unknown = _pieces(model), _unknown(model)
    types = _types(pieces, unknown, document)
    _need_normal(model.get("merges", ()), dict(zip(pieces, types, strict=True)))
    found = SentencePieceModel(
        kind=model["type"].lower(),
        pieces=pieces,
        scores=np.array(scores or _scores(model, pieces), np.float32).tolist(),
        types=types,
        byte_fallback=BYTE in types,
        is_suffix=False,
        unk_surface=UNK_SURFACE,
        special={"unk": unknown, **ROLES},
        normalizer=_by_rule(rule) if rule else _text(*_parts(document)),
    )
    check(found)
    return found


def model_file(model: SentencePieceModel, rule: str | None) -> bytes:
    """The bytes of a ``.model``. `model`: the content. `rule`: the name of the normalizer; None: "user_defined" or "identity"."""
    proto = description(WHERE).ModelProto()
    for piece, score, kind in zip(model.pieces, model.scores, model.types, strict=True):
        proto.pieces.add(piece=piece, score=score, **({} if kind == NORMAL else {"type": kind}))
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    trainer.model_type = next(number for number, kind in KINDS.items() if kind == model.kind)
    trainer.vocab_size, trainer.unk_id, trainer.unk_piece = len(model.pieces), model.unk_id, model.special["unk"]
    trainer.byte_fallback = model.byte_fallback
    for role, piece in ROLES.items():
        setattr(trainer, f"{role}_id", model.pieces.index(piece) if piece in model.pieces else -1)
    by = model.normalizer
    normalizer.name, normalizer.precompiled_charsmap = rule or ("user_defined" if by.charsmap else "identity"), by.charsmap
    for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        if not getattr(by, name):  # as in models of `spm_train`, default values are left out
            setattr(normalizer, name, False)
    data: bytes = proto.SerializeToString()
    parse(data, WHERE)
    return data


def _by_rule(rule: str) -> Normalizer:
    return Normalizer(of_rule(rule), add_dummy_prefix=True, remove_extra_whitespaces=True, escape_whitespaces=True)


def _parts(document: Mapping[str, Any]) -> tuple[Sequence[Component], Sequence[Component]]:
    """The normalizers and the pre-tokenizers of a document, without nested sequences."""
    return _steps(document["normalizer"], "normalizers"), _steps(document["pre_tokenizer"], "pretokenizers")


def _steps(part: Component | None, members: str) -> list[Component]:
    """The components of a sequence, without nested sequences. `members` is the name of the field that lists a sequence's components."""
    if part is None:
        return []
    return [step for one in part[members] for step in _steps(one, members)] if part["type"] == "Sequence" else [part]


def _text(normalizers: Sequence[Component], splits: Sequence[Component]) -> Normalizer:
    """The normalizer of a ``.model`` that is equivalent to the given normalizers and pre-tokenizers."""
    charsmap, rest = _charsmap(normalizers)
    adds_prefix, removes_runs, replaces = False, False, False
    for step in rest:
        content = step.get("content", "")
        if step["type"] == "Prepend" and step["prepend"] in (SYMBOL, SPACE):
            adds_prefix = True
        elif step["type"] == "Replace" and step["pattern"] == RUNS and content in (SYMBOL, SPACE):
            removes_runs = True
        elif step["type"] == "Replace" and step["pattern"] == {"String": SPACE} and content == SYMBOL:
            replaces = True
        elif step["type"] in TRAINED:
            reason = f"its rule {TRAINED[step['type']]} differs for rare characters; train with the splitter 'sentencepiece', which has it"
            raise ValueError(f"normalizer {step['type']} has no counterpart in SentencePiece: {reason}")
        elif step["type"] != "Strip":  # Strip is checked below, together with the Replace that shortens runs of spaces
            raise ValueError(f"normalizer {step['type']} has no counterpart in SentencePiece")
    if removes_runs != any(step["type"] == "Strip" for step in normalizers):
        raise ValueError("the normalizers Strip and Replace of runs of spaces have a counterpart in SentencePiece only together")
    *others, last = splits or [{"type": None}]
    if last["type"] == "Metaspace" and last["replacement"] == SYMBOL:
        adds_prefix, replaces = adds_prefix or PREFIXES[last.get("prepend_scheme", "always")], True
    elif splits:
        others = [*splits]
    if not replaces:
        raise ValueError(f"its words do not begin with {SYMBOL}; train with the splitter 'metaspace'")
    if [step["type"] for step in others] == ["WhitespaceSplit"] and charsmap:
        removes_runs = True
    elif others:
        raise ValueError(f"pre_tokenizer {others[0]['type']} has no counterpart in SentencePiece")
    return Normalizer(charsmap, adds_prefix, removes_runs, escape_whitespaces=True)


def _charsmap(normalizers: Sequence[Component]) -> tuple[bytes, Sequence[Component]]:
    """The charsmap of the first normalizer, and the remaining normalizers."""
    kinds = [step["type"] for step in normalizers]
    if kinds[:1] == ["Precompiled"]:
        return b64decode(normalizers[0]["precompiled_charsmap"]), normalizers[1:]
    return b"", normalizers


def _pieces(model: Mapping[str, Any]) -> list[str]:
    if model["type"] != "BPE":
        return [piece for piece, _ in model["vocab"]]
    pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    if [model["vocab"][piece] for piece in pieces] != [*range(len(pieces))]:
        raise ValueError("its ids have gaps")
    return pieces


def _unknown(model: Mapping[str, Any]) -> str:
    """The piece that represents unknown characters."""
    if model["type"] != "BPE":
        if model["unk_id"] is None:
            raise ValueError("it has no unknown token; train with unk_token=")
        return str(model["vocab"][model["unk_id"]][0])
    if model["unk_token"] not in model["vocab"]:
        raise ValueError("it has no unknown token; train with unk_token=")
    has_bytes = model["byte_fallback"] and {*BYTES} <= model["vocab"].keys()
    if not (model["fuse_unk"] or has_bytes):
        raise ValueError("each unknown character is a token, but SentencePiece makes one token of a run; train with fuse_unk=True")
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "dropout"):
        if model[name]:
            raise ValueError(f"it has {name} {quoted(model[name])}")
    return str(model["unk_token"])


def _types(pieces: Sequence[str], unknown: str, document: Mapping[str, Any]) -> list[int]:
    added = {token["content"]: CONTROL if token["special"] else USER_DEFINED for token in document["added_tokens"]}
    has_bytes = document["model"]["byte_fallback"] and {*BYTES} <= {*pieces}
    bytes_of_text = {*BYTES} if has_bytes else set[str]()
    others = {**added, **dict.fromkeys(bytes_of_text, BYTE), unknown: UNKNOWN}
    return [others.get(piece, NORMAL) for piece in pieces]


def _need_normal(merges: Sequence[Sequence[str]], types: Mapping[str, int]) -> None:
    """Raise an error if a piece of a merge is not normal, because SentencePiece merges only normal pieces."""
    for left, right in merges:
        for piece in (left, right, left + right):
            if types[piece] != NORMAL:
                raise ValueError(f"the special token {quoted(piece)} is also part of a merge")


def _scores(model: Mapping[str, Any], pieces: Sequence[str]) -> Sequence[float]:
    """The scores of pieces; for BPE, the negative ranks of their merges."""
    if model["type"] != "BPE":
        return [score for _, score in model["vocab"]]
    ranks = {left + right: rank for rank, (left, right) in enumerate(model["merges"], 1)}
    keys = {piece: (float(rank), 0.0) for piece, rank in ranks.items()}
    for left, right in model["merges"]:
        if last_merge(left + right, keys) != (left, right):
            raise ValueError(f"the merge of {quoted(left)} and {quoted(right)} makes a token that scores make from other parts")
    return [-float(ranks.get(piece, 0)) for piece in pieces]
