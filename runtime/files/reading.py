"""The way in for the library: documents of files, with the options and errors of Python."""

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
    r"""Files of documents in the formats and packings that commands read.

    Args:
        sources: paths of files and folders, patterns such as ``books/**/*.jsonl``, URLs; "-" is standard input. A folder stands for all
            files in it and in its folders, in the order of their names, but for hidden ones.
        for_command: whether errors spell options as commands do.
        options: the fields of `Reading`: `column` of Parquet and Arrow, `field` of JSON lines, `input_format`, `separator`, `document`, and
            `others`, for the other fields or columns too.

    Attributes:
        names: the files.
        size: their bytes, packed or not, for a progress bar; None: unknown.
        advance: called with the number of bytes of each read, as they lie on disk; their sum is `size` in the end.

    Raises:
        ReadingError: the options contradict each other or do not go with a file, or a folder is empty. No file has been read then.
        OSError: a file is missing.

    Example:
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
        """The documents, some megabytes at a time, file after file.

        `Documents.texts` is a list of bytes (plain text) or of str (JSON lines), or a pyarrow array (Parquet, Arrow), which may have nulls:
        they are no documents. `Documents.in_utf8` makes a list of bytes of any of them, and proves that they are UTF-8. Calls that take
        texts prove it too; `Documents.place` then names the document of their error.

        Args:
            errors: "strict", or "replace": a malformed byte is read as U+FFFD.

        Raises:
            TextError: a file is damaged, a line of JSON is not an object with the field, or a column is missing.
            ReadingError: a file that could not be looked into before has another format than the options are for.
        """
        mends = errors == "replace"
        with self._spelled():
            for documents in replace(self._how, mends=mends).documents(self.names, lambda count: self.advance(count)):
                for number, fault in documents.wrong:
                    raise TextError(f"{documents.place(number)}: {fault.what}; mend it")
                yield documents.mended() if mends else documents


@contextmanager
def _in_python() -> Generator[None, None, None]:
    """Spell options in errors as arguments."""
    try:
        yield
    except (ReadingError, TextError) as error:
        raise type(error)(OPTION.sub(_argument, str(error))) from None


def _argument(option: re.Match[str]) -> str:
    """An option, and perhaps its value, as an argument.

    Example:
        >>> OPTION.sub(_argument, "name it with --column; or pass --input-format text")
        "name it with column=; or pass input_format='text'"
    """
    name, value = option.groups()
    return f"{name.replace('-', '_')}={'' if value is None else repr(value)}"
