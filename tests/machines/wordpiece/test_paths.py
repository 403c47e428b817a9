"""The naive implementation, the readable automata, the walk and the kernel give the same tokens for a list of cases.

`cases.jsonl` contains cases for each rule of the contract: ``{"rule", "vocabulary", "options", "text", "tokens"}``. Each case runs through
every implementation, with all layouts, before and after saving to a file.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.kept import wordpiece
from support.naive import models as naive
from support.shared_data import EXAMPLES, SHARED, needs_shared
from support.tiers import examples, sample, thinned
from tokenizers import Tokenizer

import fst
from fst.automata.links import Failure, link
from fst.automata.rows import CODE_POINTS
from fst.automata.transducer import Transducer
from fst.automata.trie import NULL, Trie
from fst.compile import wordpiece as compile_anew
from fst.compile.machines.wordpiece.compiler import automaton, vocabulary_trie
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.read import read
from fst.machines.wordpiece.table import Walk, WordPieceTable
from fst.registry import load
from fst.text.alphabet import Alphabet

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LAYOUTS = ("compact", "linked")

Case = dict[str, Any]
CASES: list[Case] = [json.loads(line) for line in (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()]

each_case = pytest.mark.parametrize("case", thinned([pytest.param(case, id=case["rule"]) for case in CASES], 10))
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def key(case: Case) -> str:
    """Return the key of a case's machine; cases with the same key use the same machine."""
    return json.dumps([case["vocabulary"], case["options"]])


def special(case: Case) -> list[str]:
    """List the special tokens of a case, which are recognized in raw text."""
    return [token for token in (*SPECIAL, case["options"].get("unk_token", "[UNK]")) if token in case["vocabulary"]]


@functools.cache
def machine(of: str) -> tuple[WordPieceModel, Alphabet, NDArray[np.bool_], Transducer]:
    """Build the model of a vocabulary, its alphabet, the characters that its automata read, and its transducer."""
    tokens, options = json.loads(of)
    source = read(tokens, options)
    alphabet, transducer = automaton(source)
    return source.model, alphabet, alphabet.readable(), transducer


@functools.cache
def compiled(of: str, layout: str) -> WordPieceTable:
    """Compile the machine with a given key."""
    tokens, options = json.loads(of)
    return wordpiece(tokens, **options, layout=layout)


def spell(case: Case, ids: list[int]) -> list[str]:
    """Convert ids to tokens."""
    return [case["vocabulary"][number] for number in ids]


def by_words(case: Case, run: Callable[[Transducer, str], list[int] | None]) -> list[str]:
    """Split a text into words as the contract requires, and segment each word with one of the readable automata."""
    model, alphabet, readable, transducer = machine(key(case))
    ids: list[int] = []
    for piece in alphabet.run(case["text"]):
        if isinstance(piece, int):
            ids.append(piece)
        elif len(piece) > model.max_input_chars_per_word:
            ids.append(model.unk_id)
        elif not readable[ord(piece[0])]:  # the character is always a separate word, so no automaton reads it
            ids.append(model.tokens.get(piece, model.unk_id))
        else:
            found = run(transducer, piece)
            ids.extend([model.unk_id] if found is None else found)
    return spell(case, ids)


@each_case
def test_reference(case: Case, reference: Callable[..., Tokenizer]) -> None:
    """The expected tokens of every case equal those of `tokenizers`."""
    assert reference(case["vocabulary"], **case["options"]).encode(case["text"], add_special_tokens=False).tokens == case["tokens"]


@each_case
def test_definition(case: Case) -> None:
    """The naive implementation gives the expected tokens of every case."""
    numbers = {token: number for number, token in enumerate(case["vocabulary"])}
    assert spell(case, naive.encode(case["text"], numbers, special=special(case), **case["options"])) == case["tokens"]


@pytest.mark.mostly_slow
@each_case
def test_max_match(case: Case) -> None:
    """MaxMatch on the trie, which takes the longest token at each position, gives the expected tokens."""
    assert by_words(case, lambda transducer, word: transducer.trie.run(word)) == case["tokens"]


@each_case
def test_lin_max_match(case: Case) -> None:
    """LinMaxMatch, which is Algorithm 1 of the paper, gives the expected tokens with failure links and failure pops."""
    assert by_words(case, lambda transducer, word: transducer.failure.run(word)) == case["tokens"]


@each_case
def test_transducer(case: Case) -> None:
    """The transducer gives the expected tokens with one transition per character."""
    assert by_words(case, lambda transducer, word: transducer.run(word)) == case["tokens"]


@pytest.mark.mostly_slow
@each_layout
@each_case
def test_walk(case: Case, layout: str) -> None:
    """The walk over a table gives the expected tokens for raw text."""
    assert spell(case, compiled(key(case), layout).run(case["text"])) == case["tokens"]


@pytest.mark.mostly_slow
@each_layout
@each_case
def test_kernel(case: Case, layout: str) -> None:
    """The kernel gives the expected tokens for raw text, both as str and as bytes."""
    tokenizer = fst.Tokenizer(compiled(key(case), layout))
    assert tokenizer.tokenize(case["text"]) == case["tokens"]
    assert tokenizer.tokenize(case["text"].encode()) == case["tokens"]


@pytest.mark.mostly_slow
@each_layout
@each_case
def test_walk_and_kernel_after_a_file(case: Case, layout: str, tmp_path: Path) -> None:
    """With a table that is loaded from a file, the walk and the kernel give the expected tokens."""
    path = tmp_path / "tables.npz"
    compiled(key(case), layout).save(path)
    assert spell(case, load(path).run(case["text"])) == case["tokens"]
    assert fst.Tokenizer.load(path).tokenize(case["text"]) == case["tokens"]


@pytest.mark.slow
@each_layout
def test_kernel_in_one_batch(layout: str) -> None:
    """Texts get the same tokens in one batch as in separate calls."""
    for of in {key(case) for case in CASES}:
        cases = [case for case in CASES if key(case) == of]
        batch = fst.Tokenizer(compiled(of, layout)).encode_batch([case["text"] for case in cases], add_special_tokens=False)
        assert [spell(cases[0], ids.tolist()) for ids in batch] == [case["tokens"] for case in cases]


# Figure 1 of the paper: the vocabulary, and for each node its string, whether the string is a token, F, and the string of the node f.
FIGURE_1 = ("a", "abcdx", "##b", "##c", "##cdy", "##dz")
FIGURE_1_TABLE: dict[str, tuple[bool, list[str], str | None]] = {
    "": (False, [], None),
    "#": (False, [], None),
    "##": (False, [], None),
    "a": (True, ["a"], "##"),
    "ab": (False, ["a"], "##b"),
    "abc": (False, ["a", "##b"], "##c"),
    "abcd": (False, ["a", "##b"], "##cd"),
    "abcdx": (True, ["abcdx"], "##"),
    "##b": (True, ["##b"], "##"),
    "##c": (True, ["##c"], "##"),
    "##cd": (False, ["##c"], "##d"),
    "##cdy": (True, ["##cdy"], "##"),
    "##d": (False, [], None),
    "##dz": (True, ["##dz"], "##"),
}


def figure_1() -> Failure:
    """Build the automaton of Figure 1, extended to words of any characters."""
    return link(vocabulary_trie({token: number for number, token in enumerate(FIGURE_1)}, "##", np.ones(CODE_POINTS, bool), 100))


def test_links_and_pops_of_the_paper() -> None:
    """The failure links and failure pops of each node equal those in Figure 1 of the paper."""
    failure = figure_1()
    trie: Trie = failure.trie
    table = {}
    for node in range(len(trie)):
        target = int(failure.link[node])
        pops = [FIGURE_1[token] for token in failure.link_pops(node)]
        table[trie.name(node)] = (int(trie.token[node]) != NULL, pops, None if target == NULL else trie.name(target))
    assert table == FIGURE_1_TABLE


def test_steps_of_the_paper() -> None:
    """Algorithm 1 segments the paper's example word in the steps of Table 2 in the paper."""
    failure = figure_1()
    name = failure.trie.name
    steps = [
        (step.position, step.char, step.failure, name(step.source), name(step.target), [FIGURE_1[token] for token in step.pops])
        for step in failure.steps("abcdz")
    ]
    assert steps == [
        (0, "a", False, "", "a", []),
        (1, "b", False, "a", "ab", []),
        (2, "c", False, "ab", "abc", []),
        (3, "d", False, "abc", "abcd", []),
        (4, "z", True, "abcd", "##cd", ["a", "##b"]),
        (4, "z", True, "##cd", "##d", ["##c"]),
        (4, "z", False, "##d", "##dz", []),
        (5, "", True, "##dz", "##", ["##dz"]),
    ]


def test_folded_steps_of_the_paper() -> None:
    """At each character, the transducer emits the tokens that Algorithm 1 pops at the failure links before this character."""
    *_, transducer = machine(json.dumps([FIGURE_1, {"unk_token": "a"}]))
    state, emitted = 0, []
    for char in "abcdz":
        state, ids = transducer.step(state, char)
        emitted.append([FIGURE_1[token] for token in ids])
    assert emitted == [[], [], [], [], ["a", "##b", "##c"]]
    assert transducer.trie.name(state) == "##dz"


def look_ups(tables: WordPieceTable, text: str) -> list[int]:
    """Walk over a text, check that the number of look-ups is within the limit of the layout, and return the ids."""
    walk = Walk(tables)
    walk.run(text)
    most = {"compact": 2, "linked": 3}[tables.header["layout"]]
    assert walk.symbols <= walk.lookups <= most * walk.symbols
    return walk.ids


@pytest.mark.mostly_slow
@examples(300)
@each_layout
@given(text=st.text(st.sampled_from("abcdxyz. #é\u0301İ中\U0001e000\U0001d165\u200b"), max_size=60) | st.text(max_size=60))
def test_look_ups(layout: str, text: str) -> None:
    """For any text, the walk takes at most two look-ups per symbol in a compact table, and at most three in a linked table."""
    look_ups(compiled(key(CASES[0]), layout), text)


EXAMPLE = EXAMPLES / "english-uncased-8000.txt"


@functools.cache
def lines() -> list[str]:
    """Read some sentences in 109 languages and some pages of books."""
    sentences = (SHARED / "corpora/multi_sentences_500.jsonl").read_text(encoding="utf-8").split("\n")[::50]
    with (SHARED / "corpora/en_books_20MB.txt").open(encoding="utf-8") as books:
        return [json.loads(line)["text"] for line in sentences if line] + [*islice(books, 400)]


@needs_shared
@each_layout
def test_look_ups_in_real_text(layout: str) -> None:
    """On real text, the walk stays within the limit of look-ups per symbol, and the kernel gives the same ids."""
    tables = wordpiece(EXAMPLE, layout=layout)
    texts = sample(lines(), 40)
    batch = fst.Tokenizer(tables).encode_batch(texts, add_special_tokens=False)
    for text, ids in zip(texts, batch, strict=True):
        assert look_ups(tables, text) == ids.tolist()


SOURCES: dict[str, str | list[str]] = {"tokens": max((case["vocabulary"] for case in CASES), key=len), "file": str(EXAMPLE)}
SAVE = """
import json, sys
from fst.compile import wordpiece
wordpiece(json.load(sys.stdin), layout=sys.argv[1]).save(sys.argv[2])
"""


def save_elsewhere(name: str, layout: str, seed: str, path: Path) -> None:
    """Compile and save a vocabulary in a process with a hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, "-c", SAVE, layout, path], input=json.dumps(SOURCES[name]), text=True, check=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "name"), thinned(product(LAYOUTS, SOURCES), 8))
def test_same_bytes(name: str, layout: str, tmp_path: Path) -> None:
    """A vocabulary always compiles to the same file, even in processes with different hash seeds."""
    paths = [tmp_path / f"{number}.npz" for number in range(4)]
    for path in paths[:2]:
        compile_anew(SOURCES[name], layout=layout).save(path)
    for seed, path in enumerate(paths[2:]):
        save_elsewhere(name, layout, str(seed), path)
    assert len({path.read_bytes() for path in paths}) == 1
