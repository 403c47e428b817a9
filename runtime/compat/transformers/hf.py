"""A stand-in for a fast tokenizer of ``transformers``, for code that expects such an object."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst.bridge.from_live import compiled
from fst.core.threads import thread_count
from fst.errors import UnsupportedError
from fst.runtime.compat.transformers import classes, loading
from fst.runtime.compat.transformers.backend import backend_of
from fst.runtime.model_inputs.encoding import BatchEncoding, Encoding
from fst.runtime.tokenizer import Tokenizer
from fst.tables.header import COUNTING, TOKENIZERS, TokenizerClass
from fst.tables.live import BASE

PLAIN = "FstTokenizerFast"  # the class of stand-ins for tokenizers whose class in ``transformers`` has no members of its own
REFRESHED = ("set_prefix_tokens", "_switch_to_input_mode")  # methods, in some classes, that apply changed options
OLDEST = 5  # the oldest supported version of ``transformers``
ARGUMENTS = frozenset(signature(Tokenizer.__call__).parameters)
NOT_IN_TABLES = ("chat_template", "name_or_path")  # settings that a tokenizer object has, but a table does not contain
KEPT = ("extra_special_tokens", "model_input_names", "model_max_length", "padding_side", "truncation_side", "clean_up_tokenization_spaces")
_CLASSES: dict[str, Any] = {}


def hf(tokenizer: Any, *, threads: int | None = None, **settings: Any) -> FstTokenizerFast:
    """Make a drop-in replacement for a fast tokenizer of ``transformers``, version 5 or later.

    The result is a ``transformers.PreTrainedTokenizerFast``. If `tokenizer` has a class of ``transformers``, such as ``BertTokenizer``, the
    result is an object of this class, too. It replaces tokenizers of ``transformers`` in pipelines, data collators, trainers,
    sentence-transformers and chat templates. A call accepts the same arguments, and returns a ``transformers.BatchEncoding``. The result
    can be pickled. ``save_pretrained`` writes a folder that ``AutoTokenizer`` loads, and that `fst.compile.tokenizer` compiles to an equal
    table. For tables from ``tiktoken``, ``save_pretrained`` raises an error, because ``transformers`` interprets the patterns of
    ``tiktoken`` differently. ``add_tokens`` and ``add_special_tokens`` make a new table, and do not change the argument `tokenizer`.

    Args:
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes: a `fst.Tokenizer`, a table, a folder, the name of a model, or an
            object of another library. The result has the settings and the chat template of an object of ``transformers``.
        threads: the default for the argument `threads` of calls, see `fst.Tokenizer.encode_batch`. Copies and pickles include this number,
            but ``save_pretrained`` does not save it, since the best number depends on the computer.
        settings: ``model_max_length``, ``padding_side``, ``truncation_side``, ``pad_token``, ``model_input_names`` and other settings of
            ``transformers``. These settings override the settings from the vocabulary's source.

    Returns:
        A ``transformers.PreTrainedTokenizerFast``. Its ``backend_tokenizer`` is the result of `fst.tokenizers`.

    Raises:
        ImportError: ``transformers`` is not installed.
        TypeError: the argument is not a tokenizer.
        UnsupportedError: the table's machine has no backend, this version cannot compile the tokenizer object, ``transformers`` is older
            than version 5, or a setting contradicts the table.
        ValueError: `threads` is not a whole number of at least 1.

    Example::

        model = SentenceTransformer("all-MiniLM-L6-v2")
        model[0].processor = fst.hf(fst.load("all-MiniLM-L6-v2.npz"), model_max_length=model.max_seq_length)
    """
    found = compiled(tokenizer, "fst.hf")
    backend_of(found)  # raises an error if the machine has no backend
    kept = {name: getattr(tokenizer, name) for name in NOT_IN_TABLES if getattr(tokenizer, name, None)}
    return stand_in(found, library_class(type(tokenizer)), threads, **{**kept, **settings})


def stand_in(tokenizer: Tokenizer, cls: type[Any], threads: int | None = None, **settings: Any) -> FstTokenizerFast:
    """The stand-in for a tokenizer. If `cls` is not a class of ``transformers``, the table determines the class.

    Raises:
        UnsupportedError: as in `hf`.
    """
    stated = tokenizer._metadata.settings.tokenizer_class
    is_known = getattr(_transformers(), cls.__name__, None) is cls
    made: FstTokenizerFast = _class(cls.__name__ if is_known else stated.name if stated else BASE)(tokenizer, threads, **settings)
    return made


def library_class(cls: type[Any]) -> type[Any]:
    """For a class of stand-ins, the class of ``transformers`` from which it derives; otherwise the class itself."""
    return next(base for base in cls.__mro__ if not issubclass(base, FastTokenizer))


def __getattr__(name: str) -> Any:
    # Pickles contain the names of these classes. A class is made at its first use, because its base class comes from ``transformers``.
    if name == PLAIN:
        return _class(BASE)
    if name.startswith(classes.PREFIX):
        return _class(name.removeprefix(classes.PREFIX))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _class(name: str) -> Any:
    """The class of stand-ins for a class of ``transformers``. Pickles need one class for each name, in all threads."""
    return _CLASSES.get(name) or _CLASSES.setdefault(name, _new_class(name))


def _new_class(name: str) -> Any:
    library = checked_library()
    if name != BASE:
        return classes.derived(_class(BASE), library, name, __name__)
    return type(PLAIN, (FastTokenizer, library.TokenizersBackend), {"__module__": __name__})


def checked_library() -> Any:
    """Import ``transformers``, and check its version.

    Raises:
        ImportError, UnsupportedError: ``transformers`` is not installed, or is too old.
    """
    library = _transformers()
    if int(library.__version__.split(".")[0]) < OLDEST:
        what = f"fst.hf needs version {OLDEST} or later; the call, tok(...), makes the same model inputs with any version"
        raise UnsupportedError(f"transformers {library.__version__}: {what}")
    return library


def _transformers() -> Any:
    try:
        return import_module("transformers")
    except ImportError as error:
        raise ImportError("fst.hf is a tokenizer of transformers, which is not installed: pip install transformers") from error


class FastTokenizer:
    """The members of a fast tokenizer that override members of ``transformers.PreTrainedTokenizerBase``.

    Attributes:
        threads: the default for the argument `threads` of calls.
        vocab_files_names: the names of vocabulary files.
    """

    if TYPE_CHECKING:  # members of the base class
        pad_token: str | None
        padding_side: str
        truncation_side: str
        model_input_names: list[str]
        clean_up_tokenization_spaces: bool
        clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output: bool
        unk_token: str | None
        unk_token_id: int | None
        all_special_ids: list[int]
        special_tokens_map: dict[str, Any]
        extra_special_tokens: list[Any]
        clean_up_tokenization: Callable[[str], str]
        split_special_tokens: bool
        vocab_files_names: dict[str, str]
        _special_tokens_map: dict[str, Any]
        _extra_special_tokens: list[Any]
        added_tokens_encoder: dict[str, int]
        added_tokens_decoder: dict[int, Any]
        vocab: dict[str, int]
        vocab_size: int
        get_vocab: Callable[[], dict[str, int]]
        get_added_vocab: Callable[[], dict[str, int]]
        tokenize: Callable[..., list[str]]
        num_special_tokens_to_add: Callable[..., int]
        add_tokens: Callable[[list[Any]], int]
        _eventual_warn_about_too_long_sequence: Callable[[Any, int | None, bool], None]

    def __init__(self, tokenizer: Tokenizer, threads: int | None = None, **settings: Any) -> None:
        self.threads = None if threads is None else thread_count(threads)
        self._tokenizer = backend_of(tokenizer, threads=threads)
        if library_class(type(self)).__name__ == BASE:
            self.vocab_files_names = dict(self._tokenizer.files)
        stored, fixed = tokenizer._metadata.settings, self._tokenizer.fixed
        for name, value in fixed.items():
            if settings.get(name, value) != value:
                raise UnsupportedError(f"{name}={settings[name]!r}: the table has {value!r}, and does not change; compile it again")
            setattr(self, name, value)
        kept = {name: getattr(stored, name) for name in KEPT} | _chat_template(stored.chat_templates)
        stated = stored.tokenizer_class or TokenizerClass(BASE, {}, {})
        settled = {**stored.named_tokens, **kept, **stated.options, "backend": "tokenizers", **fixed, **settings}
        _transformers().PreTrainedTokenizerBase.__init__(self, **settled)  # not `super()`: it makes a tokenizer in Rust
        classes.restored(self, _class(BASE), stated)
        vars(self).setdefault("add_prefix_space", False)
        self._add_missing(settings)
        self._set_options(settings, stated)

    def _add_missing(self, settings: Mapping[str, Any]) -> None:
        """Add the special tokens in settings that are not yet added tokens."""
        named = [token for role, token in self._special_tokens_map.items() if role in settings and token is not None]
        extra = self._extra_special_tokens if "extra_special_tokens" in settings else []
        if named or extra:
            known, held = self.added_tokens_encoder, set(map(str, named))
            new = {str(token): token for token in (*named, *extra) if str(token) not in known}
            added = [_transformers().AddedToken(token, special=True) if isinstance(token, str) else token for token in new.values()]
            for token in added:
                token.special = token.special or str(token) in held
            self.add_tokens(added)

    def _set_options(self, settings: Mapping[str, Any], stated: TokenizerClass) -> None:
        """Apply the settings that are arguments of the ``transformers`` class, such as a language."""
        for name, value in settings.items():
            if getattr(getattr(type(self), name, None), "fset", None):
                setattr(self, name, value)
            elif name in stated.options and name in vars(self):
                vars(self)[name] = value
        if not settings.keys().isdisjoint(stated.options):
            for refresh in REFRESHED:
                getattr(self, refresh, lambda: None)()

    @property
    def fst(self) -> Tokenizer:
        """The tokenizer that encodes and decodes. When tokens are added or the special ids around texts change, a new tokenizer replaces
        this tokenizer.
        """
        return self._tokenizer.fst

    @classmethod
    def _from_pretrained(cls, *given: Any, **named: Any) -> Any:
        return loading.loaded(stand_in, library_class(cls), *given, **named)

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        padding_strategy: Any = False,
        truncation_strategy: Any = False,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        split_special_tokens: bool | None = None,
        sanitize_control_tokens: bool = False,
        verbose: bool = True,
        threads: int | None = None,
        **others: Any,
    ) -> Any:
        """Encode texts, after the base class has checked the arguments of the call. Arguments that `fst.Tokenizer` does not accept are
        ignored.
        """
        if self.split_special_tokens if split_special_tokens is None else split_special_tokens:
            raise UnsupportedError(_always_found("split_special_tokens"))
        if sanitize_control_tokens:
            self._encode_without_added_tokens(text)
        arguments = {name: value for name, value in others.items() if name in ARGUMENTS}
        inputs = self.model_input_names
        made = self._padding()(
            text,
            text_pair,
            padding=padding_strategy,
            truncation=truncation_strategy,
            padding_side=padding_side or self.padding_side,
            truncation_side=truncation_side or self.truncation_side,
            return_tensors=return_tensors,
            return_token_type_ids="token_type_ids" in inputs if return_token_type_ids is None else return_token_type_ids,
            return_attention_mask="attention_mask" in inputs if return_attention_mask is None else return_attention_mask,
            threads=self.threads if threads is None else threads,
            **arguments,
        )
        self._eventual_warn_about_too_long_sequence(range(_longest(made.data["input_ids"])), arguments.get("max_length"), verbose)
        paired = _is_paired(text, text_pair, arguments.get("is_split_into_words"))
        return _transformers().BatchEncoding(made.data, _Rows(made), n_sequences=1 + paired)

    def _encode_without_added_tokens(self, text: str) -> list[int]:  # noqa: ARG002
        raise UnsupportedError(_always_found("sanitize_control_tokens"))

    def _padding(self) -> Tokenizer:
        """Return the tokenizer. If `pad_token` was changed, first replace the tokenizer by a tokenizer with the new padding token."""
        metadata, named = self.fst._metadata, self.fst._metadata.settings.named_tokens
        if self.pad_token and self.pad_token != named.get("pad_token"):
            settings = replace(metadata.settings, named_tokens={**named, "pad_token": self.pad_token})
            self._tokenizer.fst = Tokenizer(replace(self.fst._table, header=replace(metadata, settings=settings).to_json()))
        return self.fst

    def _decode(
        self, token_ids: Any, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool | None = None, **_unused: Any
    ) -> str:
        ids = token_ids["input_ids"] if isinstance(token_ids, Mapping) else token_ids
        text = self._tokenizer.decode([ids] if isinstance(ids, int) else ids, skip_special_tokens=skip_special_tokens)
        if hasattr(self, "_wrap_decode_method_backend_tokenizer"):  # CLIP's class replaces `decode` of its tokenizer
            text = text.replace(self._tokenizer.model.end_of_word_suffix, " ").strip()
        cleans = self.clean_up_tokenization_spaces if clean_up_tokenization_spaces is None else clean_up_tokenization_spaces
        if self._tokenizer.keeps_spaces:
            cleans = cleans and self.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
        return self.clean_up_tokenization(text) if cleans else text

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """Join tokens into a text."""
        return self._tokenizer.joined(tokens)

    def __len__(self) -> int:
        # ``resize_token_embeddings`` uses this number. The ids of ``tiktoken`` have gaps, and ``transformers`` makes a token for each
        # missing id.
        if self.fst.header.get("reference", TOKENIZERS) in COUNTING:
            return self.fst.vocab_size
        return 1 + int(self.fst._table.token_ids.max())

    def train_new_from_iterator(
        self,
        text_iterator: Any,
        vocab_size: int,
        length: int | None = None,  # noqa: ARG002 - transformers uses it for a progress bar
        new_special_tokens: Sequence[Any] | None = None,
        special_tokens_map: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Any:
        """Train a new tokenizer on texts, with the pipeline and the special tokens of this tokenizer.

        Args:
            text_iterator: texts, or lists of texts.
            vocab_size: the number of tokens.
            length: ignored.
            new_special_tokens: more special tokens, a list of str or of ``tokenizers.AddedToken``.
            special_tokens_map: a mapping from old to new names of special tokens.
            options: other arguments of `fst.train.like`, which trains the vocabulary, such as ``min_frequency``.

        Raises:
            VocabularyError, UnsupportedError, TextError: as in `fst.train.like`.
        """
        from fst import train

        known = {*self.added_tokens_encoder, self.unk_token}
        names = {old: new for old, new in (special_tokens_map or {}).items() if old in known}  # ``transformers`` ignores unknown names
        options.pop("show_progress", None)
        trained = train.like(
            self.fst, text_iterator, vocab_size, new_special_tokens=new_special_tokens or (), special_tokens_map=names, **options
        )
        named = {role: names.get(token, token) for role, token in self.special_tokens_map.items() if isinstance(token, str)}
        kept = {name: getattr(self, name) for name in (*NOT_IN_TABLES, *KEPT) if getattr(self, name, None)}
        extra = [*map(str, self.extra_special_tokens), *map(str, new_special_tokens or ())]
        kept["extra_special_tokens"] = [names.get(token, token) for token in extra]
        return hf(trained.tokenizer(), threads=self.threads, **{**named, **kept})

    def save_vocabulary(self, save_directory: Any, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Write the vocabulary files of ``tokenizers``: a ``vocab.txt`` for WordPiece; a ``vocab.json`` and a ``merges.txt`` for byte-level
        BPE.

        Args:
            save_directory: an existing folder.
            filename_prefix: the prefix in ``PREFIX-vocab.txt``.

        Returns:
            The paths of the files.

        Raises:
            UnsupportedError: a vocab.txt cannot represent the vocabulary, because the ids are not 0, 1, 2 …, or a token contains a line
                feed.
        """
        return self._tokenizer.save_vocabulary(Path(save_directory), f"{filename_prefix}-" if filename_prefix else "")

    def _save_pretrained(
        self,
        save_directory: Any,
        file_names: tuple[str, ...],
        legacy_format: bool | None = None,  # noqa: ARG002
        filename_prefix: str | None = None,
    ) -> tuple[str, ...]:
        """Write the tokenizer.json, and set ``tokenizer_class`` in the settings: to the class of ``transformers`` whose members this object
        has, or else to the class that loads the tokenizer.json unchanged.
        """
        settings = json.loads(Path(file_names[0]).read_text("utf-8"))
        settings.pop("added_tokens_decoder", None)
        stated = self.fst._metadata.settings.tokenizer_class
        settings["tokenizer_class"] = stated.name if stated and stated.name != BASE else "PreTrainedTokenizerFast"
        written = Path(save_directory, f"{filename_prefix}-tokenizer.json" if filename_prefix else "tokenizer.json")
        for path, content in ((Path(file_names[0]), settings), (written, self._tokenizer.document())):
            path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8")
        return (*file_names, str(written))


if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    class FstTokenizerFast(FastTokenizer, PreTrainedTokenizerFast):  # type: ignore[misc]
        """For type checkers: the class that `_class` makes."""


def _chat_template(templates: Mapping[str, str]) -> dict[str, Any]:
    """Convert chat templates to the setting of ``transformers``: one template, or a mapping from name to template."""
    if not templates:
        return {}
    return {"chat_template": templates["default"] if templates.keys() == {"default"} else dict(templates)}


class _Rows(Sequence[Encoding]):
    """The rows of a result. The first access to a row computes all rows."""

    def __init__(self, made: BatchEncoding[Any]) -> None:
        self._made = made

    def __len__(self) -> int:
        return len(self._made.encodings)

    def __getitem__(self, row: Any) -> Any:
        return self._made.encodings[row]


def _always_found(option: str) -> str:
    """The message of an error: an option treats special tokens as ordinary text."""
    remedy = "encode text from users with tok.fst.encode_segments([(text, False)])"
    return f"{option} is True; expected False: a table finds special tokens in every text; {remedy}"


def _longest(ids: Any) -> int:
    """Return the number of ids in the longest row."""
    if len(getattr(ids, "shape", ())) == 2:
        return int(ids.shape[1])
    return len(ids) if len(ids) and isinstance(ids[0], int) else max(map(len, ids), default=0)


def _is_paired(text: Any, text_pair: Any, words: Any) -> bool:
    """Whether the first sample of a call is a pair of texts."""
    if text_pair:
        return True
    sample = text[0] if isinstance(text, list | tuple) and text else text
    if words:
        sample = sample[0] if isinstance(sample, list | tuple) and sample else sample
    return isinstance(sample, list | tuple)
