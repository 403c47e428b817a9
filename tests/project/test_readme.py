"""The code in README and docs works, so Python gives the results that are shown, and commands run."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from click import Command, Context, Group
from support.commands import TOKENS, call
from support.pages import PAGES, blocks
from support.shared_data import REPOSITORY
from support.sources.sentencepiece import CHARS, UNK, model_of
from tokenizers import Tokenizer

from fst.cli.main import main
from fst.compile import wordpiece
from fst.compile.algebra.machine import Fst
from fst.pretokens.byte_letters import LETTERS

MARK = "# needs "  # this comment at the beginning of a block names the file or the library that the block needs
RESULT = re.compile(r"  # → (.*)$")
ENGLISH = "examples/english-uncased-8000.txt"
HUB = "BAAI/"  # a command with this word needs the network


def named(page: Path) -> str:
    """The name of a page, as the id of a test."""
    return page.name


WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


def is_run(block: str) -> bool:
    """Whether a block is not marked with `MARK`, and its imports are installed."""
    modules = [name.name for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Import) for name in node.names]
    return not block.startswith(MARK) and all(find_spec(module) for module in modules)


def run(block: str, names: dict[str, Any]) -> None:
    """Run a block, and compare the values of its lines with the results that are shown next to them."""
    for statement in ast.parse(block).body:
        source = ast.unparse(statement)
        result = RESULT.search(block.splitlines()[statement.end_lineno - 1] if statement.end_lineno else "")
        if result:
            assert repr(eval(source, names)) == result[1], source
        else:
            exec(source, names)


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table that the first command in README writes."""
    path = tmp_path_factory.mktemp("english") / "english.npz"
    wordpiece(REPOSITORY / ENGLISH).save(path)
    return path


@pytest.fixture
def _without_stand_ins() -> Iterator[None]:
    """After the test, modules that a page installed under the name of pynini are no longer imported."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("pynini", "pywrapfst"):
            del sys.modules[name]


@pytest.mark.usefixtures("_without_stand_ins")
@pytest.mark.filterwarnings("default")  # because other libraries emit warnings
@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
def test_python_runs_in_order(page: Path, english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page run one after the other in the folder of the examples, with the results that are shown."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    shutil.copy(english, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in filter(is_run, blocks(page, "python")):
        run(block, names)
    assert "fst" in names


def test_few_blocks_are_marked() -> None:
    """Exactly two blocks are marked as not runnable, and at least eight lines show a result."""
    python = [block for page in PAGES for block in blocks(page, "python")]
    assert sum(block.startswith(MARK) for block in python) == 2
    assert sum(len(RESULT.findall(line)) for block in python for line in block.splitlines()) >= 8


def commands(text: str) -> list[list[str]]:
    """The words of each command `fst` in a text, without redirections."""
    lines = [shlex.split(line.partition(" > ")[0], comments=True)[1:] for line in text.splitlines() if line.strip().startswith("fst ")]
    return [words for words in lines if "|" not in words]


def write_folders(folder: Path) -> None:
    """Write a folder of GPT-2's kind with the tokens of single bytes, and a folder of Marian."""
    (folder / "gpt2").mkdir()
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    end = {"id": 256, "content": "<|endoftext|>", "special": True, **flags}
    model = {"type": "BPE", "vocab": {letter: number for number, letter in enumerate(LETTERS.values())}, "merges": []}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    parts = {"model": model, "added_tokens": [end], "pre_tokenizer": byte_level, "decoder": byte_level}
    (folder / "gpt2" / "tokenizer.json").write_text(json.dumps(parts), encoding="utf-8")
    marian = folder / "opus-mt-en-de"
    marian.mkdir()
    for name in ("source.spm", "target.spm"):
        (marian / name).write_bytes(model_of([UNK, *CHARS], "unigram"))
    names = ["<unk>", "</s>", "<pad>", *(name for name, *_ in CHARS)]
    (marian / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(names)}), encoding="utf-8")
    (marian / "tokenizer_config.json").write_text('{"tokenizer_class": "MarianTokenizer"}', encoding="utf-8")


def write_inputs(folder: Path, tokenizer: Tokenizer) -> None:
    """Write the files that the commands on the pages read."""
    lines = ["unaffable", "hello!"]
    for model in ("bert-base-uncased", "bert-base-cased"):
        (folder / model).mkdir()
        (folder / model / "vocab.txt").write_text("\n".join(TOKENS[:-1]), encoding="utf-8")
    tokenizer.save(str(folder / "bert-base-uncased" / "tokenizer.json"))
    for name in ("reviews.txt", "my-text.txt", "corpus.txt"):
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    (folder / "spiece.model").write_bytes(model_of([UNK, *CHARS], "unigram"))
    (folder / "names.txt").write_text("hello\n", encoding="utf-8")
    (folder / "words.tsv").write_text("hello\thello<ij>\n", encoding="utf-8")
    for name in ("small", "en_US"):
        (folder / f"{name}.aff").write_text("SET UTF-8\n", encoding="utf-8")
        (folder / f"{name}.dic").write_text("1\nhello\n", encoding="utf-8")
    (folder / "letter.txt").write_text("hello hullo\n", encoding="utf-8")
    (folder / "root.lexc").write_text("Multichar_Symbols +N\nLEXICON Root\nStems ;\n", encoding="utf-8")
    (folder / "stems.lexc").write_text("LEXICON Stems\ncat Noun ;\n", encoding="utf-8")
    (folder / "affixes.lexc").write_text("LEXICON Noun\n+N: # ;\n", encoding="utf-8")
    (folder / "plural.rules").write_text("z -> c / _ e\n", encoding="utf-8")
    Fst.from_strings(lines).write_openfst(folder / "zh_tn_tagger.fst")
    (folder / "dict.txt").write_text("hello 1 x\n", encoding="utf-8")
    pyarrow.parquet.write_table(pa.table({"text": lines}), folder / "books.parquet")
    (folder / "books").mkdir()
    (folder / "corpus").mkdir()
    pyarrow.parquet.write_table(pa.table({"text": lines}), folder / "corpus" / "part.parquet")
    (folder / "corpus.jsonl").write_text('{"text": "hello"}\n', encoding="utf-8")
    write_folders(folder)
    for name in ("part1.jsonl.gz", "part2.jsonl.zst", "books/a.jsonl.gz"):
        with pa.output_stream(folder / name, compression="detect") as stream:
            stream.write(b'{"text": "unaffable"}\n')


@pytest.mark.parametrize("page", [page for page in PAGES if commands("".join(blocks(page, "sh")))], ids=named)
def test_commands_run(page: Path, reference: Callable[..., Tokenizer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of a page run one after the other."""
    write_inputs(tmp_path, reference(TOKENS[:-1]))
    monkeypatch.chdir(tmp_path)
    for words in commands("".join(blocks(page, "sh"))):
        if not any(word.startswith(HUB) for word in words):
            call(*words)


def below(command: Command) -> Iterator[Command]:
    """Yield a command and all commands of its group."""
    yield command
    if isinstance(command, Group):
        context = Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from below(found)


def test_examples_of_help_are_commands() -> None:
    """Every example in a help text has arguments and options that its command accepts."""
    examples = [words for command in below(main) for words in commands(command.help or "")]
    assert len(examples) > 20
    for words in examples:
        command: Command = main
        while isinstance(command, Group):
            name, found, words = command.resolve_command(Context(command), words)
            assert found is not None, name
            command = found
        command.make_context("fst", words)


def test_nothing_is_installed_by_a_name() -> None:
    """No page, message or docstring says to install the package by its name alone, without extras, because no registry contains it."""
    folders = [REPOSITORY / name for name in ("fst", "compile", "runtime", "cli", "examples", "docs")]
    files = [*REPOSITORY.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.[mp][dy]"))]
    assert len(files) > 60
    wrong = re.compile(r"pip install [^\n]*(?<![./\w])fst-toolkit(?!\[)")
    assert [path.name for path in files if wrong.search(path.read_text(encoding="utf-8"))] == []
