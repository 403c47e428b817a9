"""The stand-in for `tokenizers.Tokenizer` gives the same results as `tokenizers`, and compiles any `tokenizers.Tokenizer` that is passed
to it.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.compat.tokenizers import (
    KINDS,
    source,
    table,
    wordpiece,
)
from support.compat.transformers import CHANGES, known
from support.shared_data import SHARED, needs_shared
from support.tiers import examples, thinned
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

import fst
from fst.bridge import table_cache
from fst.compile import tokenizer as compiled

BITS = ["a", "b", "ab", "ba", " ", "  ", "\n", "é", "E\u0301", "½", "日本", "日", "1", ".", "▁", "☃", "\U0001f600", "ab ab", "b" * 30]
BITS += ["<s>", "<mask>", "<r>"]


each_kind = pytest.mark.parametrize("kind", KINDS)


def pair_of(kind: str) -> tuple[Tokenizer, Any]:
    """Return a `tokenizers.Tokenizer` and its stand-in; both are new, because tests may change their state."""
    return Tokenizer.from_str(source(kind).to_str()), fst.tokenizers(table(kind))


def fields_of(row: Any) -> list[Any]:
    """Return all members of a row (one encoded text) and of its overflowing rows."""
    # An overflowing row contains other overflowing rows only in `tokenizers`, if both texts of a pair are truncated.
    return [known(row), len(row), [known(other) for other in row.overflowing]]


def untyped(row: Any) -> list[Any]:
    """Return all members of a row except its type ids, because in `tokenizers` some overflowing rows of pairs have type ids that differ
    from the template's.
    """
    fields = fields_of(row)
    for known_of in (fields[0], *fields[2]) if row.n_sequences == 2 else ():
        del known_of[1]
    return fields


def outcome(ask: Callable[[], Any]) -> Any:
    """Return the result of a call, or "refused" if it raises an error, which for a panic in Rust is a BaseException."""
    try:
        return ask()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "refused"


texts = some.lists(some.sampled_from(BITS), max_size=7).map("".join)
words = some.lists(texts, max_size=4)
TRUNCATION = some.none() | some.fixed_dictionaries(
    {"max_length": some.integers(0, 12)},
    optional={
        "stride": some.integers(0, 3),
        "strategy": some.sampled_from(["longest_first", "only_first", "only_second"]),
        "direction": some.sampled_from(["left", "right"]),
    },
)
PADDING = some.none() | some.fixed_dictionaries(
    {},
    optional={
        "direction": some.sampled_from(["left", "right"]),
        "pad_id": some.integers(0, 300),
        "pad_type_id": some.integers(0, 3),
        "pad_token": some.sampled_from(["<pad>", "a", ""]),
        "length": some.none() | some.integers(0, 16),
        "pad_to_multiple_of": some.none() | some.integers(0, 8),
    },
)


def settle(made: Any, truncation: dict[str, Any] | None, padding: dict[str, Any] | None) -> Any:
    """Set the truncation and padding of a tokenizer; a call that raises an error leaves the settings unchanged."""
    made.no_truncation()
    made.no_padding()
    if padding is not None:
        made.enable_padding(**padding)
    refused = truncation is not None and outcome(lambda: made.enable_truncation(**truncation)) == "refused"
    return refused, made.truncation, made.padding


@pytest.mark.mostly_slow
@each_kind
@examples(300, deadline=None)
@given(data=some.data(), truncation=TRUNCATION, padding=PADDING, special=some.booleans(), split=some.booleans())
def test_rows_are_those_of_the_reference(
    kind: str, data: some.DataObject, truncation: dict[str, Any] | None, padding: dict[str, Any] | None, special: bool, split: bool
) -> None:
    """Rows have the same members as in `tokenizers`: for single texts, pairs and batches, as str or lists of words, with and without
    truncation and padding.
    """
    theirs, ours = pair_of(kind)
    assert settle(theirs, truncation, padding) == settle(ours, truncation, padding)
    unit: some.SearchStrategy[Any] = words if split else texts
    batch = data.draw(some.lists(unit | some.tuples(unit, unit), max_size=4))
    first, second = data.draw(unit), data.draw(some.none() | unit)
    for ask in (
        lambda made: [fields_of(row) for row in made.encode_batch(batch, split, special)],
        lambda made: [untyped(row) for row in made.encode_batch_fast(batch, is_pretokenized=split, add_special_tokens=special)],
        lambda made: fields_of(made.encode(first, second, split, special)),
    ):
        assert outcome(partial(ask, ours)) == outcome(partial(ask, theirs))


@pytest.mark.mostly_slow
@each_kind
def test_what_a_vocabulary_says(kind: str) -> None:
    """Tokens, ids, sizes, added tokens and decoded texts equal those of `tokenizers`."""
    theirs, ours = pair_of(kind)
    for special in (True, False):
        assert ours.get_vocab(special) == theirs.get_vocab(special)
        assert ours.get_vocab_size(with_added_tokens=special) == theirs.get_vocab_size(with_added_tokens=special)
        assert ours.num_special_tokens_to_add(special) == theirs.num_special_tokens_to_add(special)
    names = {number: (token.content, token.special, token.lstrip) for number, token in theirs.get_added_tokens_decoder().items()}
    found = ours.get_added_tokens_decoder()
    assert {number: (token.content, token.special, token.lstrip) for number, token in found.items()} == names
    assert [ours.id_to_token(number) for number in range(400)] == [theirs.id_to_token(number) for number in range(400)]
    assert [ours.token_to_id(token) for token in BITS] == [theirs.token_to_id(token) for token in BITS]
    rows = [theirs.encode(text).ids for text in ("ab abé 1.", "<mask> a<s>", "")]
    for skips in (True, False):
        assert ours.decode_batch(rows, skip_special_tokens=skips) == theirs.decode_batch(rows, skip_special_tokens=skips)
        assert ours.decode(tuple(rows[0]), skips) == theirs.decode(rows[0], skips)


@pytest.mark.mostly_slow
@each_kind
@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_rows_change(kind: str, change: int) -> None:
    """`pad` and `truncate` of rows give the same results as in `tokenizers`, whether they are called before or after other members are
    read.
    """
    for asked in ((), ("offsets",), ("tokens", "ids"), ("overflowing",)):
        found = []
        for made in pair_of(kind):
            made.enable_truncation(7, stride=1)
            rows = made.encode_batch(["ab a b 1. 日本 ab", ("a", "ab ab"), ""])
            for row in rows:
                for name in asked:
                    getattr(row, name)
                CHANGES[change](row)
            found.append([fields_of(row) for row in rows])
        assert found[0] == found[1]


def test_state_is_that_of_the_source() -> None:
    """A stand-in begins with the truncation and padding of its source, and changing them affects neither the table nor other stand-ins."""
    theirs = wordpiece()
    theirs.enable_truncation(6, stride=1, strategy="only_first", direction="left")
    theirs.enable_padding(length=9, pad_id=3, pad_token="<pad>", pad_type_id=1, pad_to_multiple_of=4)
    tok = fst.Tokenizer(compiled(theirs))
    ours, other = fst.tokenizers(tok), fst.tokenizers(tok)
    assert (ours.truncation, ours.padding) == (theirs.truncation, theirs.padding)
    texts = ["a ab b 1 . a", "a"]
    assert [fields_of(row) for row in ours.encode_batch(texts)] == [fields_of(row) for row in theirs.encode_batch(texts)]
    ours.no_padding()
    ours.no_truncation()
    assert (ours.truncation, ours.padding) == (None, None)
    assert (other.truncation, other.padding) == (theirs.truncation, theirs.padding)
    assert len(other.encode("a")) == 12
    assert len(ours.encode("a")) == len(tok.encode("a")) == 3


def test_later_changes_do_not_reach_rows() -> None:
    """A row stays the same if the tokenizer or the list of texts is changed later."""
    theirs, ours = pair_of("wordpiece")
    expected = [fields_of(row) for row in theirs.encode_batch(["ab a", "b"])]
    texts = ["ab a", "b"]
    rows = ours.encode_batch(texts)
    texts.clear()
    ours.enable_truncation(3)
    ours.enable_padding()
    assert [fields_of(row) for row in rows] == expected


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda tok: tok.enable_truncation(5, strategy="no"), r"^strategy is 'no'; expected 'longest_first', 'only_first'"),
        (lambda tok: tok.enable_truncation(5, direction="up"), r"^direction is 'up'; expected 'right' or 'left'"),
        (lambda tok: tok.enable_truncation(-1), r"^max_length is -1; expected a whole number"),
        (lambda tok: tok.enable_truncation(4, stride=3), r"^stride is 3; expected at most 2"),
        (lambda tok: tok.enable_padding(pad_id=-1), r"^pad_id is -1; expected a whole number"),
        (lambda tok: tok.enable_padding(length=2.5), r"^length is 2.5; expected a whole number"),
        (lambda tok: tok.enable_padding(pad_token=3), r"^pad_token is 3; expected a str"),
    ],
)
def test_wrong_settings_are_refused(ask: Callable[[Any], Any], what: str) -> None:
    """A setting with an invalid value is refused, and leaves the other settings unchanged."""
    ours = fst.tokenizers(table("wordpiece"))
    with pytest.raises(ValueError, match=what):
        ask(ours)
    assert (ours.truncation, ours.padding) == (None, None)


def trimming() -> Any:
    """A post-processor that trims offsets."""
    return processors.RobertaProcessing(("</s>", 2), ("<s>", 1))


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda tok: setattr(tok, "normalizer", None), "^normalizer = NoneType: a table cannot change; change the tokenizer.json"),
        (lambda tok: setattr(tok, "pre_tokenizer", pre_tokenizers.Whitespace()), "^pre_tokenizer = Whitespace: a table cannot change"),
        (lambda tok: setattr(tok, "post_processor", trimming()), "^post_processor with trim_offsets, and the table trims no offsets"),
        (lambda tok: setattr(tok, "decoder", None), "^decoder = "),
        (lambda tok: setattr(tok, "model", models.BPE()), "^model = BPE"),
        (lambda tok: setattr(tok, "encode_special_tokens", True), "^encode_special_tokens = bool"),
    ],
)
def test_what_tables_cannot_do_is_refused(ask: Callable[[Any], Any], what: str) -> None:
    """A call that would change the model or its components is refused, and the message contains a remedy."""
    ours = fst.tokenizers(table("wordpiece"))
    with pytest.raises(fst.UnsupportedError, match=what):
        ask(ours)
    setattr(ours, "encode_special_tokens", False)  # noqa: B010
    assert ours.encode_special_tokens is False


def test_members_that_are_not_there() -> None:
    """Access to a missing member raises an AttributeError that contains a replacement."""
    with pytest.raises(AttributeError, match=r"^'train': .* save\(path\) writes a tokenizer.json"):
        fst.tokenizers(table("wordpiece")).train  # noqa: B018


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda tok: tok.encode(b"a"), "^the text is bytes, b'a'; expected a str"),
        (lambda tok: tok.encode(["a", "b"]), "^the text is list"),
        (lambda tok: tok.encode("a", ["b"]), "^the text is list"),
        (lambda tok: tok.encode("a", is_pretokenized=True), "^the text is str, 'a'; expected a list of words"),
        (lambda tok: tok.encode("a\ud800"), "^row 0, "),
        (lambda tok: tok.encode_batch("a"), "^a batch is str; expected a list"),
        (lambda tok: tok.encode_batch({"a": 1}), "^a batch is dict; expected a list"),
        (lambda tok: tok.encode_batch(["a", 1]), "^row 1 is int, 1; expected a str, or a pair of them"),
        (lambda tok: tok.encode_batch(["a", ["a"]]), "^row 1 is list"),
        (lambda tok: tok.encode_batch(["a", "b"], is_pretokenized=True), "^row 0 is str, 'a'; expected a list of words"),
    ],
)
def test_what_is_no_text_is_refused(ask: Callable[[Any], Any], what: str) -> None:
    """An argument that is not text is refused, as in `tokenizers`."""
    theirs, ours = pair_of("wordpiece")
    assert outcome(lambda: ask(theirs)) == "refused"
    with pytest.raises(fst.TextError, match=what):
        ask(ours)


def test_copies_keep_the_state() -> None:
    """Stand-ins and rows keep their state when they are copied or pickled."""
    ours = fst.tokenizers(table("wordpiece"), threads=2)
    ours.enable_truncation(4, stride=1)
    expected = fields_of(ours.encode("ab a 1"))
    for copied in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert (copied.truncation, copied.threads) == (ours.truncation, 2)
        assert fields_of(copied.encode("ab a 1")) == expected
    for row in (copy.deepcopy(ours.encode("ab a 1")), pickle.loads(pickle.dumps(ours.encode("ab a 1")))):
        assert fields_of(row) == expected
    assert fst.tokenizers(ours) is ours
    assert fst.tokenizers(ours, threads=1).threads == 1
    assert "wordpiece" in repr(ours)


@each_kind
@pytest.mark.parametrize("pretty", [False, True])
def test_saved_tokenizers_are_read_by_the_reference(kind: str, pretty: bool, tmp_path: Path) -> None:
    """`tokenizers` can load a file that the stand-in saves, and then gives the same results and has the same settings."""
    theirs, ours = pair_of(kind)
    for made in (theirs, ours):
        made.enable_truncation(8, stride=1, strategy="only_first", direction="left")
        made.enable_padding(direction="left", pad_token="x", pad_id=1, length=10)
    ours.save(str(tmp_path / "tokenizer.json"), pretty)
    read = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert (read.truncation, read.padding) == (theirs.truncation, theirs.padding)
    assert [fields_of(row) for row in read.encode_batch(BITS)] == [fields_of(row) for row in theirs.encode_batch(BITS)]
    assert json.loads(ours.to_str()) == json.loads(ours.to_str(pretty=True))


@pytest.mark.slow
def test_many_ids() -> None:
    """The ids of rows are Python integers, even in large batches and with any id for the padding token."""
    theirs, ours = pair_of("wordpiece")
    texts = ["ab a b 1. 日本 ab" * 5, "a"] * 1500
    for pad_id in (3, 1 << 20):
        for made in (theirs, ours):
            made.enable_padding(pad_id=pad_id)
        rows = ours.encode_batch(texts)
        assert [row.ids for row in rows] == [row.ids for row in theirs.encode_batch(texts)]
        assert {type(number) for number in rows[1].ids} == {int}


def test_threads_are_those_of_the_batch() -> None:
    """A number of threads below 1 is refused."""
    with pytest.raises(ValueError, match=r"^threads is 0; "):
        fst.tokenizers(table("wordpiece"), threads=0)


@pytest.mark.parametrize("asker", ["hf", "tokenizers"])
def test_what_is_no_tokenizer_is_refused(asker: str) -> None:
    """An object that is not a tokenizer is refused, and the message contains a remedy."""
    with pytest.raises(TypeError, match=rf"^fst.{asker} is called with int; expected a fst.Tokenizer, a table, a path, a folder"):
        getattr(fst, asker)(5)


def test_live_tokenizers_of_transformers() -> None:
    """A `transformers` tokenizer is compiled with its settings and its chat template, unless arguments replace them."""
    transformers = pytest.importorskip("transformers")
    live = transformers.PreTrainedTokenizerFast(
        tokenizer_object=wordpiece(), pad_token="<pad>", unk_token="[UNK]", model_max_length=6, padding_side="left", chat_template="{{ 1 }}"
    )
    ours, texts = fst.hf(live), ["ab a b b 1 1", "a"]
    names = ("model_max_length", "padding_side", "pad_token", "pad_token_id", "unk_token", "model_input_names", "chat_template")
    for name in names:
        assert getattr(ours, name) == getattr(live, name)
    for other in (live, ours, ours.fst, fst.tokenizers(ours)):
        rows = fst.tokenizers(other).encode_batch(texts)
        assert [row.tokens for row in rows] == [row.tokens for row in live.backend_tokenizer.encode_batch(texts)]
    asked: dict[str, Any] = {"padding": True, "truncation": True}
    assert dict(ours(texts, **asked)) == dict(live(texts, **asked))
    chat = [{"role": "user", "content": "a"}]
    assert ours.apply_chat_template(chat, tokenize=False) == "1"
    assert fst.hf(live, model_max_length=4, chat_template="{{ 2 }}").apply_chat_template(chat, tokenize=False) == "2"
    assert fst.hf(wordpiece())(texts)["input_ids"] == [row.ids for row in wordpiece().encode_batch(texts)]


@pytest.mark.slow
def test_tables_need_no_compiler(tmp_path: Path) -> None:
    """With a compiled table, the stand-in imports neither the compiler nor `tokenizers`."""
    table("wordpiece")._table.save(tmp_path / "table.npz")
    code = f"import fst, sys; tok = fst.tokenizers(fst.load({str(tmp_path / 'table.npz')!r})); assert tok.encode('ab a').ids; "
    code += "sys.exit('tokenizers' in sys.modules or any(name.startswith('fst.compile') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


REAL = ("vocab_bpe/mistral01", "vocab_bpe/roberta", "vocab_bpe/gpt2", "vocab/all-minilm-l6-v2", "vocab_unigram/t5", "vocab_unigram/albert")


def lines(share: int) -> list[str]:
    """Return every `share`-th sentence of a corpus in many languages."""
    records = (SHARED / "corpora" / "multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::share]
    return [json.loads(record)["text"] for record in records if record]


@needs_shared
@pytest.mark.parametrize("name", thinned(REAL, 12))
def test_real_vocabularies(name: str) -> None:
    """With real vocabularies, rows equal those of `tokenizers`, with the settings of the source and with other settings."""
    path = SHARED / name / "tokenizer.json"
    text = path.read_text("utf-8") if path.exists() else gzip.decompress(path.with_suffix(".json.gz").read_bytes()).decode()
    theirs = Tokenizer.from_str(text)
    ours, texts = fst.tokenizers(theirs), lines(2000)
    assert (ours.truncation, ours.padding) == (theirs.truncation, theirs.padding)
    for _ in range(2):
        assert [fields_of(row) for row in ours.encode_batch(texts)] == [fields_of(row) for row in theirs.encode_batch(texts)]
        pairs = [*zip(texts, texts[::-1], strict=True)][:20]
        assert [untyped(row) for row in ours.encode_batch(pairs)] == [untyped(row) for row in theirs.encode_batch(pairs)]
        for made in (theirs, ours):
            made.enable_truncation(24, stride=2)
            made.enable_padding(length=30)
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_vocab(with_added_tokens=False) == theirs.get_vocab(with_added_tokens=False)
    assert ours.get_vocab_size(False) == theirs.get_vocab_size(False)


@pytest.fixture
def tables_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which compiled tables of tokenizers are stored."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / f"fst-toolkit-{fst.__version__}" / "tables"


def compiles(kind: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Make a stand-in for a tokenizer, check its ids, and return the log lines about its compilation."""
    caplog.clear()
    assert fst.tokenizers(source(kind)).encode("ab a").ids == source(kind).encode("ab a").ids
    return [record.getMessage() for record in caplog.records if "compiling a live" in record.getMessage()]


@pytest.mark.slow
def test_tables_of_live_tokenizers_are_kept(tables_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A tokenizer is compiled only once, a log line contains the folder of its table, and another tokenizer gets another table."""
    assert compiles("wordpiece", caplog) == [f"fst: compiling a live Tokenizer of 17 tokens, up to 20 s; kept in {tables_folder}"]
    assert not compiles("wordpiece", caplog)
    assert compiles("unigram", caplog)
    assert len([*tables_folder.glob("*.npz")]) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("tables_folder")
def test_kept_tables_need_no_compiler() -> None:
    """A stored table is loaded without the compiler."""
    code = "import fst, sys; from tokenizers import Tokenizer, models; "
    code += "fst.tokenizers(Tokenizer(models.WordLevel({'[UNK]': 0}, '[UNK]'))); print('fst.compile' in sys.modules)"
    fields_of = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert fields_of == ["True\n", "False\n"]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("harm", ["damaged", "cut", "of strangers", "stale"])
def test_kept_tables_are_not_trusted(
    harm: str, tables_folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored table is not used if it is damaged, if other users can write to it, or if the compiler has changed."""
    compiles("unigram", caplog)
    (path,) = tables_folder.glob("*.npz")
    data = path.read_bytes()
    if harm == "damaged":
        path.write_bytes(data[:-2000] + bytes(1000) + data[-1000:])
    elif harm == "cut":
        path.write_bytes(data[:-1])
    elif harm == "of strangers":
        path.chmod(0o666)
    else:
        monkeypatch.setattr(table_cache, "_sources", lambda: b"changed")
    assert compiles("unigram", caplog)
    assert not compiles("unigram", caplog)


def test_folders_of_strangers_keep_no_tables(tables_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If every user can write to a folder, no table is read from it or written to it, and a log line contains the reason."""
    compiles("unigram", caplog)
    (path,) = tables_folder.glob("*.npz")
    tables_folder.chmod(0o777)
    before = path.stat().st_mtime_ns
    assert [line.partition("; ")[2] for line in compiles("unigram", caplog)] == [f"not kept: {tables_folder}: another user can write to it"]
    assert path.stat().st_mtime_ns == before


@pytest.mark.slow
def test_kept_tables_are_bounded(tables_folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the total size of stored tables exceeds a limit, the least recently used tables are removed."""
    compiles("unknown_unigram", caplog)
    (old,) = tables_folder.glob("*.npz")
    os.utime(old, (1, 1))
    monkeypatch.setattr(table_cache, "MAX_BYTES", old.stat().st_size + 1)
    compiles("unigram", caplog)
    assert not old.exists()
    assert len([*tables_folder.glob("*.npz")]) == 1


def test_names_of_unknown_tokens_in_one_character() -> None:
    """Unknown tokens for parts of a single character get the same names as in `tokenizers`."""
    for text in ("ﷺ", "a ﷺ☃ ﷺb"):
        assert fst.tokenizers(table("unknown_unigram")).encode(text).tokens == source("unknown_unigram").encode(text).tokens


def test_names_of_tokens_in_white_space_that_is_taken() -> None:
    """If a token lies inside whitespace that belongs to the preceding token, it has the same name as in `tokenizers`."""
    ours, theirs = fst.tokenizers(table("unigram")), Tokenizer.from_str(source("unigram").to_str())
    for each in (ours, theirs):
        each.add_tokens([AddedToken("\n", rstrip=True, normalized=False)])
    names = theirs.encode("a\n\n").tokens
    assert ours.encode("a\n\n").tokens == names
    assert "\n\n" in names
    assert names.count("\n") == 1
