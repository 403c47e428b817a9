"""Let a language model write JSON that follows a pattern. The model has random weights, and needs only NumPy.

The arguments are a text, from which a small vocabulary is learned, and the number of lines to write::

    python examples/constrained_json.py LICENSE --lines 3

Without token masks, this model would write noise. With them, each line is valid JSON. With ``--canonical``, the tokens of a line are also
those into which the tokenizer encodes the line, as in the texts on which models are trained.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

import fst
from fst import train

PATTERN = r'\{"name": "[A-Z][a-z]{2,7}", "age": [1-9][0-9]?, "tags": \[("[a-z]{2,6}"(, "[a-z]{2,6}"){0,2})?\]\}'
END = "<|end|>"


class RandomModel:
    """A recurrent network with random weights.

    Args:
        tokens: the number of tokens.
        rows: the number of texts that it writes at the same time.
        seed: determines the weights.
    """

    def __init__(self, tokens: int, rows: int, seed: int, width: int = 64) -> None:
        draw = np.random.default_rng(seed)
        self._inputs, self._outputs = draw.normal(size=(tokens, width)), draw.normal(size=(width, tokens)) / np.sqrt(width)
        self._weights, self._hidden = draw.normal(size=(width, width)) / np.sqrt(width), np.zeros((rows, width))

    def scores(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Read the latest token of each row; return the scores of the next one."""
        self._hidden = np.tanh(self._hidden @ self._weights + self._inputs[ids])
        found: NDArray[np.float64] = self._hidden @ self._outputs
        return found


def write(tok: fst.Tokenizer, guide: fst.Guide, rows: int, seed: int = 0, steps: int = 200) -> list[str]:
    """Write texts with a random model.

    Args:
        tok: the tokenizer.
        guide: the token masks; its `end_id` must not be None.
        rows: the number of texts.
        seed: determines the texts.
        steps: the maximum number of tokens of a text.

    Returns:
        The texts.
    """
    assert guide.end_id is not None
    model, draw = RandomModel(guide.size, rows, seed), np.random.default_rng(seed)
    states, ids = [guide.start] * rows, np.full((rows, 1), guide.end_id)
    allowed = np.empty((rows, guide.size), np.bool_)
    for _ in range(steps):
        scores = model.scores(ids[:, -1])
        guide.masks(states, out=allowed)  # one call for all rows
        noise = draw.gumbel(size=scores.shape)  # the largest sum of score and noise is a random token with the probability of its score
        chosen = np.where(allowed, scores + noise, -np.inf).argmax(axis=1)
        states = [guide.step(state, number) for state, number in zip(states, chosen.tolist(), strict=True)]
        ids = np.column_stack([ids, chosen])
        if (chosen == guide.end_id).all():
            break
    return tok.decode_batch(ids)


@click.command(help="Write lines of JSON with a model of random weights, whose vocabulary is learned from TEXT.")
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--lines", default=3, show_default=True, help="The number of lines.")
@click.option("--canonical", is_flag=True, help="Write only the tokens that the tokenizer itself gives.")
def main(text: Path, lines: int, canonical: bool) -> None:
    """Run the program."""
    source = text.read_text(encoding="utf-8").splitlines()
    tok = train.bpe(source, vocab_size=600, splitter="gpt2", special_tokens=[END]).tokenizer()
    guide = fst.Guide(tok, regex=PATTERN, end_id=tok.token_to_id(END), canonical=canonical)
    for line in write(tok, guide, lines):
        click.echo(json.dumps(json.loads(line)))


if __name__ == "__main__":
    main()
