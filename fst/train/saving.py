"""Write vocabularies in various file formats, from the value of a ``tokenizer.json``.

`fst.compile.sources` reads these files. Some formats contain less than a ``tokenizer.json``. If the library of a format would return
different ids with the file, an error with the reason is raised.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from fst.compile.machines.bpe.canonical_tokens import Merges
from fst.compile.machines.bpe.model import COMMENT
from fst.compile.sources.inputs import IDS, MERGES, PIECES, RANKS
from fst.compile.sources.vocab_txt import parse_lines
from fst.core import remote
from fst.errors import UnsupportedError, quoted
from fst.pretokens.byte_letters import bytes_of
from fst.tables import npz
from fst.train.pipeline import Pipeline
from fst.train.sentencepiece.model_file import model_file, model_of
from fst.train.settings import FILES

Json = Mapping[str, Any]

DOCUMENT, LINES, TABLE = "tokenizer.json", "vocab.txt", ".npz"
OF_PIECES = ("Char", "Word")  # the kinds that only a .model can contain
VERSION = f"{COMMENT}: 0.2"  # the first line of a merges.txt
OLDER: Mapping[str, Sequence[str]] = {"BPE": (IDS, MERGES), "WordPiece": (LINES,)}  # type of model → older files in a folder


def save(
    document: Json, scores: Sequence[float] | None, path: str | Path, rule: str | None = None, settings: Mapping[str, bytes] = {}
) -> None:
    """Write a vocabulary.

    Args:
        document: the value of the ``tokenizer.json``.
        scores: the scores by id, for BPE trained as in SentencePiece; None: the scores in a ``.model`` are computed from the order of the
            merges.
        rule: the normalization rule of SentencePiece, see `fst.train.pipeline.Pipeline`; None: the vocabulary has no rule.
        path: the file or the folder, as in `fst.train.result.Trained.save`.
        settings: the contents of further files of a folder, see `fst.train.settings.files_of`.
    """
    if not _is_folder(path):
        form = _form(_name(path), _kind(document))
        _write({str(path): _model(document, scores, rule) if form.made is _model else form.made(document, scores)})
        return
    files = {_inside(path, name): data for name, data in {**_folder(document), **settings}.items()}
    with nullcontext() if remote.is_remote(path) else _made_folder(Path(path)):
        _write(files)


def files_of(path: str | Path, kind: str | None = None) -> list[str]:
    """The files that `save` may write for a path: the path itself or, for a folder, all files in it.

    Args:
        path: the file or the folder.
        kind: the type of the model; None: any type.

    Examples:
        >>> files_of("english/")[:3]
        ['english/tokenizer.json', 'english/tokenizer_config.json', 'english/chat_template.jinja']
        >>> files_of("vocab.txt")
        ['vocab.txt']
    """
    if _is_folder(path):
        _form(DOCUMENT, kind)
        return [_inside(path, name) for name in (DOCUMENT, *FILES, *(name for names in OLDER.values() for name in names))]
    if Path(_name(path)).suffix != TABLE:
        _form(_name(path), kind)
    return [str(path)]


@contextmanager
def _made_folder(path: Path) -> Iterator[None]:
    """Create a folder and missing parents; if the `with` statement raises an error, remove the created folders again."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


def _name(path: str | Path) -> str:
    return Path(remote.file_of(str(path))).name


def _is_folder(path: str | Path) -> bool:
    """Whether a path is a folder: an existing folder, or a name without an ending or with a final "/"."""
    if not str(path):
        raise UnsupportedError("the path is ''; expected the name of a file or a folder")
    return str(path).endswith("/") or not Path(_name(path)).suffix or (not remote.is_remote(path) and Path(path).is_dir())


def _inside(folder: str | Path, name: str) -> str:
    return f"{str(folder).rstrip('/')}/{name}"


def _folder(document: Json) -> dict[str, bytes]:
    """The files to write into a folder: ``tokenizer.json``, and the older files, if these can represent the vocabulary."""
    older: Mapping[str, bytes] = {}
    with suppress(UnsupportedError):
        older = {name: _form(name, None).made(document, None) for name in OLDER.get(_kind(document), ())}
    return {DOCUMENT: _document(document, None), **older}


def _write(contents: Mapping[str, bytes]) -> None:
    """Write files. No file gets its final name before all files are complete."""
    with ExitStack() as stack:
        for path, data in contents.items():
            stack.enter_context(remote.written(path) if remote.is_remote(path) else npz.replacing(path)).write(data)


class Form(NamedTuple):
    """A file format for vocabularies."""

    # a function that makes the content of the file from the value of a ``tokenizer.json`` and from scores
    made: Callable[[Json, Sequence[float] | None], bytes]
    kinds: str  # the kinds of models that the format can contain, separated by " and "


def _form(name: str, kind: str | None) -> Form:
    """The format of a file, determined by the file's full name or, if no format has this name, by its ending."""
    found = FORMS.get(name) or FORMS.get(Path(name).suffix)
    if not found:
        raise UnsupportedError(f"{name}: the form of a vocabulary is unknown; expected a folder, {', '.join(FORMS)} or {TABLE}")
    if kind is not None and kind not in found.kinds.split(" and "):
        form = name if name in FORMS else Path(name).suffix
        other = f"file that ends in {PIECES}" if kind in OF_PIECES else "tokenizer.json"
        raise UnsupportedError(f"{form} is a form of {found.kinds}, but the vocabulary is {kind}; save a {other}")
    return found


def _kind(document: Json) -> str:
    kind: str = document["model"]["type"]
    return kind


def _refuse(form: str, why: str) -> NoReturn:
    raise UnsupportedError(f"{form} cannot express the vocabulary: {why}; save a tokenizer.json")


def _document(document: Json, _: Sequence[float] | None) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _vocabulary(document: Json, _: Sequence[float] | None) -> bytes:
    """The content of GPT-2's ``vocab.json``."""
    return json.dumps(document["model"]["vocab"], ensure_ascii=False, separators=(",", ":")).encode()


def _merges(document: Json, _: Sequence[float] | None) -> bytes:
    """The content of GPT-2's ``merges.txt``."""
    merges = document["model"]["merges"]
    for pair in merges:
        if pair[0].startswith(COMMENT) or any(char in token for token in pair for char in " \n\r"):
            _refuse(MERGES, f"a line cannot contain the merge of {quoted(pair[0])} and {quoted(pair[1])}")
    return "".join(f"{line}\n" for line in [VERSION, *map(" ".join, merges)]).encode()


def _lines(document: Json, _: Sequence[float] | None) -> bytes:
    """The content of BERT's ``vocab.txt``."""
    ids = document["model"]["vocab"]
    text = "".join(f"{token}\n" for token in ids)
    if parse_lines(text) != ids:
        _refuse(LINES, "a token ends with whitespace or contains a line feed, or ids are not the numbers of the lines")
    return text.encode()


def _ranks(document: Json, _: Sequence[float] | None) -> bytes:
    """The content of a ``.tiktoken`` file: each token in base64, and the token's id."""
    _need_tiktoken(document)
    specials = {token["content"] for token in document["added_tokens"]}
    ranks = {bytes_of(token): number for token, number in document["model"]["vocab"].items() if token not in specials}
    tokens = {token: number for token, number in ranks.items() if token}
    if len(tokens) < len(ranks):
        _refuse(RANKS, "a token is empty, or contains a character that is not a letter of ByteLevel")
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        _refuse(RANKS, f"{len(missing)} bytes are not tokens, such as {missing[0]:#04x}; train with all bytes in the alphabet")
    merges = [(bytes_of(left), bytes_of(right)) for left, right in document["model"]["merges"]]
    if list(Merges.of_ranks(tokens).pairs) != merges:
        _refuse(RANKS, "its ids are not ranks: their order is not that of the merges")
    return b"".join(b"%b %d\n" % (b64encode(token), number) for token, number in sorted(tokens.items(), key=lambda token: token[1]))


def _need_tiktoken(document: Json) -> None:
    """Raise an error unless the pipeline splits texts by a single pattern and the model merges bytes, as `tiktoken` requires."""
    parts = document["pre_tokenizer"] or {}
    steps = parts.get("pretokenizers", [parts])
    if not Pipeline(pre_tokenizer=parts).are_bytes:
        _refuse(RANKS, "its tokens are not strings of bytes")
    if document["normalizer"] is not None:
        _refuse(RANKS, "it has a normalizer")
    if any(step.get("add_prefix_space") for step in steps):
        _refuse(RANKS, "it has add_prefix_space")
    patterns = [step for step in steps if step["type"] != "ByteLevel" or step.get("use_regex", True)]
    if len(patterns) > 1 or any(step["type"] not in ("ByteLevel", "Split") for step in patterns):
        _refuse(RANKS, "it splits by more than one pattern")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if document["model"].get(name):
            _refuse(RANKS, f"it has {name}")


def _model(document: Json, scores: Sequence[float] | None, rule: str | None = None) -> bytes:
    """The content of a SentencePiece ``.model``."""
    try:
        return model_file(model_of(document, scores, rule), rule)
    except ValueError as error:
        _refuse(PIECES, str(error))


FORMS: Mapping[str, Form] = {
    IDS: Form(_vocabulary, "BPE"),
    MERGES: Form(_merges, "BPE"),
    ".json": Form(_document, "BPE and Unigram and WordPiece and WordLevel"),
    ".txt": Form(_lines, "WordPiece"),
    RANKS: Form(_ranks, "BPE"),
    PIECES: Form(_model, " and ".join(("Unigram", "BPE", *OF_PIECES))),
}
