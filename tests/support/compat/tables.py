"""Tables for the tests of the stand-in for `transformers`."""

from __future__ import annotations

from support.shared_data import EXAMPLES

TOKENS = (EXAMPLES / "english-uncased-8000.txt").read_text(encoding="utf-8").splitlines()
