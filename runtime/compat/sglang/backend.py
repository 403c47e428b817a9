"""Structured output in SGLang, with masks of `fst.Guide`."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from fst.errors import FstError
from fst.runtime.compat.engines.grammars import ANY_WHITESPACE, Grammars
from fst.runtime.compat.engines.matcher import Matcher, fill_rows

ANY_JSON = "$$ANY$$"  # SGLang's schema of all values


def backend(_server_args: Any, tokenizer: Any, _vocab_size: int, eos_token_ids: Collection[int] | None) -> Any:
    """Make the grammar backend of a server, as SGLang's function ``create_grammar_backend`` makes its own.

    Args:
        tokenizer: a tokenizer of ``transformers``, or a stand-in of `fst.hf`.
        eos_token_ids: the ids that end texts; None: the tokenizer's end of text.
    """
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser
    from sglang.srt.runtime_context import get_serving

    serving = get_serving()
    own = _backend_class()(Grammars(tokenizer, whitespace=_whitespace(serving)), eos_token_ids)
    if not serving.reasoning_parser:
        return own
    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return own
    return ReasonerGrammarBackend(own, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking)


def _whitespace(serving: Any) -> str:
    """The pattern of whitespace in JSON, from the options of a server."""
    most = serving.constrained_json_max_whitespace_cnt
    if serving.constrained_json_disable_any_whitespace or most == 0:
        return ""
    pattern: str | None = serving.constrained_json_whitespace_pattern
    return pattern or (ANY_WHITESPACE if most is None else ANY_WHITESPACE.replace("*", f"{{0,{most}}}"))


@cache
def _grammar_class() -> Any:
    """The class for texts of requests. It is made at its first use, because its base class comes from SGLang."""
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject
    from sglang.srt.constrained.xgrammar_backend import XGrammarGrammar

    class FstGrammar(BaseGrammarObject):  # type: ignore[misc]
        """The text of a request.

        Args:
            matcher: the text.
            size: 1 more than the highest id of the tokenizer.
        """

        move_vocab_mask = staticmethod(XGrammarGrammar.move_vocab_mask)
        apply_vocab_mask = XGrammarGrammar.apply_vocab_mask  # masks have the layout of xgrammar

        def __init__(self, matcher: Matcher, size: int) -> None:
            super().__init__()
            self.matcher, self._size = matcher, size

        def accept_token(self, token: int) -> None:
            """Append a token; a token after the end is ignored.

            Raises:
                ValueError: the token is not allowed.
            """
            if self.is_terminated():
                return
            self.current_token = token
            if not self.matcher.accept([token]):
                raise ValueError(f"token {token} is not allowed after {self.matcher!r}")

        def rollback(self, k: int) -> None:
            """Take back the last tokens."""
            self.matcher.rollback(k)

        def is_terminated(self) -> bool:
            """Whether a token has ended the text."""
            return self.matcher.has_ended

        def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
            """Make a tensor for masks, in which all tokens are allowed."""
            return XGrammarGrammar.allocate_vocab_mask(self, max(vocab_size, self._size), batch_size, device)

        def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
            """Write the mask of the next token into a row."""
            self.matcher.fill(vocab_mask, idx)

        @staticmethod
        def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
            """Write the masks of several texts, with one call for all texts of the same guide."""
            if all(isinstance(entry.grammar, FstGrammar) for entry in entries):
                fill_rows([(entry.grammar.matcher, entry.row) for entry in entries], vocab_mask)
            else:  # the grammar of a reasoning parser contains some of the texts
                BaseGrammarObject.fill_vocab_mask_batched(entries, vocab_mask)

        @staticmethod
        def reset_vocab_mask(vocab_mask: Any) -> None:
            """Allow all tokens."""
            vocab_mask.fill_(-1)

        def copy(self) -> FstGrammar:
            """Begin another text of the guide."""
            return FstGrammar(self.matcher.again(), self._size)

        def try_jump_forward(self, _tokenizer: Any) -> tuple[list[int], str] | None:
            """The ids of the next tokens, if only one text is possible; None if there are none."""
            forced = self.matcher.forced()
            return (forced, "") if forced else None

        def jump_forward_str_state(self, _helper: Any) -> tuple[str, int]:
            """Return no text: the tokens are the whole jump."""
            return "", -1

        def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], _next_state: int) -> None:
            """Replace the last tokens.

            Raises:
                ValueError: a new token is not allowed.
            """
            self.matcher.rollback(len(old_output_ids))
            if self.matcher.accept(new_output_ids) < len(new_output_ids):
                raise ValueError(f"not all of the tokens {new_output_ids} are allowed; the text is now {self.matcher!r}")

    return FstGrammar


@cache
def _backend_class() -> Any:
    """The class of grammar backends."""
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, InvalidGrammarObject
    from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend

    grammar_class = _grammar_class()

    class FstGrammarBackend(BaseGrammarBackend):  # type: ignore[misc]
        """The grammar backend of a server.

        Args:
            grammars: the guides.
            ends: the ids that end texts; None: the tokenizer's end of text.
        """

        allocate_vocab_mask = staticmethod(XGrammarGrammarBackend.allocate_vocab_mask)
        move_vocab_mask = staticmethod(XGrammarGrammarBackend.move_vocab_mask)
        apply_vocab_mask = staticmethod(XGrammarGrammarBackend.apply_vocab_mask)

        def __init__(self, grammars: Grammars, ends: Collection[int] | None) -> None:
            super().__init__()
            self._grammars, self._ends = grammars, ends

        def dispatch_json(self, key_string: str) -> Any:
            """Begin a text of a JSON Schema."""
            return self._begun("json", "true" if key_string == ANY_JSON else key_string)

        def dispatch_regex(self, key_string: str) -> Any:
            """Begin a text of a pattern."""
            return self._begun("regex", key_string)

        def dispatch_ebnf(self, key_string: str) -> Any:
            """Begin a text of a grammar."""
            return self._begun("grammar", key_string)

        def dispatch_structural_tag(self, key_string: str) -> Any:
            """Begin a text of a structural tag."""
            try:
                tag = json.loads(key_string)
                XGrammarGrammarBackend._sanitize_structural_tag_structures(tag)
                XGrammarGrammarBackend._sanitize_structural_format(tag.get("format"))
            except (ValueError, AttributeError, RecursionError) as error:
                return InvalidGrammarObject(str(error))
            return self._begun("structural_tag", json.dumps(tag))

        def _begun(self, kind: str, text: str) -> Any:
            try:
                return grammar_class(Matcher(self._grammars.guide(kind, text), self._ends), self._grammars.size)
            except (FstError, ValueError, TypeError) as error:
                return InvalidGrammarObject(str(error))

    return FstGrammarBackend
