"""For real models, the stand-in for `sentencepiece` gives the same results as `sentencepiece`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from support.compat.sentencepiece import DECODED, PER_ID, RETURN_TYPES, Two, _two, assert_same
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

from fst.compile.sources.sentencepiece.source import MODELS

FLAGS: Sequence[dict[str, bool]] = ({}, {"add_bos": True}, {"add_eos": True, "reverse": True}, {"emit_unk_piece": True})


@cache
def real(name: str) -> Two:
    """A real model, loaded by `sentencepiece` and by the stand-in."""
    return _two((SHARED / name).read_bytes(), name.replace("/", "-"))


FILES = {
    "bpe": ("vocab_bpe/spm_fixtures/test_sentencepiece_bpe.model", "vocab_bpe/mistral01/tokenizer.model"),
    "char": ("vocab_bpe/spm_fixtures/test_sentencepiece_bpe_char.model",),
    "unigram": (
        *(f"vocab_unigram/{name}/spiece.model" for name in ("albert", "t5")),
        *(f"vocab_unigram/spm_fixtures/{name}.model" for name in ("sp_test_model", "test_sentencepiece_with_bytefallback")),
    ),
}
LARGE = ("t5", "mistral01")
each_real = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name.split("/")[1] in LARGE else [])
        for kind in MODELS
        for name in FILES.get(kind, ())
    ],
)


@needs_shared
@each_real
def test_real_models(name: str) -> None:
    """With real models, texts get the same ids, pieces, spans and decoded texts as in `sentencepiece`."""
    two = real(name)
    for text in ("Hello world", "  two  blanks\t☕ naïve ½ ﬁ 漢字 \n", "<s> a▁▁b </s>\0½\0", "(this) is - 1,000\u3000x\u0301"):
        for kind in RETURN_TYPES:
            for options in FLAGS:
                assert_same(two, "encode", text, return_type=kind, **options)
        assert_same(two, "normalize", text, with_offsets=True)
        for kind in DECODED:
            assert_same(two, "decode", two[0].encode(text), out_type=kind)


@needs_shared
@each_real
def test_every_id(name: str) -> None:
    """With real models, every id has the same piece, type and score as in `sentencepiece`."""
    two = real(name)
    numbers = sample(range(len(two[0])), 100)
    pieces = two[0].id_to_piece(numbers)
    for method in PER_ID:
        assert_same(two, method, numbers)
    assert_same(two, "piece_to_id", pieces)
    assert_same(two, "decode", [[number] for number in numbers])
    for method in ("unk_id", "bos_id", "eos_id", "pad_id", "get_piece_size"):
        assert_same(two, method)


@needs_shared
@each_real
def test_corpora(name: str) -> None:
    """With real models, lines of the corpora get the same ids, pieces, spans and decoded texts as in `sentencepiece`, in single calls
    and in batches.
    """
    two = real(name)
    for path in sorted(path for path in (SHARED / "corpora").iterdir() if path.suffix in (".md", ".txt")):
        lines = [*sample(path.read_text(encoding="utf-8")[:1_000_000].splitlines(), 400, name)][:1000]
        assert_same(two, "encode", lines)
        assert_same(two, "encode", lines[:50], return_type=str)
        assert_same(two, "encode", lines[:10], return_type="offset_mapping")
        assert_same(two, "normalize", lines[:10], with_offsets=True)
        assert_same(two, "decode", two[0].encode(lines))
