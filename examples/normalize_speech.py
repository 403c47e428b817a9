"""Normalize the lines of a file for speech: a tagger marks numbers, a parser orders the parts of each token, a verbalizer writes words.

The tagger and the verbalizer are weighted transducers of OpenFst, such as those of WeTextProcessing or NeMo; see docs/normalize-text.md::

    python examples/normalize_speech.py notes.txt --tagger zh_tn_tagger.fst --verbalizer zh_tn_verbalizer.fst

Without them, a small English grammar reads numbers up to 999, units and sums of money.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

import fst
from fst.compile import best_path

ORDER = {  # the spoken order of parts; other parts keep the order of the tagger
    "date": ("year", "month", "day"),
    "fraction": ("denominator", "numerator"),
    "measure": ("denominator", "numerator", "value"),
    "money": ("value", "currency"),
    "time": ("noon", "hour", "minute", "second"),
}
TOKEN = re.compile(r'(\w+) \{((?: *\w+: "(?:[^"\\]|\\.)*")*) *\}')
PART = re.compile(r'(\w+): "((?:[^"\\]|\\.)*)"')

ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
UNITS = {"m": "meters", "km": "kilometers", "kg": "kilograms", "%": "percent", "km/h": "kilometers per hour"}
CURRENCIES = {"$": "dollars", "€": "euros"}


def parsed(tagged: str) -> str:
    """The output of a tagger with the parts of each token in their spoken order.

    >>> parsed('money { currency: "dollars" value: "five" } w { v: "now" }')
    'money { value: "five" currency: "dollars" } w { v: "now" }'
    """
    return " ".join(f"{name} {{ {' '.join(_ordered(name, parts))} }}" for name, parts in TOKEN.findall(tagged))


def _ordered(name: str, parts: str) -> list[str]:
    order = ORDER.get(name, ())
    found = PART.findall(parts)
    found.sort(key=lambda part: order.index(part[0]) if part[0] in order else len(order))
    return [f'{key}: "{value}"' for key, value in found]


def spoken(number: int) -> str:
    """A number below 1,000 in words."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10 - 2] + (f" {ONES[number % 10]}" if number % 10 else "")
    return f"{ONES[number // 100]} hundred" + (f" {spoken(number % 100)}" if number % 100 else "")


def writes(text: str, weight: float = 0.0) -> fst.Fst:
    """A transducer that reads nothing and writes a text."""
    return fst.Fst.from_strings([("", text, weight)])


def drops(text: str, by: str = "") -> fst.Fst:
    """A transducer that reads a text and writes another one, by default nothing."""
    return fst.Fst.from_strings([(text, by)])


def small_tagger() -> fst.Fst:
    """Mark numbers, measures and sums of money; of several readings, the reading with the least weight is used."""
    number = fst.Fst.from_strings([(str(value), spoken(value)) for value in range(1000)])
    word = fst.Fst.from_strings([*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'"]).closure(plus=True)
    mark = fst.Fst.from_strings([*" .,;:!?()-"]).closure(plus=True)
    units = (drops(" ") | drops("")) + writes('" units: "') + fst.Fst.from_strings(UNITS.items())
    measure = writes('measure { value: "', 1) + number + units
    money = writes('money { currency: "', 1) + fst.Fst.from_strings(CURRENCIES.items()) + writes('" value: "') + number
    cardinal = writes('cardinal { value: "', 1.1) + number
    item = (measure | money | cardinal | writes('w { v: "', 100) + word) + writes('" } ')
    between = writes('p { v: "', 1) + mark + writes('" } ')
    return (between | writes("")) + item + (between + item).closure() + (between | writes(""))


def small_verbalizer() -> fst.Fst:
    """Write the parts of tokens without their marks."""
    value = fst.Fst.from_strings([*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ' .,;:!?()-"]).closure()
    token = drops('w { v: "') + value | drops('p { v: "') + value | drops('cardinal { value: "') + value
    token = token | drops('measure { value: "') + value + drops('" units: "', " ") + value
    token = token | drops('money { value: "') + value + drops('" currency: "', " ") + value
    token = token + drops('" }')
    return token + (drops(" ") + token).closure()


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option("--tagger", type=click.Path(exists=True, path_type=Path), help="A transducer of OpenFst.")
@click.option("--verbalizer", type=click.Path(exists=True, path_type=Path), help="A transducer of OpenFst.")
def main(source: Path, tagger: Path | None, verbalizer: Path | None) -> None:
    """Print the lines of a file as they are spoken."""
    tag = fst.Rewriter(best_path(tagger or small_tagger()))
    verbalize = fst.Rewriter(best_path(verbalizer or small_verbalizer()))
    lines = source.read_text(encoding="utf-8").splitlines()
    tagged = tag.apply_batch(lines)
    for line in verbalize.apply_batch([*map(parsed, tagged)]):
        click.echo(line)


if __name__ == "__main__":
    main()
