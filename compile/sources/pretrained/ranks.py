"""Read a folder that contains ranks of `tiktoken`, and files of `transformers` that name a class written in Python for them.

The class contains the pattern, and makes special tokens from settings; this module contains the same rules. The folder's Python code is
never run. The reference is ``tiktoken.Encoding`` with the parts that the class gives it.

Source: ``tokenization_qwen.py`` of Qwen-7B; ``tokenization_kimi.py`` of Kimi-K2, whose method ``encode`` also cuts runs of more than 25,000
characters without whitespace, and texts of more than 400,000; ``tokenization_chatglm.py`` of glm-4-9b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from fst.compile.files import read_text
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.sources import tiktoken
from fst.compile.sources.pretrained import folder as pretrained
from fst.compile.sources.pretrained.special_tokens import AddedToken, special_tokens
from fst.compile.sources.templates import BARE
from fst.compile.text.source import Source
from fst.errors import UnsupportedError, VocabularyError, quoted, reason
from fst.tables.header import FIRST, SECOND, Templates

GLM = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
KIMI = "|".join(
    [
        r"[\p{Han}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
RESERVED = 256  # the number of Kimi's special tokens, most of them without a name
INPUTS = tuple(tiktoken.INPUTS)


class RanksFamily(NamedTuple):
    """A class of tokenizers with ranks of `tiktoken`."""

    encoding: Callable[[Mapping[bytes, int], Mapping[int, AddedToken]], tiktoken.Encoding]  # from the ranks and the added tokens by id
    names: Mapping[str, str]  # the special tokens by name, unless a setting overrides them
    inputs: tuple[str, ...] = INPUTS  # the names of the model's inputs
    first: tuple[str, ...] = ()  # special tokens before each text


def _kimi(ranks: Mapping[bytes, int], added: Mapping[int, AddedToken]) -> tiktoken.Encoding:
    numbers = range(len(ranks), len(ranks) + RESERVED)
    return tiktoken.Encoding(KIMI, {added[at].content if at in added else f"<|reserved_token_{at}|>": at for at in numbers})


def _glm(_: Mapping[bytes, int], added: Mapping[int, AddedToken]) -> tiktoken.Encoding:
    return tiktoken.Encoding(GLM, {token.content: number for number, token in added.items()})


FAMILIES = {
    "QWenTokenizer": RanksFamily(lambda *_: tiktoken.ENCODINGS["qwen"], {}),
    "TikTokenTokenizer": RanksFamily(_kimi, {"bos_token": "[BOS]", "eos_token": "[EOS]"}),
    "ChatGLM4Tokenizer": RanksFamily(_glm, {}, (*INPUTS, "position_ids"), ("[gMASK]", "<sop>")),
}
REFUSED = {"HYTokenizer": "its Python code has versions with different special tokens; compile hy.tiktoken alone, or save a tokenizer.json"}


def read(folder: Path, path: Path) -> Source[BpeModel] | None:
    """The source of a folder; None if no file names a class of `FAMILIES`, so that the ranks are complete with options only.

    Args:
        folder: the folder.
        path: the file of ranks in it.

    Raises:
        VocabularyError: the ranks or the settings are damaged.
        UnsupportedError: a table cannot represent a setting.
    """
    files = pretrained.without_vocabulary(folder)
    name = str(files.config.get("tokenizer_class"))
    if name in REFUSED:
        raise UnsupportedError(f"{folder}: tokenizer_class is {name}: {REFUSED[name]}")
    if name not in FAMILIES:
        return None
    try:
        return _outcome(files, FAMILIES[name], path)
    except UnsupportedError as error:
        raise UnsupportedError(f"{folder}: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise VocabularyError(f"{folder}: its files are not laid out as those of a tokenizer: {reason(error)}") from None


def _outcome(files: pretrained.Files, family: RanksFamily, path: Path) -> Source[BpeModel]:
    code = {name: value for name, value in files.config.items() if name != "auto_map"}  # the class is one of `FAMILIES`
    pretrained.refuse_settings(code)
    tokens = special_tokens(files.config, files.specials, files.added, {}, family.names, ())
    for token in tokens.numbered.values():
        if token.lstrip or token.rstrip or token.single_word:
            raise UnsupportedError(f"added token {quoted(token.content)} has lstrip, rstrip or single_word; expected none of them")
    ranks = tiktoken.ranks_of(read_text(path), path)
    encoding = family.encoding(ranks, tokens.numbered)
    source = tiktoken.of_ranks(ranks, encoding, str(path))
    _need_known([*tokens.named.values(), *tokens.extras, *tokens.numbered.values()], encoding)
    settings = pretrained.settings(files, family.inputs, tokens, is_class_known=True)
    settings["padding_side"] = settings.get("padding_side", "left" if family.first else "right")
    return replace(source, templates=_templates(family, encoding), settings=replace(source.settings, **settings))


def _need_known(tokens: list[AddedToken], encoding: tiktoken.Encoding) -> None:
    """Refuse special tokens of the settings that are not special tokens of the class, because `transformers` would number them itself."""
    for token in tokens:
        if token.content not in encoding.special:
            known = "expected a token of added_tokens_decoder with an id after the ranks"
            raise UnsupportedError(f"special token {quoted(token.content)} has no id; {known}")


def _templates(family: RanksFamily, encoding: tiktoken.Encoding) -> Templates:
    if not family.first:
        return BARE
    before = tuple(encoding.special[token] for token in family.first)
    return Templates(((before, 0), (FIRST, 0)), ((before, 0), (FIRST, 0), (SECOND, 0)))
