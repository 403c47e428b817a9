"""The tokenizer of vLLM's tokenizer mode ``fst``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fst.runtime.compat.transformers.hf import hf


class FstTokenizer:
    """The loader that vLLM calls for the mode ``fst``."""

    @classmethod
    def from_pretrained(cls, name: str | Path, *args: Any, download_dir: str | None = None, **settings: Any) -> Any:
        """Load a tokenizer of ``transformers``, and compile it, or load its table from the cache.

        Args:
            name: the name or the folder of a model.
            download_dir: the folder for downloaded files.
            args, settings: as in ``AutoTokenizer.from_pretrained``.

        Returns:
            The result of `fst.hf`, with the cached members that vLLM needs.

        Raises:
            UnsupportedError: this version cannot compile the tokenizer; the message contains the component.
        """
        from transformers import AutoTokenizer
        from vllm.tokenizers.hf import get_cached_tokenizer

        own = AutoTokenizer.from_pretrained(name, *args, cache_dir=download_dir, **settings)
        return get_cached_tokenizer(hf(own, truncation_side=own.truncation_side))
