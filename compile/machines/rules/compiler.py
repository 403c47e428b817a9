"""Compile rewrite rules into a table of `fst.machines.rules.table`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.algebra.arcs import Holder, held
from fst.compile.algebra.machine import Fst
from fst.compile.machines.rules.composition import Part, composed
from fst.compile.machines.rules.functional import folded_machine
from fst.compile.machines.rules.functional import passes as passes_of
from fst.compile.machines.rules.notation import check_context, check_definition, check_rule
from fst.compile.machines.rules.passes import Compiler, Passes, Strings
from fst.compile.machines.rules.replacement import Replacement
from fst.compile.machines.rules.syntax import Rule, expanded, mirrored, of_string, of_text, trees
from fst.compile.patterns.budget import Budget
from fst.errors import FstWarning, UnsupportedError, VocabularyError, not_one_of, quoted
from fst.machines.rules.entries import COPY, ENDED, NOTHING, PAGE, PAGES, copies_of, pack_left, pack_right, rows_of, strings_of
from fst.machines.rules.header import DIRECTIONS, MAX_STAGES, RIGHT_TO_LEFT, SIMULTANEOUS, RulesMetadata, RulesSettings
from fst.machines.rules.keys import MAX_KEY_BYTES, MAX_KEYS_BYTES, Keys
from fst.machines.rules.table import RulesTable
from fst.tables.strings import stored

Rules = str | Sequence[str] | Mapping[str, str] | Fst
MAX_CLASSES = 1 << 16  # maximum number of classes of characters in a stage
MAX_BLOCKS = 1 << 16  # maximum number of blocks of a table
FEW_CHARACTERS = 256  # maximum number of characters of a mapping that becomes two passes; larger mappings replace keys
COPYING = Part(  # passes that copy every character, for a stage that replaces keys
    np.zeros(CODE_POINTS, np.uint16), pack_left([[0]], [[0]]), pack_right([[0]], [[NOTHING]], [[COPY]]), np.zeros(1, np.uint32), ["", ""]
)


def rewrite(
    rules: Rules | Holder,
    *,
    left: str | None = None,
    right: str | None = None,
    direction: str = SIMULTANEOUS,
    definitions: Mapping[str, str] | None = None,
) -> RulesTable:
    r"""Compile a rewrite rule, or parallel rules that all read the same text.

    A rule ``phi -> psi / left _ right`` replaces each string that matches phi between the two contexts by psi. Matches are leftmost and
    longest; of rules with equal matches the first is applied. Characters that no rule names are copied. An empty psi removes; an empty phi
    inserts once at each position where both contexts hold.

    Phi and the contexts are regular expressions in the syntax of Rust's `regex`, with two differences: whitespace outside of brackets is
    ignored (write ``\ `` or ``[ ]``), and the characters ``->``, ``/`` and ``_`` need a backslash inside a part. In contexts, ``^`` and
    ``$`` are the start and the end of the text, and ``\b`` is the edge of a word. Psi is a string; it may contain escapes such as ``\/``,
    ``\n`` and ``\u{2C8}``.

    Args:
        rules: the text of a rule; a list of such texts; a mapping of strings to the strings that replace them; or a functional `Fst`, or
            `fst.pynini.Fst`, which is applied to whole texts. A text that it does not accept is copied. A mapping without contexts may
            have 100,000 strings and more, each with at most 4,096 bytes.
        left, right: for a mapping, the contexts of all its rules. An `Fst` with `left` or `right`, which may be empty strings, replaces
            strings inside a text, like a rule: the leftmost and longest strings that it accepts between the two contexts become its
            outputs.
        direction: "simultaneous": the contexts are matched with the input; "ltr": the rules are applied from left to right, and the left
            context is matched with the output so far; "rtl": the rules are applied from right to left, the right context is matched with
            the output so far, and matches are rightmost.
        definitions: regular expressions by name. In rules and in later definitions, the expression replaces the name, except in brackets.

    Raises:
        VocabularyError: there are no rules, a rule is not text or not a rule, or a definition has an invalid name.
        UnsupportedError: an expression is malformed, or has an unsupported construct such as a look-around, a lazy repetition or a back
            reference; or the rules need too many states. The message contains the rule.
            Other reasons: a transducer has weights, or several outputs for a text; the message then contains a shortest such text and two
            of its outputs.
        ValueError: `direction` has an invalid value, or `left` or `right` is given for rules that contain contexts.

    Warns:
        FstWarning: a rule has a sign that has another meaning in other notations, such as ``0`` or an undefined ``V``. A sign without any
            possible meaning here, such as ``||``, ``#`` or ``∅``, is a VocabularyError. Messages contain the rule in the notation of this
            package.

    Examples:
        >>> import fst
        >>> fst.Rewriter(rewrite({"ch": "tʃ", "c": "k"})).apply("chico")
        'tʃiko'
        >>> fst.Rewriter(rewrite("r -> ɾ / V _ V", definitions={"V": "[aeiou]"})).apply("rara perro")
        'raɾa perro'

    Source: Kaplan and Kay 1994, *Regular models of phonological rule systems*; Karttunen 1996, *Directed replacement*.
    """
    definitions = definitions or {}
    remarks = remarks_on(definitions)
    table = rewritten(held(rules), left, right, direction, definitions, remarks)
    for remark in remarks:
        warnings.warn(remark, FstWarning, stacklevel=2)
    return table


def remarks_on(definitions: Mapping[str, str]) -> list[str]:
    """The messages of warnings about definitions."""
    _need_texts(definitions.values())
    expanded("", definitions)  # checks the names
    return [remark for name in definitions for remark in check_definition(name, definitions)]


def rewritten(
    rules: Rules, left: str | None, right: str | None, direction: str, definitions: Mapping[str, str], remarks: list[str]
) -> RulesTable:
    """Compile rules like `rewrite`, and append the messages of warnings to `remarks`."""
    if direction not in DIRECTIONS:
        raise ValueError(not_one_of("direction", direction, DIRECTIONS))
    if isinstance(rules, Fst):
        return _of_transducer(rules, left, right, direction, definitions, remarks)
    left, right = left or "", right or ""
    if isinstance(rules, Mapping):
        _need_texts([*rules, *rules.values()])
        if not (left or right or "" in rules) and sum(map(len, rules)) > FEW_CHARACTERS:
            return _of_keys(rules, direction)
    listed = _listed(rules, left, right, definitions, remarks)
    parsed, psis, strings = [trees(rule) for rule in listed], [rule.psi for rule in listed], Strings()
    if direction == RIGHT_TO_LEFT:
        parsed, psis = [mirrored(each) for each in parsed], [psi[::-1] for psi in psis]
    passes = Compiler(parsed, psis, direction != SIMULTANEOUS, strings).passes()
    return _assembled([_settings(direction, listed)], [_part(passes, strings)])


def cascade(*tables: RulesTable) -> RulesTable:
    """Join tables of rewrite rules: each table rewrites the output of the table before.

    Args:
        tables: the results of `rewrite` or `cascade`, in the order of their application.

    Raises:
        VocabularyError: there are no tables, or an argument is not a table of rules.
        UnsupportedError: there are more than 1,024 stages.

    Examples:
        >>> import fst
        >>> rewriter = fst.Rewriter(cascade(rewrite("rr -> R"), rewrite("r -> ɾ"), rewrite("R -> r")))
        >>> rewriter.apply("pero perro")
        'peɾo pero'
    """
    for table in tables:
        if not isinstance(table, RulesTable):
            raise VocabularyError(f"a stage of the cascade is {type(table).__name__}; expected a result of fst.compile.rewrite")
    if not tables:
        raise VocabularyError("the cascade has no stages; expected at least 1")
    stages = [stage for table in tables for stage in table.stages]
    if len(stages) > MAX_STAGES:
        raise UnsupportedError(f"the cascade has {len(stages):,} stages; expected at most {MAX_STAGES:,}; join rules that can be parallel")
    return _assembled(stages, [part for table in tables for part in parts_of(table)])


def _of_transducer(
    machine: Fst, left: str | None, right: str | None, direction: str, definitions: Mapping[str, str], remarks: list[str]
) -> RulesTable:
    strings = Strings()
    if left is None and right is None:
        if definitions or direction != SIMULTANEOUS:
            raise ValueError("direction and definitions are for rules; expected left or right with them for a transducer, as in left=''")
        return _assembled([_settings(direction)], [_part(passes_of(machine, strings), strings)])
    is_mirrored, left, right = direction == RIGHT_TO_LEFT, left or "", right or ""
    _check_contexts(left, right, definitions, remarks)
    contexts = trees(of_string("", "", left, right, definitions))
    contexts = mirrored(contexts) if is_mirrored else contexts
    folded = folded_machine(machine, is_mirrored)
    passes = Replacement(folded, contexts.left, contexts.right, direction != SIMULTANEOUS, strings).passes()
    return _assembled([_settings(direction)], [_part(passes, strings)])


def _of_keys(rules: Mapping[str, str], direction: str) -> RulesTable:
    """Compile a mapping of many strings without contexts."""
    for key in rules:
        if len(key.encode()) > MAX_KEY_BYTES:
            raise UnsupportedError(f"the string {quoted(key)} has {len(key.encode()):,} bytes; expected at most {MAX_KEY_BYTES:,}")
    if len("".join(rules).encode()) > MAX_KEYS_BYTES:
        raise UnsupportedError(f"the strings have more than {MAX_KEYS_BYTES:,} bytes; expected at most that; divide the mapping")
    turn, strings = slice(None, None, -1 if direction == RIGHT_TO_LEFT else 1), Strings()
    numbers = [strings.number(psi[turn]) for psi in rules.values()]
    part = COPYING._replace(strings=strings.listed, keys=[phi[turn] for phi in rules], key_strings=numbers)
    return _assembled([_settings(direction, keys=len(rules))], [part])


def _settings(direction: str, rules: Sequence[Rule] = (), keys: int = 0) -> Mapping[str, Any]:
    """The settings of a stage."""
    return {"direction": direction, "rules": [rule._asdict() for rule in rules], "keys": keys}


def _listed(
    rules: str | Sequence[str] | Mapping[str, str], left: str, right: str, definitions: Mapping[str, str], remarks: list[str]
) -> list[Rule]:
    """Read rules of any form."""
    if isinstance(rules, Mapping):
        _check_contexts(left, right, definitions, remarks)
        found = [of_string(phi, psi, left, right, definitions) for phi, psi in rules.items()]
    else:
        if left or right:
            raise ValueError("left and right are contexts of a mapping; a rule contains its contexts, as in 'a -> b / left _ right'")
        if not isinstance(rules, Iterable):
            raise VocabularyError(f"the rules are {quoted(rules)}; expected a rule, a list of rules, a mapping or an Fst")
        texts = [rules] if isinstance(rules, str) else [*rules]
        _need_texts(texts)
        remarks += [remark for text in texts for remark in check_rule(text, definitions)]
        found = [of_text(text, definitions) for text in texts]
    if not found:
        raise VocabularyError("there are no rules; expected at least one")
    return found


def _check_contexts(left: str, right: str, definitions: Mapping[str, str], remarks: list[str]) -> None:
    """Check the contexts of a mapping or a transducer."""
    _need_texts([left, right])
    remarks += check_context(left, "left", definitions) + check_context(right, "right", definitions)


def _need_texts(texts: Iterable[Any]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise VocabularyError(f"a part of a rule is {quoted(text)}; expected a str")
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise VocabularyError(f"the rule {quoted(text)} is not text: it has a lone surrogate; remove it")


def _part(passes: Passes, strings: Strings) -> Part:
    """The arrays of a compiled stage."""
    if passes.alphabet.size > MAX_CLASSES:
        raise UnsupportedError(f"the rules distinguish {passes.alphabet.size:,} classes of characters; expected at most {MAX_CLASSES:,}")
    classes = passes.alphabet.classes
    of_codes = np.repeat(classes.numbers.astype(np.uint16), np.diff([*classes.starts, CODE_POINTS]))
    return Part(of_codes, passes.to_left, passes.to_right, passes.finals, strings.listed)


def parts_of(table: RulesTable) -> list[Part]:
    """The arrays of the stages of a table, without compositions."""
    parts = []
    for stage, (sets, classes, states, columns) in zip(table.arguments()[: len(table.stages)], table.shapes.tolist(), strict=False):
        of_codes = stage.blocks.reshape(-1, PAGE)[stage.pages].ravel()
        to_left, to_right = stage.to_left.reshape(sets, classes), stage.to_right.reshape(states, columns)
        numbers, strings = np.unique(np.concatenate([[NOTHING, ENDED], strings_of(stage.to_right), stage.finals]), return_inverse=True)
        moves, finals = strings[2 : -len(stage.finals)].reshape(states, columns), strings[-len(stage.finals) :].astype(np.uint32)
        to_right = pack_right(rows_of(to_right), moves, copies_of(to_right))
        parts.append(Part(of_codes, to_left, to_right, finals, [table.strings[number] for number in numbers]))
    return [_with_keys(part, table, keys) if keys.texts else part for part, keys in zip(parts, table.keys, strict=True)]


def _with_keys(part: Part, table: RulesTable, keys: Keys) -> Part:
    """A stage that replaces keys, and a stage with only the strings of these keys."""
    numbers, own = np.unique(np.concatenate([[NOTHING, ENDED], keys.strings]), return_inverse=True)
    return part._replace(strings=[table.strings[number] for number in numbers], keys=keys.texts, key_strings=own[2:].tolist())


def _compositions(parts: Sequence[Part], stages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, Part]]:
    """Compose adjacent stages of one direction as long as the compositions are small; yield the index of the first stage, the index after
    the last stage, and the composition.
    """
    first, budget = 0, Budget()
    while first < len(parts):
        last, whole = first + 1, parts[first]
        while last < len(parts) and (stages[first]["direction"] == RIGHT_TO_LEFT) == (stages[last]["direction"] == RIGHT_TO_LEFT):
            if whole.keys or parts[last].keys:
                break
            try:
                whole = composed(whole, parts[last], budget)
            except UnsupportedError:
                break
            last += 1
        if last > first + 1:
            yield first, last, whole
        first = last


def _assembled(stages: Sequence[Mapping[str, Any]], parts: Sequence[Part]) -> RulesTable:
    """Make the table of the given stages and their compositions."""
    compositions = [*_compositions(parts, stages)]
    parts = [*parts, *(part for _, _, part in compositions)]
    pages, blocks = _pages(parts)
    strings = [*accumulate((len(part.strings) for part in parts), initial=0)]
    string_bytes, string_ends = stored(string for part in parts for string in part.strings)
    key_bytes, key_ends = stored(key for part in parts for key in part.keys)
    key_strings = [_moved(np.array(part.key_strings, np.int64), first) for part, first in zip(parts, strings, strict=False)]
    ranges = [[first, last] for first, last, _ in compositions]
    return RulesTable(
        RulesMetadata(RulesSettings(RulesTable.kind, stages, ranges)).to_json(),
        shapes=np.array([[*part.to_left.shape, *part.to_right.shape] for part in parts], np.uint32),
        pages=pages,
        blocks=blocks,
        to_left=np.concatenate([part.to_left.ravel() for part in parts]),
        to_right=np.concatenate([_renumbered(part.to_right, first).ravel() for part, first in zip(parts, strings, strict=False)]),
        finals=np.concatenate([_moved(part.finals, first) for part, first in zip(parts, strings, strict=False)]).astype(np.uint32),
        string_bytes=string_bytes,
        string_ends=string_ends,
        key_bytes=key_bytes,
        key_ends=key_ends,
        key_strings=np.concatenate(key_strings).astype(np.uint32),
    )


def _pages(parts: Sequence[Part]) -> tuple[np.ndarray, np.ndarray]:
    """The block of each page of code points in each stage, and the classes of each block; equal pages share a block."""
    seen: dict[bytes, int] = {}
    of_pages = [page for part in parts for page in part.classes.reshape(PAGES, PAGE)]
    pages = [seen.setdefault(page.tobytes(), len(seen)) for page in of_pages]
    if len(seen) > MAX_BLOCKS:
        raise UnsupportedError(f"the rules have {len(seen):,} blocks of character classes; expected at most {MAX_BLOCKS:,}")
    blocks = np.frombuffer(b"".join(seen), np.uint16).reshape(-1, PAGE)
    return np.array(pages, np.uint16).reshape(len(parts), PAGES), blocks


def _renumbered(entries: np.ndarray, first: int) -> np.ndarray:
    """Entries of the pass to the right, with strings numbered from `first`; the first two strings are shared."""
    return pack_right(rows_of(entries), _moved(strings_of(entries), first), copies_of(entries))


def _moved(strings: np.ndarray, first: int) -> np.ndarray:
    return np.where(strings > ENDED, strings + first, strings)
