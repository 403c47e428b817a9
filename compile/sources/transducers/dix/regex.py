r"""The regular expressions of ``<re>``, as lt-comp reads them.

``( ) [ ] * ? + - ^ \ |`` are special, also in brackets, and ``\`` before one of them makes it an ordinary character. All other characters,
such as ``.`` and ``$``, are ordinary. A negated set contains U+0001 to U+00FF without the listed characters, and also matches the empty
string.
"""

from __future__ import annotations

from collections.abc import Iterator

from fst.compile.patterns.code_points import Set, difference, members, of_runs
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence, walk
from fst.errors import quoted

SPECIAL = "()[]*?+-^\\|"
LATIN = of_runs([(0x01, 0xFF)])  # the characters that a negated set may contain
REPEATS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
MAX_DEPTH, MAX_LENGTH = 50, 1 << 16
NOTHING = Sequence(())


class MalformedError(Exception):
    """An expression has a fault; the message contains the position of the fault."""


def parse(pattern: str) -> Node:
    """The tree of an expression."""
    if len(pattern) > MAX_LENGTH:
        raise MalformedError(f"the regular expression has {len(pattern):,} characters; expected at most {MAX_LENGTH:,}")
    parser = _Parser(pattern)
    found = parser.choice(0)
    if parser.next:
        raise parser.fault("an end of the expression")
    return found


def characters(tree: Node) -> Iterator[int]:
    """The code points in the sets of a tree, in the order of the expression."""
    for node in walk(tree):
        if isinstance(node, Characters):
            yield from members(node.edges).tolist()


class _Parser:
    """An expression, and the position of the next character."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._place = pattern, 0

    @property
    def next(self) -> str:
        """The next character; "" at the end."""
        return self._pattern[self._place : self._place + 1]

    def fault(self, expected: str) -> MalformedError:
        """The error for the next character."""
        found = quoted(self.next) if self.next else "the end"
        return MalformedError(
            f"the regular expression {quoted(self._pattern)} has {found} at position {self._place + 1}; expected {expected}; "
            f"write \\ before a special character"
        )

    def choice(self, depth: int) -> Node:
        """Alternatives, each at least one term long."""
        parts = [self._sequence(depth)]
        while self._skip("|"):
            parts.append(self._sequence(depth))
        return Choice(tuple(parts))

    def _sequence(self, depth: int) -> Node:
        terms = [self._term(depth)]
        while self.next not in ("", "|", ")"):
            terms.append(self._term(depth))
        return Sequence(tuple(terms))

    def _term(self, depth: int) -> Node:
        """A character, a set or a group, possibly repeated."""
        if self._skip("("):
            if depth == MAX_DEPTH:
                raise self.fault(f"at most {MAX_DEPTH} groups in each other")
            body = self.choice(depth + 1)
            self._need(")")
        elif self._skip("["):
            body = self._set()
        else:
            body = Characters(of_runs([2 * (ord(self._character()),)]))
        if not self.next or self.next not in REPEATS:
            return body
        return Repeat(body, *REPEATS[self._take()])

    def _set(self) -> Node:
        negated = self._skip("^")
        runs = []
        while not self._skip("]"):
            first = last = self._character()
            if self._skip("-"):
                last = self._character()
            if last < first:
                raise self.fault(f"a range with {quoted(first)} before {quoted(last)}")
            runs.append((ord(first), ord(last)))
        edges: Set = of_runs(runs)
        if negated:
            return Choice((Characters(difference(LATIN, edges)), NOTHING))
        if not runs:
            raise self.fault("a set with a character")
        return Characters(edges)

    def _character(self) -> str:
        """Read a character; a special character needs a backslash before it."""
        escaped = self._skip("\\")
        if not self.next or (self.next in SPECIAL) != escaped:
            raise self.fault("a special character after \\" if escaped else "a character")
        return self._take()

    def _need(self, char: str) -> None:
        if not self._skip(char):
            raise self.fault(quoted(char))

    def _skip(self, char: str) -> bool:
        found = self.next == char
        self._place += found
        return found

    def _take(self) -> str:
        self._place += 1
        return self._pattern[self._place - 1]
