"""BPE vocabularies whose tokens have a prefix or suffix for their position in a word give the same ids, offsets and decoded texts as
`tokenizers`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.kept import assemble
from support.machines.bpe import SCRIPTS, WORDS, ids_of
from support.machines.documents import Merges, byte_level
from support.shared_data import SHARED, needs_shared
from support.tiers import examples
from tokenizers import Tokenizer

import fst
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.affixes import NO_AFFIXES, Affixes, Part, codes_of
from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import spelled
from fst.pretokens.characters import CODES, CONTINUES, ENDS

Json = dict[str, Any]
DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
UNKNOWN = "<unk>"
UNKNOWNS: dict[str, Json] = {"one each": {"unk_token": UNKNOWN}, "one a run": {"unk_token": UNKNOWN, "fuse_unk": True}, "vanish": {}}
CLIP = SHARED / "vocab_bpe/clip/tokenizer.json"


def document(affixes: Affixes, merges: Merges, pattern: str) -> Json:
    """Make a tokenizer.json in which each byte has a token for each position in a word; `merges` lists merges of these tokens."""
    single = [affixes.name(part) for byte in range(256) for part in affixes.places(byte)]
    made = [left + right[len(affixes.prefix) :] for left, right in merges]
    names = {spelled(name): number for number, name in enumerate(dict.fromkeys([*single, *made]))}
    parts = byte_level(pattern, ())
    model = {**parts["model"], "vocab": names, "merges": [[spelled(left), spelled(right)] for left, right in merges]}
    model |= {"continuing_subword_prefix": affixes.prefix.decode() or None, "end_of_word_suffix": affixes.suffix.decode()}
    return {**parts, "model": model, "decoder": DECODER, "normalizer": None, "post_processor": None}


def table_of(written: Json) -> BpeTable:
    """Compile a tokenizer.json to a table."""
    tables: BpeTable = assemble(of_document(written, Path("tokenizer.json")), "auto")
    return tables


@some.composite
def lists(draw: some.DrawFn, affixes: Affixes) -> Merges:
    """Draw merges in any order; most of these merges apply to some text."""
    tokens = [affixes.name(part) for byte in b"ab " for part in affixes.places(byte)]
    merges = list[tuple[bytes, bytes]]()
    for _ in range(draw(some.integers(1, 9))):
        left = draw(some.sampled_from(tokens))
        right = draw(some.sampled_from([token for token in tokens if len(token) > len(affixes.prefix)]))
        if right.startswith(affixes.prefix):
            merges.append((left, right))
            tokens.append(left + right[len(affixes.prefix) :])
    return draw(some.permutations(merges))


def hold(written: Json, texts: Sequence[str]) -> None:
    """Check that ids, offsets and decoded texts equal those of `tokenizers`, and that walk and kernel give the same ids."""
    table = table_of(written)
    tokenizer, reference = fst.Tokenizer(table), Tokenizer.from_str(json.dumps(written))
    found, expected = tokenizer.encode_batch(texts, offsets=True), reference.encode_batch([*texts])
    assert found.offsets is not None
    assert ids_of(found) == [encoding.ids for encoding in expected]
    assert [tuple(span) for span in found.offsets.tolist()] == [span for encoding in expected for span in encoding.offsets]
    assert tokenizer.decode_batch(found) == [reference.decode(encoding.ids) for encoding in expected]
    assert [table.run(text) for text in texts] == ids_of(tokenizer.encode_batch(texts, add_special_tokens=False))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("affixes", [Affixes(b"", b"</w>"), Affixes(b"##", b""), Affixes(b"##", b"$$")], ids=str)
@examples(60)
@given(data=some.data(), texts=some.lists(some.text("ab ", max_size=12), max_size=20))
def test_reference_on_any_list(affixes: Affixes, data: some.DataObject, texts: list[str]) -> None:
    """With any merges, and with a prefix, a suffix or both, ids, offsets and decoded texts equal those of `tokenizers`."""
    pattern = data.draw(some.sampled_from([r"[\s\S]+", GPT2]))
    hold(document(affixes, data.draw(lists(affixes)), pattern), ["", "a", *texts, "ab" * 40])


def lacking(written: Json, names: Sequence[bytes], more: Json) -> Json:
    """A tokenizer.json without some tokens of single bytes and without the merges of these tokens; `more` are fields of the model."""
    model, gone = written["model"], {spelled(name) for name in names}
    kept = [merge for merge in model["merges"] if not gone & {*merge}]
    vocabulary = {name: number for name, number in model["vocab"].items() if name not in gone} | {UNKNOWN: len(model["vocab"])}
    return {**written, "model": {**model, "vocab": vocabulary, "merges": kept, **more}}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", UNKNOWNS)
@examples(240)
@given(data=some.data(), texts=some.lists(some.text("abé ", max_size=12), max_size=20))
def test_reference_on_missing_positions(name: str, data: some.DataObject, texts: list[str]) -> None:
    """A byte without a token for its position in a word becomes the unknown token, or vanishes, as in `tokenizers`."""
    affixes = data.draw(some.sampled_from([Affixes(b"", b"</w>"), Affixes(b"##", b""), Affixes(b"##", b"$$")]))
    merges = data.draw(lists(affixes))
    made = {left + right[len(affixes.prefix) :] for left, right in merges}
    singles = sorted({affixes.name(part) for byte in b"ab \xc3\xa9" for part in affixes.places(byte)} - made)
    names = data.draw(some.sets(some.sampled_from(singles), min_size=1))
    pattern = data.draw(some.sampled_from([r"[\s\S]+", r" ?[^ ]+| +"]))
    hold(lacking(document(affixes, merges, pattern), sorted(names), UNKNOWNS[name]), ["", "a", *texts, "ab" * 40])


@pytest.mark.parametrize("affixes", [Affixes(b"", b"</w>"), Affixes(b"##", b""), Affixes(b"##", b"$$"), NO_AFFIXES], ids=str)
def test_names_say_where_tokens_stand(affixes: Affixes) -> None:
    """`Affixes.name` and `Affixes.part` are inverse functions, and each byte has a token for each position in a word."""
    parts = [part for byte in b"ab#$" for part in affixes.places(byte)]
    assert [affixes.part(affixes.name(part)) for part in parts] == parts
    names = {affixes.name(part): number for number, part in enumerate(part for byte in range(256) for part in affixes.places(byte))}
    assert len(names) == 256 * (1 + bool(affixes.prefix)) * (1 + bool(affixes.suffix))
    assert {*affixes.atoms(names).tolist()} == {*names.values()}
    assert len(affixes.atoms(names)) == CODES
    assert codes_of(b"abc") == [ord("a"), ord("b") | CONTINUES, ord("c") | CONTINUES | ENDS]
    assert affixes.joined(Part(b"a", True, not affixes.suffix), Part(b"b", not affixes.prefix, True)) == Part(b"ab", True, True)
    assert (affixes.joined(Part(b"a", True, True), Part(b"b", True, True)) is None) == bool(affixes)


AMBIGUOUS: Merges = [(b"a", b"</w>"), (b"<", b"/"), (b"</", b"w"), (b"</w", b">")]
REFUSED: Sequence[tuple[Affixes, Merges, Json, str]] = [
    (Affixes(b"", b"</w>"), AMBIGUOUS, {}, "token b'a</w>': its prefix or suffix may also be text"),
    (Affixes(b"a", b"b"), [], {}, "token b'ab': its prefix or suffix may also be text"),
    (Affixes(b"", b"</w>"), [], {"ignore_merges": True}, "model BPE with ignore_merges and end_of_word_suffix '</w>'"),
    (Affixes(b"", b"</w>"), [], {"end_of_word_suffix": "▁"}, "model BPE with end_of_word_suffix '▁', which has letters of no byte"),
]


@pytest.mark.parametrize(("affixes", "merges", "more", "message"), REFUSED)
def test_names_that_say_two_things_are_refused(affixes: Affixes, merges: Merges, more: Json, message: str) -> None:
    """A token is refused if its prefix or suffix contradicts its position in a word."""
    written = document(affixes, merges, GPT2)
    written["model"].update(more)
    with pytest.raises(fst.FstError) as error:
        table_of(written)
    assert message in str(error.value)


@needs_shared
def test_clip() -> None:
    """CLIP's model, with GPT-2's splitter, gives the same ids, offsets and decoded texts as `tokenizers`."""
    written = json.loads(CLIP.read_text(encoding="utf-8"))
    texts = [*WORDS, *SCRIPTS, *map("".join, zip(WORDS, reversed(WORDS), strict=True)), "</w> x</w>", "a photo of a cat " * 30, "z" * 200]
    hold({**written, "normalizer": None, "pre_tokenizer": {**DECODER, "add_prefix_space": False}}, texts)
