"""Truncation and padding as parts of a tokenizer's state, with the names and meanings of ``tokenizers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fst.errors import not_one_of, quoted
from fst.tables.header import MAX_NUMBER, MAX_SIZE, SIDES

Json = dict[str, Any]
STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}  # names in a tokenizer.json


class Truncation(NamedTuple):
    """The truncation of rows. Fields are the arguments of ``tokenizers.Tokenizer.enable_truncation``."""

    max_length: int
    stride: int
    strategy: str
    direction: str

    @classmethod
    def read(cls, stated: Mapping[str, Any] | None) -> Truncation | None:
        """Make the settings from an entry of a tokenizer.json; return None if there is no entry."""
        if stated is None:
            return None
        strategy = next(name for name, written in STRATEGIES.items() if written == stated["strategy"])
        return cls(stated["max_length"], stated["stride"], strategy, stated.get("direction", "Right").lower())

    def check(self) -> Truncation:
        """Raise an error for an invalid value; otherwise return the object."""
        _need_whole("max_length", self.max_length, MAX_SIZE)
        _need_whole("stride", self.stride, MAX_SIZE)
        _need_one_of("strategy", self.strategy, tuple(STRATEGIES))
        _need_one_of("direction", self.direction, SIDES)
        return self

    def document(self) -> Json:
        """The settings in the form of an entry of a tokenizer.json."""
        return {
            "direction": self.direction.capitalize(),
            "max_length": self.max_length,
            "strategy": STRATEGIES[self.strategy],
            "stride": self.stride,
        }


class Padding(NamedTuple):
    """The padding of rows. Fields are the arguments of ``tokenizers.Tokenizer.enable_padding``."""

    length: int | None
    pad_to_multiple_of: int | None
    pad_id: int
    pad_token: str
    pad_type_id: int
    direction: str

    @classmethod
    def read(cls, stated: Mapping[str, Any] | None) -> Padding | None:
        """Make the settings from an entry of a tokenizer.json; return None if there is no entry."""
        if stated is None:
            return None
        strategy, multiple = stated["strategy"], stated.get("pad_to_multiple_of")
        length = strategy["Fixed"] if isinstance(strategy, Mapping) else None
        return cls(length, multiple, stated["pad_id"], stated["pad_token"], stated["pad_type_id"], stated["direction"].lower())

    def check(self) -> Padding:
        """Raise an error for an invalid value; otherwise return the object."""
        for name in ("length", "pad_to_multiple_of"):
            if getattr(self, name) is not None:
                _need_whole(name, getattr(self, name), MAX_SIZE)
        _need_whole("pad_id", self.pad_id, MAX_NUMBER)
        _need_whole("pad_type_id", self.pad_type_id, MAX_NUMBER)
        if not isinstance(self.pad_token, str):
            raise ValueError(f"pad_token is {quoted(self.pad_token)}; expected a str")
        _need_one_of("direction", self.direction, SIDES)
        return self

    def document(self) -> Json:
        """The settings in the form of an entry of a tokenizer.json."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": self.direction.capitalize(),
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }


def _need_whole(name: str, value: Any, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{name} is {quoted(value)}; expected a whole number from 0 to {most}")


def _need_one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(not_one_of(name, value, choices))
