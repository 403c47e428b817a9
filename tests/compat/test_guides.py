"""Token masks in place of other libraries: `outlines-core`, and a logits processor of `transformers`."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

import numpy as np
import pytest

import fst
from fst.compile import tokenizer, wordpiece

TOKENS = ["[UNK]", "[SEP]", "a", "##a", "b", "##b", "##ab", "c"]
# With other patterns, `outlines-core` forbids tokens that it should allow: with "(ab)+" a second "a", with "ab|aba" the last "a".
PATTERNS = ("a?b{1,3}|c", "[ab]*c?", "ab?c")
END = 1


@pytest.fixture(scope="module")
def tok() -> fst.Tokenizer:
    """A WordPiece tokenizer."""
    return fst.Tokenizer(wordpiece(TOKENS))


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> fst.Tokenizer:
    """A tokenizer whose tokens are joined without spaces, so that they have the same bytes at every position."""
    path = tmp_path_factory.mktemp("guides") / "tokenizer.json"
    names = ("<unk>", "</s>", "a", "b", "ab", "c")
    document = {
        "added_tokens": [{"id": END, "content": "</s>", "special": True}],
        "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}]},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [[name, -1.0] for name in names]},
    }
    path.write_text(json.dumps(document))
    return fst.Tokenizer(tokenizer(path))


@pytest.mark.parametrize("regex", PATTERNS)
def test_index_is_that_of_outlines(regex: str, byte_level: fst.Tokenizer) -> None:
    """Walks over both indexes at the same time find the same tokens, and the same final states."""
    library = pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    number = {name: byte_level.token_to_id(name) for name in ("a", "b", "ab", "c")}
    reference = library.Index(regex, library.Vocabulary(END, {name.encode(): [token] for name, token in number.items()}))
    index = fst.outlines.Index(regex, byte_level, end_id=END)
    pairs = [(index.get_initial_state(), reference.get_initial_state())]
    for own, other in pairs:  # the loop appends to `pairs`
        tokens = index.get_allowed_tokens(own)
        assert sorted(tokens or []) == sorted(reference.get_allowed_tokens(other) or [])
        assert index.is_final_state(own) == reference.is_final_state(other)
        for token in range(8):
            after, target = index.get_next_state(own, token), reference.get_next_state(other, token)
            assert (after is None) == (target is None)
            if after is not None and (after, target) not in pairs:
                pairs.append((after, target))
    others = reference.get_transitions()
    for own, other in pairs:
        targets = index.get_transitions()[own]
        assert targets.keys() == others.get(other, {}).keys()
        assert {(target, others[other][token]) for token, target in targets.items()} <= {*pairs}
    finals = index.get_final_states()
    assert {other for own, other in pairs if own in finals} == reference.get_final_states()


@pytest.mark.parametrize("regex", PATTERNS)
def test_guide_is_that_of_outlines(regex: str, byte_level: fst.Tokenizer) -> None:
    """Both guides give the same tokens, masks and errors along random walks, forth and back."""
    library = pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    number = {name: byte_level.token_to_id(name) for name in ("a", "b", "ab", "c")}
    reference = library.Guide(library.Index(regex, library.Vocabulary(END, {name.encode(): [token] for name, token in number.items()})))
    guide, draw = fst.outlines.Guide(fst.outlines.Index(regex, byte_level, end_id=END)), np.random.default_rng(1)
    for _ in range(60):
        token = int(draw.integers(0, 7))
        assert sorted(guide.get_tokens()) == sorted(reference.get_tokens())
        assert guide.is_finished() == reference.is_finished()
        assert guide.get_allowed_rollback() == reference.get_allowed_rollback()
        assert guide.accepts_tokens([token, END - 1]) == reference.accepts_tokens([token, END - 1])
        masks = np.zeros((2, 1), np.int32)
        for one, mask in ((guide, masks[0]), (reference, masks[1])):
            one.write_mask_into(mask.ctypes.data, 1, 4)
        assert masks[0] == masks[1]
        if draw.random() < 0.2 and guide.get_allowed_rollback():
            guide.rollback_state(1)
            reference.rollback_state(1)
        elif not reference.accepts_tokens([token]):
            for one in (guide, reference):
                with pytest.raises(ValueError, match=f"No next state found for the current state: .* with token ID: {token}"):
                    one.advance(token)
        else:
            assert sorted(guide.advance(token) or []) == sorted(reference.advance(token))
    guide.reset()
    assert guide.get_allowed_rollback() == 0
    with pytest.raises(ValueError, match="Cannot roll back 1"):
        guide.rollback_state(1)
    with pytest.raises(ValueError, match="0 elements of 4 bytes"):
        guide.write_mask_into(0, 0, 4)


@pytest.mark.slow
def test_index_needs_an_end() -> None:
    """An index needs a token that ends texts, and returns None for a number that is not a state."""
    with pytest.raises(ValueError, match="no token ends texts"):
        fst.outlines.Index("a", fst.Tokenizer(wordpiece(["[UNK]", "a"])))
    index = fst.outlines.Index("a", fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "a"])), canonical=True)
    assert index.get_allowed_tokens(99) is None
    assert index.get_next_state(99, 2) is None
    assert index.get_next_state(0, 99) is None
    assert index.get_transitions()[0].keys() == {2}
    assert "Index" in repr(fst.outlines.Guide(index))


class TestLogitsProcessor:
    """`fst.LogitsProcessor`, with tiny models of random weights."""

    @pytest.fixture
    def model(self) -> Any:
        """A model of `transformers`."""
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        transformers: Any = pytest.importorskip("transformers", minversion="5", reason="the extra [transformers] is not installed")
        torch.manual_seed(0)
        config = transformers.GPT2Config(vocab_size=len(TOKENS) + 3, n_embd=8, n_layer=1, n_head=1, n_positions=64, bos_token_id=END)
        return transformers.GPT2LMHeadModel(config).eval()

    @pytest.mark.parametrize("canonical", [False, True])
    @pytest.mark.parametrize("options", [{}, {"do_sample": True, "num_return_sequences": 6}, {"num_beams": 3, "num_return_sequences": 3}])
    def test_texts(self, model: Any, tok: fst.Tokenizer, options: dict[str, Any], canonical: bool) -> None:
        """Every text that a model writes matches the pattern."""
        torch = importlib.import_module("torch")
        guide = fst.Guide(tok, regex="(ab){1,4}c?|c", canonical=canonical)
        prompt = torch.tensor([[END, 5]])
        settings = {"eos_token_id": END, "pad_token_id": END, "max_new_tokens": 20, **options}
        found = model.generate(prompt, attention_mask=torch.ones_like(prompt), logits_processor=[fst.LogitsProcessor(guide)], **settings)
        for row in found[:, 2:].tolist():
            assert re.fullmatch("(ab){1,4}c?|c", tok.decode(row)), row

    def test_rows_of_a_batch(self, tok: fst.Tokenizer) -> None:
        """Rows are masked independently: an ended row does not change, and a row with a token that is not allowed can only end."""
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        processor = fst.LogitsProcessor(fst.Guide(tok, regex="ab?"))
        scores = torch.zeros(2, len(TOKENS))
        first = processor(torch.tensor([[7], [3]]), scores)
        assert [torch.isfinite(row).nonzero().ravel().tolist() for row in first] == [[2], [2]]
        second = processor(torch.tensor([[7, 2], [3, 7]]), scores)
        assert [torch.isfinite(row).nonzero().ravel().tolist() for row in second] == [[END, 5], [END]]
        third = processor(torch.tensor([[7, 2, END], [3, 7, 2]]), scores)
        assert [torch.isfinite(row).nonzero().ravel().tolist() for row in third] == [[*range(len(TOKENS))], [END]]
        fourth = processor(torch.tensor([[7, 2, END, 0], [3, 7, 2, END]]), scores)
        assert [torch.isfinite(row).nonzero().ravel().tolist() for row in fourth] == [[*range(len(TOKENS))], [END]]

    def test_a_row_without_an_allowed_token(self, tok: fst.Tokenizer) -> None:
        """A row is refused if the scores have no token that is allowed."""
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        with pytest.raises(ValueError, match="row 0 allows none of 2 tokens; expected scores for the 8 ids"):
            fst.LogitsProcessor(fst.Guide(tok, regex="ab?"))(torch.tensor([[7]]), torch.zeros(1, 2))

    def test_guide_needs_an_end(self) -> None:
        """A guide without a token that ends texts is refused."""
        with pytest.raises(ValueError, match="end_id"):
            fst.LogitsProcessor(fst.Guide(fst.Tokenizer(wordpiece(["[UNK]", "a"])), regex="a"))
