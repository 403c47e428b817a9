"""Explain rewrite rules: apply them by their definition, and record which rule matched where, and which context failed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fst.compile.machines.rules.syntax import Rule, Trees, is_edge, is_end, is_start, mirrored, of_string, reversed_tree, trees, word_of
from fst.compile.patterns.code_points import Set
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat
from fst.compile.patterns.tree import Sequence as Concatenation
from fst.errors import UnsupportedError
from fst.machines.rules.header import LEFT_TO_RIGHT, RIGHT_TO_LEFT
from fst.machines.rules.table import RulesTable

APPLIED, NO_LEFT, NO_RIGHT, ANOTHER = "applied", "left context fails", "right context fails", "another match is longer or comes first"


class Trial(NamedTuple):
    """A match of a rule's phi (the expression that is replaced), and its outcome.

    Attributes:
        stage: the number of the stage, from 0.
        rule: the text of the rule.
        start, end: the span of the match in the text that the stage reads.
        matched: the string that matched.
        outcome: "applied", "left context fails", "right context fails", or "another match is longer or comes first".
        written: the string that replaced the match; "" if the rule was not applied.
    """

    stage: int
    rule: str
    start: int
    end: int
    matched: str
    outcome: str
    written: str = ""


class Explanation(NamedTuple):
    """The effect of rewrite rules on a text; ``str()`` formats it as lines.

    Attributes:
        texts: the text that each stage reads, and the final text.
        trials: the matches in the order of stages and of application. Matches inside an applied match are not tried. An empty match is
            listed only if it is applied.
    """

    texts: list[str]
    trials: list[Trial]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield each text, followed by a line for each match in it."""
        for stage, text in enumerate(self.texts):
            yield text
            for trial in self.trials:
                if trial.stage == stage:
                    outcome = f"applied: {trial.written!r}" if trial.outcome == APPLIED else trial.outcome
                    yield f"  {trial.start}-{trial.end} {trial.matched!r}  {trial.rule}  {outcome}"


def explained(table: RulesTable, text: str) -> Explanation:
    """Apply the stages of a table to a text by definition."""
    texts, trials = [text], list[Trial]()
    for number, stage in enumerate(table.stages):
        if not stage["rules"] and not stage["keys"]:
            raise UnsupportedError(f"stage {number} is a transducer, which has no rules to explain; explain the stages of rules alone")
        rules = [Rule(**rule) for rule in stage["rules"]] or [*_rules_of_keys(table, number, texts[-1])]
        parsed, size, is_mirrored = [trees(rule) for rule in rules], len(texts[-1]), stage["direction"] == RIGHT_TO_LEFT
        if is_mirrored:
            rules, parsed = [rule._replace(psi=rule.psi[::-1]) for rule in rules], [mirrored(tree) for tree in parsed]
        given = texts[-1][::-1] if is_mirrored else texts[-1]
        walk = _Walk(number, rules, parsed, given, stage["direction"] in (LEFT_TO_RIGHT, RIGHT_TO_LEFT))
        trials += (_turned(trial, size) if is_mirrored else trial for trial in walk.trials())
        texts.append(walk.written[::-1] if is_mirrored else walk.written)
    return Explanation(texts, trials)


def _rules_of_keys(table: RulesTable, number: int, text: str) -> Iterator[Rule]:
    """The keys of a stage that occur in a text, as rules."""
    turn = slice(None, None, -1 if table.are_mirrored[number] else 1)
    for key, string in zip(table.keys[number].texts, table.keys[number].strings.tolist(), strict=True):
        if key[turn] in text:
            yield of_string(key[turn], table.strings[string][turn], "", "", {})


class _Walk:
    """The application of parallel rules to a text, from left to right."""

    def __init__(self, stage: int, rules: Sequence[Rule], parsed: Sequence[Trees], text: str, keeps_written: bool) -> None:
        self._stage, self._rules, self._parsed, self._text, self._keeps_written = stage, rules, parsed, text, keeps_written
        self._lefts = [reversed_tree(tree.left) for tree in parsed]
        self.written = ""

    def trials(self) -> Iterator[Trial]:
        """Apply the rules, and record the matches."""
        at = 0
        while at <= len(self._text):
            found = [each for rule in range(len(self._rules)) for each in self._tried(rule, at)]
            holding = [(trial.end, -rule) for rule, trial in found if trial.outcome == APPLIED]
            end, rule = max(holding, default=(at, 1))
            for tried, trial in found:
                if trial.outcome == APPLIED and tried != -rule:
                    trial = trial._replace(outcome=ANOTHER, written="")
                if trial.start < trial.end or tried == -rule:
                    yield trial
            self.written += self._rules[-rule].psi if rule < 1 else ""
            if end == at:
                self.written += self._text[at : at + 1]
                end += 1
            at = end

    def _tried(self, rule: int, at: int) -> Iterator[tuple[int, Trial]]:
        """Try a rule at a position: the longest match whose contexts hold, or else the longest match."""
        parsed, text = self._parsed[rule], self._text
        around = (self.written if self._keeps_written else text[:at]) + text[at:]
        has_left = bool(_ends(self._lefts[rule], around[::-1], len(text) - at))
        ends = sorted(_ends(parsed.phi, text, at), reverse=True)
        holding = [
            end
            for end in ends
            if has_left and (_ends(parsed.right, text, end) if end > at else _ends(parsed.right, around, len(around) - len(text) + at))
        ]
        for end in (holding or ends)[:1]:
            outcome = APPLIED if holding else NO_RIGHT if has_left else NO_LEFT
            written = self._rules[rule].psi if holding else ""
            yield rule, Trial(self._stage, self._rules[rule].text, at, end, text[at:end], outcome, written)


def _turned(trial: Trial, size: int) -> Trial:
    """Convert a match in the mirrored text to a match in the text, whose size is given."""
    outcome = {NO_LEFT: NO_RIGHT, NO_RIGHT: NO_LEFT}.get(trial.outcome, trial.outcome)
    start, end = size - trial.end, size - trial.start
    return trial._replace(start=start, end=end, matched=trial.matched[::-1], outcome=outcome, written=trial.written[::-1])


def _ends(node: Node, text: str, at: int) -> set[int]:
    """The ends of all matches of an expression that begin at a position."""
    if isinstance(node, Characters):
        return {at + 1} if _is_in(node.edges, text[at : at + 1]) else set()
    if isinstance(node, Concatenation):
        ends = {at}
        for part in node.parts:
            ends = {end for begin in ends for end in _ends(part, text, begin)}
        return ends
    if is_edge(node):
        word = word_of(node)
        return {at} if _is_in(word, text[max(at - 1, 0) : at]) != _is_in(word, text[at : at + 1]) else set()
    if isinstance(node, Choice):
        return {end for part in node.parts for end in _ends(part, text, at)}
    if isinstance(node, Repeat):
        return _ends_of_repeat(node, text, at)
    assert is_start(node) or is_end(node)
    return {at} if at == (0 if is_start(node) else len(text)) else set()


def _is_in(edges: Set, char: str) -> bool:
    """Whether a set contains a character; the end of a text, an empty string, is in no set."""
    return bool(char) and bisect_right(edges, ord(char)) % 2 == 1


def _ends_of_repeat(node: Repeat, text: str, at: int) -> set[int]:
    ends, new, count = {at} if node.least == 0 else set(), {at}, 0
    while new and (node.most is None or count < node.most):
        count += 1
        new = {end for begin in new for end in _ends(node.body, text, begin)}
        if count >= node.least:
            new = new - ends if node.most is None else new
            ends |= new
    return ends
