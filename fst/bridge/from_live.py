"""The table of a tokenizer in any form: the one conversion that all functions with a tokenizer as argument share.

The compiler is imported only for a tokenizer without a table.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fst import registry
from fst.core import remote
from fst.errors import UnsupportedError, counted, cut
from fst.tables.live import exported_text, is_encoding, is_fast, is_live, is_processor
from fst.tables.table import Table

if TYPE_CHECKING:
    from fst.runtime.tokenizer import Tokenizer

LIBRARIES = "tokenizers, transformers, tiktoken or sentencepiece"
TAKES = f"a fst.Tokenizer, a table, a path, a folder, the name of a model, or an object of {LIBRARIES}"
PROBED = 20  # number of pieces in the text by which a processor of sentencepiece is compared with its table


def compiled(source: Any, asker: str) -> Tokenizer:
    """The `fst.Tokenizer` for a tokenizer in any form; a `fst.Tokenizer` is returned unchanged. Arguments and errors: see `table_for`."""
    from fst.runtime.tokenizer import Tokenizer

    found = source if isinstance(source, Tokenizer) else getattr(source, "fst", None)
    return found if isinstance(found, Tokenizer) else Tokenizer(table_for(source, asker))


def table_for(source: Any, asker: str) -> Table:
    """The table of a tokenizer in any form. A table that is compiled is cached on disk, see `fst.bridge.table_cache`.

    Args:
        source: a table, or an object that has one; a stand-in for a tokenizer of another library; a live tokenizer of ``tokenizers``,
            ``transformers``, ``tiktoken`` or ``sentencepiece``; the path or the URL of a table; any source of `fst.compile.tokenizer`, such
            as a file, a folder, the name of a model or a list of tokens; or a trained vocabulary.
        asker: the name of the calling function, for messages.
    """
    own = getattr(source, "fst", source)
    table = own if isinstance(own, Table) else getattr(own, "_table", None)
    if isinstance(table, Table):
        return table
    if isinstance(source, str | Path):
        loaded: Table = registry.load(source) if is_table(source) else _of_vocabulary(source)
        return loaded
    if is_processor(source):
        return _of_processor(source)
    if is_live(source) or is_encoding(source):
        return _of_live(source)
    if isinstance(source, list | tuple):
        from fst.compile.api import tokenizer

        return tokenizer(source)
    raise TypeError(f"{asker} is called with {_described(source)}; expected {TAKES}")


def is_table(path: str | Path) -> bool:
    """Whether a path or a URL leads to a table, judged by its ending or by the first bytes of the file."""
    if str(path).endswith(".npz"):
        return True
    local = remote.plain(str(path))
    if not os.path.isfile(local):  # noqa: PTH113 - `Path.is_file` raises an error for a str that is too long or invalid as a path
        return False
    with Path(local).open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _of_vocabulary(source: str | Path) -> Table:
    """The table of a file, a folder or a model on the Hugging Face Hub; a pickle of it contains the path of its file in the cache.

    The cached table is found by the bytes of the files, without parsing them. In two cases, it is found by the parsed source instead: for a
    folder that `transformers` reads, and for files that change while they are read.
    """
    from fst.bridge.table_cache import table_with
    from fst.compile.sources.inputs import contents_of, located

    path = located(source)
    content = contents_of(path)
    kept: Table | None = table_with(content) if content else None
    if kept is not None:
        return kept
    from fst.compile.api import made_of
    from fst.compile.sources import live
    from fst.compile.sources.read import read

    found = read(path, {})
    if content is None or path in live.asked or content != contents_of(path):
        content = pickle.dumps(found, protocol=5)
    return _cached(str(source), content, lambda: made_of(source, found))


def _of_live(source: Any) -> Table:
    """The table of a live tokenizer. A pickle contains the whole table, because other machines lack the file in the cache."""
    text, settings = exported_text(source)
    content = f"{text}\0{settings!r}".encode(errors="surrogatepass")

    def compile_it() -> Table:
        from fst.compile.api import tokenizer

        return tokenizer(source)

    return replace(_cached(_named(source), content, compile_it))


def _of_processor(source: Any) -> Table:
    """The table of a processor of ``sentencepiece``."""
    table = _of_live(source)
    plain = {"add_bos": False, "add_eos": False, "reverse": False, "emit_unk_piece": False, "enable_sampling": False}
    size = source.get_piece_size()
    for text in ("", "".join(map(source.id_to_piece, range(max(size - PROBED, 0), size)))):
        if source.encode(text, out_type=int, **plain) != table.run(text):
            fault = "the SentencePieceProcessor encodes in another way than its model, as after set_encode_extra_options"
            raise UnsupportedError(f"{fault}; expected none of these options; pass add_bos, add_eos or reverse to fst.sentencepiece")
    return table


def _cached(name: str, content: bytes, compile_it: Callable[[], Table]) -> Table:
    from fst.bridge.table_cache import table_of

    found: Table = table_of(name, content, compile_it)
    return found


def _named(source: Any) -> str:
    """The description of a live tokenizer in messages: the class, the name or path if there is one, and the size."""
    if is_processor(source):
        size, where = source.get_piece_size(), ""
    elif is_encoding(source):
        size, where = source.n_vocab, source.name
    else:
        size = len(source) if is_fast(source) else source.get_vocab_size()
        where = str(getattr(source, "name_or_path", ""))
    return f"a live {type(source).__name__}{f' ({cut(where)})' if where else ''} of {counted(size, 'token')}"


def _described(source: Any) -> str:
    return f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__
