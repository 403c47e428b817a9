"""Print which libraries the native code of wheels needs, and raise an error for one that a system may lack.

    python .ci/needs.py WHEEL…

The wheels are those of `.ci/pack.py`.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from zipfile import ZipFile

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from macholib.mach_o import LC_LOAD_DYLIB
from macholib.MachO import MachO
from pefile import PE

ALLOWED = {"/usr/lib/libSystem.B.dylib", "python3.dll", "ucrtbase.dll"}  # on Linux, what is called is in the process


def needed(code: bytes) -> set[str]:
    """The libraries that a shared library needs."""
    if code.startswith(b"\x7fELF"):
        sections = ELFFile(BytesIO(code)).iter_sections()
        return {tag.needed for each in sections if isinstance(each, DynamicSection) for tag in each.iter_tags("DT_NEEDED")}
    if code.startswith(b"MZ"):
        return {each.dll.decode() for each in getattr(PE(data=code), "DIRECTORY_ENTRY_IMPORT", [])}
    with NamedTemporaryFile() as file:
        Path(file.name).write_bytes(code)
        commands = [command for header in MachO(file.name).headers for command in header.commands]
    return {name.rstrip(b"\0").decode() for load, _, name in commands if load.cmd == LC_LOAD_DYLIB}


def main() -> None:
    """Print the libraries of all wheels."""
    for wheel in sys.argv[1:]:
        with ZipFile(wheel) as files:
            for name in files.namelist():
                if name.startswith("fst/native/") and not name.endswith((".json", ".zip")):
                    found = needed(files.read(name))
                    print(f"{Path(wheel).name} {name}: {', '.join(sorted(found)) or 'none'}")
                    if not found <= ALLOWED:
                        raise SystemExit(f"{name} needs {', '.join(found - ALLOWED)}; expected some of {', '.join(ALLOWED)}")


if __name__ == "__main__":
    main()
