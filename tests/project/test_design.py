"""The design rules of the project: which folders may import each other, and which imports are delayed."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest
from support.core.kernel_files import kernel_modules
from support.shared_data import REPOSITORY, TESTS
from support.wheel import copied

import fst
from fst.registry import MACHINES

FOLDERS = {"fst": "fst", "compile": "fst.compile", "runtime": "fst.runtime", "cli": "fst.cli"}  # folder → package
# Each unit and the units directly below it. A unit may import itself and all units below it. A module belongs to the unit with the longest
# name with which the module's name begins; `fst` is the `__init__` and `__main__` of the package.
BELOW = {
    "errors": (),
    "core": ("errors",),
    "automata": ("core",),
    "tables": ("automata",),
    "text": ("tables",),
    "pretokens": ("text",),
    "counting": ("pretokens",),
    "machines.wordpiece": ("text",),
    "machines.keywords": ("text",),
    "machines.rules": ("text",),
    "machines.best_path": ("text",),
    "machines.segmentation": ("text",),
    "machines.lookup": ("text",),
    "machines.speller": ("text",),
    "machines.guide": ("text",),
    "machines.bpe": ("pretokens",),
    "machines.unigram": ("pretokens",),
    "registry": ("tables",),
    "compile.files": ("core",),
    "compile.dictionary_words": ("compile.files",),
    "compile.patterns": ("automata",),
    "compile.layout": ("tables",),
    "compile.algebra": ("compile.files", "compile.patterns"),
    "compile.sources.transducers": ("compile.algebra",),
    "compile.algebra.machine": ("compile.sources.transducers",),
    "compile.text": ("compile.files", "compile.patterns", "compile.layout", "text"),
    "compile.pretokens": ("compile.text", "pretokens"),
    "compile.machines.wordpiece": ("compile.text", "machines.wordpiece"),
    "compile.machines.keywords": ("compile.dictionary_words", "compile.text", "machines.keywords"),
    "compile.machines.rules": ("compile.patterns", "compile.algebra.machine", "machines.rules"),
    "compile.machines.best_path": ("compile.algebra.machine", "machines.best_path"),
    "compile.machines.segmentation": ("compile.dictionary_words", "compile.text", "machines.segmentation"),
    "compile.machines.lookup": ("compile.dictionary_words", "compile.text", "compile.algebra.machine", "machines.lookup"),
    "compile.machines.speller": ("compile.sources.transducers", "compile.layout", "machines.speller"),
    "compile.machines.guide": ("compile.algebra.machine", "machines.guide"),
    "compile.machines.bpe": ("compile.pretokens", "machines.bpe"),
    "compile.machines.unigram": ("compile.pretokens", "machines.unigram"),
    "compile.sources": (
        "compile.machines.wordpiece",
        "compile.machines.bpe",
        "compile.machines.unigram",
        "compile.machines.segmentation",
    ),
    "compile": (
        "compile.sources",
        "compile.algebra.machine",
        "compile.machines.keywords",
        "compile.machines.segmentation",
        "compile.machines.rules",
        "compile.machines.best_path",
        "compile.machines.lookup",
        "compile.machines.speller",
        "compile.machines.guide",
    ),
    "compile.train": ("machines.bpe", "counting"),
    "compile.export": ("core",),
    "runtime.kernels": ("pretokens",),
    "runtime": ("runtime.kernels",),
    "runtime.text": ("runtime",),
    "runtime.model_inputs": ("runtime.text",),
    "runtime.public_class": ("registry",),
    "runtime.tokenizer": ("runtime.model_inputs", "runtime.public_class"),
    "runtime.pretokens": ("runtime.tokenizer",),
    "runtime.machines.wordpiece": ("runtime.tokenizer", "machines.wordpiece"),
    "runtime.machines.keywords": ("runtime.text", "runtime.public_class", "machines.keywords"),
    "runtime.rewriting": ("runtime.text", "runtime.public_class"),
    "runtime.machines.rules": ("runtime.rewriting", "machines.rules"),
    "runtime.machines.best_path": ("runtime.rewriting", "machines.best_path"),
    "runtime.machines.segmentation": ("runtime.tokenizer", "machines.segmentation"),
    "runtime.machines.guide": ("runtime.text", "runtime.public_class", "machines.guide"),
    "runtime.machines.lookup": ("runtime.text", "runtime.public_class", "machines.lookup"),
    "runtime.machines.speller": ("runtime.text", "runtime.public_class", "machines.speller"),
    "runtime.machines.bpe": ("runtime.pretokens", "machines.bpe"),
    "runtime.machines.unigram": ("runtime.pretokens", "machines.unigram"),
    "runtime.exporting": (
        "runtime.machines.bpe",
        "runtime.machines.unigram",
        "runtime.machines.wordpiece",
        "runtime.machines.keywords",
        "runtime.machines.segmentation",
        "runtime.machines.rules",
        "runtime.machines.best_path",
        "runtime.machines.lookup",
        "runtime.machines.guide",
    ),
    "runtime.files": ("runtime.text",),
    "runtime.counting": ("runtime.files", "runtime.pretokens", "counting"),
    "runtime.compat": ("bridge",),
    "fst": ("runtime.public_class",),
    "bridge": (
        *("fst", "compile", "runtime.counting"),
        *(f"runtime.machines.{name}" for name in ("rules", "guide", "wordpiece", "bpe", "unigram")),
    ),
    "train": ("runtime.compat", "compile.train", "runtime.counting"),
    "cli": (
        *("train", "compile.export", "runtime.exporting"),
        *(f"runtime.machines.{name}" for name in ("keywords", "best_path", "segmentation", "lookup", "speller")),
    ),
    "cluster": ("cli",),
}
# A dotted name in a string counts as an import. A machine's table may name the machine's runtime, and the registry all tables.
NAMES = {unit: {f"runtime.{unit}"} for unit in BELOW if unit.startswith("machines.")}
NAMES["registry"] = {*NAMES}
NAMES["machines.rules"] |= {"runtime.rewriting"}
NAMES["machines.best_path"] |= {"runtime.rewriting"}
# These modules may import every unit; the last modules are public names that users import as modules.
EXEMPT = (
    *("__init__.py", "__main__.py"),
    *(f"fst/{name}.py" for name in ("outlines", "pynini", "sentencepiece", "sglang", "tiktoken", "vllm")),
)
LATE = ("fst/bridge/", *EXEMPT)  # functions of every unit may import these modules
ONLY_IN = {
    "numba": {
        *(f"fst/core/{name}.py" for name in ("jit", "kernel_cache", "borrowed", "numba_passes", "numba_types", "prefetch", "prepared")),
        *(f"runtime/kernels/{name}.py" for name in ("intrinsics", "objects", "plain_intrinsics")),
    },
    "tokenizers": {
        *("runtime/compat/transformers/backend.py", "runtime/compat/transformers/bpe.py", "runtime/compat/transformers/wordpiece.py"),
    },
    "huggingface_hub": {"compile/sources/inputs.py"},
}

# Sources in which a word that is also a kind of table means something else.
OTHER_MEANINGS = (
    "fst/machines/segmentation/pieces.py",  # a kind of subwords
    "cli/commands/warmup/kernels.py",  # a kind of words
    *("compile/__init__.py", "compile/lattice.py", "fst/train/", "cli/commands/train/"),  # public functions: compilers and trainers
    *("cli/main.py", "runtime/exporting/calls.py"),  # a command, and names of kernels
    *("runtime/exporting/guides.py", "runtime/exporting/look_up.py"),  # names of the files of hosts
    # words of other projects' files
    *("compile/sources/", "fst/tables/sentencepiece_info.py", "compile/machines/guide/grammar/structural_tags.py"),
    *("compile/dictionary_words.py", "cli/commands/compile/table.py", "cli/commands/segment.py"),  # formats of words
)

SOURCES = [path.relative_to(REPOSITORY).as_posix() for folder in FOLDERS for path in sorted((REPOSITORY / folder).rglob("*.py"))]
TEST_FILES = sorted(TESTS.rglob("test_*.py"))
# The packages that the extra `test` installs and that tests import; tests that need other packages import them, and are skipped if they are
# missing.
OF_TESTS = {
    *("_pytest", "click", "fst", "hypothesis", "llvmlite", "numba", "numpy", "pyarrow", "pytest", "sentencepiece", "support"),
    *("tiktoken", "tokenizers"),
}


def statements(tree: ast.AST, enters: Callable[[ast.AST], bool] = lambda _node: True) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree, without expressions and without the nodes that `enters` excludes."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr) and enters(child)]


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the modules or names that statements import; for ``from a import b``, ``a.b``."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"line {node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Imports(NamedTuple):
    """The names that a file imports anywhere, and the names that it imports when it is imported; without imports for type checkers."""

    all: frozenset[str]
    at_once: frozenset[str]


@cache
def imports_of(path: Path) -> Imports:
    """The imports of a file. The syntax tree is not kept, because the garbage collector would visit its nodes again and again."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Imports(frozenset(imports(statements(tree))), frozenset(imports(statements(tree, runs_at_import))))


def packages(names: Iterable[str]) -> set[str]:
    """The packages of imported names."""
    return {name.split(".")[0] for name in names}


def module_of(name: str) -> str:
    """The name of the module that a source file defines."""
    folder, *parts = name.removesuffix(".py").split("/")
    return ".".join([FOLDERS[folder], *parts]).removesuffix(".__init__")


def source_of(module: str) -> str | None:
    """The source file of an imported module, or of the module that contains an imported name; None for other packages."""
    while module.startswith("fst"):
        if module in SOURCE_OF:
            return SOURCE_OF[module]
        module = module.rpartition(".")[0]
    return None


def names_in(source: str) -> Iterator[str]:
    """Yield the dotted names that are strings of a source, such as ``"fst.runtime.encoder.Encoder"``."""
    for found in re.finditer(r"""(?<!b)(["'])(fst(?:\.\w+)+)(?::\w+)?\1""", source):
        yield found[2]


def sources_of(modules: Iterable[str]) -> set[str]:
    """The source files of imported modules and names; the source of a name is the module that contains it."""
    return {source for source in map(source_of, modules) if source is not None}


@cache
def edges_of(name: str) -> set[str]:
    """The source files that a source imports anywhere, also inside functions and only for type checkers."""
    return sources_of(imports_of(REPOSITORY / name).all)


@cache
def unit_of(name: str) -> str:
    """The unit of a source: the unit with the longest name that is a prefix of the module's name."""
    module = module_of(name).removeprefix("fst.")
    return max((unit for unit in BELOW if f"{module}.".startswith(f"{unit}.")), key=len, default="fst")


@cache
def below(unit: str) -> set[str]:
    """All units that a unit may import."""
    return {unit}.union(*map(below, BELOW[unit]))


def cycle_in(edges: Mapping[str, set[str]]) -> list[str]:
    """A cycle of sources that import each other, or an empty list. To find it, sources that import no remaining source are removed
    repeatedly.
    """
    left = {name: set(targets) for name, targets in edges.items()}
    while leaves := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in leaves:
            del left[name]
    if not left:
        return []
    path = [min(left)]
    while (following := min(left[path[-1]] & left.keys())) not in path:
        path.append(following)
    return [*path[path.index(following) :], following]


def runs_at_import(node: ast.AST) -> bool:
    """Whether a statement is neither a function nor for type checkers."""
    return not isinstance(node, ast.FunctionDef) and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")


SOURCE_OF = {module_of(name): name for name in SOURCES}
MODULES = [module for module, name in SOURCE_OF.items() if ">>>" in (REPOSITORY / name).read_text(encoding="utf-8")]


def test_imports_point_down() -> None:
    """A source imports, or names in strings, only modules of its unit and of lower units; functions may import public names and
    `fst.bridge`.
    """
    faults = {name: faults_of(name) for name in SOURCES if not is_exempt(name)}
    assert {name: found for name, found in faults.items() if found} == {}


def is_exempt(name: str) -> bool:
    """Whether a source may import modules of all units."""
    return name.startswith(EXEMPT) or name.endswith(EXEMPT)


def faults_of(name: str) -> set[str]:
    """The source files that a source imports or names although the rules forbid it."""
    unit = unit_of(name)
    imported = {source for source in edges_of(name) - late_edges_of(name) if unit_of(source) not in below(unit)}
    names = names_in((REPOSITORY / name).read_text(encoding="utf-8"))
    named = {source for source in sources_of(names) if unit_of(source) not in below(unit) | NAMES.get(unit, set())}
    return imported | named


def late_edges_of(name: str) -> set[str]:
    """The source files that only functions and type checkers of a source import, and that functions of every unit may import."""
    at_once = sources_of(imports_of(REPOSITORY / name).at_once)
    return {source for source in edges_of(name) - at_once if source.startswith(LATE) or source.endswith(LATE)}


def test_modules_import_each_other_in_no_circle() -> None:
    """No imports form a cycle, even if imports in functions and for type checkers are included, except those of public names and of
    `fst.bridge`.
    """
    left = [name for name in SOURCES if not is_exempt(name)]
    assert not cycle_in({name: (edges_of(name) - late_edges_of(name)).intersection(left) - {name} for name in left})


@pytest.mark.parametrize(
    ("edges", "circle"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set[str]()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c", "b"]),
        ({"a": {"a"}}, ["a", "a"]),
    ],
)
def test_circles_are_found(edges: Mapping[str, set[str]], circle: Sequence[str]) -> None:
    """`cycle_in` returns a cycle if and only if the imports contain a cycle."""
    assert cycle_in(edges) == circle


def test_names_in_strings_are_found() -> None:
    """`names_in` finds dotted names in strings, with or without the name of a class."""
    assert [*names_in("kernel = 'fst.a.b'; text = 'see fst.a'; other = 'fst.c:D'")] == ["fst.a.b", "fst.c"]


@pytest.mark.parametrize("folder", sorted({str(Path(name).parent) for name in SOURCES}))
def test_folders_are_small_and_names_do_not_repeat_them(folder: str) -> None:
    """A folder has at most 24 entries, and only its front file may have the name of the folder in its own."""
    entries = [path for path in (REPOSITORY / folder).iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    named = {path.stem for path in entries} - {"__init__", Path(folder).name}
    assert len(named) <= 24
    assert not [name for name in named if Path(folder).name in name.split("_")]


def test_files_are_short() -> None:
    """No source file has more than 500 lines."""
    assert {name for name in SOURCES if len((REPOSITORY / name).read_text(encoding="utf-8").splitlines()) > 500} == set()


def test_only_the_registry_names_kinds_of_tables() -> None:
    """A kind of table is a string only in the registry, in folders and files of its machine, and where the same word means something else,
    which `OTHER_MEANINGS` lists.
    """
    spelled = re.compile(rf"""["'](?:{'|'.join(MACHINES)})["']""")
    found = set()
    for name in SOURCES:
        text = "" if name == "fst/registry.py" or name.startswith(OTHER_MEANINGS) else (REPOSITORY / name).read_text(encoding="utf-8")
        if spelled.search(text):
            strings = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            own = {*Path(name).with_suffix("").parts}
            found |= {(name, kind) for kind in strings & {*MACHINES} if not {kind.replace("-", "_"), folder_of(kind)} & own}
    assert found == set()


def folder_of(kind: str) -> str:
    """The folder of a kind's machine."""
    return MACHINES[kind].split(".")[2]


@pytest.mark.slow
def test_wheel_has_every_module(tmp_path: Path) -> None:
    """A wheel contains every module."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, copied(tmp_path / "source")], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    modules = {"/".join([FOLDERS[folder].replace(".", "/"), rest]) for folder, _, rest in (name.partition("/") for name in SOURCES)}
    assert modules - {*ZipFile(wheel).namelist()} == set()


@pytest.mark.parametrize("library", ["numba", "tokenizers"])
def test_libraries_have_one_place(library: str) -> None:
    """Only the modules in `ONLY_IN` import `numba` and `tokenizers`."""
    assert {name for name in SOURCES if library in packages(imports_of(REPOSITORY / name).all)} <= ONLY_IN[library]


def test_kernels_are_called_as_deferred() -> None:
    """Only kernels, and the command that compiles them, import kernels; other code calls them as `Deferred`."""
    of_kernels = {SOURCE_OF[module] for module in kernel_modules()}
    importing = {name for name in SOURCES if name not in of_kernels and edges_of(name) & of_kernels}
    assert (len(of_kernels) > 100, importing) == (True, {"cli/commands/warmup/kernels.py"})


def test_only_the_command_line_imports_click() -> None:
    """Only modules of the command line import `click`."""
    importing = [name for name in SOURCES if "click" in packages(imports_of(REPOSITORY / name).all)]
    assert all(name.startswith("cli/") for name in importing)
    assert importing


@pytest.mark.parametrize("module", ["fst", "fst.compile", "fst.runtime.tokenizer", "fst.tables.npz"])
def test_imports_are_light(module: str) -> None:
    """The import of `fst`, or of a module that users may import directly, does not load `numba`, `click` or `tokenizers`."""
    code = f"import sys, {module}; sys.exit(bool({{'numba', 'click', 'tokenizers'}} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_are_found() -> None:
    """`dir`, `help` and completion show the names that are imported at their first use, before this first use."""
    code = "import fst, pydoc, sys; shown = dir(fst); numba = 'numba' in sys.modules; page = pydoc.plaintext.document(fst); "
    code += "sys.exit(numba or not all(name in shown and name in page for name in fst.__all__))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_encoding_imports_numba_alone() -> None:
    """The modules that load a table and encode texts import `numba`, but not the compiler of tables."""
    code = "import fst, sys; fst.Tokenizer, fst.load; from fst.runtime.machines.wordpiece.kernels import encode; "
    code += "sys.exit('numba' not in sys.modules or any(name.startswith('fst.compile') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        (
            "import fst.train, fst.train.bpe_trainer, fst.train.saving; from fst.train.counting import pipeline_for; "
            "[pipeline_for(name, None).digest for name in ('gpt2', 'o200k')]",  # their tables are stored
            {"numpy.ma", "fst.compile.text.normalizer", *(f"fst.compile.machines.{kind}.compiler" for kind in ("bpe", "unigram"))},
        ),
        ("import fst.machines.lookup.table, fst.runtime.machines.lookup.lookup", {"numpy.ma", "fst.text.normalizer"}),
    ],
    ids=["train", "lookup"],
)
def test_commands_start_early(code: str, unused: set[str]) -> None:
    """Training with a named splitter imports no compiler of tables, and look-up imports no normalizer."""
    done = subprocess.run([sys.executable, "-c", f"{code}; import sys; sys.exit(bool({unused} & sys.modules.keys()))"], check=False)
    assert (done.returncode, {name for name in unused if name.startswith("fst.")} - SOURCE_OF.keys()) == (0, set())


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("runtime/kernels/")])
def test_kernels_are_short_and_read_names(name: str) -> None:
    """A file of kernels has at most 400 lines, and reads arrays by their names, not by numbers."""
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    positional = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("table", "output", "work", "reader", "symbols", "plan", "cut")
        if any(isinstance(part, ast.Constant) for part in (getattr(node.slice, "elts", [node.slice])))
    ]
    assert positional == []


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a docstring gives the output that is shown."""
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(module), verbose=False)
    assert failed == 0


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_tests_state_their_rule(path: Path) -> None:
    """The docstring of every test is one sentence."""
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            stated = ast.get_docstring(node) or ""
            assert re.fullmatch(r"(?s)((?!\. |\n\n).)+\.", stated), f"{node.name}: {stated!r}"


def test_no_test_imports_another() -> None:
    """A test file imports the package and `support`, but no other test file, and has at most 500 lines."""
    for path in TEST_FILES:
        assert not [name for name in imports_of(path).all if any(part.startswith("test_") for part in name.split("."))], path
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_tests_need_only_the_extra_test() -> None:
    """The import of a test file and of its support needs no libraries except those of the extra `test`."""
    for path in (path for path in TESTS.rglob("*.py") if path.parent.name not in {"bench", "analyses", "typing"}):
        assert packages(imports_of(path).at_once) - sys.stdlib_module_names <= OF_TESTS, path


def test_version_is_one() -> None:
    """The version of the package is the version of the distribution."""
    assert version("fst-toolkit") == fst.__version__


def test_package_is_typed() -> None:
    """The package contains a marker file `py.typed`, so type checkers read its annotations."""
    assert files("fst").joinpath("py.typed").is_file()


def test_public_names_exist() -> None:
    """Every public name of the package exists, and an unknown name raises an AttributeError."""
    assert all(hasattr(fst, name) for name in fst.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = fst.no_such_name
