"""Make the wheel of each system: a wheel without native code, which is not published, the system's native code, and an SBOM.

    python .ci/pack.py WHEEL NATIVE OUTPUT [HEADERS]

NATIVE is the folder that ``fst warmup --native`` writes. With HEADERS, the folder of the headers of a version of Python, the wheels are
those for this version without the interpreter's lock, for Linux. Their native code differs only in the extension. The modification times in
all wheels are SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from fst.compile.export.platforms import PLATFORMS, Platform, extension

PYTHON = "cp310-abi3"
VERSION = re.compile(r"#define PY_(MAJOR|MINOR)_VERSION\s+(\d+)")
BUILT_WITH = ("numba", "llvmlite", "ziglang")  # the tools that make native code; a wheel contains none of them
# Libraries from which data in the package was read: name, version, license, the data.
DATA_OF = [
    ("tokenizers", "0.23.3", "Apache-2.0", "fst/compile/text/characters/characters.tsv, fst/compile/patterns/properties.tsv"),
    ("tiktoken", "0.14.0", "MIT", "fst/compile/patterns/properties.tsv"),
    ("sentencepiece", "0.2.3", "Apache-2.0", "fst/compile/text/edits/nfkc.xz"),
]


def pack(wheel: Path, native: Path, output: Path, platform: Platform, headers: Path | None) -> None:
    """Write the wheel of a system to the folder `output`."""
    with TemporaryDirectory() as folder:
        _run("unpack", str(wheel), "-d", folder)
        (root,) = Path(folder).iterdir()
        copytree(native / platform.tags[0], root / "fst" / "native")
        if headers:
            (root / "fst" / "native" / "calls.abi3.so").unlink()
            file, code = extension(platform, headers)
            (root / "fst" / "native" / file).write_bytes(code)
        (info,) = root.glob("*.dist-info")
        described = (info / "WHEEL").read_text(encoding="utf-8")
        tags = "".join(f"Tag: {python_of(headers)}-{tag}\n" for tag in platform.tags)
        described = re.sub(r"(?m)^Tag: .*\n", "", described).replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").rstrip("\n")
        (info / "WHEEL").write_text(f"{described}\n{tags}\n", encoding="utf-8")
        name, number = info.stem.split("-", 1)
        (info / "sboms").mkdir()
        (info / "sboms" / f"{name}.cdx.json").write_text(json.dumps(sbom(root, number), indent=1), encoding="utf-8")
        _run("pack", str(root), "-d", str(output))


def python_of(headers: Path | None) -> str:
    """The tags of the versions of Python in the name of a wheel."""
    if headers is None:
        return PYTHON
    number = "".join(value for _, value in VERSION.findall((headers / "patchlevel.h").read_text(encoding="utf-8")))
    return f"cp{number}-cp{number}t"


def sbom(root: Path, number: str) -> dict[str, object]:
    """The SBOM of a wheel by CycloneDX: the files of native code, the data of others, and the tools that made them.

    Args:
        root: the unpacked wheel.
        number: the version of the package.
    """
    files = [
        {"type": "file", "name": f"fst/native/{path.name}", "hashes": [{"alg": "SHA-256", "content": _digest(path)}]}
        for path in sorted((root / "fst" / "native").iterdir())
    ]
    data = [
        {**_library(name, of), "licenses": [{"license": {"id": license_}}], "scope": "excluded", "description": f"source of {path}"}
        for name, of, license_, path in DATA_OF
    ]
    tools = [_library(name, version(name)) for name in BUILT_WITH]
    metadata = {"component": {**_library("fst-toolkit", number), "licenses": [{"license": {"id": "MIT"}}]}, "tools": {"components": tools}}
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": metadata, "components": files + data}


def _library(name: str, number: str) -> dict[str, str]:
    return {"type": "library", "name": name, "version": number, "purl": f"pkg:pypi/{name}@{number}"}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "wheel", *arguments], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Write all wheels."""
    wheel, native, output, *headers = map(Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    for platform in PLATFORMS:
        if (native / platform.tags[0]).exists() and not (headers and platform.system != "linux"):
            pack(wheel, native, output, platform, *headers or [None])


if __name__ == "__main__":
    main()
