"""The steps of docs/containers.md that can run without a container work as described."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import TIMEOUT, ids_of, posix
from support.core.unprivileged import UNPRIVILEGED, bound
from support.shared_data import REPOSITORY

from fst.runtime.kernels.intrinsics import DISABLED

PAGE = (REPOSITORY / "docs" / "containers.md").read_text(encoding="utf-8")
PACKAGE = {"fst": "fst", "compile": "fst/compile", "runtime": "fst/runtime", "cli": "fst/cli"}  # source folder → installed folder

pytestmark = [posix, bound, pytest.mark.skipif(DISABLED, reason="kernels are not compiled")]


def read_only(folder: Path) -> None:
    """Remove the write permission of everything in a folder."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)


@pytest.fixture
def site(tmp_path: Path, table: Path) -> Path:  # noqa: ARG001 - for the table, all kernels were compiled
    """A copy of the package as a normal installation, with compiled kernels next to it."""
    for folder, name in PACKAGE.items():
        shutil.copytree(REPOSITORY / folder, tmp_path / "site" / name)
    return tmp_path / "site"


def shell(command: str, site: Path, prefix: list[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command from the page in an empty environment in which `fst` is the installed package."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site), "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    words = [*prefix, "/bin/sh", "-c", re.sub(r"^fst\b", f"'{sys.executable}' -m fst", command)]
    return subprocess.run(words, input=stdin, capture_output=True, check=True, env=environment, cwd=site, timeout=TIMEOUT)


@pytest.mark.slow
def test_image(site: Path, table: Path) -> None:
    """An image that is built by the steps of the page encodes for a user without write permission, and compiles nothing."""
    (dockerfile,) = re.findall(r"^```dockerfile\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (warmup,) = re.findall(r"^RUN (fst .*)$", dockerfile, re.MULTILINE)
    entry, words = (json.loads(line) for line in re.findall(r"^(?:ENTRYPOINT|CMD) (.*)$", dockerfile, re.MULTILINE))
    assert b"; kept in %s" % os.fsencode(site) in shell(warmup, site, []).stderr
    read_only(site)
    done = shell(" ".join([*entry, *words]).replace("/srv/bert.npz", str(table)), site, UNPRIVILEGED, b"unaffable\n")
    assert (done.stdout, done.stderr) == (ids_of(table, ["unaffable"]), b"")
