"""The guides of an engine's requests. The kind and the text of a request determine its guide."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from fst.bridge.from_live import compiled
from fst.errors import listed
from fst.runtime.machines.guide.guide import Guide

GUIDES = 128  # the maximum number of guides that are kept for later requests
ANY_WHITESPACE = r"[ \n\r\t]*"
RULE = re.compile(r"^[^#\"'/\n]*::=", re.MULTILINE)  # a line that only EBNF has


class Grammars:
    """The guides of requests for one tokenizer. Equal requests share a guide.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes.
        whitespace: as in `fst.Guide`.

    Attributes:
        size: 1 more than the highest id.

    Examples:
        >>> from fst.compile import wordpiece
        >>> grammars = Grammars(wordpiece(["[UNK]", "[SEP]", "yes", "no"]))
        >>> guide = grammars.guide("choice", '["no", "yes"]')
        >>> guide.allowed(guide.start).tolist()
        [2, 3]
    """

    def __init__(self, tokenizer: Any, *, whitespace: str = ANY_WHITESPACE) -> None:
        self._tokenizer = compiled(tokenizer, "an engine")
        self.size = 1 + max(self._tokenizer._tokens_by_id)
        self._kinds: dict[str, Callable[[str], dict[str, Any]]] = {
            "json": lambda text: {"schema": text, "whitespace": whitespace},
            "json_object": lambda _text: {"schema": {"type": "object"}, "whitespace": whitespace},
            "regex": lambda text: {"regex": text},
            "choice": lambda text: {"choice": _of_json(text)},
            "grammar": lambda text: {"grammar": text, "syntax": "ebnf" if RULE.search(text) else "lark"},
            "structural_tag": lambda text: {"grammar": _with_type(text), "syntax": "structural_tag"},
        }
        self.guide = lru_cache(GUIDES)(self._guide)

    def _guide(self, kind: str, text: str) -> Guide:
        """The guide of a request.

        Args:
            kind: "json" for a JSON Schema, "json_object" for any object, "regex", "choice" for a list of texts as JSON, "grammar" for EBNF
                of XGrammar if a rule contains ``::=``, and for Lark otherwise, or "structural_tag".
            text: the text of the schema, pattern, list, grammar or structural tag.

        Raises:
            ValueError: the kind is unknown.
            UnsupportedError, VocabularyError, TypeError: as in `fst.Guide`.
        """
        if kind not in self._kinds:
            raise ValueError(f"the kind of a request is {kind!r}; expected one of {listed(self._kinds)}")
        return Guide(self._tokenizer, **self._kinds[kind](text))


def _with_type(tag: str) -> str:
    """Add the type to a structural tag, because requests may leave it out."""
    found = _of_json(tag)
    return json.dumps({"type": "structural_tag", **found}) if isinstance(found, dict) else tag


def _of_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: the JSON is malformed, or has too many levels.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the request has too many levels of lists and objects; use fewer") from None
