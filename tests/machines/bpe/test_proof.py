"""In the proof of byte-level BPE tables, each broken rule causes the message for this rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines.documents import Merges, byte_level

import fst
from fst.automata.rows import MAX_OUTPUT
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document
from fst.machines.bpe.automaton import ENTRY
from fst.machines.bpe.table import BpeTable
from fst.pretokens.boundaries import BEGIN_MASKS, UNSURE_MASKS
from fst.pretokens.table import WORD_BYTES

Harm = Callable[[BpeTable], BpeTable]


MERGES = [(b"a", b"b"), (b"ab", b"c"), (b" ", b"t")]


@cache
def sound() -> BpeTable:
    """Return a valid table."""
    return table_of(MERGES)


@cache
def merging() -> BpeTable:
    """Return a valid table without an automaton."""
    return table_of(MERGES[::-1])


def table_of(merges: Merges, more: Sequence[bytes] = (b"xyz",)) -> BpeTable:
    """Compile merges to a table."""
    parts = byte_level(GPT2, merges, more, ("<s>", "é", "世"))
    return assemble(of_document(parts, Path("tokenizer.json")), "auto")


def put(name: str, place: Any, value: Any) -> Harm:
    """Return a change that sets an element of an array."""

    def harm(table: BpeTable) -> BpeTable:
        array = getattr(table, name).copy()
        array[place] = value(array[place]) if callable(value) else value
        assert not np.array_equal(array, getattr(table, name))
        return resized(name, lambda _: array)(table)

    return harm


def resized(name: str, change: Callable[[Any], Any]) -> Harm:
    """Return a change that replaces an array."""

    def harm(table: BpeTable) -> BpeTable:
        changed: dict[str, Any] = {name: change(getattr(table, name))}
        return replace(table, **changed)

    return harm


def stating(**header: Any) -> Harm:
    """Return a change that replaces values of the metadata."""
    return lambda table: replace(table, header={**table.header, **header})


def both(*harms: Harm) -> Harm:
    """Return a change that applies several changes in sequence."""

    def harm(table: BpeTable) -> BpeTable:
        for each in harms:
            table = each(table)
        return table

    return harm


def contextual(table: BpeTable) -> BpeTable:
    """Change a table so that the recognition of a special token depends on its neighbours."""
    token = {"id": 259, "single_word": True, "lstrip": False, "rstrip": False, "normalized": False, "decoded": "世"}
    return stating(late={"世": token})(table)


def first_word(part: int, value: Any) -> Harm:
    """Return a change of a number in the first used slot of the table of words."""
    used = int(np.flatnonzero(sound().words[3::4])[0])
    return put("words", 4 * used + part, value)


def window(*symbols: int) -> int:
    """The window of a splitter that ends with the given symbols; the preceding symbols are 0."""
    return sum(symbol << BITS * place for place, symbol in enumerate(reversed(symbols)))


BEGIN, BITS = int(sound().symbols[-1]), sound().metadata.automaton.window_bits
HARM: dict[str, tuple[Harm, str]] = {
    "an id less": (resized("token_ids", lambda array: array[:-1]), "token_ends has 262 elements, token_ids 261"),
    "fewer tokens in the vocabulary than in the model": (stating(vocabulary_tokens=1), "vocabulary_tokens is 1; expected a number from "),
    "more tokens of the model": (stating(model_tokens=263), "model_tokens is 263; there are 262 tokens"),
    "an id below 0": (put("token_ids", 3, -1), "token 3 has the id -1"),
    "an id above all": (put("token_ids", 3, MAX_OUTPUT + 1), f"token 3 has the id {MAX_OUTPUT + 1}"),
    "an end before its start": (put("token_ends", 5, 3), "token 5 has -2 bytes"),
    "an end past the bytes": (put("token_ends", -1, lambda end: end + 1), "the last token ends at byte"),
    "a byte more": (resized("token_bytes", lambda array: np.append(array, array[:1])), "the last token ends at byte"),
    "bytes of an added token": (put("token_bytes", -1, 0xFF), "token_bytes is not UTF-8 at byte"),
    "a token that begins inside a character": (
        both(put("token_ends", -2, lambda end: end + 1), stating(specials={})),
        r"a token begins at byte \d+, inside a character",
    ),
    "a contextual token": (contextual, "there are contextual added tokens"),
    "another special token": (stating(specials={"<t>": 260}), "special token '<t>' has the id 260, and no token of the table has both"),
    "the id of a special token": (stating(specials={"<s>": 261}), "special token '<s>' has the id 261, and no token of the table has both"),
    "an empty special token": (stating(specials={"": 260}), "special"),
    "an unknown id around a text": (stating(single=[[[262], 0], ["A", 0]]), "single: no token has the id 262"),
    "an unknown id around a pair": (stating(pair=[[[262], 0], ["A", 0], ["B", 1]]), "pair: no token has the id 262"),
    "an unknown id that is skipped": (stating(skipped=[262]), "skipped: no token has the id 262"),
    "a page less": (resized("pages", lambda array: array[:-1]), "pages for 8704 blocks"),
    "a page past the last": (put("pages", 7, 9999), r"U\+0380 is on page 9999"),
    "half a block": (resized("blocks", lambda array: array[:-64]), "blocks has"),
    "no block": (resized("blocks", lambda array: array[:0]), "blocks has 0 elements"),
    "a class past the last": (put("blocks", 65, 99), "element 65 of blocks is class 99"),
    "a state past the last": (put("moves", (2, 0), 999 << 1), "state 2 of the splitter leads to a state past the last"),
    "a way out of the dead state": (put("moves", (0, 0), 2), "the splitter leaves the dead state"),
    "a way past the end": (put("moves", (2, -1), 5), "the splitter reads past the end"),
    "an empty match": (put("moves", (1, 0), lambda move: move | 1), "the splitter has an empty match"),
    "a class less that is dropped or not": (resized("drops", lambda array: array[:-1]), r"drops has \d+ elements for \d+ classes"),
    "a class that is neither dropped nor not": (put("drops", 1, 2), "drops is 2 for class 1; expected 0 or 1"),
    "a symbol less": (resized("symbols", lambda array: array[:-1]), "symbols for"),
    "a symbol past the last": (put("symbols", 0, 200), "symbol 200 has more than"),
    "half of the decisions": (resized("decisions", lambda array: array[: len(array) // 2 + 1]), "decisions for symbols of"),
    "two symbols to a window": (resized("decisions", lambda array: array[: 1 << 2 * BITS]), "decisions for symbols of"),
    "more decisions than may be": (resized("decisions", lambda array: np.zeros(1 << 21, array.dtype)), "there are 2097152 decisions"),
    "an unknown decision": (put("decisions", 0, 2), "the decision for window 0 is 2; it is 0, 1 or 3"),
    "a decision past all": (put("decisions", 1, 4), "the decision for window 1 is 4"),
    "a pre-token that begins twice": (put("decisions", window(BEGIN, 0, 1), 1), f"window {window(BEGIN, 0, 1)} decides"),
    "half of the products": (resized("products", lambda array: array[:500]), "products has 500 elements, not 966 or 0"),
    "no begins": (put("products", slice(BEGIN_MASKS, UNSURE_MASKS), 0), "no product contains every window of END"),
    "no begin of a text": (put("products", slice(0, BEGIN_MASKS), lambda sets: sets & 0b11111101), "every window of a first character"),
    "a product of BEGIN": (put("products", slice(0, BEGIN_MASKS), 255), "a product contains a window of BEGIN"),
    "an unsure END": (put("products", slice(UNSURE_MASKS, None), 255), "END, or a first character, is unsure"),
    "a doubt before the text": (put("decisions", window(BEGIN, BEGIN, 1), 3), f"window {window(BEGIN, BEGIN, 1)} decides"),
    "a slot past the last state": (put("entries", 1 + ord("a"), lambda entry: entry | ENTRY.max_target), "the transition at slot 98"),
    "a long piece without ignore_merges": (stating(long_pieces=[258]), "there are long pieces without ignore_merges"),
    "a suffix beside an automaton": (stating(end_of_word_suffix="</w>"), "a prefix, suffix or subwords beside an automaton"),
    "a depth less": (resized("depths", lambda array: array[:-1]), "depths"),
    "a part of a slot": (resized("words", lambda array: array[:-1]), "words has"),
    "slots that are no power of two": (resized("words", lambda array: array[:-4]), "words has"),
    "a single slot": (resized("words", lambda array: array[:4]), "words has 4 elements"),
    "buckets that are no power of two": (resized("displacements", lambda array: np.append(array, array[:1])), "displacements, not 2, 4, 8"),
    "a single bucket": (resized("displacements", lambda array: array[:1]), "there are 1 displacements"),
    "a word of no token": (first_word(3, 1 << 32 | 9999), "which is no token|not a token and its length"),
    "a word of another length": (first_word(3, lambda value: value + (1 << 32)), "not a token and its length"),
    "a word longer than a key": (first_word(3, lambda value: value + (WORD_BYTES + 1 << 32)), "not a token and its length"),
}


HARM_OF_MERGES: dict[str, tuple[Harm, str]] = {
    "an automaton without depths": (resized("entries", lambda _: sound().entries), r"there are \d+ states, and 0 depths"),
    "depths without an automaton": (resized("depths", lambda _: sound().depths), "depths, and no automaton"),
    "a column less": (resized("merges", lambda array: array[:, :2]), "merges has 2 columns, not 3"),
    "a part below 0": (put("merges", (1, 0), -1), "merge 1 is "),
    "a part past all": (put("merges", (1, 1), 9999), "merge 1 is .*9999.*; expected ids below"),
    "a result past all": (put("merges", (1, 2), 9999), "merge 1 is .*9999.*; expected ids below"),
    "an added token as a part": (put("merges", (1, 0), 260), "merge 1 is .*, and a part has no bytes"),
    "a result of other length": (put("merges", (0, 2), ord("a")), r"merge 0 makes 1 bytes of \d and \d"),
    "a byte that is no token": (put("token_bytes", ord("a"), ord("b")), "missing_bytes is 0; 1 of the bytes"),
    "bytes that are all tokens": (stating(missing_bytes=1), "missing_bytes is 1; 0 of the bytes"),
    "an unknown token for no bytes": (stating(unk_id=97, unk_token="a"), "unk_id is 97, and no bytes are missing"),
    "an unknown token of another name": (stating(missing_bytes=1, unk_id=98, unk_token="a"), "unk_token 'a' has the id 98, and no token"),
    "a run of bytes as a token that merges": (stating(missing_bytes=1, unk_id=97, unk_token="a", fuse_unk=True), "missing_bytes is 1"),
    "a suffix that no token has": (stating(end_of_word_suffix="</w>"), "missing_bytes is 0; 243 of the bytes"),
    "a suffix beside ignore_merges": (stating(end_of_word_suffix="x", ignore_merges=True), "ignore_merges beside affixes"),
    "a byte whose id has more": (put("token_ids", 260 - 1, ord("b")), "token 98 of one byte has"),
}


def test_sound_tables_are_proven() -> None:
    """The valid tables, which the other tests damage, pass the proof."""
    for table in (sound(), merging()):
        assert BpeTable.loads(table.dumps()).run("abc the <s>") == table.run("abc the <s>")
    assert sound().has_automaton
    assert not merging().has_automaton


def test_words_have_no_dropped_byte() -> None:
    """In a table that drops the digit 1, a word with this digit is refused."""
    parts = byte_level(GPT2, MERGES)
    parts["model"]["vocab"] = {token: number for number, token in enumerate(token for token in parts["model"]["vocab"] if token != "1")}
    table = assemble(of_document(parts, Path("tokenizer.json")), "auto")
    assert table.drops_bytes
    used = int(np.flatnonzero(table.words[3::4])[0])
    harm = put("words", 4 * used, lambda key: key & ~np.uint64(0xFF) | np.uint64(ord("1")))
    with pytest.raises(fst.TableError, match=f"slot {used} of the table of words has a byte without a token"):
        BpeTable.loads(harm(table).dumps())


@pytest.mark.parametrize("merges", [MERGES, MERGES[::-1]], ids=["automaton", "merges"])
def test_lengths_of_long_pieces_are_proven(merges: Merges) -> None:
    """If a long pre-token is stored with a token, the token must have as many bytes as the pre-token, or the table is refused."""
    harm = both(stating(long_pieces=[259], ignore_merges=True), put("token_ids", 260, 259))
    with pytest.raises(fst.TableError, match="a long piece has 3 bytes, and its token 259 has 4"):
        BpeTable.loads(harm(table_of(merges, (b"xyz", b"uvwx"))).dumps())


@pytest.mark.parametrize(("harm", "fault"), HARM_OF_MERGES.values(), ids=HARM_OF_MERGES)
def test_every_rule_of_merges_is_proven(harm: Harm, fault: str) -> None:
    """A table without an automaton that breaks a rule of the proof is refused, and the message contains the rule."""
    with pytest.raises(fst.TableError, match=fault):
        BpeTable.loads(harm(merging()).dumps())


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("harm", "fault"), HARM.values(), ids=HARM)
def test_every_rule_is_proven(harm: Harm, fault: str) -> None:
    """A table that breaks a rule of the proof is refused, and the message contains the rule."""
    with pytest.raises(fst.TableError, match=fault):
        BpeTable.loads(harm(sound()).dumps())
