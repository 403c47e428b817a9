"""An export for JavaScript is a package: all files that it names are in its folder."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from importlib.resources import files

import pytest

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
