"""The library's entry point for reading documents from files. Options are Python arguments, and error messages contain their names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from fst.errors import ReadingError, TextError
from fst.runtime.files.documents import Documents
from fst.runtime.files.inputs import Reading
from fst.runtime.files.names import named
from fst.runtime.files.streams import size

Path = str | os.PathLike[str]

OPTION = re.compile(r"--(input-format|field|column|separator|document)(?: (text|json|file)\b)?")


class Files:
    r"""Files of documents, in the formats and compressions of the command line.

    Args:
        sources: paths of files and folders, patterns (for example ``books/**/*.jsonl``), or URLs; "-" is standard input. A folder
            represents all files in it and in its subfolders, sorted by name, except hidden files.
        for_command: whether messages contain options of the command line (``--column``) instead of arguments (``column=``).
        options: the fields of `Reading`: `column` for Parquet and Arrow, `field` for JSON lines, `input_format`, `separator`, `document`;
            and `others`, to read the other fields or columns, too.

    Attributes:
        names: the files.
        size: the total size of the stored files in bytes, for a progress bar; None if it is unknown.
        advance: a function that is called with the number of stored bytes of each read. At the end, the sum of these numbers is `size`.

    Examples:
        >>> import pathlib
        >>> _ = pathlib.Path("a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
        >>> for documents in Files(["a.jsonl"], field="text").documents():
        ...     print(documents.file, documents.numbers, documents.texts)
        a.jsonl [1, 2] ['one', 'two']
    """

    def __init__(self, sources: Iterable[Path], *, for_command: bool = False, **options: Any) -> None:
        self.advance: Callable[[int], None] = lambda _: None
        self._spelled = nullcontext if for_command else _in_python
        with self._spelled():
            self._how = Reading(**options)
            self.names = named([os.fspath(source) for source in sources])
            self.size = size(self.names)
            self._how.check(self.names)

    def documents(self, errors: str = "strict") -> Generator[Documents, None, None]:
        """Read the documents in the order of the files, in blocks of a few megabytes.

        `Documents.texts` is a list of bytes (plain text) or of str (JSON lines), or a pyarrow array (Parquet, Arrow). Nulls in an array are
        not documents. `Documents.in_utf8` checks that texts are UTF-8, and converts them to a list of bytes objects without nulls. The
        methods of tokenizers check texts, too; `Documents.place` converts the row number in their errors to a file and a position.

        Args:
            errors: "strict", or "replace": malformed bytes become U+FFFD.
        """
        mends = errors == "replace"
        with self._spelled():
            for documents in replace(self._how, mends=mends).documents(self.names, lambda count: self.advance(count)):
                for number, fault in documents.wrong:
                    raise TextError(f"{documents.place(number)}: {fault.what}; correct it")
                yield documents.mended() if mends else documents


@contextmanager
def _in_python() -> Generator[None, None, None]:
    """Replace options of the command line in error messages by arguments."""
    try:
        yield
    except (ReadingError, TextError) as error:
        raise type(error)(OPTION.sub(_argument, str(error))) from None


def _argument(option: re.Match[str]) -> str:
    """Convert an option of the command line, together with its value if it has one, to a Python argument.

    Examples:
        >>> OPTION.sub(_argument, "name it with --column; or pass --input-format text")
        "name it with column=; or pass input_format='text'"
    """
    name, value = option.groups()
    return f"{name.replace('-', '_')}={'' if value is None else repr(value)}"
