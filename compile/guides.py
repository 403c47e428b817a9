"""Compile token masks from a pattern or a schema, which determines the texts, and a tokenizer, which determines the tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from fst.automata.last_tokens import LastTokens
from fst.compile.machines.guide.canonical_masks import machine_of
from fst.compile.machines.guide.canonical_table import compile_canonical
from fst.compile.machines.guide.compiler import compile_masks, vocabulary_for
from fst.compile.machines.guide.languages import ByteAutomaton
from fst.compile.machines.guide.texts import automaton_of
from fst.errors import UnsupportedError, listed
from fst.machines.guide.canonical import Machine
from fst.machines.guide.table import GuideTable
from fst.machines.guide.vocabulary import Vocabulary
from fst.tables.header import AddedTokens
from fst.tables.table import Table

_automata: WeakKeyDictionary[Table, LastTokens] = WeakKeyDictionary()


def guide(
    tokenizer: Any,
    *,
    regex: str | None = None,
    schema: Any = None,
    fst: Any = None,
    choice: Sequence[str] | None = None,
    grammar: str | None = None,
    syntax: str | None = None,
    end_id: int | None = None,
    canonical: bool = False,
    whitespace: str | None = None,
    depth: int | None = None,
    formats: bool | None = None,
    order: str | None = None,
    strict: bool | None = None,
) -> GuideTable:
    """Compile the token masks of a pattern, of a JSON Schema, of the strings that a machine reads, or of a grammar.

    The text of a token is the result of ``tok.decode``, so the first token of a text has no space before its word. The token that ends a
    text is the ``eos_token`` of the vocabulary's source; else the first special token of ``<|endoftext|>``, ``</s>``, ``<|end_of_text|>``,
    ``<eos>``, ``<|im_end|>`` and ``[SEP]``; else there is none.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes, such as a table of `fst.compile.tokenizer`.
        regex: a regular expression, which a text matches as a whole.
        schema: a JSON Schema, as an object of `json` or as its text; or a model or a ``TypeAdapter`` of pydantic. A schema whose automaton
            is too large for a table is refused; `fst.Guide` makes its masks late.
        fst: a `fst.Fst`, whose input strings are the texts.
        choice: the texts.
        grammar: the text of a grammar. Its rules may call themselves only at the left or at the right end of their texts; `fst.Guide` takes
            rules with any recursion.
        syntax: with `grammar`, its syntax: "lark", "gbnf", "ebnf", or "structural_tag" for the JSON of a structural tag.
        end_id: the id of the special token that ends a text.
        canonical: allow only the tokens that the tokenizer itself gives; see `fst.Guide`. All states are computed, so a pattern of long
            free texts is refused; `fst.Guide` computes the masks of such patterns at their first use.
        whitespace: with `schema`, a pattern of the whitespace allowed between two tokens of JSON [one space or none].
        depth: with `schema`, how often a recursive schema may be entered inside itself, and the number of levels of arrays and objects in
            values without a schema [recursive schemas are refused; 4 levels, or fewer with many states, and an `fst.FstWarning`].
        formats: with `schema`, whether ``format`` restricts strings [not in drafts where it is an annotation].
        order: with `schema`, the order of properties: "schema", or "any" for few properties, since each set of them is a state ["schema"].
        strict: with `schema`, whether objects have only properties that their schemas mention [no].

    Returns:
        A table for `fst.Guide`.

    Raises:
        UnsupportedError: the pattern or the schema has an unsupported feature or too many states; the message contains the position of the
            feature. Other reasons: no token begins one of the texts, the text of a token depends on the tokens after it, or the masks take
            more memory than a table may have. With `canonical`: there are too many states, the tokenizer encodes no text of the pattern
            into tokens of the same text, or it changes texts in a way that canonical masks do not cover.
        VocabularyError: the schema or the grammar is malformed.
        ValueError: none, or more than one, of `regex`, `schema`, `fst` and `grammar` is given; or `syntax` is missing.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> tok = wordpiece(["[UNK]", "[SEP]", "true", "false", "null", "##tru", "##e"])
        >>> masks = fst.Guide(guide(tok, schema={"type": "boolean"}))
        >>> masks.allowed(masks.start).tolist()
        [2, 3]
    """
    from fst.bridge.from_live import table_for

    table = table_for(tokenizer, "fst.compile.guide")
    vocabulary = vocabulary_for(table, end_id)
    options = {"syntax": syntax, "whitespace": whitespace, "depth": depth, "formats": formats, "order": order, "strict": strict}
    automaton, pattern = automaton_of(regex=regex, schema=schema, fst=fst, choice=choice, grammar=grammar, **options)
    if canonical:
        return compile_canonical(vocabulary, canonical_machine(table, vocabulary, automaton), pattern)
    return compile_masks(vocabulary, automaton, pattern)


def canonical_machine(table: Table, vocabulary: Vocabulary, automaton: ByteAutomaton) -> Machine:
    """The arrays of a table with canonical masks.

    Args:
        table: the table of a tokenizer.
        vocabulary: its vocabulary.
        automaton: the automaton of the texts.

    Raises:
        UnsupportedError: the tokenizer changes texts in a way that canonical masks do not cover.
    """
    last_tokens = _automata.get(table)
    if last_tokens is None:
        compiler = table.companion("fst.compile.machines.{}.last_tokens")
        if compiler is None:
            raise UnsupportedError(f"canonical masks are not available for {table.kind} tables; use canonical=False")
        last_tokens = _automata[table] = compiler.last_tokens(table)
    _need_first_spaces(vocabulary, last_tokens.begins_with_space)
    return machine_of(automaton, last_tokens, _added(table, last_tokens))


def _added(table: Any, last_tokens: LastTokens) -> Collection[str]:
    """The added tokens that `encode` finds in texts.

    Raises:
        UnsupportedError: not every occurrence is found.
    """
    tokens: AddedTokens = table.metadata.added_tokens
    words = [content for content, token in tokens.contextual.items() if token.single_word]
    if words:
        raise UnsupportedError(f"the added tokens {listed(words)} are found only as whole words; use canonical=False")
    found = {*tokens.specials, *tokens.contextual}
    if last_tokens.begins_with_space:  # the normalizer also puts a space before a text, and changes no other character that masks cover
        return found
    by = table.metadata.text.normalizer
    return found | {by.normalized(content)[0] for content in found} if by else found


def _need_first_spaces(vocabulary: Vocabulary, begins_with_space: bool) -> None:
    """Refuse a decoder that changes the first token in another way than by removing a space."""
    tokens = vocabulary.tokens
    has_first = len(tokens.first_ends) > 0
    if has_first != begins_with_space or tokens.keeps_first[0]:
        raise UnsupportedError("the decoder writes the first token in a way that canonical masks do not cover; use canonical=False")
    if has_first:
        later, first = _strings(tokens.token_bytes, tokens.token_ends), _strings(tokens.first_bytes, tokens.first_ends)
        if any(content[1:] != other for content, other in zip(later, first, strict=True) if content.startswith(b" ")):
            raise UnsupportedError("the decoder changes more of the first token than its space; use canonical=False")


def _strings(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[bytes]:
    return [data[begin:end].tobytes() for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]
