"""The page of `examples/playground` in Chromium."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest
from support.browser import driven, needs_chromium
from support.kept import tokenizer
from support.shared_data import EXAMPLES, SHARED, needs_shared

import fst
from fst.automata.rows import ROOT
from fst.cli.commands.export.command import exported
from fst.machines.bpe.automaton import ENTRY, step

pytestmark = [pytest.mark.slow, needs_chromium]

PHONE = 390  # pixels
AT_ONCE = 4 * 1200  # the maximum number of tokens that playground.js draws at once
TEXT = "The unaffable clock\n👋🏽 吾輩は <b>&amp;\t\r\n é" + "x" * 300

STEPS = """
export async function steps(document) {
  const texts = TEXTS, [input, list, status] = ["text", "tokens", "status"].map((id) => document.getElementById(id));
  const until = async (condition) => { while (!condition()) await new Promise((done) => setTimeout(done, 20)); };
  const tokens = () => [...list.querySelectorAll(".token")];
  const state = () => ({ ids: tokens().map((node) => Number(node.dataset.id)), text: list.textContent, status: status.textContent });
  const path = () => [...document.querySelectorAll("#path .state")].map((node) => node.textContent).join(" ");
  const states = () => [...document.querySelectorAll("#states li")].map((node) => node.textContent).join(", ");
  const details = () => Object.fromEntries(["name", "id", "offsets", "bytes"].map((id) => [id, document.getElementById(id).textContent]));
  const press = (key) => list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await until(() => list.dataset.drawn);
  const found = [];
  for (const text of texts) {
    input.value = text, input.dispatchEvent(new Event("input"));
    const atOnce = tokens().length;
    await until(() => list.dataset.drawn);
    found.push({ ...state(), atOnce, overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth });
  }
  input.value = texts[0], input.dispatchEvent(new Event("input"));
  await until(() => list.dataset.drawn);
  tokens()[2].click();
  const clicked = { ...details(), path: path(), states: states() };
  press("ArrowRight");
  const next = { ...details(), active: list.getAttribute("aria-activedescendant") };
  press("End"), press("ArrowRight");
  return { found, clicked, next, last: details().id };
}
"""


def page(folder: Path, table: Path) -> Path:
    """A folder with the page, and the exported table of another folder."""
    copytree(EXAMPLES / "playground", folder, ignore=lambda _, names: [name for name in names if "." not in name])
    copytree(table, folder / "table")
    return folder


def bpe_path(tok: Any, word: str) -> list[str]:
    """The steps of a word as the page shows them, by slow walks over a table of byte-level BPE."""
    state, found = ROOT, []
    for byte in word.encode():
        state = step(tok._table.entries, state, byte)
        token = tok.decode([ENTRY.unpack(tok._table.entries[state]).target])
        found.append(f"{chr(byte)} →{state} {token}".replace(" ", "␣").replace("␣→", " →").replace(f"{state}␣", f"{state} "))
    return found


@needs_shared
def test_the_page_shows_what_python_finds(tmp_path: Path) -> None:
    """The page shows Python's ids and the complete text, also after edits, the keyboard selects tokens, and nothing is wider
    than the page.
    """
    table = tokenizer(SHARED / "vocab_bpe/gpt2")
    table.save(tmp_path / "gpt2.npz")
    (tmp_path / "gpt2").mkdir()
    for name, data in exported(tmp_path / "gpt2.npz", ["wasm"]).items():
        (tmp_path / "gpt2" / name).write_bytes(data)
    tok, folder = fst.Tokenizer(table), page(tmp_path / "page", tmp_path / "gpt2")
    long = (SHARED / "corpora" / "wikitext2_test.txt").read_text(encoding="utf-8")[:100_000]
    texts = [TEXT, TEXT + " and more", "x" + TEXT, "", long, long + " more", TEXT.replace("clock", "cloak")]
    found: dict[str, Any] = driven(folder, STEPS.replace("TEXTS", json.dumps(texts)), PHONE)
    for text, shown in zip(texts, found["found"], strict=True):
        text = text.replace("\r\n", "\n")  # line ends as in a text area
        ids = tok.encode(text).tolist()
        assert (shown["ids"], shown["text"]) == (ids, text)
        assert shown["status"].startswith(f"{len(ids):,} token")
        assert shown["overflow"] <= 0
    assert 0 < found["found"][4]["atOnce"] <= AT_ONCE
    ids = tok.encode(TEXT.replace("\r\n", "\n")).tolist()
    assert found["clicked"] == {
        "name": "able", "id": str(ids[2]), "offsets": "9 to 13", "bytes": "61 62 6c 65",
        "path": "␣ ␣u ␣un ␣un|a ␣un|af ␣unaff ␣unaff|a ␣unaff|ab ␣unaff|abl ␣unaff|able",
        "states": ", ".join(bpe_path(tok, " unaffable")),
    }  # fmt: skip
    assert (found["next"]["id"], found["next"]["active"], found["last"]) == (str(ids[3]), "t3", str(ids[-1]))


def test_special_tokens_have_names(english: Path, tmp_path: Path) -> None:
    """Special tokens are shown by their names, the path of a word contains none, and text without tokens is shown, too."""
    text = " \n  unaffable \n\n"
    found = driven(page(tmp_path / "page", english / "english-js"), STEPS.replace("TEXTS", json.dumps([text])), PHONE)
    tok = fst.load(english / "english.npz")
    assert isinstance(tok, fst.Tokenizer)
    assert (found["found"][0]["ids"], found["found"][0]["text"]) == (tok.encode(text).tolist(), text)
    assert (found["clicked"]["name"], found["next"]["name"]) == ("aff", "able")
    assert found["clicked"]["path"] == "u un un|a un|af un|aff un|aff|a un|aff|ab un|aff|ab|l un|aff|able"
    assert re.sub(r"\d+", "n", found["clicked"]["states"]).startswith("u →n ␣u, n →n ␣un, a →n a, f →n af, f →n aff, a →n a, ")


def test_a_missing_table_is_named(english: Path, tmp_path: Path) -> None:
    """Without a table, the page contains the command that exports one."""
    folder = page(tmp_path / "page", english / "english-js")
    rmtree(folder / "table")
    steps = """
export async function steps(document) {
  const status = document.getElementById("status");
  while (status.textContent.startsWith("Loading")) await new Promise((done) => setTimeout(done, 20));
  return status.textContent;
}
"""
    assert "fst export TABLE.npz --target wasm" in driven(folder, steps, PHONE)
