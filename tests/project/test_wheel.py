"""A wheel with native code runs tables in an environment without numba, as docs/deploy-without-numba.md describes."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from support.commands import TIMEOUT
from support.core.native_code import OBSTACLE
from support.shared_data import REPOSITORY
from support.wheel import copied

import fst
from fst.compile import wordpiece
from fst.compile.export.native import settings_of
from fst.runtime.kernels.intrinsics import DISABLED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(DISABLED, reason="kernels are not compiled"),
    pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE),
    pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="native code is for Linux on x86-64"),
]

LEVEL = "x86-64-v2"  # the level that all current processors support
TEXTS = ["unaffable", "", "a unable!", "é un 😀", "affable " * 90]
CAPTURE = f"""
import pathlib, sys
import fst
from fst.compile.export.native import native_kernels, write
with native_kernels() as kernels:
    fst.load(sys.argv[1]).encode("unaffable")
write({{"{LEVEL}": [*kernels.values()]}}, pathlib.Path(sys.argv[2]))
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


def test_wheel_with_native_code(tmp_path: Path) -> None:
    """A wheel with native code is for a platform and for all versions of Python; installed without numba, it gives the same ids."""
    table, source = wordpiece(["[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "a", "!"]), copied(tmp_path / "source")
    table.save(tmp_path / "english.npz")
    settings = {**settings_of(LEVEL), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    native = source / "fst" / "native"
    count = run(sys.executable, "-c", CAPTURE, tmp_path / "english.npz", native, folder=REPOSITORY, settings=settings)
    assert int(count) == 2
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"fst_toolkit-{fst.__version__}-cp310-abi3-linux_x86_64.whl"

    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel, f"numpy=={np.__version__}", folder=tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    printed = run(python, "-I", "-c", program + MORE, json.dumps(TEXTS), folder=tmp_path).splitlines()
    tok = fst.Tokenizer(table)
    assert (printed[0], json.loads(printed[1])) == (str(tok.tokenize("unaffable")), [tok.encode(text).tolist() for text in TEXTS])
    assert Path(printed[2]).is_relative_to(tmp_path)
