"""GGUF models without weights, written field by field, and the answers of llama.cpp for them.

`python -m support.sources.gguf FOLDER` in `tests` writes the answers again. FOLDER is a folder of npm with node-llama-cpp, which contains
llama.cpp (``npm install node-llama-cpp@3.22.1``); the Python package `gguf` is not needed.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parents[2] / "sources" / "gguf_answers.json"
KEY = "tokenizer.ggml."
LOWERCASE = "tokenizer.ggml.normalizer.lowercase"
# The sizes of layers, without which llama.cpp loads no model.
NUMBERS = ("context_length", "embedding_length", "block_count", "attention.head_count", "feed_forward_length")
SIZES = {f"llama.{name}": 8 for name in NUMBERS}
SIZES_OF_FLOAT = {"llama.attention.layer_norm_rms_epsilon": 1e-5}
TOKENIZE = """
import {getLlama} from "node-llama-cpp";
import {readFileSync} from "node:fs";
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", progressLogs: false});
const [modelPath, texts] = process.argv.slice(2);
const model = await llama.loadModel({modelPath, vocabOnly: true});
console.log(JSON.stringify(JSON.parse(readFileSync(texts)).map((text) => [...model._model.tokenize(text, true)])));
process.exit(0);
"""


def string(text: str | bytes) -> bytes:
    """A string of a header."""
    data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def value(found: Any) -> bytes:
    """The type and the value of a pair."""
    if isinstance(found, bool):
        return struct.pack("<I?", 7, found)
    if isinstance(found, int):
        return struct.pack("<II", 4, found)
    if isinstance(found, float):
        return struct.pack("<If", 6, found)
    if isinstance(found, str):
        return struct.pack("<I", 8) + string(found)
    if isinstance(found, bytes):
        return struct.pack("<IIQ", 9, 0, len(found)) + found
    kind, form = (5, "i") if all(type(each) is int for each in found) else (6, "f")
    if isinstance(found[0], str):
        return struct.pack("<IIQ", 9, 8, len(found)) + b"".join(map(string, found))
    return struct.pack(f"<IIQ{len(found)}{form}", 9, kind, len(found), *found)


def header(values: Mapping[str, Any], version: int = 3) -> bytes:
    """The header of a GGUF model."""
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(values)) + b"".join(string(key) + value(each) for key, each in values.items())


def written(folder: Path, values: Mapping[str, Any], name: str = "model.gguf") -> Path:
    """Write a model with the metadata ``tokenizer.ggml.…``; return its file."""
    path = folder / name
    named = {key if "." in key else KEY + key: each for key, each in values.items()}
    path.write_bytes(header({"general.architecture": "llama", **SIZES, **SIZES_OF_FLOAT, **named}))
    return path


def byte_level(answers: Mapping[str, Any], pre: str) -> dict[str, Any]:
    """The metadata of the byte-level vocabulary in the answers, with a splitter."""
    own = answers["byte_level"]
    return {"model": "gpt2", "pre": pre, "tokens": own["tokens"], "token_type": own["types"], "merges": own["merges"]}


def by_scores(answers: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The metadata of the vocabulary of the kind llama in the answers."""
    own = answers["by_scores"]
    return {"model": "llama", "tokens": own["tokens"], "token_type": own["types"], "scores": own["scores"], **more}


def unigram(answers: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The metadata of the vocabulary of the kind llama in the answers, as one of the kind t5."""
    charsmap = {"precompiled_charsmap": b64decode(answers["unigram"]["charsmap"])}
    around = {"eos_token_id": 2, "unknown_token_id": 0, "remove_extra_whitespaces": True}
    return {**by_scores(answers), "model": "t5", **charsmap, **around, **more}


def words(answers: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """The metadata of the vocabulary of the kind bert in the answers."""
    tokens = answers["words"]["tokens"]
    around = {"unknown_token_id": 0, "bos_token_id": 1, "seperator_token_id": 2}
    types = [2, 3, 3, 3, *(1 for _ in tokens[4:])]
    return {"model": "bert", "tokens": tokens, "token_type": types, **around, **more}


def tokenized(folder: Path, model: Path, texts: Sequence[str]) -> list[list[int]]:
    """The ids of texts by llama.cpp."""
    (folder / "tokenize.mjs").write_text(TOKENIZE)
    (folder / "texts.json").write_text(json.dumps(texts))
    command = ["node", "tokenize.mjs", str(model), "texts.json"]
    found: list[list[int]] = json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True).stdout)
    return found


def main() -> None:
    """Write the answers of llama.cpp again."""
    from fst.compile.sources.gguf.splitters import SPLITTERS

    folder, answers = Path(sys.argv[1]), json.loads(ANSWERS.read_text())
    texts = answers["texts"]
    first = {splitter: name for name, splitter in reversed([*SPLITTERS.items()])}.values()
    answers["byte_level"]["ids"] = {pre: tokenized(folder, written(folder, byte_level(answers, pre)), texts) for pre in sorted(first)}
    for name, prefix in (("ids", True), ("ids_without_prefix", False)):
        answers["by_scores"][name] = tokenized(folder, written(folder, by_scores(answers, add_space_prefix=prefix)), texts)
    for name, merges in (("ids", True), ("ids_with_spaces", False)):
        answers["unigram"][name] = tokenized(folder, written(folder, unigram(answers, remove_extra_whitespaces=merges)), texts)
    for name, lowercase in (("ids", True), ("ids_cased", False)):
        answers["words"][name] = tokenized(folder, written(folder, words(answers, **{LOWERCASE: lowercase})), texts)
    ANSWERS.write_text(json.dumps(answers, separators=(",", ":")).replace("],[", "],\n[") + "\n")


if __name__ == "__main__":
    main()
