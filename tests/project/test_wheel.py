"""A wheel with native code runs tables in an environment without numba, as docs/deploy-without-numba.md describes."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from support.commands import TIMEOUT
from support.core.native_code import OBSTACLE, here
from support.shared_data import REPOSITORY, TESTS
from support.wheel import copied

import fst
from fst.compile import wordpiece
from fst.compile.export.platforms import PLATFORMS, extension
from fst.runtime.kernels.intrinsics import DISABLED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(DISABLED, reason="kernels are not compiled"),
    pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE),
    pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="the wheel is for Linux on x86-64"),
    pytest.mark.skipif(find_spec("wheel") is None, reason="wheels are packed by wheel: the extra [release]"),
]

LEVEL = "x86-64-v2"  # the level that all current processors support
TEXTS = ["unaffable", "", "a unable!", "é un 😀", "affable " * 90]
CAPTURE = f"""
import pathlib, sys
import fst
from fst.compile.export.native import called_kernels
from support.core.native_code import write_folder
with called_kernels() as kernels:
    fst.load(sys.argv[1]).encode("unaffable")
write_folder([*kernels.values()], pathlib.Path(sys.argv[2]), "{LEVEL}")
print(len(kernels))
"""
PAGE = (REPOSITORY / "docs" / "deploy-without-numba.md").read_text(encoding="utf-8")
MORE = """
import json, sys
assert "numba" not in sys.modules
print(json.dumps([tok.encode(text).tolist() for text in json.loads(sys.argv[1])]))
print(fst.__file__)
"""


def run(*command: str | Path, folder: Path, settings: Mapping[str, str] | None = None) -> str:
    """Run a command in a folder, and return its output."""
    more = {**os.environ, **(settings or {})}
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=folder, env=more, timeout=TIMEOUT).stdout


def check_sbom(wheel: Path) -> None:
    """Check that the SBOM of a wheel names each file of native code with its digest."""
    with ZipFile(wheel) as files:
        sbom = json.loads(files.read(f"fst_toolkit-{fst.__version__}.dist-info/sboms/fst_toolkit.cdx.json"))
        digests = {each["name"]: each["hashes"][0]["content"] for each in sbom["components"] if each["type"] == "file"}
        native = [name for name in files.namelist() if name.startswith("fst/native/")]
        assert digests == {name: sha256(files.read(name)).hexdigest() for name in native}
    assert len(native) == 3


def test_linked_files_have_the_same_bytes() -> None:
    """The extension for macOS, whose files contain their names, always has the same bytes."""
    (system,) = [each for each in PLATFORMS if each.tags == ("macosx_11_0_arm64",)]
    assert extension(system) == extension(system)


def test_wheel_with_native_code(tmp_path: Path) -> None:
    """A wheel with native code is for a system and for all versions of Python, always has the same bytes, and gives the same ids without
    numba.
    """
    table, source = wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "!"]), copied(tmp_path / "source")
    table.save(tmp_path / "english.npz")
    native = tmp_path / "native" / here().tags[0]
    count = run(sys.executable, "-c", CAPTURE, tmp_path / "english.npz", native, folder=REPOSITORY, settings={"PYTHONPATH": str(TESTS)})
    assert int(count) == 2
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source, folder=tmp_path)
    plain = tmp_path / f"fst_toolkit-{fst.__version__}-py3-none-any.whl"
    wheels: list[Path] = []
    for number in range(2):
        output = tmp_path / f"dist{number}"
        command = sys.executable, REPOSITORY / ".ci" / "pack.py", plain, native.parent, output
        run(*command, folder=tmp_path, settings={"SOURCE_DATE_EPOCH": "1800000000"})
        wheels += output.iterdir()
    wheel, other = wheels
    assert wheel.read_bytes() == other.read_bytes()
    name, _, tags = wheel.stem.rpartition("-abi3-")
    assert (name, {*tags.split(".")}) == (f"fst_toolkit-{fst.__version__}-cp310", {*here().tags})
    check_sbom(wheel)
    with ZipFile(wheel) as files:
        metadata = files.read(f"fst_toolkit-{fst.__version__}.dist-info/METADATA").decode()
    assert re.findall(r"^Requires-Dist: ([^;\n]*)$", metadata, re.MULTILINE) == ["numpy>=2.0", "click>=8.1"]

    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel, f"numpy=={np.__version__}", folder=tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    printed = run(python, "-I", "-c", program + MORE, json.dumps(TEXTS), folder=tmp_path).splitlines()
    tok = fst.Tokenizer(table)
    assert (printed[0], json.loads(printed[1])) == (str(tok.tokenize("unaffable")), [tok.encode(text).tolist() for text in TEXTS])
    assert Path(printed[2]).is_relative_to(tmp_path)
