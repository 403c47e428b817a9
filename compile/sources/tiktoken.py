"""Read encodings of `tiktoken`: files of ranks, and live ``tiktoken.Encoding`` objects.

Each line of a ``.tiktoken`` file contains a token in base64 and its rank. The pattern that splits text and the special tokens are not in
the file, because `tiktoken` defines them in code. This module contains the patterns and special tokens of OpenAI's encodings, and of the
first Qwen's and Hunyuan's, which also compose a text (NFC) before they find special tokens in it.

Source: tiktoken 0.14.0, ``tiktoken_ext/openai_public.py`` and ``tiktoken/load.py``; ``tokenization_qwen.py`` of Qwen-7B;
``tokenization_hy.py`` of Hunyuan-A13B.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fst.compile.machines.bpe.model import BpeModel
from fst.compile.pretokens.splits import BYTES, Pattern, tiktoken_split
from fst.compile.sources.numbered_lines import distinct
from fst.compile.sources.templates import BARE
from fst.compile.text.components import Component
from fst.compile.text.source import NO_SETTINGS, TIKTOKEN, Source, TextPipeline
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted
from fst.pretokens.byte_letters import bytes_of
from fst.tables.header import BYTE_LEVEL, AddedTokens

OPTIONS = ("encoding", "pattern", "special", "no_special")
INPUTS = ["input_ids", "attention_mask"]
LINES = re.compile(r"(?:[A-Za-z0-9+/]+=* \d+\r?\n){3}", re.ASCII)


class Encoding(NamedTuple):
    """The parts of an encoding that its file of ranks does not contain."""

    pattern: Pattern  # the regular expression whose matches are the pre-tokens of a text
    special: Mapping[str, int]  # special tokens and their ids
    normalizers: Sequence[Component] = ()  # the changes to a text before special tokens are found in it


_GPT2 = Encoding(
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    {"<|endoftext|>": 50256},
)
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
COMPOSED: Sequence[Component] = ({"type": "NFC"},)


def _numbered(first: int, names: Iterable[str]) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names, first)}


def _extras(count: int) -> Sequence[str]:
    return [f"<|extra_{number}|>" for number in range(count)]


_PUBLIC: Mapping[str, Encoding] = {
    "gpt2": _GPT2,
    "r50k_base": _GPT2,
    "p50k_base": _GPT2,
    "cl100k_base": Encoding(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Encoding(
        "|".join(
            [
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
        {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
}
_HARMONY = {
    "<|startoftext|>": 199998,
    "<|endoftext|>": 199999,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|call|>": 200012,
    "<|endofprompt|>": 200018,
}
_RESERVED = {f"<|reserved_{number}|>": number for number in (200000, 200001, 200004, *range(200009, 200012), *range(200013, 201088))}
_CHAT, _HUNYUAN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>"), ("<|endoftext|>", "<|startoftext|>", "<|bos|>", "<|eos|>", "<|pad|>")
ENCODINGS: Mapping[str, Encoding] = {
    **_PUBLIC,
    "o200k_harmony": Encoding(_PUBLIC["o200k_base"].pattern, {**_HARMONY, **_RESERVED}),
    "qwen": Encoding(QWEN, _numbered(151643, [*_CHAT, *_extras(205)]), COMPOSED),
    "hy": Encoding(QWEN, _numbered(127957, [*_HUNYUAN, *_extras(204)]), COMPOSED),
}


def of_encoding(encoding: Any) -> Source[BpeModel]:
    """Make a source from a ``tiktoken.Encoding``."""
    return of_ranks(encoding._mergeable_ranks, Encoding(encoding._pat_str, encoding._special_tokens), f"the encoding {encoding.name!r}")


def is_ranks(text: str) -> bool:
    """Whether a text begins like a file of ranks."""
    return LINES.match(text) is not None


def of_text(text: str, path: Path, given: Mapping[str, Any]) -> Source[BpeModel]:
    """Make a source from a file of ranks and the compiler's options in `OPTIONS`."""
    return of_ranks(*parts_of(text, path, given), str(path))


def parts_of(text: str, path: Path, given: Mapping[str, Any]) -> tuple[dict[bytes, int], Encoding]:
    """The tokens of a file with their ranks, and the encoding of the file. The exceptions are as in `of_text`."""
    return ranks_of(text, path), _encoding(path, given)


def of_ranks(ranks: Mapping[bytes, int], encoding: Encoding, where: str) -> Source[BpeModel]:
    """Make a source from tokens with their ranks and an encoding; messages begin with `where`."""
    _need_apart(ranks, encoding.special, where)
    from fst.compile.text.added_tokens import numbered  # trainers need only patterns

    source = source_of(BpeModel.of_ranks(ranks, {}), encoding.pattern, numbered(encoding.special, normalized=bool(encoding.normalizers)))
    return replace(source, text=replace(source.text, normalizers=encoding.normalizers))


def source_of(model: BpeModel, pattern: Pattern, added: AddedTokens, reference: str = TIKTOKEN) -> Source[BpeModel]:
    """Make a source from a model that `tiktoken` runs, possibly inside another library. No ids are added around a text."""
    settings = replace(NO_SETTINGS, decoder=BYTE_LEVEL, model_input_names=INPUTS)
    return Source(model, TextPipeline((), (tiktoken_split(pattern), BYTES)), added, BARE, settings, reference=reference)


def _encoding(path: Path, given: Mapping[str, Any]) -> Encoding:
    """The encoding of a file: the option `encoding` or, if neither it nor a pattern is given, the encoding in the file name.

    Options override the pattern, add special tokens, or drop the special tokens of the encoding.
    """
    stem = path.name.partition(".")[0]
    name = given.get("encoding", stem if stem in ENCODINGS and "pattern" not in given else None)
    if name is not None and name not in ENCODINGS:
        raise UnsupportedError(f"{not_one_of('encoding', name, ENCODINGS)}; for another, give pattern and special tokens")
    if name is None and "pattern" not in given:
        hint = f"name its encoding, {', '.join(ENCODINGS)}, or give its pattern and special tokens"
        raise VocabularyError(f"{path} contains ranks, but no pattern that splits text: {hint}")
    named = ENCODINGS[name] if name is not None else Encoding("", {})
    own = {} if given.get("no_special") else named.special
    return named._replace(pattern=given.get("pattern", named.pattern), special={**own, **given.get("special", {})})


def ranks_of(text: str, path: Path) -> dict[bytes, int]:
    """The tokens of a file with their ranks."""
    lines = enumerate(text.splitlines(), 1)
    return distinct(((number, *_rank(line, f"{path}, line {number}")) for number, line in lines if line), path, "rank")


def _rank(line: str, where: str) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) != 2 or not (fields[1].isascii() and fields[1].isdigit() and len(fields[1]) < 20):
        raise VocabularyError(f"{where}: {quoted(line)} is not a token in base64, a space and its rank")
    token = base64_bytes(fields[0], where) if fields[0].strip("=") else b""  # `tiktoken` decodes padding alone as the empty token
    return token, int(fields[1])


def base64_bytes(token: str, where: str) -> bytes:
    """The bytes of a token in base64."""
    try:
        data = b64decode(token, validate=True)
    except ValueError as error:
        raise VocabularyError(f"{where}: the token {quoted(token)} is not base64: {error}") from None
    if not data:
        raise VocabularyError(f"{where}: an empty token")
    return data


def _need_apart(ranks: Mapping[bytes, int], special: Mapping[str, int], where: str) -> None:
    """Refuse special tokens that have the id or the text of another token, or that `tiktoken` finds only by chance."""
    by_id = {rank: token for token, rank in ranks.items()}
    holders: dict[int, str] = {}
    for token, number in special.items():
        found = f"{where}: special token {quoted(token)}"
        if not isinstance(token, str) or not token or type(number) is not int:
            raise VocabularyError(f"{found} with the id {quoted(number)}; a token is text, and its id a whole number")
        if number in by_id:
            raise VocabularyError(f"{found} has the id {number}, which is the rank of {quoted(by_id[number])}")
        if bytes_of(token) in ranks:
            raise VocabularyError(f"{found} is also a token with a rank; leave one out")
        if holders.setdefault(number, token) != token:
            raise VocabularyError(f"{found} has the id {number}, as {quoted(holders[number])} has")
    _need_no_beginnings(special, where)


def _need_no_beginnings(special: Mapping[str, int], where: str) -> None:
    """Refuse a special token that begins with another special token: `tiktoken` tries them in an order that differs between runs."""
    ordered = sorted(special)
    for first, second in pairwise(ordered):
        if second.startswith(first):
            both = f"special tokens {quoted(first)} and {quoted(second)}, one of which begins with the other"
            raise UnsupportedError(f"{where}: {both}: tiktoken finds either, by chance")
