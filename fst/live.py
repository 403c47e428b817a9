"""Live tokenizers where a tokenizer of this package is expected: they are compiled at once. The compiler is imported for these alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer


def compiled(tokenizer: Any, asker: str) -> Tokenizer:
    """A tokenizer as it is, or compiled from a live one.

    Args:
        tokenizer: an `fst.Tokenizer`; a stand-in of this package, whose tokenizer is taken; or a live tokenizer of ``tokenizers``,
            ``transformers`` or ``tiktoken``.
        asker: the function that asks, for the message.

    Raises:
        TypeError: the argument is none of these.
        UnsupportedError: the live tokenizer does something that this version does not; the message names it.
        VocabularyError: the live tokenizer has no vocabulary that can be compiled.
    """
    from fst.runtime.tokenizer import Tokenizer

    found = tokenizer if isinstance(tokenizer, Tokenizer) else getattr(tokenizer, "fst", None)
    if isinstance(found, Tokenizer):
        return found
    from fst.compile.api import tokenizer as compile_tokenizer
    from fst.compile.sources.live import is_live
    from fst.compile.sources.tiktoken import is_encoding

    if not is_live(tokenizer) and not is_encoding(tokenizer):
        what = "an fst.Tokenizer, or a live tokenizer of tokenizers, transformers or tiktoken"
        raise TypeError(f"{asker} takes {what}, not {type(tokenizer).__name__}: compile a source first, or fst.load a table")
    return Tokenizer(compile_tokenizer(tokenizer))
