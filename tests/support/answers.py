"""Digests of results of the reference library, which are stored because the reference is slower than the package.

A question consists of the version and the settings of the reference and of texts. `answers.json` maps the digest of a question to the
digest of the answer, for the default tests and for the slow tier. By default, a test runs the reference only for missing answers; in the
slow tier, it also runs the reference for one in 16 stored answers, and fails if a stored answer is wrong. With ``--answers asked``, it
always runs the reference. After a change of `tokenizers`
or of the texts, rewrite the file: ``python -m pytest -n 0 --answers anew FILES``, and the same with ``-m slow``. FILES are all tests that
ask: ``tests/runtime/test_offsets*.py tests/machines/wordpiece/test_reference.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from support import tiers

PATH = Path(__file__).with_name("answers.json")
TIERS: dict[str, dict[str, str]] = json.loads(PATH.read_text(encoding="utf-8")) if PATH.is_file() else {}
KEPT = {question: answer for tier in TIERS.values() for question, answer in tier.items()}
ASKED: dict[str, str] = {}

MODES = ("kept", "asked", "anew")
mode = "kept"  # set by conftest.py


def digest(*parts: Any) -> str:
    """The first 64 bits of a SHA-256 over bytes or arrays, each preceded by its length."""
    whole = sha256()
    for part in parts:
        data = memoryview(part).cast("B") if len(part) else b""
        whole.update(len(data).to_bytes(8, "little"))
        whole.update(data)
    return whole.hexdigest()[:16]


def question(settings: str, texts: Sequence[str]) -> str:
    """The digest of a question: the version and settings of the reference, and the texts."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return digest(tokenizers.__version__.encode(), settings.encode(), lengths, "".join(texts).encode())


def answer(question: str, ask: Callable[[], str]) -> str:
    """The digest of the answer to a question, from the file or from `ask`, which runs the reference."""
    if question in KEPT and mode == "kept" and not (tiers.LONG and question.endswith("0")):
        return KEPT[question]
    ASKED[question] = ask()
    assert mode == "anew" or KEPT.get(question, ASKED[question]) == ASKED[question], f"{PATH} is stale; see {__file__}"
    return ASKED[question]


def keep() -> None:
    """Write the digests of all questions and answers of this run to `answers.json`, in place of the earlier ones of this tier."""
    tier = "slow" if tiers.LONG else "default"
    PATH.write_text(json.dumps({**TIERS, tier: ASKED}, indent=0, sort_keys=True) + "\n", encoding="utf-8")
