"""The files of a source: their paths, and a digest of their contents.

Readers of folders open only files that `files_of` lists, so sources with equal `contents_of` have equal tables. This module imports no
reader.
"""

from __future__ import annotations

import re
from errno import ENAMETOOLONG
from hashlib import sha256
from pathlib import Path

from fst.compile.files import MAX_SOURCE_BYTES
from fst.core import regular_files
from fst.errors import UnsupportedError, VocabularyError, quoted

DOCUMENT, CONFIG, VOCABULARY = "tokenizer.json", "tokenizer_config.json", "vocab.txt"
SPECIALS, ADDED, MODEL = "special_tokens_map.json", "added_tokens.json", "config.json"
IDS, MERGES = "vocab.json", "merges.txt"
CODES, DICTIONARY = "bpe.codes", "dict.txt"
FILES = (DOCUMENT, CONFIG, VOCABULARY, IDS, MERGES, CODES, DICTIONARY, SPECIALS, ADDED, MODEL)
SOURCE_PIECES, TARGET_PIECES, TARGET_IDS = "source.spm", "target.spm", "target_vocab.json"  # of Marian
BPE_PIECES = "sentencepiece.bpe.model"
TEMPLATE, TEMPLATES, TEMPLATE_SUFFIX = "chat_template.jinja", "additional_chat_templates", ".jinja"
# the files of a model on the Hub
PATTERNS = (*FILES, TARGET_IDS, SOURCE_PIECES, TARGET_PIECES, BPE_PIECES, TEMPLATE, f"{TEMPLATES}/*{TEMPLATE_SUFFIX}")
# the endings, or the name, of files with a complete vocabulary
RANKS, PIECES, GGUF, TEKKEN = ".tiktoken", ".model", ".gguf", "tekken.json"
MODELS = (PIECES, ".spm")  # the endings of models of SentencePiece

# The name of a model, or its owner and its name. A name with the ending of a file means a file, even if the file is missing.
NAME = re.compile(r"(?!.*\.(json|txt|npz|tiktoken|gguf|gz)$)[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)


def is_name(source: object) -> bool:
    """Whether a source may be the name of a model on the Hub.

    Examples:
        >>> is_name("BAAI/bge-small-en-v1.5"), is_name("bert-base-uncased"), is_name("models/bert/vocab.txt"), is_name("./bert")
        (True, True, False, False)
    """
    return isinstance(source, str) and NAME.fullmatch(source) is not None


def located(source: str | Path) -> Path:
    """The path of a file or a folder; for the name of a model, the folder of its files.

    Raises:
        VocabularyError: no file can have this path, as if the text of a file is given instead of its path; or the model is missing.
        UnsupportedError: huggingface_hub, which fetches models, is not installed.
    """
    path = Path(source)
    try:
        path.stat()
    except (OSError, ValueError) as error:
        if is_name(source):
            return fetched(str(source))
        if isinstance(error, ValueError) or error.errno == ENAMETOOLONG:
            known = "the path of a file or a folder, or the name of a model"
            raise VocabularyError(f"the source is {quoted(str(source))}; expected {known}") from None
    return path


def fetched(name: str) -> Path:
    """The folder in huggingface_hub's cache with the model's files that match `PATTERNS`, all of the same version.

    Files in the cache are not fetched again. With the environment variable HF_HUB_OFFLINE=1, no file is fetched.
    """
    absent = f"there is no file or folder {name!r}"
    try:
        from huggingface_hub import errors, snapshot_download
    except ImportError:
        raise UnsupportedError(f"{absent}; to fetch it from the Hugging Face Hub: pip install huggingface_hub tokenizers") from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(PATTERNS)))
    except errors.HFValidationError:
        raise VocabularyError(f"{absent}, and it is not the name of a model on the Hugging Face Hub either") from None
    except errors.GatedRepoError:
        raise VocabularyError(
            f"{name!r} on the Hugging Face Hub has restricted access; request it there, then run `hf auth login`"
        ) from None
    except errors.RepositoryNotFoundError:
        raise VocabularyError(f"{absent}, nor a model of that name on the Hugging Face Hub; if it is private: `hf auth login`") from None
    except Exception as error:  # no network, no response, or not in the cache; the error's class differs between versions
        reason = str(error.__cause__ or error).partition("\n")[0].rstrip(".: ")
        raise VocabularyError(f"{absent}, and no model of that name in the cache; the Hugging Face Hub is out of reach: {reason}") from None


def single_files(folder: Path) -> list[Path]:
    """The files in a folder that contain a complete vocabulary, with or without gzip.

    Complete vocabularies are rank files of `tiktoken`, a tekken.json, and models of SentencePiece and of GGUF.
    """
    names = {path: path.name.removesuffix(".gz") for path in sorted(folder.iterdir())}
    return [path for path, name in names.items() if name == TEKKEN or name.endswith((RANKS, *MODELS, GGUF))]


def templates(folder: Path) -> list[Path]:
    """The chat templates in a folder's own files, the default template first."""
    more = sorted((folder / TEMPLATES).glob(f"*{TEMPLATE_SUFFIX}"))
    return [path for path in (folder / TEMPLATE, *more) if path.is_file()]


def files_of(source: Path) -> list[Path]:
    """The file itself; or the files in a folder that its reader may open. One of Marian's models is read like its folder."""
    if not source.is_dir():
        return [source] if source.name not in (SOURCE_PIECES, TARGET_PIECES) else [source, *files_of(source.parent)]
    return [*filter(Path.exists, map(source.joinpath, (*FILES, TARGET_IDS))), *single_files(source), *templates(source)]


def contents_of(source: Path) -> bytes | None:
    """A text with the names and the SHA-256 digests of the files of a source, see `files_of`; None if one of them cannot be read.

    Args:
        source: a file or a folder. The text contains the name of a file, which may determine its format, but not the name of a folder.
    """
    try:
        is_folder = source.is_dir()
        place = source if is_folder else source.parent
        return repr((is_folder, [(str(path.relative_to(place)), _digest(path)) for path in files_of(source)])).encode()
    except (OSError, VocabularyError):
        return None


def _digest(path: Path) -> str | None:
    """The digest of the bytes of a file, which may be packed; None for a folder. Of a GGUF model, only the header is read."""
    if path.is_dir():
        return None
    from fst.compile.sources.gguf import header

    if header.is_model(path):
        return sha256(header.header_of(path).data).hexdigest()
    return sha256(regular_files.contents(path, MAX_SOURCE_BYTES, VocabularyError)).hexdigest()
