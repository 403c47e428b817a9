"""Read a grammar in one of three syntaxes, or a structural tag."""

from __future__ import annotations

from functools import lru_cache

from fst.compile.machines.guide.grammar.bnf import read_ebnf, read_gbnf
from fst.compile.machines.guide.grammar.lark import read_lark
from fst.compile.machines.guide.grammar.structural_tags import read_structural_tag
from fst.compile.machines.guide.grammar.tree import KEPT_GRAMMARS, Grammar, Places
from fst.errors import UnsupportedError, VocabularyError, not_one_of

MAX_KEPT = 1 << 16  # maximum number of characters of a grammar that is kept for later guides


def _structural_tag(text: str) -> Grammar:
    return read_structural_tag(text, read_grammar)


READERS = {"lark": read_lark, "gbnf": read_gbnf, "ebnf": read_ebnf, "structural_tag": _structural_tag}


def read_grammar(grammar: str, syntax: str | None = None) -> Grammar:
    """Read a grammar.

    Args:
        grammar: the text.
        syntax: a key of `READERS`; it is never guessed.

    Raises:
        ValueError: the syntax is None or unknown.
        VocabularyError: the grammar is malformed; the message contains line and column.
        UnsupportedError: a construct is not supported; the message contains its name, line and column.
    """
    if syntax not in READERS:
        found = "no syntax is given" if syntax is None else not_one_of("syntax", syntax, READERS)
        raise ValueError(f"{found}; a grammar needs syntax=")
    try:
        grammar.encode()
        return _kept(grammar, syntax) if len(grammar) <= MAX_KEPT else READERS[syntax](grammar)
    except UnicodeEncodeError as error:
        raise VocabularyError(f"{Places(grammar).of(error.start)}: found a lone surrogate; expected characters") from None
    except RecursionError:
        raise UnsupportedError("the grammar has too many groups inside one another; make rules of them") from None


@lru_cache(maxsize=KEPT_GRAMMARS)
def _kept(grammar: str, syntax: str) -> Grammar:
    return READERS[syntax](grammar)
