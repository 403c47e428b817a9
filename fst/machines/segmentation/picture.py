"""Pictures of segmentation: the transducer of MaxMatch, and the lattices of jieba and MeCab."""

from __future__ import annotations

from typing import Any

from fst.automata.dot import visible
from fst.automata.picture import END, Automaton, Picture, Step, lattice, need_text, units_label
from fst.automata.rows import ROOT
from fst.machines.segmentation.jieba import JiebaTable
from fst.machines.segmentation.maxmatch import BACKWARD, MaxMatchTable
from fst.machines.segmentation.mecab import MecabTable, Word
from fst.machines.segmentation.pieces import END_OF_TEXT, MecabPieceTable
from fst.machines.segmentation.unit_trie import ENTRY, FREE, LEAF, units_of

Units = tuple[int, ...]
WordArc = tuple[int, int, str]  # the start, the end and the label of a word


def maxmatch(table: MaxMatchTable, text: str | None) -> Picture:
    """A state is the characters read so far that are in no certain token. An arc writes the tokens that are certain after its character;
    the jumps of the table are folded into arcs. Backward MaxMatch reads from the end of a text.
    """
    automaton = Automaton((), lambda state, unit: _after(table, state, unit), lambda state, *_: _text(table, state) or "start", _label)
    if text is None:
        return automaton.whole([*(unit for unit, packed in enumerate(table.units.tolist()) if packed & FREE), END])
    units = units_of(text)
    return automaton.around([[*(units if table.direction != BACKWARD else units[::-1]), END]])


def _after(table: MaxMatchTable, state: Units, unit: Any) -> Step | None:
    """The step from units that are in no certain token, on the next unit or at the end of the text."""
    if unit == END and not state:
        return None
    pending, written = (state if unit == END else (*state, unit)), list[str]()
    while pending and (unit == END or not _goes_on(table, pending)):
        size, words = _longest(table, pending)
        written += words
        pending = pending[size:]
    return Step(pending, written)


def _goes_on(table: MaxMatchTable, units: Units) -> bool:
    """Whether a walk reads some units and may read more."""
    state = ROOT
    for unit in units:
        entry = ENTRY.step(table.entries, state, int(table.units[unit]) & FREE)
        if not entry or entry.target == LEAF:
            return len(units) == 1 and not entry and bool(table.are_surrogates[unit])
        state = entry.target
    return True


def _longest(table: MaxMatchTable, units: Units) -> tuple[int, list[str]]:
    """The number of units of the next token of some units, and the token; or, if a rule's string begins there, the tokens of the rule."""
    *_, (value, _, end) = [(0, 0, 1 + bool(table.are_surrogates[units[0]])), *table.values([*units], 0)]
    rule = value - 1 - len(table.word_ends)
    if rule < 0:
        return end, [_text(table, units[:end])]
    tokens = [units[token.start : token.end] for token in table.listed(int(table.rules[rule]), 0)]
    return end, [_text(table, token) for token in tokens]


def _text(table: MaxMatchTable, units: Units) -> str:
    return units_label(units if table.direction != BACKWARD else units[::-1])


def _label(unit: Any) -> str:
    return END if unit == END else visible(chr(unit))


def jieba(table: JiebaTable, text: str | None) -> Picture:
    """The arcs are words with the logarithms of their probabilities. The path contains the tokens, after the model for unknown words has
    joined or cut them. Positions are UTF-16 units.
    """
    text = need_text(text, "jieba")
    units, taken = units_of(text), [(token.start, token.end) for token in table.walk(text)]
    scores = {(at, end): float(table.scores[value]) for at in range(len(units)) for value, _, end in table.values(units, at)}
    labels = {span: units_label(units[slice(*span)]) + (f"/{scores[span]:.4g}" if span in scores else "") for span in [*scores, *taken]}
    return lattice([(*span, labels[span]) for span in scores], {(*span, labels[span]) for span in taken})


def mecab(table: MecabTable, text: str | None) -> Picture:
    """The arcs are words, labelled with the first field of the word's features and the word's cost, without costs of connections.
    Positions are UTF-16 units; spaces before a word are a part of its arc.
    """
    text = need_text(text, "MeCab")
    return lattice(_words(table, text), _path(table, text))


def _words(table: MecabTable, text: str) -> list[WordArc]:
    """The arcs of all words of MeCab in a text."""
    units, words, reached = units_of(text), list[WordArc](), {0}
    for at in range(len(units)):
        start = table.skipped(units, at) if at in reached else len(units)
        for word, end in table.words_at(units, start) if start < len(units) else []:
            reached.add(end)
            words.append((at, end, _word(table, units, word, (start, end))))
    return words


def _path(table: MecabTable, text: str) -> list[WordArc]:
    """The arcs of the words on the best path through a text."""
    units, taken, before = units_of(text), list[WordArc](), 0
    for node in table.walk(text)[:-1]:
        taken.append((before, node.end, _word(table, units, node.word, (node.start, node.end))))
        before = node.end
    return taken


def _word(table: MecabTable, units: list[int], word: Word, span: tuple[int, int]) -> str:
    """The label of a word of MeCab."""
    return f"{units_label(units[slice(*span)])} {table.features[word.id].split(',')[0]}/{word.cost}"


def pieces(table: MecabPieceTable, text: str | None) -> Picture:
    """The arcs are the words of MeCab with their costs, as in `mecab`, but without features. Each word of the path is followed by its
    tokens. Positions are UTF-16 units of the normalized text, in which an added token is one unit.
    """
    names = dict(zip(table.token_ids.tolist(), table.tokens, strict=True))
    words, taken, origin = list[WordArc](), list[WordArc](), 0
    for stretch in table.normalizer.stretches(need_text(text, "MeCab and WordPiece"), table.metadata.added_tokens):
        if stretch.token is not None:
            taken.append((origin, origin + 1, names[stretch.token]))
            origin += 1
            continue
        part = stretch.text.split(END_OF_TEXT)[0]
        path = _path(table.dictionary, part)
        for (begin, end, label), span in zip(path, table.words_of(part), strict=True):
            tokens = " ".join(names[number] for number, *_ in table.pieces(part[slice(*span)]))
            taken.append((origin + begin, origin + end, f"{label}: {tokens}"))
        others = [arc for arc in _words(table.dictionary, part) if arc not in path]
        words += [(origin + begin, origin + end, label) for begin, end, label in others]
        origin += len(units_of(part))
    return lattice(words, taken)
