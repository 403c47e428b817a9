"""Fetch the files of a tokenizer from the Hugging Face Hub, or find them in the cache of `huggingface_hub`."""

from __future__ import annotations

import re
from pathlib import Path

from fst.errors import UnsupportedError, VocabularyError

# The name of a model, or owner and name. A name with the ending of a file is taken as a missing file, not as a model.
NAME = re.compile(r"(?!.*\.(json|txt|npz|tiktoken|gz)$)[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)


def is_name(source: object) -> bool:
    """Whether a source may be the name of a model on the Hub.

    Examples:
        >>> is_name("BAAI/bge-small-en-v1.5"), is_name("bert-base-uncased"), is_name("models/bert/vocab.txt"), is_name("./bert")
        (True, True, False, False)
    """
    return isinstance(source, str) and NAME.fullmatch(source) is not None


def fetched(name: str, files: tuple[str, ...]) -> Path:
    """The folder in huggingface_hub's cache with the requested files that the model has, all of the same version.

    Files in the cache are not fetched again. With the environment variable HF_HUB_OFFLINE=1, no file is fetched.
    """
    absent = f"there is no file or folder {name!r}"
    try:
        from huggingface_hub import errors, snapshot_download
    except ImportError:
        raise UnsupportedError(f"{absent}; to fetch it from the Hugging Face Hub: pip install huggingface_hub tokenizers") from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(files)))
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
