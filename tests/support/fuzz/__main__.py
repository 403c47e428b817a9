"""Fuzz a reader, guided by the coverage of its code: ``cd tests && python -m support.fuzz NAME... --seconds 60``; needs `atheris`.

Kernels run as plain Python, so that their branches count as coverage, and an index after the end of an array is an error. An input that
raises another error than those of this package, takes more than 20 s, or takes more than 2 GB of memory is written to a file
``NAME-crash-DIGEST``. Without names, all readers run in turn; --list prints them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

SECONDS, MEGABYTES = 20, 2048  # limits of time and memory for an input


def main() -> int:
    """Fuzz each reader in a process of its own; return the number of readers that fail."""
    parser = argparse.ArgumentParser(prog="python -m support.fuzz", description="Fuzz readers of files.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60, help="the time for each reader")
    parser.add_argument("--list", action="store_true", help="print the names of the readers")
    given = parser.parse_args()
    from support.fuzz.readers import READERS

    if given.list:
        print(*READERS, sep="\n")
        return 0
    for name in given.names:
        if name not in READERS:
            parser.error(f"NAME is {name!r}; expected one of {', '.join(READERS)}")
    if len(given.names) == 1:
        fuzz(given.names[0], given.seconds)
    command = [sys.executable, "-m", "support.fuzz", "--seconds", str(given.seconds)]
    return sum(subprocess.run([*command, name], check=False).returncode != 0 for name in given.names or READERS)


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one reader, and end the process."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    import atheris

    with atheris.instrument_imports(include=["fst"]):
        from support.fuzz.readers import READERS

        reader = READERS[name]
        seeds = [*reader.seeds(), *reader.found]
        for seed in seeds:
            reader.check(seed)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = Random(seed)
        return reader.mutate(data, draw, draw.choice(seeds))[:most] if draw.random() < 0.7 else atheris.Mutate(data, most)

    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds):
            Path(corpus, str(number)).write_bytes(seed)
        limits = [f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", f"-max_total_time={seconds}", "-max_len=262144"]
        prefix = f"-artifact_prefix={name.replace(' ', '-')}-"
        atheris.Setup([sys.argv[0], corpus, *limits, prefix, "-print_final_stats=1"], reader.check, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
