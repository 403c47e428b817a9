"""The lines of `fst explain` for each machine; a machine's function is named after its kind, or after its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fst.cli.terminal import table, visible
from fst.errors import counted

if TYPE_CHECKING:
    from fst.machines.bpe.table import BpeTable
    from fst.machines.guide.table import GuideTable
    from fst.machines.keywords.table import KeywordTable
    from fst.machines.lookup.table import LookupTable
    from fst.machines.rules.table import RulesTable
    from fst.machines.segmentation.pieces import MecabPieceTable
    from fst.machines.unigram.table import UnigramTable
    from fst.machines.wordpiece.table import WordPieceTable

MAX_SHOWN = 100  # tokens of a mask


def explained_wordpiece(tables: WordPieceTable, text: str) -> Iterator[str]:
    """Yield the steps of each word; see `fst.cli.commands.explain.wordpiece`."""
    from fst.cli.commands.explain.wordpiece import Explanation
    from fst.compile.machines.wordpiece.compiler import source_of

    return Explanation(source_of(tables)).lines(text)


def explained_bpe(tables: BpeTable, text: str) -> Iterator[str]:
    """Yield the special tokens and pre-tokens of a text in order, each pre-token with its states or merges."""
    return _parts(tables, text, _piece)


def explained_unigram(tables: UnigramTable, text: str) -> Iterator[str]:
    """Yield the special tokens and pre-tokens of a text in order, each pre-token with its scores."""
    return _parts(tables, text, _paths)


def _parts(tables: Any, text: str, explain: Callable[[Any, bytes, dict[int, str]], Iterator[str]]) -> Iterator[str]:
    from fst.machines.unigram.table import NO_ID

    names = {NO_ID: "unknown, and the vocabulary has no unk_id:", **dict(zip(tables.token_ids.tolist(), tables.tokens, strict=True))}
    for place, (part, special) in enumerate(tables.parts(text)):
        if place:
            yield ""
        if special is None:
            piece = part.encode()
            yield from explain(tables, piece, names)
            yield "  tokens " + " ".join(f"{names[number]} {number}" for number in tables.run_pretoken(piece))
        else:
            yield f"{part}: a special token, id {special}"


def _piece(tables: BpeTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    from fst.pretokens.byte_letters import spelled

    yield f"pre-token {spelled(piece)}"
    yield from _states(tables, piece, names) if tables.has_automaton else _merges(tables, piece)


def _states(tables: BpeTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield a line for each byte: the state of the automaton and the last token after this byte."""
    from fst.automata.rows import ROOT
    from fst.machines.bpe.automaton import ENTRY, step
    from fst.pretokens.byte_letters import spelled

    state = ROOT
    for byte in piece:
        state = step(tables.entries, state, byte)
        yield f"  {spelled(bytes([byte]))}  {byte:#04x}  state {state:>8}  last token {names[ENTRY.unpack(tables.entries[state]).target]}"


def _merges(tables: BpeTable, piece: bytes) -> Iterator[str]:
    from fst.machines.bpe.merge_list import steps

    names = tables.names_of_merges
    for rank, left, right in steps(tables.ranks, tables.merges, tables.atoms_of(piece)):
        yield f"  merge {rank:>8}  {names[left]} {names[right]}"


def _paths(tables: UnigramTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield the lines that explain a pre-token of Unigram: the tokens, with scores, that begin at each character, and the sums along the
    best path.
    """
    from fst.machines.unigram.viterbi import tokens_at

    text = piece.decode()
    yield f"pre-token {_shown(text, tables)}"
    if tables.is_word_type:
        yield f"  {'unknown' if tables.token_of(piece) is None else 'a token'} as a whole word"
        return
    begin = 0
    for char in text:
        found = (
            f"{names.get(number) or f'{_shown(piece[begin:end].decode(), tables)} (no id)'} {tables.path_scores[number]:.4g}"
            for end, number in tokens_at(tables.trie, piece, begin)
        )
        yield f"  {_shown(char, tables)}  tokens from here: {', '.join(found) or 'none'}"
        begin += len(char.encode())
    total = 0.0
    for begin, end, number in tables.path(piece)[0]:
        total += float(tables.unknown if number is None else tables.path_scores[number])
        yield f"  best path to {_shown(piece[begin:end].decode(), tables)}: sum {total:.6g}"


def _shown(text: str, tables: UnigramTable) -> str:
    """Text with spaces written as in tokens, such as "▁"."""
    return text.replace(" ", tables.symbol) if tables.symbol else text


def explained_mecab_wordpiece(tables: MecabPieceTable, text: str) -> Iterator[str]:
    """Yield a line for each word of MeCab and each added token, with its tokens and their ids."""
    names = dict(zip(tables.token_ids.tolist(), tables.tokens, strict=True))
    for _, group in groupby(tables.walk(text), key=lambda token: token.word):
        tokens = [*group]
        whole = text[tokens[0].start : tokens[-1].end]
        yield f"word {visible(whole)}  tokens " + " ".join(f"{names[token.id]} {token.id}" for token in tokens)


def explained_keywords(tables: KeywordTable, text: str) -> Iterator[str]:
    """Yield the lines that explain a search: the normalized text, if it differs from the input, and the matches with their bytes."""
    data = text.encode()
    spelled = tables.metadata.text.spelled(text)[0]
    if spelled != data:
        yield f"read as {visible(spelled.decode(errors='backslashreplace'))}"
    found: list[tuple[str, ...]] = [
        (str(start), str(end), visible(data[start:end].decode()), str(number)) for number, start, end in tables.walk(data)
    ]
    yield from table(("first byte", "end", "match", "keyword"), found) if found else ["no match"]


def explained_rules(tables: RulesTable, text: str) -> Iterator[str]:
    """Yield the lines that explain rules: the text of each stage, and the matches in it; see `fst.Rewriter.explain`."""
    from fst.bridge.rules import explained

    return map(visible, explained(tables, text).lines())


def explained_lookup(tables: LookupTable, text: str) -> Iterator[str]:
    """Yield the lines that explain the look-up of a word: its analyses or, without an analysis, the longest prefix of the word that the
    transducer reads.
    """
    from fst.machines.lookup.text_walk import longest
    from fst.machines.lookup.walk import Steps, units_of
    from fst.runtime.public_class import class_of

    analyses = class_of(tables)(tables)(text)
    if analyses:
        yield from map(visible, analyses)
        return
    units = units_of(text)
    with Steps(text) as steps:
        reach = longest(tables, units, 0, steps).reach
    known = text.encode("utf-16-le")[: 2 * reach].decode("utf-16-le", "ignore")
    yield f"no analysis; the longest beginning that the transducer reads is {visible(known)!r}"


def explained_guide(tables: GuideTable, text: str) -> Iterator[str]:
    """Yield the lines that explain the mask after a text."""
    data = text.encode()
    inside, between = tables.paths(data)
    if not inside:
        size = next(size for size in range(len(data)) if not tables.paths(data[: size + 1])[0])
        yield f"no text continues {visible(data[: size + 1].decode(errors='backslashreplace'))!r}"
    elif not between:
        yield f"no token ends after {visible(text)!r}"
    for state in sorted(between):
        yield from _of_state(tables, tables.start if not data else state, bool(tables.finals[state]), is_first=not data)


def _of_state(tables: GuideTable, state: int, is_final: bool, *, is_first: bool) -> Iterator[str]:
    end_id = tables.metadata.settings.end_id
    ids = [number for number in tables.allowed(state).tolist() if number != end_id]
    end = "" if end_id is None or not is_final else f", as token {end_id}"
    yield f"state {state}: {counted(len(ids), 'token')} may follow; the text may {f'end{end}' if is_final else 'not end'}"
    shown = ids[:MAX_SHOWN]
    if shown:
        contents = (tables.content(number, is_first=is_first) for number in shown)
        texts = (visible(content.decode(errors="backslashreplace")) for content in contents)
        rows: list[tuple[str, ...]] = [*zip(map(str, shown), texts, strict=True)]
        yield from table(("id", "text"), rows)
    if len(ids) > MAX_SHOWN:
        yield f"  and {len(ids) - MAX_SHOWN:,} more"
