"""The linker of modules for WebAssembly: numbers follow the format, and modules have the results of LLVM's linker."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from support.core.wasm import LINKER, STACK_POINTER, TABLE, Sections, data, function, lld, object_of, parsed, sized
from support.hosts import needs_node, node
from support.shared_data import EXAMPLES, REPOSITORY

from fst.cli.commands.export.objects import Objects
from fst.cli.commands.export.program import loaded
from fst.compile import tokenizer
from fst.compile.export.code import EXPORTED, machine_of
from fst.compile.export.image import image
from fst.compile.export.targets import TARGETS, WASM
from fst.compile.export.wasm.linker import linked
from fst.errors import UnsupportedError

needs_lld = pytest.mark.skipif(not LINKER, reason="LLVM's linker is not there: nothing to compare with")

EMPTY = b"\0\x0b"  # the body of a function that does nothing
PLACE = b"\x80\x80\x80\x80\0"  # a number to fill in
BEGIN = 1 << 16  # the address of data
SYMBOLS = [function("run", 1), function("dead", 2), function("used", 3), data("zeros", 0, 2), data("word", 2, 4), STACK_POINTER, TABLE]
RUN, DEAD, USED, ZEROS, WORD, POINTER, INDIRECT, LIBRARY = range(8)
IN_CODE, IN_DATA = 3, 26  # positions of numbers in "run" and in the segment of "word": byte offsets within their sections


def relocation(kind: int, place: int, index: int, *addend: int) -> bytes:
    """A relocation; some kinds have an addend from -64 to 63."""
    return bytes([kind, place, index, *(each & 0x7F for each in addend)])


def sections(of_code: bytes, *of_data: bytes) -> Sections:
    """An object with the functions "run", "dead" and "used", and with three segments. Only "run" refers to the others, at `IN_CODE`."""
    bodies = b"\0" + PLACE + b"\x0b", EMPTY, EMPTY
    return Sections(bodies, (bytes(5), b"dead", b"sevenbb"), [*SYMBOLS, function("", 0)], [of_code], of_data)


@pytest.mark.parametrize(
    ("kind", "index", "addend", "expected"),
    [
        pytest.param(0, USED, (), b"\x01", id="FUNCTION_INDEX_LEB"),
        pytest.param(0, RUN, (), b"\x00", id="FUNCTION_INDEX_LEB of itself"),
        pytest.param(1, USED, (), b"\x01", id="TABLE_INDEX_SLEB"),
        pytest.param(3, WORD, (3,), b"\x87\x80\x04", id="MEMORY_ADDR_LEB"),
        pytest.param(3, WORD, (-5,), b"\xff\xff\x03", id="MEMORY_ADDR_LEB before its segment"),
        pytest.param(3, ZEROS, (0,), b"\x82\x80\x04", id="MEMORY_ADDR_LEB of zeros"),
        pytest.param(4, WORD, (0,), b"\x84\x80\x04", id="MEMORY_ADDR_SLEB"),
        pytest.param(6, 1, (), b"\x01", id="TYPE_INDEX_LEB"),
        pytest.param(7, POINTER, (), b"\x00", id="GLOBAL_INDEX_LEB"),
        pytest.param(20, INDIRECT, (), b"\x00", id="TABLE_NUMBER_LEB"),
    ],
)
def test_numbers_in_functions(kind: int, index: int, addend: tuple[int, ...], expected: bytes) -> None:
    """A number in a function is the index or address that the format requires, in the fewest bytes; unused functions are left out."""
    module = parsed(linked(sections(relocation(kind, IN_CODE, index, *addend)).object(), ["run"]))
    assert module.bodies == [b"\0" + expected + b"\x0b", *[EMPTY] * (index == USED)]


@pytest.mark.parametrize(
    ("kind", "index", "addend", "expected"),
    [
        pytest.param(2, USED, (), 1, id="TABLE_INDEX_I32"),
        pytest.param(5, WORD, (1,), BEGIN + 5, id="MEMORY_ADDR_I32"),
        pytest.param(5, ZEROS, (0,), BEGIN + 16 + 2, id="MEMORY_ADDR_I32 of zeros"),
        pytest.param(5, ZEROS, (-20,), BEGIN - 2, id="MEMORY_ADDR_I32 before its segment"),
    ],
)
def test_numbers_in_data(kind: int, index: int, addend: tuple[int, ...], expected: int) -> None:
    """A number in a segment is the index or the address that the format requires; segments of zeros are last, and are not stored."""
    uses = relocation(3, IN_CODE, WORD, 0)
    module = parsed(linked(sections(uses, relocation(kind, IN_DATA, index, *addend)).object(), ["run"]))
    assert module.data == b"s" + expected.to_bytes(4, "little") + b"bb"


CALL = relocation(0, IN_CODE, USED)
VALID = sections(CALL)


@pytest.mark.parametrize(
    ("object_file", "message"),
    [
        (b"\x7fELF0000", "the code is not an object for WebAssembly; "),
        (VALID.object()[:-1], "a part of the object has "),
        (object_of([*VALID.listed(), (8, b"")]), "the object has a section 8; "),
        (object_of(VALID.listed()[:5]), "the linking data of the object have 0 sections; "),
        (object_of([(0, sized(b"linking") + b"\1")]), "the linking data of the object have version 1; "),
        (object_of([(0, sized(b"linking") + b"\2\x09\0")]), "the linking data of the object have a part 9; "),
        (object_of([(0, sized(b"linking") + b"\2\6\1\1")]), "the object has functions that run before others; "),
        (object_of([(11, b"\1\1\0"), (0, sized(b"linking") + b"\2")]), "a segment of the object is of kind 1; "),
        (sections(relocation(27, IN_CODE, USED)).object(), "a relocation is of kind 27; expected a kind below 27"),
        (sections(relocation(11, IN_CODE, WORD, 0)).object(), "a relocation is MEMORY_ADDR_REL_SLEB; "),
        (sections(relocation(14, IN_CODE, WORD, 0)).object(), "a relocation is MEMORY_ADDR_LEB64; "),
        (sections(relocation(0, IN_CODE, 99)).object(), "a relocation FUNCTION_INDEX_LEB has the index 99; expected one below 8"),
        (sections(relocation(6, IN_CODE, 2)).object(), "a relocation TYPE_INDEX_LEB has the index 2; expected one below 2"),
        (sections(relocation(0, IN_CODE, LIBRARY)).object(), "the kernels need memcpy; expected code that needs no library"),
        (sections(relocation(0, IN_CODE, WORD)).object(), "the kernels need word; "),
        (sections(relocation(0, IN_CODE + 3, USED)).object(), "a relocation FUNCTION_INDEX_LEB is at byte 4 of 7; "),
        (sections(relocation(0, 0, USED)).object(), "a relocation FUNCTION_INDEX_LEB is at byte 0; "),
        (VALID._replace(of_code=[CALL, relocation(0, IN_CODE + 1, USED)]).object(), "a relocation FUNCTION_INDEX_LEB is at byte 2 of 7; "),
        (VALID._replace(symbols=SYMBOLS[1:]).object(), "the object does not define run; "),
    ],
)
def test_other_objects_are_refused(object_file: bytes, message: str) -> None:
    """An object that is damaged or has an unsupported part is refused, and the message names the part."""
    with pytest.raises(UnsupportedError) as refused:
        linked(object_file, ["run"])
    assert str(refused.value).startswith(message)


# Tables, variables, zeros, the stack, calls of functions and of addresses, and code that nobody calls.
PROGRAM = """
@odd = internal constant [4 x i32] [i32 7, i32 -9, i32 300, i32 70000], align 16
@count = internal global i32 40, align 4
@room = internal global [100 x i32] zeroinitializer, align 64
@picked = internal constant [2 x ptr] [ptr @twice, ptr @less]
@pointer = internal constant ptr getelementptr (i8, ptr @odd, i32 8)
@unused = internal constant [9 x i8] c"not there"

define internal i32 @twice(i32 %n) noinline { %r = shl i32 %n, 1
  ret i32 %r }
define internal i32 @less(i32 %n) noinline { %r = sub i32 %n, 1
  ret i32 %r }
define internal i32 @dead(i32 %n) noinline { %p = getelementptr i8, ptr @unused, i32 %n
  %r = ptrtoint ptr %p to i32
  ret i32 %r }
define i32 @run(i32 %n) {
  %stack = alloca [8 x i32], align 16
  %some = and i32 %n, 3
  %own = getelementptr [8 x i32], ptr %stack, i32 0, i32 %some
  %at = getelementptr [4 x i32], ptr @odd, i32 0, i32 %some
  %value = load volatile i32, ptr %at
  store volatile i32 %value, ptr %own
  %far = getelementptr [100 x i32], ptr @room, i32 0, i32 %some
  %before = load volatile i32, ptr %far
  store volatile i32 %value, ptr %far
  %old = load volatile i32, ptr @count
  %new = add i32 %old, 1
  store volatile i32 %new, ptr @count
  %bit = and i32 %n, 1
  %place = getelementptr [2 x ptr], ptr @picked, i32 0, i32 %bit
  %which = load ptr, ptr %place
  %result = call i32 %which(i32 %n)
  %kept = load volatile i32, ptr %own
  %address = load volatile ptr, ptr @pointer
  %third = load volatile i32, ptr %address
  %sum1 = add i32 %result, %kept
  %sum2 = add i32 %sum1, %new
  %sum3 = add i32 %sum2, %before
  %sum4 = add i32 %sum3, %third
  ret i32 %sum4
}
"""
RUN_ALL = """
const module = new WebAssembly.Module(require("fs").readFileSync(process.argv[1]));
const { exports } = new WebAssembly.Instance(module), results = [0, 1, 2, 3, 0, 5, -1].map((n) => exports.run(n));
console.log(JSON.stringify([WebAssembly.Module.exports(module).map(({ name }) => name).sort(), results]));
"""


def program() -> bytes:
    """The object of `PROGRAM`."""
    from llvmlite import binding

    machine = machine_of(TARGETS[WASM])
    module = binding.parse_assembly(PROGRAM)
    module.triple, module.data_layout = TARGETS[WASM].triple, str(machine.target_data)
    return bytes(machine.emit_object(module))


def expected_results(arguments: list[int]) -> list[int]:
    """The results of `PROGRAM`, called one after the other."""
    odd, count, room, found = [7, -9, 300, 70000], 40, [0] * 4, list[int]()
    for n in arguments:
        some, count = n & 3, count + 1
        found.append((n - 1 if n & 1 else 2 * n) + odd[some] + count + room[some] + odd[2])
        room[some] = odd[some]
    return found


def run(module: bytes, folder: Path) -> Any:
    """The exports of a module of `PROGRAM`, and its results, in Node.js."""
    (folder / "module.wasm").write_bytes(module)
    done = subprocess.run(["node", "-e", RUN_ALL, "module.wasm"], cwd=folder, check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)


def test_modules_have_what_their_exports_need() -> None:
    """A module has the functions and the data that its exports need, in the order that the format requires, and no imports."""
    module = parsed(linked(program(), ["run"]))
    assert [*module.exports] == ["run", "memory", "__heap_base"]
    assert len(module.bodies) == 3
    assert b"not there" not in module.data
    assert len(module.data) < 100  # without zeros
    assert b"".join(value.to_bytes(4, "little", signed=True) for value in (7, -9, 300, 70000)) in module.data


@needs_node
def test_modules_run(tmp_path: Path) -> None:
    """A module has the results of its source, and exports its memory, the end of its memory, and the wanted functions."""
    assert run(linked(program(), ["run"]), tmp_path) == [["__heap_base", "memory", "run"], expected_results([0, 1, 2, 3, 0, 5, -1])]


@needs_node
@needs_lld
def test_modules_run_as_those_of_lld(tmp_path: Path) -> None:
    """A module has the exports and the results of the module of LLVM's linker."""
    code = program()
    assert run(linked(code, ["run"]), tmp_path) == run(lld(code, ["run"], tmp_path), tmp_path)


@pytest.mark.slow
@needs_node
@needs_lld
def test_kernels_run_as_those_of_lld(tmp_path: Path) -> None:
    """The module of a table is smaller than that of LLVM's linker, and finds the same ids, spans and texts."""
    tokenizer(EXAMPLES / "english-uncased-8000.txt").save(tmp_path / "english.npz")
    of, unit, _ = loaded(tmp_path / "english.npz", "full")
    with Objects(of, checked=False) as objects:
        code = objects.object_for(WASM)
    own, other = linked(code, EXPORTED), lld(code, EXPORTED, tmp_path)
    assert len(gzip.compress(own)) <= len(gzip.compress(other))
    lines = (REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8").splitlines()
    questions = [[method, line] for line in lines for method in ("encode", "encodeWithOffsets", "path")]
    answers = []
    for name, module in (("own", own), ("other", other)):
        copytree(REPOSITORY / "compile" / "export" / "host" / "js", tmp_path / name)
        (tmp_path / name / "fst.wasm").write_bytes(module)
        (tmp_path / name / "table.fst").write_bytes(image(of, of.module, unit))
        answers.append(node(tmp_path / name, questions))
    assert answers[0] == answers[1]
    assert len(answers[0]) > 100
