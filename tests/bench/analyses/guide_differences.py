"""Count the differences between the masks of this package, outlines-core and llguidance by their causes.

    pip install outlines-core llguidance jsonschema
    PYTHONPATH=tests:tests/bench python tests/bench/analyses/guide_differences.py [SHARE WALKS]

The patterns and schemas are those of `guide.py`, and one in SHARE [16] of the published schemas in the shared data, each with WALKS [3]
random walks. The tokens are GPT-2's. See `support.machines.mask_differences` for the causes. A row contains a cause, the number of patterns
and schemas with this difference, the number of tokens, and the shortest text.
"""

from __future__ import annotations

import json
import sys

from guide import PATTERNS, SCHEMAS
from support.machines.mask_differences import Difference, LlGuidance, Outlines, Tokens, cases, compared
from support.shared_data import SHARED

import fst
from fst.compile import tokenizer


def main() -> None:
    """Print the number of differences of each cause, and the shortest text."""
    share, walks = map(int, sys.argv[1:] or ("16", "3"))
    tokens = Tokens(fst.Tokenizer(tokenizer(SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json")))
    found: dict[tuple[str, str, str], list[Difference]] = {}
    every = [*((schema, []) for schema in SCHEMAS.values()), *cases(PATTERNS.values(), share)]
    for source, values in every:
        for kind in (Outlines, LlGuidance):
            for each in compared(tokens, kind, source, values, walks):
                found.setdefault((each.allows, each.other, each.cause), []).append(each)
    print(f"{len(every)} patterns and schemas\n\n| allows | does not | cause | sources | tokens | example |")
    print("| --- | --- | --- | ---: | ---: | --- |")
    for key, some in sorted(found.items()):
        shortest = min(some, key=lambda each: len(each.text))
        sources = len({json.dumps(each.source) for each in some})
        print("|", " | ".join(key), f"| {sources} | {len(some)} | `{shortest.text!r}`, {json.dumps(shortest.source)[:200]} |")


if __name__ == "__main__":
    main()
