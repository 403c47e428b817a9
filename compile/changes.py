"""Add tokens to a table, or replace the special ids around its texts. Only the parts of the table that depend on added tokens are compiled
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fst.automata.rows import MAX_OUTPUT
from fst.compile.sources.pretrained.conventions import named_tokens
from fst.compile.sources.pretrained.special_tokens import AddedToken, added_token
from fst.compile.sources.templates import added_ids, of_post_processor, trimming
from fst.compile.text.added_tokens import added_tokens
from fst.core.json_fields import is_text
from fst.errors import FstError, TableError, UnsupportedError, VocabularyError, quoted, reason
from fst.tables.header import CONTEXTUAL_FLAGS, COUNTING, SENTENCEPIECE, TOKENIZERS, Templates

FLAGS = (*CONTEXTUAL_FLAGS, "special")


def add(table: Any, tokens: Iterable[Any]) -> Any:
    """A table with more added tokens, or with new flags for existing added tokens.

    Args:
        table: the table of a tokenizer.
        tokens: as in `fst.Tokenizer.with_added_tokens`.

    Returns:
        A new table, or `table` itself if nothing changes.
    """
    added, reference = table.metadata.added_tokens, _reference(table)
    if reference.startswith(SENTENCEPIECE):
        raise UnsupportedError("the table has the ids of sentencepiece, which adds no tokens; compile what transformers makes of the model")
    old = {part["content"]: part for part in added.listed()}
    parts = old | {part["content"]: part for part in _stated(tokens)}
    if all(old.get(content) == {**part, "id": old.get(content, {}).get("id")} for content, part in parts.items()):
        return table
    ids = _numbered(table, parts, reference)
    compiler: Any = table.companion("fst.compile.machines.{}.compiler")
    if compiler is None:
        what = f"added tokens of a {table.kind} table, which keeps those of its folder"
        raise UnsupportedError(f"{what}; expected no new token; add them to tokenizer_config.json, and compile the folder again")
    try:
        return compiler.with_added(_named(table, parts.keys() - old.keys()), added_tokens([*parts.values()], ids))
    except FstError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise TableError(f"the components of the text are not sound: {reason(error)}; compile the table again") from None


def _stated(tokens: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The tokens in the format of a ``tokenizer.json``, without ids. Empty tokens are skipped, as `tokenizers` does."""
    if isinstance(tokens, str | Mapping):
        raise TypeError(f"tokens is {type(tokens).__name__}; expected an iterable of tokens; pass a list")
    for token in tokens:
        found = _token(token)
        if not is_text(found.content):
            raise VocabularyError(f"token {quoted(found.content)} is not text")
        if found.content:
            yield found.listed()


def _token(token: Any) -> AddedToken:
    """An added token, from a string, from a mapping, or from an object with the attributes of ``tokenizers.AddedToken``."""
    if isinstance(token, str):
        return AddedToken(token)
    stated = token if isinstance(token, Mapping) else {name: getattr(token, name, None) for name in ("content", *FLAGS)}
    try:
        return added_token(stated)
    except (KeyError, TypeError, ValueError):
        what = f"a str, or a mapping or an object with content and the flags {', '.join(FLAGS)}"
        raise TypeError(f"a token to add is {quoted(token)}; expected {what}") from None


def _numbered(table: Any, parts: Mapping[str, Any], reference: str) -> dict[str, int]:
    """The id of each added token. If `tokenizers` defines the ids, the first new id is the number of tokens; if another library defines
    them, it is the highest id + 1.
    """
    known = {content: number for content, number in zip(table.tokens, table.token_ids.tolist(), strict=True) if content in parts}
    following = len(table.token_ids) if reference in COUNTING else 1 + int(table.token_ids.max())
    new = [content for content in parts if content not in known]
    taken = np.flatnonzero(np.isin(np.arange(following, following + len(new)), table.token_ids))
    if len(taken):
        content, number = quoted(new[taken[0]]), following + int(taken[0])
        raise UnsupportedError(f"the id of added token {content} is {number}, which another token has; number tokens without gaps")
    if following + len(new) > MAX_OUTPUT + 1:
        raise UnsupportedError(f"the ids of added tokens are up to {following + len(new) - 1:,}; at most {MAX_OUTPUT:,} is possible")
    known |= {content: following + place for place, content in enumerate(new)}
    return {content: known[content] for content in parts}


def _named(table: Any, new: Collection[str]) -> Any:
    """Assign roles to new tokens with usual names, such as pad_token to [PAD], unless another token already has the role."""
    metadata = table.metadata
    named = {**named_tokens(new, None, None), **metadata.settings.named_tokens}
    return replace(table, header=replace(metadata, settings=replace(metadata.settings, named_tokens=named)).to_json())


def _reference(table: Any) -> str:
    """The library that defines the ids of a table."""
    text = getattr(table.metadata, "text", None)
    return TOKENIZERS if text is None else text.reference


def with_post_processor(table: Any, part: Mapping[str, Any] | None) -> Any:
    """A table with another post-processor.

    Args:
        table: the table of a tokenizer.
        part: the post-processor in the form of a ``tokenizer.json``.

    Returns:
        A new table, or `table` itself if nothing changes.
    """
    try:
        templates, trims = of_post_processor(part), trimming(part)
    except FstError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise VocabularyError(f"the post-processor is malformed: {reason(error)}") from None
    _check_ids(templates, table)
    metadata = table.metadata
    text = getattr(metadata, "text", None)
    had = metadata.model.trims_offsets if text is None else text.trimming is not None
    if trims and not had:
        raise UnsupportedError("post_processor with trim_offsets, and the table trims no offsets; set it to false, or compile again")
    changed = {"templates": templates}
    if text is None:
        changed["model"] = replace(metadata.model, trims_offsets=trims is not None)
    else:
        changed["text"] = replace(text, trimming=trims.add_prefix_space if trims else None)
    made = replace(metadata, **changed)
    return table if made == metadata else replace(table, header=made.to_json())


def _check_ids(templates: Templates, table: Any) -> None:
    known = {*table.token_ids.tolist()}
    for number in added_ids(templates.single) + added_ids(templates.pair):
        if type(number) is not int or number not in known:
            raise VocabularyError(f"the post-processor adds the id {quoted(number)}, which no token has")
