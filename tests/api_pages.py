"""The API pages in docs/api, made from the docstrings by griffe2md: ``python tests/api_pages.py`` writes them anew.

griffe reads sources and expects subpackages inside their package, as they are installed. It gets a copy with this layout, in which two
idioms of this project are spelled as griffe knows them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

import griffe
import mdformat
from griffe2md import ConfigDict, prepare_context, prepare_env

import fst
import fst.compile
import fst.machines
from fst.machines.wordpiece import Tables

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "docs" / "api"


def tables() -> list[type]:
    """The class of each machine, after the classes of this package that it derives from."""
    machines = vars(fst.machines).get("MACHINES", {"wordpiece": Tables})
    found = {base: None for machine in machines.values() for base in reversed(machine.mro()) if base.__module__.startswith("fst.")}
    return list(found)


OBJECTS = (
    *(f"fst.{name}" for name in fst.__all__),
    *(f"fst.compile.{name}" for name in fst.compile.__all__ if name != "lattice"),
    "fst.compile.lattice.jieba",
    "fst.compile.lattice.mecab",
    "fst.bridge.report.Report",
    "fst.bridge.report.Row",
    "fst.compile.train.result.Trained",
    "fst.compile.train.trimming.Trimmed",
    "fst.counted_words.Words",
    *(f"{found.__module__}.{found.__name__}" for found in tables()),
    "fst.runtime.bpe.BpeTokenizer",
    "fst.runtime.decoding.DecodeStream",
    "fst.runtime.lattice.JiebaSegmenter",
    "fst.runtime.lattice.MecabSegmenter",
    "fst.runtime.lattice.Token",
    "fst.runtime.sampling.Segmentation",
    "fst.runtime.sentencepiece.processor.SentencePieceProcessor",
    "fst.runtime.sentencepiece.results.NBestSentencePieceText",
    "fst.runtime.sentencepiece.results.Piece",
    "fst.runtime.sentencepiece.results.SentencePieceText",
    "fst.runtime.transformers.backend.Backend",
    "fst.runtime.transformers.encoding.BatchEncoding",
    "fst.runtime.transformers.encoding.Encoding",
    "fst.runtime.transformers.hf.FastTokenizer",
    "fst.runtime.unigram.UnigramTokenizer",
)
SUBPACKAGES = ("compile", "runtime")
SPELLINGS = ((r"^( *)Example:$", r"\1Examples:"), (r"^( *)@Lazy$", r"\1@property"))
MAX_LINE = 120  # characters of a signature
STYLE: ConfigDict = {
    "docstring_section_style": "list",
    "filters": ["!^_(?!_call__$)"],
    "heading_level": 1,
    "members_order": "alphabetical",
    "show_if_no_docstring": False,
    "show_object_full_path": False,
    "show_root_full_path": False,
    "show_root_members_full_path": False,
    "show_signature_annotations": True,
    "summary": False,
}
TEMPLATES = prepare_env()
HEADER = "<!-- Made from docstrings by `python tests/api_pages.py`. Edit the docstrings. -->\n\n"


def pages() -> dict[str, str]:
    """The text of each page by its name: one for each public object, and an index."""
    with tempfile.TemporaryDirectory() as folder:
        root = package(Path(folder))
    objects = {path: root[defined_as(path)] for path in OBJECTS}
    return {f"{path}.md": page(found) for path, found in objects.items()} | {"README.md": index(objects)}


def package(folder: Path) -> griffe.Object | griffe.Alias:
    """Read the sources of the package from a copy in a folder."""
    shutil.copytree(REPOSITORY / "fst", folder / "fst")
    for name in SUBPACKAGES:
        shutil.copytree(REPOSITORY / name, folder / "fst" / name)
    for path in folder.rglob("*.py"):
        path.write_text(respelled(path.read_text(encoding="utf-8")), encoding="utf-8")
    return griffe.load(
        "fst",
        try_relative_path=False,
        search_paths=[folder],
        docstring_parser=griffe.Parser.google,
        docstring_options={"returns_multiple_items": False, "returns_named_value": False, "warnings": False},
        allow_inspection=False,
    )


def respelled(source: str) -> str:
    """A source with the spellings that griffe knows."""
    for pattern, spelling in SPELLINGS:
        source = re.sub(pattern, spelling, source, flags=re.MULTILINE)
    return source


def defined_as(path: str) -> str:
    """The path inside the package at which a public object is defined."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name)
    place = found.__name__ if isinstance(found, ModuleType) else f"{found.__module__}.{found.__qualname__}"
    return place.removeprefix("fst.")


def page(found: griffe.Object | griffe.Alias) -> str:
    """The page of one object, with names of types as plain code and long signatures folded."""
    template = TEMPLATES.get_template(f"{found.kind.value}.md.jinja")
    text = mdformat.text(template.render(prepare_context(found, STYLE)))
    text = re.sub(r"\[([^\]\n]*)\]\(#[^)\n]*\)", r"\1", text)
    text = re.sub(r"<code>(.*?)</code>", lambda code: "`" + code[1].replace("\\", "") + "`", text)
    text = re.sub(r"\*\*(\w+),\*\* \(`\(?(.*?)\)?`\)", r"**\1, \2**", text)  # attributes that one entry describes together
    return HEADER + re.sub(r"(?<=^```python\n).*$", lambda line: folded(line[0]), text, flags=re.MULTILINE)


def folded(signature: str) -> str:
    """A signature, one parameter a line if it is long."""
    if len(signature) <= MAX_LINE:
        return signature
    name, _, rest = signature.partition("(")
    parameters, _, result = rest.rpartition(") -> ")
    lines = re.split(r", (?=[*/], |\*{0,2}\w+: )", parameters)
    return "\n".join([f"{name}(", *(f"    {line}," for line in lines), f") -> {result}"])


def index(objects: Mapping[str, griffe.Object | griffe.Alias]) -> str:
    """A page that links the others, each with the first sentence of its docstring."""
    lines = [f"- [`{path}`]({path}.md): {summary(found)}" for path, found in objects.items()]
    return "\n".join([f"{HEADER}# API", "", *lines, ""])


def summary(found: griffe.Object | griffe.Alias) -> str:
    """The first sentence of a docstring, in one line."""
    assert found.docstring, f"{found.path} has no docstring"
    paragraph = found.docstring.value.split("\n\n")[0]
    return " ".join(re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0].split()).replace("``", "`")


def write() -> None:
    """Replace the pages in docs/api."""
    made = pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
