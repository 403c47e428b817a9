"""Errors of the ES module of an export name what is found, what is expected, and what to do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.hosts import needs_node

pytestmark = [pytest.mark.slow, needs_node]

PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { load } from "./english-js/fst.js";

const table = readFileSync("english-js/table.fst"), wasm = readFileSync("english-js/fst.wasm"), found = {};
const file = (name) => new URL(`./english-js/${name}`, import.meta.url), text = (value) => (ArrayBuffer.isView(value) ? [...value] : value);
async function ask(name, call) {
  found[name] = await Promise.resolve().then(call).then(text, (error) => `${error.name}: ${error.message}`.replaceAll(address, "HOST"));
}
const pages = { "/page": [200, "text/html; charset=utf-8", "<!doctype html>"], "/table": [200, "application/octet-stream", table] };
const server = createServer(({ url }, answer) => {
  const [status, type, body] = pages[url] ?? [404, "text/plain", "not found"];
  answer.writeHead(status, { "content-type": type }).end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}`, ids = async (...given) => (await load(...given)).encode("unaffable");
await ask("none", () => load(fetch(`${address}/none`), { wasm }));
await ask("missing wasm", () => load(table, { wasm: new URL(`${address}/none`) }));
await ask("page", () => load(new URL(`${address}/page`), { wasm }));
await ask("no wasm", () => load(table));
await ask("name", () => load("english-js/table.fst", { wasm }));
await ask("swapped", () => load(wasm, { wasm: table }));
await ask("damaged", () => load(table.subarray(0, -64), { wasm }));
await ask("other module", () => load(table, { wasm: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]) }));
await ask("no file", () => load(file("none.fst"), { wasm }).catch(({ code }) => code));
await ask("files", () => ids(file("table.fst"), { wasm: file("fst.wasm") }));
await ask("addresses", () => ids(new URL(`${address}/table`), { wasm: new Blob([wasm]) }));
const tok = await load(fetch(`${address}/table`), { wasm });
for (const [name, value] of [["number", 5], ["null", null], ["nothing", undefined], ["array", ["a"]]]) {
  const methods = ["encode", "encodeView", "encodeWithOffsets", "count", "path"];
  for (const method of methods) await ask(`${method} ${name}`, () => tok[method](value));
  await ask(`push ${name}`, () => tok.stream().push(value));
  await ask(`encodeBatch ${name}`, () => tok.encodeBatch([value]));
}
await ask("batch", () => tok.encodeBatch("abc"));
for (const [name, id] of Object.entries({ part: 1.5, negative: -1, large: 2 ** 32, NaN, string: "5", null: null, bigint: -1n })) {
  await ask(`decode ${name}`, () => tok.decode([345, id]));
  await ask(`write ${name}`, () => tok.decodeStream().push([345, id]));
}
await ask("no ids", () => tok.decode(5));
await ask("wide ids", () => tok.decode(BigInt64Array.of(345n, 2895n, 440n, 2n ** 31n)));
for (const power of [27, 28]) {
  await ask(`long ${power}`, () => tok.path("a".repeat(2 ** power)));
  await ask(`after ${power}`, () => tok.encode("unaffable"));
}
const stream = tok.stream(), decodes = tok.decodeStream();
tok.free(), tok.free();
for (const [name, call] of Object.entries({
  encode: () => tok.encode("a"), count: () => tok.count("a"), decode: () => tok.decode([2]), stream: () => tok.stream(),
  tokenBytes: () => tok.tokenBytes(2), path: () => tok.path("a"), encodeBatch: () => tok.encodeBatch([]),
  push: () => stream.push("a"), write: () => decodes.push([345]),
})) await ask(`freed ${name}`, call);
await ask("still an object", async () => `${typeof (await tok)}`);
server.close();
writeFileSync(1, JSON.stringify(found));
process.exit();
"""
IDS = [2, 345, 2895, 440, 3]


@pytest.fixture(scope="module")
def answers(english: Path) -> dict[str, object]:
    """The result or the error of each call of `PROGRAM`."""
    (english / "messages.mjs").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(["node", "messages.mjs"], cwd=english, check=False, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_files_that_are_missing_are_named(answers: dict[str, object]) -> None:
    """An address without a file is an error with the address and the status, also if the server answers with a page."""
    expected = "expected a file of `fst export`: bytes, a response or a URL"
    for name, found in (("none", "status 404"), ("page", "status 200 and a page of HTML")):
        assert answers[name] == f"TypeError: HOST/{name} is a response with {found}; {expected}; check the address"
    assert answers["missing wasm"] == answers["none"]
    for name, found in (("no wasm", "wasm is undefined"), ("name", "the table is string")):
        assert answers[name] == f"TypeError: {found}; {expected}; call load(table, {{ wasm }})"
    assert answers["no file"] == "ENOENT"


def test_other_files_are_refused(answers: dict[str, object]) -> None:
    """Files that are damaged, of another kind, or in the wrong order are errors."""
    assert str(answers["swapped"]).startswith("CompileError: ")
    assert answers["damaged"] == "TypeError: the image is damaged; expected a table.fst of `fst export`"
    assert answers["other module"] == "TypeError: wasm is another module; expected the fst.wasm of `fst export`"


def test_sources_are_read(answers: dict[str, object]) -> None:
    """Files are read from URLs of files and servers, and from blobs."""
    assert answers["files"] == answers["addresses"] == IDS


def test_texts_are_strings(answers: dict[str, object]) -> None:
    """A text that is not a string is an error in every method."""
    for name, kind in (("number", "number"), ("null", "null"), ("nothing", "undefined"), ("array", "object")):
        for method in ("encode", "encodeView", "encodeWithOffsets", "count", "path", "push", "encodeBatch"):
            assert answers[f"{method} {name}"] == f"TypeError: the text is {kind}; expected a string"
    assert answers["batch"] == "TypeError: the texts are string; expected an array of strings"


def test_ids_are_integers(answers: dict[str, object]) -> None:
    """A number that is not an integer of 32 bits is an error; integers without a token are skipped."""
    shown = {"part": "1.5", "negative": "-1", "large": "4294967296", "NaN": "NaN", "string": '"5"', "null": "null", "bigint": "-1"}
    for name, value in shown.items():
        for method in ("decode", "write"):
            assert answers[f"{method} {name}"] == f"RangeError: an id is {value}; expected an integer from 0 to 4294967295"
    assert answers["no ids"] == "TypeError: the ids are number; expected an array of integers"
    assert answers["wide ids"] == "unaffable"


def test_long_words_are_refused(answers: dict[str, object]) -> None:
    """A word that needs more memory than a module can have is an error, and the next text is encoded."""
    for power in (27, 28):
        assert answers[f"long {power}"] == f"RangeError: memory for {1 << power} units of text is missing; expected a shorter word"
        assert answers[f"after {power}"] == IDS


def test_free_ends_a_tokenizer(answers: dict[str, object]) -> None:
    """After `free`, every call is an error, also a call of a stream, but another `free` is not."""
    for name in ("encode", "count", "decode", "stream", "tokenBytes", "path", "encodeBatch", "push", "write"):
        assert answers[f"freed {name}"] == "TypeError: the tokenizer is freed; expected no call after free(); load it again"
    assert answers["still an object"] == "object"
