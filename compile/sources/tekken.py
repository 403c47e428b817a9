"""Read Mistral's ``tekken.json``, which contains ranks and a pattern for `tiktoken`. The ids of ranks begin after the ids of special
tokens.

The reference is ``Tekkenizer`` of `mistral-common` 1.13.1. ``Tekkenizer`` never finds special tokens in a text, and adds them only on
request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fst.automata.rows import MAX_OUTPUT
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.sources.inputs import TEKKEN
from fst.compile.sources.tiktoken import base64_bytes, source_of
from fst.compile.text.components import field_of, mapping, only, sequence
from fst.compile.text.source import MISTRAL, Source
from fst.errors import FstError, VocabularyError, quoted, reason
from fst.tables.header import AddedTokens

# The special tokens of files up to version v7, which do not list their special tokens.
SPECIAL = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
    "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
WITHOUT_A_LIST = ("v1", "v2", "v3", "v7")


def is_tekken(document: Any) -> bool:
    """Whether a JSON value has the form of a tekken.json."""
    return isinstance(document, Mapping) and "model" not in document and isinstance(document.get("vocab"), list) and "config" in document


def of_document(document: Mapping[str, Any], path: Path) -> Source[BpeModel]:
    """Make a source from a parsed ``tekken.json``; `path` is for messages."""
    try:
        return _of_parts(document, path)
    except FstError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise VocabularyError(f"{path} is not laid out as a tekken.json: {reason(error)}") from None


def _of_parts(document: Mapping[str, Any], path: Path) -> Source[BpeModel]:
    only(document, TEKKEN, "config vocab special_tokens version type multimodal image audio")
    config = mapping(document["config"], "config")
    pattern, specials, size = (field_of(config, name, "config") for name in ("pattern", "default_num_special_tokens", "default_vocab_size"))
    if not isinstance(pattern, str):
        raise ValueError(f"pattern is {quoted(pattern)}; it is a string")
    for number in (specials, size):
        if type(number) is not int or not 0 <= number <= MAX_OUTPUT:
            raise ValueError(f"{quoted(number)} is not a number of tokens")
    names = _special(document.get("special_tokens"), specials, config.get("version"))
    tokens = _tokens(document["vocab"], size - specials, path)
    model = BpeModel.of_ranks({token: specials + rank for rank, token in enumerate(tokens)}, names)
    if len(model.names) < len(tokens) + len(names):
        raise ValueError("a token has the name of a special token")
    skipped = tuple(range(specials))
    return source_of(model, pattern, AddedTokens(specials={}, contextual={}, context=None, skipped=skipped, normalized=()), MISTRAL)


def _special(listed: Any, most: int, version: Any) -> dict[str, int]:
    """The special tokens in the order of their ids; unnamed tokens are called ``<SPECIAL_id>``."""
    if listed is None and version not in WITHOUT_A_LIST:
        raise ValueError(f"version {quoted(version)} lists no special_tokens")
    parts = [{"rank": rank, "token_str": name} for rank, name in enumerate(SPECIAL)] if listed is None else listed
    names = {field_of(part, "token_str", "a special token"): rank for rank, part in enumerate(sequence(parts, "special_tokens"))}
    if [field_of(part, "rank", "a special token") for part in parts] != list(range(len(names))):
        raise ValueError("the special_tokens are not in the order of their ranks, each once")
    if len(names) > most:
        raise ValueError(f"it has {len(names):,} special tokens, more than default_num_special_tokens, {most:,}")
    names |= {f"<SPECIAL_{rank}>": rank for rank in range(len(names), most)}
    if len(names) != most:
        raise ValueError("a special token has the name of a numbered one")
    return names


def _tokens(vocab: Sequence[Any], used: int, path: Path) -> list[bytes]:
    """The tokens that the vocabulary size allows, in the order of their ranks."""
    if not 0 < used <= len(vocab):
        raise ValueError(f"default_vocab_size asks for {used:,} tokens of {len(vocab):,}")
    tokens = []
    for rank, part in enumerate(vocab[:used]):
        if field_of(part, "rank", "a token") != rank:
            raise ValueError(f"token {rank:,} of vocab has the rank {quoted(part['rank'])}; ranks are 0, 1, 2 and so on")
        token = base64_bytes(field_of(part, "token_bytes", "a token"), f"{path}, token {rank:,} of vocab")
        if rank < 256 and token != bytes([rank]):
            raise ValueError(f"token {rank} of vocab is not the byte {rank:#04x}")
        tokens.append(token)
    if len(set(tokens)) < len(tokens):
        raise ValueError("vocab contains a token twice")
    return tokens
