"""Tokenizers that are loaded with and without `fst.patch_transformers`, and checks that must have equal results for both."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

from support.compat.transformers import ATTRIBUTES, CALLS, TEXTS, Two, library

import fst

TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
CHAT = [{"role": "user", "content": TEXTS[0]}, {"role": "assistant", "content": TEXTS[2]}]
TRAINED = ["the unaffable sentence is unaffable", "another sentence"]


@contextmanager
def patched() -> Iterator[None]:
    """Patch `transformers` inside of a `with` block; warnings of this package are errors there."""
    fst.patch_transformers()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", fst.FstWarning)
            yield
    finally:
        fst.unpatch_transformers()


def auto(folder: Path, **settings: Any) -> Any:
    """Load a folder with `AutoTokenizer`."""
    return library("transformers").AutoTokenizer.from_pretrained(folder, **settings)


def both(folder: Path, **settings: Any) -> Two:
    """The tokenizers that `AutoTokenizer` returns without and with the patch."""
    own = auto(folder, **settings)
    with patched():
        return Two(own, auto(folder, **settings))


def is_compiled(tokenizer: Any) -> bool:
    """Whether a tokenizer is a stand-in."""
    return isinstance(getattr(tokenizer, "fst", None), fst.Tokenizer)


def retrained(tokenizer: Any) -> Any:
    """The names of special tokens of a tokenizer that is trained with the same components."""
    trained = tokenizer.train_new_from_iterator(TRAINED, 300, show_progress=False)
    return type(trained.vocab_size), trained.special_tokens_map, trained.is_fast


def reloaded(tokenizer: Any, folder: Path) -> Any:
    """Save a tokenizer, load the folder, and return ids, names and settings."""
    tokenizer.save_pretrained(folder / type(tokenizer).__name__)
    again = auto(folder / type(tokenizer).__name__)
    return again(TEXTS)["input_ids"], again.special_tokens_map, again.get_vocab(), again.model_max_length, again.chat_template


def with_new_tokens(tokenizer: Any) -> Any:
    """Ids and texts after tokens are added."""
    added = tokenizer.add_tokens(["aaaaa bbbbbb", "cccccccccdddddddd"]), tokenizer.add_special_tokens({"eos_token": ">>>>|||<||<<|<<"})
    ids = tokenizer.encode(">>>>|||<||<<|<< aaaaa bbbbbb low cccccccccdddddddd l", add_special_tokens=False)
    return added, ids, tokenizer.decode(ids), len(tokenizer), tokenizer.eos_token_id


def set_by_id(tokenizer: Any) -> Any:
    """The names of special tokens after ids and names are assigned."""
    tokenizer.mask_token_id = 3
    tokenizer.extra_special_tokens = ["a"]
    return tokenizer.mask_token, tokenizer.extra_special_tokens, tokenizer.all_special_ids


# The checks of the tests of `transformers` for all tokenizers and for fast tokenizers, without calls that raise errors there.
CHECKS: dict[str, Callable[[Any], Any]] = {
    **{f"call {number}": call for number, call in enumerate(CALLS)},
    **{name: attrgetter(name) for name in ATTRIBUTES if name != "name_or_path_is_text"},
    "name": lambda tokenizer: tokenizer.name_or_path,
    "files": lambda tokenizer: tokenizer.vocab_files_names,
    "settings": lambda tokenizer: [tokenizer.verbose, tokenizer._processor_class, tokenizer.response_template, tokenizer.backend],
    "vocabulary": lambda tokenizer: [tokenizer.get_vocab(), tokenizer.get_added_vocab(), len(tokenizer)],
    "added tokens": lambda tokenizer: str(tokenizer.added_tokens_decoder),
    "tokens": lambda tokenizer: tokenizer.convert_ids_to_tokens(range(20), skip_special_tokens=True),
    "texts": lambda tokenizer: tokenizer.batch_decode(tokenizer(TEXTS)["input_ids"], skip_special_tokens=True),
    "joined": lambda tokenizer: tokenizer.convert_tokens_to_string(tokenizer.tokenize(TEXTS[0])),
    "special": lambda tokenizer: [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)],
    "mask": lambda tokenizer: tokenizer.get_special_tokens_mask(tokenizer(TEXTS[0]).input_ids, already_has_special_tokens=True),
    "padded": lambda tokenizer: tokenizer.pad({"input_ids": [[5, 6, 7], [8]]}, padding_side="left") if tokenizer.pad_token else None,
    "chat": lambda tokenizer: tokenizer.apply_chat_template(CHAT, chat_template=TEMPLATE, return_dict=True),
    "answer": lambda tokenizer: tokenizer.apply_chat_template(CHAT, chat_template=TEMPLATE, tokenize=False, continue_final_message=True),
    "trained": retrained,
    "copied": lambda tokenizer: copy.deepcopy(tokenizer)(TEXTS),
    "pickled": lambda tokenizer: pickle.loads(pickle.dumps(tokenizer))(TEXTS),
    "set": set_by_id,
    "added": with_new_tokens,
}
# Checks with other results. CodeLlama's table names its special tokens; the template of the small Herbert names another token.
DIFFERENT = {"CodeLlama": ("all_special_ids", "all_special_tokens", "set"), "Herbert": ("call 15",)}


def outcome(ask: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call, or "an error"."""
    try:
        return ask(*arguments)
    except Exception:  # `transformers` raises errors of any kind
        return "an error"
