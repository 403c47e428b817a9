"""Read the chat templates of a folder or of a live tokenizer, as text. Tables contain the templates for `fst.hf`; this package does not run
them.

As in `transformers`, template files take precedence. The templates in ``tokenizer_config.json``, which are a text or a list of named texts,
are used only if there are no template files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fst.compile.files import read_text
from fst.compile.sources.inputs import TEMPLATE_SUFFIX, templates
from fst.errors import VocabularyError, quoted

DEFAULT = "default"


def of_folder(folder: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """The chat templates of a folder, as a mapping from names to templates. `config`: the tokenizer_config.json of the folder."""
    files = {DEFAULT if path.parent == folder else path.name.removesuffix(TEMPLATE_SUFFIX): path for path in templates(folder)}
    texts = {name: read_text(path).replace("\r\n", "\n").replace("\r", "\n") for name, path in files.items()}
    return texts or by_name(config.get("chat_template"))


def by_name(template: Any) -> dict[str, str]:
    """The chat templates in a setting or an attribute: a text, a list of mappings with name and template, or a mapping.

    Examples:
        >>> by_name("{{ messages }}"), by_name([{"name": "rag", "template": "{{ documents }}"}]), by_name(None)
        ({'default': '{{ messages }}'}, {'rag': '{{ documents }}'}, {})
    """
    try:
        named = {part["name"]: part["template"] for part in template} if isinstance(template, list) else template
    except (KeyError, TypeError):
        named = template
    texts = {DEFAULT: named} if isinstance(named, str) else {} if named is None else named
    if not isinstance(texts, dict) or not all(isinstance(text, str) for item in texts.items() for text in item):
        raise VocabularyError(f"chat_template is {quoted(template)}; expected text, or mappings with name and template")
    return dict(sorted(texts.items()))
