"""Replace the special ids around texts in a table. Nothing is compiled again, because the ids of texts do not depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fst.compile.sources.templates import added_ids, of_post_processor, trimming
from fst.errors import FstError, UnsupportedError, VocabularyError, quoted, reason
from fst.tables.header import Templates


def with_post_processor(table: Any, part: Mapping[str, Any] | None) -> Any:
    """A table with another post-processor.

    Args:
        table: the table of a tokenizer.
        part: the post-processor in the form of a ``tokenizer.json``.

    Returns:
        A new table, or `table` itself if nothing changes.

    Raises:
        UnsupportedError: no template adds the same ids; or the post-processor trims offsets, and that of the table does not.
        VocabularyError: the post-processor is malformed, or adds an id that no token has.
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
