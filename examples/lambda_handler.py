"""Count the tokens of texts in AWS Lambda, or in any function that is called with a JSON event.

The table is ``table.npz`` in the folder of this file. The handler is ``lambda_handler.handler``, and an event is ``{"texts": ["…", "…"]}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fst

TOKENIZER = fst.Tokenizer.load(Path(__file__).with_name("table.npz"))  # once per instance, before the first event
TOKENIZER.count_tokens([""])  # loads the kernels before the first event, too


def handler(event: dict[str, Any], context: Any) -> dict[str, list[int]]:
    """The number of tokens of each text, including special tokens."""
    del context
    return {"tokens": TOKENIZER.count_tokens(event["texts"], threads=1).tolist()}
