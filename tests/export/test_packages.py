"""The files of an export that are the same for all tables: a package of JavaScript, and programs in C."""

from __future__ import annotations

import json
import re
import subprocess
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

import pytest
from support.hosts import needs_c

from fst.cli.commands.export.command import host_files

MACHINES = ["", *(path.name for path in (files("fst.compile.export") / "host" / "js").iterdir() if path.is_dir())]
OF_TABLES = {"table.fst", "fst.wasm"}
NAMED = re.compile(r"""(?:from |new URL\()"(?:\./)?([\w.]+)\"""")


@pytest.fixture(scope="module", params=MACHINES)
def package(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """The files of a machine's folder that are the same for all tables."""
    return host_files("wasm", request.param)


def test_exports_of_a_package_are_in_its_files(package: dict[str, bytes]) -> None:
    """Each export of `package.json` names a file, of which `files` has a pattern, and each pattern has a file."""
    about, names = json.loads(package["package.json"]), {*package, *OF_TABLES}
    main, *others = about["exports"].values()
    exports = {name.removeprefix("./") for name in (*main.values(), *others)}
    assert exports <= names
    packed = {pattern: {name for name in names if fnmatch(name, pattern)} for pattern in about["files"]}
    assert all(packed.values())
    assert set.union(*packed.values()) == names - {"package.json"}


def test_modules_and_types_name_files_of_their_package(package: dict[str, bytes]) -> None:
    """Each module and each file of types has the other, and imports only files of the folder."""
    code = {name: data.decode() for name, data in package.items() if name != "package.json"}
    named = {name: {*NAMED.findall(text)} for name, text in code.items()}
    assert named["example.js"] > OF_TABLES
    assert {name for found in named.values() for name in found} <= {*package, *OF_TABLES}
    modules = {name.removesuffix(".js") for name in code if name.endswith(".js")} - {"example"}
    assert modules == {name.removesuffix(".d.ts") for name in code if name.endswith(".d.ts")}


@needs_c
@pytest.mark.parametrize("machine", MACHINES)
def test_examples_in_c_compile(machine: str, tmp_path: Path) -> None:
    """The C files of each folder, with its example program, compile as C99 without warnings."""
    found = host_files("c", machine)
    for name, data in found.items():
        (tmp_path / name).write_bytes(data)
    sources = [name for name in found if name.endswith(".c")]
    assert "example.c" in sources
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=c99", "-fsyntax-only", *sources], cwd=tmp_path, check=True)
