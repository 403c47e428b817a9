"""The command `fst info`: descriptions of table files, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from fst.cli.files.streams import keep_apart, show
from fst.cli.group import CliCommand
from fst.cli.options import table_argument
from fst.errors import counted
from fst.runtime.files.streams import STANDARD, size

OPTIONS = (
    "lowercase",
    "strip_accents",
    "clean_text",
    "handle_chinese_chars",
    "pre_tokenizer",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "max_input_chars_per_word",
    "ignore_merges",
    "subword",
    "never_split",
    "max_grouping_size",
)
SIZES = ("tokens", "states", "entries", "columns", "classes", "words")
MAX_STRING = 1_000  # number of characters; longer strings are cut
PARTS = ("normalizer_parts", "pre_tokenizer_parts")  # components that are printed as JSON if `OPTIONS` cannot describe them
MAX_LISTED = 12  # the maximum number of special tokens in the text output; JSON contains all


@click.command("info", cls=CliCommand)
@table_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(table: str, as_json: bool) -> None:
    """Describe a table: kind, size, options, settings of the source.

    Templates have the notation of the library tokenizers: $A and $B are texts, and the number after a colon is a type id.

    \b
    Examples:
      fst info bert.npz
      fst info bert.npz --json | jq .options
    """
    from fst.registry import load

    keep_apart([STANDARD], [table])
    description = described(load(table), table, size([table]) or 0)
    show([json.dumps(description, ensure_ascii=False)] if as_json else listed(description))


def described(table: Any, path: str, size: int) -> dict[str, Any]:
    """The description of a table, as a JSON object."""
    from fst.cli.files.ids import names
    from fst.tables.header import RULES, TOKENIZERS

    if not table.has_tokens:
        return {"file": path, "bytes": size, **table.summary}
    metadata, spellings = table.metadata, names(table)
    stored = metadata.to_json()
    return {
        "file": path,
        "bytes": size,
        "kind": table.kind,
        "reference": stored.get("reference", TOKENIZERS),
        **{name: stored[name] for name in ("layout", "columns") if name in stored},
        "tokens": len(table.token_ids),
        **_sizes(table),
        "options": {name: stored[name] for name in OPTIONS if name in stored},
        **{name: stored[name] for name in PARTS if name in stored},
        "specials": stored["specials"],
        "late": stored["late"],
        "skipped": [spellings[number] for number in metadata.added_tokens.skipped],
        **{name: [_named(piece, spellings) for piece in stored[name]] for name in ("single", "pair")},
        **{name: stored[name] for name in ("dropout", "tuning", *RULES) if name in stored},
    }


def _sizes(table: Any) -> dict[str, int]:
    """The sizes of the machine. The machine of Japanese BERT has only a trie."""
    states = getattr(table.metadata.automaton, "states", None)
    if states is None:
        return {"entries": len(table.entries)}
    words = int((table.words[3::4] > 0).sum())
    return {"states": states, "entries": len(table.entries), "classes": table.class_count, "words": words}


def listed(description: dict[str, Any]) -> Iterator[str]:
    """The description as lines of text."""
    shown = _of_tokenizer(description) if "tokens" in description else {name: _value(value) for name, value in description.items()}
    width = max(map(len, shown))
    return (f"{name:{width}}  {value}" for name, value in shown.items())


def _value(value: Any) -> str:
    """Format a value as text. A long list is replaced by its length; numbers have thousands separators."""
    if isinstance(value, list) and len(value) > MAX_LISTED:
        return f"{len(value):,} entries"
    if isinstance(value, bool):
        return json.dumps(value)
    return f"{value:,}" if isinstance(value, int) else "none" if value is None else str(value)


def _of_tokenizer(description: dict[str, Any]) -> dict[str, str]:
    contextual = {name: token["id"] for name, token in description["late"].items()}
    return {
        "file": description["file"],
        "size": f"{description['bytes']:,} bytes",
        **{name: description[name] for name in ("kind", "reference", "layout") if name in description},
        **{name: f"{description[name]:,}" for name in SIZES if name in description},
        **{name: json.dumps(value, ensure_ascii=False) for name, value in description["options"].items()},
        **{name: _components(description[name]) for name in PARTS if description.get(name) is not None},
        "special tokens": _specials(description["specials"]),
        **({"contextual tokens": _specials(contextual)} if contextual else {}),
        **{name: " ".join(map(_spelled, description[name])) for name in ("single", "pair")},
        "named tokens": ", ".join(f"{name} {token}" for name, token in description["named_tokens"].items()) or "none",
        **({"chat templates": _templates(description["chat_templates"])} if description["chat_templates"] else {}),
        **({"more special tokens": " ".join(description["extra_special_tokens"])} if description["extra_special_tokens"] else {}),
        "model": _model(description),
        "decoder": json.dumps(description["decoder"], ensure_ascii=False),
        "truncation": _unapplied(description["truncation"], _truncation),
        "padding": _unapplied(description["padding"], _padding),
        **({"dropout": _unapplied(description["dropout"], str)} if description.get("dropout") else {}),
        **({"tuned words": "{words:,}, of texts with SHA-256 {texts}".format(**description["tuning"])} if "tuning" in description else {}),
        "sides": f"truncation {description['truncation_side']}, padding {description['padding_side']}",
    }


def _components(parts: list[dict[str, Any]]) -> str:
    """Normalizers or pre-tokenizers as JSON; of a long string, such as a charsmap, only the beginning is shown."""
    shown = [{name: _cut(value) for name, value in part.items()} for part in parts]
    return json.dumps(shown, ensure_ascii=False)


def _cut(value: Any) -> Any:
    """A value in which a long string is replaced by its beginning and its length."""
    return f"{value[:20]}... ({len(value):,} characters)" if isinstance(value, str) and len(value) > MAX_STRING else value


def _named(piece: list[Any], spellings: Mapping[int, str]) -> list[Any]:
    """A part of a template, which gives the ids around texts, with tokens in place of ids."""
    content, type_id = piece
    return [content if isinstance(content, str) else [spellings[number] for number in content], type_id]


def _spelled(piece: list[Any]) -> str:
    """A part of a template as `fst info` shows it: $A for a text, and the type id unless it is 0."""
    content, type_id = piece
    tokens = [f"${content}"] if isinstance(content, str) else content
    return " ".join(f"{token}:{type_id}" if type_id else token for token in tokens)


def _specials(specials: dict[str, int]) -> str:
    by_id = sorted(specials.items(), key=lambda special: special[1])
    first = [f"{token} {number}" for token, number in by_id[:MAX_LISTED]]
    more = len(specials) - len(first)
    return (", ".join(first) or "none") + (f", and {more} more" if more else "")


def _templates(templates: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({counted(len(text), 'character')})" for name, text in templates.items())


def _model(description: dict[str, Any]) -> str:
    length = description["model_max_length"]
    inputs = ", ".join(description["model_input_names"])
    return f"takes {inputs}" + ("" if length is None else f", of up to {counted(length, 'id')}")


def _truncation(asked: Mapping[str, Any]) -> str:
    side = asked.get("direction", "Right").lower()
    return f"to {counted(asked['max_length'], 'id')}, {asked['strategy']}, stride {asked['stride']:,}, at the {side}"


def _padding(asked: Mapping[str, Any]) -> str:
    strategy, multiple = asked["strategy"], asked.get("pad_to_multiple_of")
    width = "the longest row" if strategy == "BatchLongest" else counted(strategy["Fixed"], "id")
    multiples = f", to a multiple of {multiple:,}" if multiple else ""
    return f"to {width}{multiples}, with {asked['pad_token']} {asked['pad_id']}, at the {asked['direction'].lower()}"


def _unapplied(asked: Any, described: Callable[[Any], str]) -> str:
    return "none" if asked is None else f"{described(asked)}; set in the source, not applied"
