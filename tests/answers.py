"""What the reference answers, kept as digests, because it takes longer to answer than the package.

`answers.json` maps the digest of a question (the reference's version and settings, and the texts) to the digest of the answer. By default a
test asks the reference only what is not kept. The long run asks everything, and fails where a kept answer is wrong.
To write the file anew, after `tokenizers` or the texts have changed: ``python -m pytest -n 0 --keep-answers``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import tiers
import tokenizers

PATH = Path(__file__).with_name("answers.json")
KEPT: dict[str, str] = json.loads(PATH.read_text(encoding="utf-8")) if PATH.is_file() else {}
ASKED: dict[str, str] = {}

keeping = False  # conftest.py sets it


def digest(parts: Iterable[bytes]) -> str:
    """The first 64 bits of the SHA-256 of some parts, each with its length."""
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()[:16]


def question(*parts: str) -> str:
    """The digest of what is asked."""
    return digest(part.encode("utf-8", "surrogatepass") for part in (tokenizers.__version__, *parts))


def answer(question: str, ask: Callable[[], str]) -> str:
    """The digest of the answer to a question, as it is kept or as `ask` gives it."""
    if question in KEPT and not (tiers.LONG or keeping):
        return KEPT[question]
    ASKED[question] = ask()
    assert keeping or KEPT.get(question, ASKED[question]) == ASKED[question], f"{PATH} is stale; see {__file__}"
    return ASKED[question]


def keep() -> None:
    """Write all answers of this run."""
    PATH.write_text(json.dumps(ASKED, indent=0, sort_keys=True) + "\n", encoding="utf-8")
