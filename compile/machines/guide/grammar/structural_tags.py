"""Structural tags, in the JSON form that XGrammar documents: free text, tags with content, and what follows triggers in free text.

As in XGrammar, a tag follows as soon as its trigger occurs, and the free text in a tag does not contain the tag's end strings: this holds
for the formats `any_text` and `triggered_tags`, also in `sequence`, `or` and `optional`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fst.compile.machines.guide.grammar.tree import MAX_COUNT, Call, Free, Grammar, Place, Rule, Schema, literal
from fst.compile.machines.guide.regex import Pattern
from fst.compile.patterns.sets import MAX_DEPTH
from fst.compile.patterns.tree import Choice, Node, Repeat, Sequence
from fst.errors import FstError, UnsupportedError, VocabularyError, quoted, reason

TOKEN_FORMATS = ("token", "exclude_token", "any_tokens", "token_triggered_tags", "token_dispatch")
START = "structural tag"
KINDS: dict[type, str] = {str: "a str", bool: "a bool", int: "an int", list: "a list", dict: "an object"}


def read_structural_tag(source: str | Mapping[str, Any], read: Callable[[str, str], Grammar]) -> Grammar:
    """Read a structural tag as a grammar.

    Args:
        source: an object of ``json``, or its text: ``{"type": "structural_tag", "format": {…}}``, or the older form with ``structures`` and
            ``triggers``.
        read: reads a nested grammar, given its text and its syntax.

    Raises:
        VocabularyError: the structural tag is malformed; the message contains the path.
        UnsupportedError: a format or an option is not supported; the message contains its name and path.
    """
    try:
        tag = json.loads(source) if isinstance(source, str) else source
    except ValueError as error:
        raise VocabularyError(f"the structural tag is malformed: {reason(error)}; expected JSON") from None
    except RecursionError:
        raise UnsupportedError("the structural tag has too many levels; make it flatter") from None
    return _Reader(read).grammar(tag)


class _Reader:
    def __init__(self, read: Callable[[str, str], Grammar]) -> None:
        self._read = read
        self._rules: dict[str, Rule] = {}
        self._depth = 0

    def grammar(self, tag: Any) -> Grammar:
        """The grammar of a structural tag."""
        place = Place(0, 0, "#")
        if not isinstance(tag, Mapping) or tag.get("type") != "structural_tag" or not ("format" in tag or "structures" in tag):
            raise VocabularyError(f"{place}: found {quoted(tag)}; expected an object of type 'structural_tag' with a format")
        form, path = (tag["format"], "#/format") if "format" in tag else (_of_structures(tag), "#")
        self._rules[START] = Rule(Sequence(()), place)  # before the rules of nested grammars
        self._rules[START] = Rule(self._node(form, path, ()), place)
        return Grammar(self._rules, START)

    def _node(self, form: Any, path: str, ends: tuple[str, ...]) -> Node:
        """The node of a format; `ends`: the end strings of the tag whose content it is."""
        kind = form.get("type") if isinstance(form, Mapping) else None
        if isinstance(kind, str) and kind in TOKEN_FORMATS:
            raise UnsupportedError(f"{Place(0, 0, path)}: the format {quoted(kind)} is not supported; write the text of the tokens")
        if not isinstance(kind, str) or kind not in FORMATS:
            raise VocabularyError(f"{Place(0, 0, path)}: the format is {quoted(kind or form)}; expected one of {', '.join(FORMATS)}")
        self._depth += 1
        if self._depth > MAX_DEPTH // 2:
            raise UnsupportedError(f"{Place(0, 0, path)}: there are more than {MAX_DEPTH // 2} formats inside one another; make it flatter")
        node = FORMATS[kind](self, _Fields(form, path), path, ends)
        self._depth -= 1
        return node

    # Formats that contain none.

    def _const_string(self, fields: _Fields, _path: str, _ends: tuple[str, ...]) -> Node:
        return literal(fields.take("value", str))

    def _json_schema(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        schema = fields.take("json_schema", dict, bool)
        fields.refuse_others(style="json", any_order=False, max_whitespace_cnt=None, excludes=[])
        return Schema(json.dumps(schema), Place(0, 0, path))

    def _grammar(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        grammar, syntax = fields.take("grammar", str), fields.take("syntax", str, default="ebnf")
        try:
            found = self._read(grammar, syntax)
        except (FstError, ValueError) as error:
            kind = type(error) if isinstance(error, FstError) else VocabularyError
            raise kind(f"{Place(0, 0, path)}: {error}") from None
        for name, rule in found.rules.items():
            self._rules[f"{path}: {name}"] = Rule(_moved(rule.tree, path), rule.place._replace(path=path))
        return Call(f"{path}: {found.start}", Place(0, 0, path))

    def _regex(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        try:
            return Pattern(fields.take("pattern", str)).tree
        except FstError as error:
            raise type(error)(f"{Place(0, 0, path)}: {error}") from None

    def _any_text(self, fields: _Fields, _path: str, ends: tuple[str, ...]) -> Node:
        excludes, most = fields.texts("excludes", default=[]), fields.take("max_chars", int, default=None)
        fields.refuse_others(max_tokens=None)
        return Free(excludes=(*excludes, *ends), most=most) if most != 0 else Sequence(())

    # Formats of formats.

    def _sequence(self, fields: _Fields, path: str, ends: tuple[str, ...]) -> Node:
        return Sequence(self._elements(fields, path, ends))

    def _or(self, fields: _Fields, path: str, ends: tuple[str, ...]) -> Node:
        return Choice(self._elements(fields, path, ends))

    def _elements(self, fields: _Fields, path: str, ends: tuple[str, ...]) -> tuple[Node, ...]:
        elements = fields.several("elements")
        return tuple(self._node(each, f"{path}/elements/{place}", ends) for place, each in enumerate(elements))

    def _optional(self, fields: _Fields, path: str, ends: tuple[str, ...]) -> Node:
        return Repeat(self._node(fields.take("content", dict), f"{path}/content", ends), 0, 1)

    def _star(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        return Repeat(self._node(fields.take("content", dict), f"{path}/content", ()), 0, None)

    def _plus(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        return Repeat(self._node(fields.take("content", dict), f"{path}/content", ()), 1, None)

    def _repeat(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        least, most = fields.take("min", int), fields.take("max", int)
        if not 0 <= least <= MAX_COUNT or (most != -1 and not least <= most <= MAX_COUNT):
            expected = "0 or more, and a max that is not below min, or -1 for any number"
            raise VocabularyError(f"{Place(0, 0, path)}: the counts are {least} to {most}; expected {expected}")
        return Repeat(self._node(fields.take("content", dict), f"{path}/content", ()), least, None if most == -1 else most)

    def _tag(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        begin, rest = self._tagged(fields, path)
        return Sequence((literal(begin), rest))

    def _tagged(self, fields: _Fields, path: str) -> tuple[str, Node]:
        """The begin string of a tag, and what follows it."""
        if any(isinstance(fields.form.get(name), Mapping) for name in ("begin", "end")):
            raise UnsupportedError(f"{Place(0, 0, path)}: a token as begin or end of a tag is not supported; write its text")
        begin, end = fields.take("begin", str), fields.take("end", str, list)
        ends = [end] if isinstance(end, str) else end
        if not ends or not all(isinstance(each, str) for each in ends):
            raise VocabularyError(f"{Place(0, 0, path)}: end is {quoted(end)}; expected a str, or a list of one or more")
        content = self._node(fields.take("content", dict), f"{path}/content", tuple(filter(None, ends)))
        return begin, Sequence((content, Choice(tuple(map(literal, ends)))))

    def _tags(self, fields: _Fields, path: str) -> list[tuple[str, Node]]:
        """The tags of a format: their begin strings, and what follows them."""
        found = []
        for place, tag in enumerate(fields.several("tags")):
            of_tag = _Fields(tag, f"{path}/tags/{place}")
            of_tag.take("type", str, default="tag")
            found.append(self._tagged(of_tag, f"{path}/tags/{place}"))
        return found

    def _triggered_tags(self, fields: _Fields, path: str, ends: tuple[str, ...]) -> Node:
        triggers, excludes = fields.texts("triggers"), fields.texts("excludes", default=[])
        tags = self._tags(fields, path)
        needs_one, stops_early = (fields.take(name, bool, default=False) for name in ("at_least_one", "stop_after_first"))
        rest: dict[str, list[Node]] = {trigger: [] for trigger in triggers}
        for begin, following in tags:
            matching = [trigger for trigger in rest if begin.startswith(trigger)]
            if len(matching) != 1:
                found = f"the tag {quoted(begin)} begins with {len(matching)} triggers"
                raise VocabularyError(f"{Place(0, 0, path)}: {found}; expected one trigger, as in {quoted(triggers)}")
            rest[matching[0]].append(Sequence((literal(begin.removeprefix(matching[0])), following)))
        stops = {trigger: Choice(tuple(nodes)) for trigger, nodes in rest.items()}
        free = self._free(stops, (*excludes, *ends), path, loops=not stops_early)
        if not needs_one:
            return free
        first = Choice(tuple(Sequence((literal(begin), following)) for begin, following in tags))
        return first if stops_early else Sequence((first, free))

    def _dispatch(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        stops: dict[str, Node] = {}
        for place, rule in enumerate(fields.several("rules")):
            where = f"{path}/rules/{place}"
            if not isinstance(rule, list | tuple) or len(rule) != 2 or not isinstance(rule[0], str) or not rule[0]:
                raise VocabularyError(f"{Place(0, 0, where)}: found {quoted(rule)}; expected a string that is not empty, and a format")
            if rule[0] in stops:
                raise VocabularyError(f"{Place(0, 0, where)}: {quoted(rule[0])} is already a pattern; expected different patterns")
            stops[rule[0]] = self._node(rule[1], f"{where}/1", ())
        return self._free(stops, fields.texts("excludes", default=[]), path, loops=fields.take("loop", bool, default=True))

    @staticmethod
    def _free(stops: Mapping[str, Node], excludes: tuple[str, ...], path: str, *, loops: bool) -> Node:
        for stop in stops:
            longer = next((other for other in stops if stop != other and stop in other), None)
            if longer is not None:
                found = f"the trigger {quoted(stop)} is part of the trigger {quoted(longer)}"
                raise UnsupportedError(f"{Place(0, 0, path)}: {found}, which is not supported; use different triggers")
        return Free(tuple(stops.items()), excludes, loops)

    def _tags_with_separator(self, fields: _Fields, path: str, _ends: tuple[str, ...]) -> Node:
        tags = Choice(tuple(Sequence((literal(begin), following)) for begin, following in self._tags(fields, path)))
        separator = literal(fields.take("separator", str))
        needs_one, stops_early = (fields.take(name, bool, default=False) for name in ("at_least_one", "stop_after_first"))
        some = tags if stops_early else Sequence((tags, Repeat(Sequence((separator, tags)), 0, None)))
        return some if needs_one else Repeat(some, 0, 1)


class _Fields:
    """The fields of a format, which are taken one by one; a field that remains is refused."""

    def __init__(self, form: Any, path: str) -> None:
        if not isinstance(form, Mapping):
            raise VocabularyError(f"{Place(0, 0, path)}: found {quoted(form)}; expected an object")
        self.form, self._path = form, path

    def take(self, name: str, *kinds: type, default: Any = ...) -> Any:
        """The value of a field."""
        value = self.form.get(name, default)
        if value is default and default is not ...:
            return default
        if value is ... or not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            found = "missing" if value is ... else quoted(value)
            raise VocabularyError(f"{Place(0, 0, self._path)}: {name} is {found}; expected {' or '.join(KINDS[kind] for kind in kinds)}")
        return value

    def several(self, name: str) -> list[Any]:
        """A list with one or more values."""
        found: list[Any] = self.take(name, list)
        if not found:
            raise VocabularyError(f"{Place(0, 0, self._path)}: {name} is empty; expected one or more")
        return found

    def texts(self, name: str, default: Any = ...) -> tuple[str, ...]:
        """A list of strings, none of which is empty."""
        found = self.take(name, list, default=default) if default is not ... else self.several(name)
        if not all(isinstance(each, str) and each for each in found):
            raise VocabularyError(f"{Place(0, 0, self._path)}: {name} is {quoted(found)}; expected strings that are not empty")
        return tuple(found)

    def refuse_others(self, **defaults: Any) -> None:
        """Refuse options that change the texts."""
        for name, default in defaults.items():
            if self.form.get(name, default) != default:
                raise UnsupportedError(f"{Place(0, 0, self._path)}: {name} is {quoted(self.form[name])}, which is not supported; remove it")


def _of_structures(tag: Mapping[str, Any]) -> dict[str, Any]:
    """The format of the older form, in which each tag has a schema."""
    fields = _Fields(tag, "#")
    tags = []
    for place, each in enumerate(fields.several("structures")):
        structure = _Fields(each, f"#/structures/{place}")
        schema = structure.take("schema", dict, bool, str)
        content = {"type": "json_schema", "json_schema": json.loads(schema) if isinstance(schema, str) else schema}
        tags.append({"type": "tag", "begin": structure.take("begin", str), "content": content, "end": structure.take("end", str)})
    return {"type": "triggered_tags", "triggers": fields.several("triggers"), "tags": tags}


def _moved(node: Node, path: str) -> Node:
    """The node of a nested grammar, with other names of rules."""
    if isinstance(node, Call):
        return Call(f"{path}: {node.name}", node.place._replace(path=path))
    if isinstance(node, Schema):
        return Schema(node.source, node.place._replace(path=path))
    if isinstance(node, Sequence | Choice):
        return type(node)(tuple(_moved(part, path) for part in node.parts))
    return Repeat(_moved(node.body, path), node.least, node.most) if isinstance(node, Repeat) else node


FORMATS: dict[str, Callable[[_Reader, _Fields, str, tuple[str, ...]], Node]] = {
    name: getattr(_Reader, f"_{name}")
    for name in (
        *("const_string", "json_schema", "grammar", "regex", "any_text", "sequence", "or", "optional", "star", "plus", "repeat"),
        *("tag", "triggered_tags", "tags_with_separator", "dispatch"),
    )
}
