"""`with_added_tokens` and the methods of the stand-ins add tokens to a tokenizer, with the same results as the same calls in
`tokenizers`.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from support.compat.tokenizers import KINDS, source, table
from support.text.added_tokens import CONTENTS, PIECES, check
from support.tiers import thinned
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

import fst
from fst.compile import bpe, wordpiece
from fst.compile import tokenizer as compiled

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
MORE = (*CONTENTS, "[PAD]", "<|user|>", "▁ab", "▁", "a b", " x", "x ", " ", "</s>", "<mask>", "<r>", "abab", "1", "日本", "Ab")
TOKENS = ["[UNK]", "un", "##able", "fit", "s", "##s"]


def added(chosen: random.Random) -> Any:
    """Draw a token, with random flags in half of the cases."""
    content = chosen.choice(MORE)
    return content if chosen.random() < 0.5 else AddedToken(content, **{flag: chosen.random() < 0.35 for flag in FLAGS})


def token_of(stated: dict[str, Any]) -> fst.Tokenizer:
    """Make a small tokenizer with one added token."""
    return fst.Tokenizer(wordpiece(TOKENS)).with_added_tokens([stated])


def as_calls(ours: Any, theirs: Tokenizer, chosen: random.Random) -> bool:
    """Make the same random calls on a tokenizer of each library; return False if the tokens are refused."""
    for _ in range(chosen.randint(1, 3)):
        name, tokens = chosen.choice(("add_tokens", "add_special_tokens")), [added(chosen) for _ in range(chosen.randint(1, 4))]
        expected = getattr(theirs, name)(tokens)
        try:
            assert getattr(ours, name)(tokens) == expected
        except fst.UnsupportedError:
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), thinned(product(KINDS, range(15)), 44))
def test_calls_are_those_of_the_reference(kind: str, seed: int) -> None:
    """After calls that add tokens with any flags, all results equal those of `tokenizers`, unless the compiler refuses the tokens."""
    chosen = random.Random(f"{kind} {seed}")
    ours, live = fst.tokenizers(table(kind)), Tokenizer.from_str(source(kind).to_str())
    if not as_calls(ours, live, chosen):
        with pytest.raises(fst.UnsupportedError):
            compiled(Tokenizer.from_str(live.to_str()))
        return
    theirs = Tokenizer.from_str(live.to_str())
    texts = ["".join(chosen.choices([*PIECES, *MORE], k=chosen.randint(0, 8))) for _ in range(20)]
    check(theirs, ours.fst, texts)
    check(theirs, pickle.loads(pickle.dumps(ours.fst)), texts[:4])
    check(Tokenizer.from_str(ours.to_str()), ours.fst, texts[:4])
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_vocab_size(False) == theirs.get_vocab_size(False)
    assert repr(sorted(ours.get_added_tokens_decoder().items())) == repr(sorted(theirs.get_added_tokens_decoder().items()))
    for row in theirs.encode_batch(texts):
        for skips in (False, True):
            assert ours.decode(row.ids, skips) == theirs.decode(row.ids, skips)


@pytest.mark.slow
def test_table_is_that_of_the_whole_source() -> None:
    """A table to which tokens are added has the same bytes as a table that is compiled with these tokens."""
    tokens = ["[UNK]", *("a", "b", "##a", "##b", "ab", "##ab", "x", "##x", "<", ">", "é", "##é", "日", "-", "aba", "##ba", "s")]
    of = Tokenizer(models.WordPiece({token: number for number, token in enumerate(tokens)}, unk_token="[UNK]"))
    of.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok = fst.Tokenizer(compiled(of))
    for more in (["<x>"], ["<x>", AddedToken("ab", lstrip=True, normalized=False)], ["bab", "日b", AddedToken("é-", single_word=True)]):
        live = Tokenizer.from_str(of.to_str())
        live.add_tokens(more)
        assert tok.with_added_tokens(more)._table.dumps() == compiled(Tokenizer.from_str(live.to_str())).dumps()


def test_tokenizer_stays() -> None:
    """`with_added_tokens` never changes the tokenizer, and returns the same object if the tokenizer already has the tokens."""
    tok = fst.Tokenizer(wordpiece(TOKENS))
    before = tok._table.dumps()
    more = tok.with_added_tokens(["<x>"])
    assert (len(tok), len(more), tok._table.dumps()) == (6, 7, before)
    assert more.with_added_tokens(["<x>", ""]) is more


@pytest.mark.parametrize("stated", [{"content": "<x>", "special": True}, AddedToken("<x>", special=True)], ids=["mapping", "object"])
def test_tokens_have_flags(stated: Any) -> None:
    """A token may be a mapping or an object with content and flags, and special tokens are skipped in decoding."""
    tok = token_of(stated)
    assert tok.encode("un<X>able<x>").tolist() == [1, 0, 0, 0, 0, 6]
    assert tok.decode([1, 6]) == "un"


@pytest.mark.slow
def test_normalized_is_the_opposite_of_special() -> None:
    """If the flag `normalized` is missing, a token is found in normalized text if and only if it is not special."""
    assert token_of({"content": "<x>"}).tokenize("<X>") == ["<x>"]
    assert token_of({"content": "<x>", "special": True}).tokenize("<X>") == ["[UNK]"] * 3


def test_padding_by_an_added_token() -> None:
    """If a tokenizer has no padding token, an added token with a common name for padding becomes the padding token."""
    tok = fst.Tokenizer(wordpiece(TOKENS))
    padded = tok.with_added_tokens([{"content": "[PAD]", "special": True}])
    assert padded(["fit", "unable"], padding=True)["input_ids"] == [[3, 6], [1, 2]]
    assert padded.with_added_tokens([{"content": "<pad>", "special": True}])(["fit", "unable"], padding=True)["input_ids"][0] == [3, 6]


def test_streams_find_added_tokens() -> None:
    """A stream finds added tokens, wherever the text is cut."""
    tok = table("unigram").with_added_tokens(["<user>", AddedToken("b", lstrip=True)])
    stream = tok.stream()
    for char in "ab<user>  ab":
        stream.write(char)
    ids = stream.close().ids.tolist()
    assert ids == tok.encode("ab<user>  ab").tolist()
    assert tok.token_to_id("<user>") in ids


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("ask", "error", "what"),
    [
        (lambda tok: tok.with_added_tokens("<x>"), TypeError, "^tokens is str; expected an iterable of tokens; pass a list"),
        (lambda tok: tok.with_added_tokens([3]), TypeError, "^a token to add is 3; expected a str, or a mapping or an object with content"),
        (lambda tok: tok.with_added_tokens([{"content": "x", "strip": True}]), TypeError, "^a token to add is "),
        (lambda tok: tok.with_added_tokens(["\ud800"]), fst.VocabularyError, r"^token '\\ud800' is not text"),
        (lambda tok: tok.with_added_tokens(["\u0301"]), fst.UnsupportedError, "nothing is left of it in normalised text"),
        (lambda tok: tok.with_added_tokens(["<x>", "<X>"]), fst.UnsupportedError, "which are equal once normalised"),
    ],
)
def test_wrong_tokens_are_refused(ask: Callable[[Any], Any], error: type[Exception], what: str) -> None:
    """A token that is invalid, or that cannot be found as in `tokenizers`, is refused, and the message contains it."""
    with pytest.raises(error, match=what):
        ask(fst.Tokenizer(wordpiece(TOKENS)))


def test_ids_of_others_are_not_taken() -> None:
    """A token that would get the id of another token, which can happen in `tokenizers`, is refused."""
    of = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "b": 3}, unk_token="[UNK]"))
    with pytest.raises(fst.UnsupportedError, match=r"^the id of added token '<x>' is 3, which another token has; "):
        fst.Tokenizer(compiled(of)).with_added_tokens(["<x>"])


def test_ids_after_those_of_tiktoken() -> None:
    """In a table from `tiktoken`, in which the special tokens have ids after a gap, new ids follow the highest id."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("bytes", pat_str=r"\s+|\S+", mergeable_ranks=ranks, special_tokens={"<end>": 300})
    tok = fst.Tokenizer(bpe(encoding)).with_added_tokens(["<x>", "<y>"])
    assert tok.encode("<end><y>a<x>").tolist() == [300, 302, 97, 301]


@pytest.mark.filterwarnings("default")  # `transformers` emits warnings when it is imported
def test_embeddings_have_room_for_all_ids() -> None:
    """`len` of the stand-in is greater than the highest id, even if the ids have gaps."""
    pytest.importorskip("transformers")
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    tok = fst.Tokenizer(bpe(tiktoken.Encoding("bytes", pat_str=r"\s+|\S+", mergeable_ranks=ranks, special_tokens={"<end>": 300})))
    made = fst.hf(tok)
    made.add_tokens(["<x>"])
    assert made.convert_tokens_to_ids("<x>") == len(made) - 1 == 301


def test_names_with_white_space_keep_their_ids() -> None:
    """A token that is not spelled in ByteLevel's letters for bytes keeps its id from the tokenizer.json, even if it is also an added
    token.
    """
    names = {"<a b>": 0, **{letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), 1)}}
    of = Tokenizer(models.BPE(names, []))
    of.pre_tokenizer, of.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    of.add_special_tokens(["<new>"])
    ours = fst.tokenizers(fst.Tokenizer(compiled(of)))
    for made in (ours, of):
        made.add_special_tokens(["<a b>", "<c>"])
    check(of, ours.fst, ["x<a b><new><c>"])
    check(Tokenizer.from_str(ours.to_str()), ours.fst, ["x<a b><new><c>"])


def test_letters_for_white_space_are_refused() -> None:
    """With trim_offsets, an added token that begins with the letter for a space is refused, because its offsets would differ from those
    of `tokenizers`.
    """
    with pytest.raises(fst.UnsupportedError, match=r"^added token 'Ġab' with trim_offsets, which takes Ġ for white space"):
        table("byte_bpe").with_added_tokens(["Ġab"])
