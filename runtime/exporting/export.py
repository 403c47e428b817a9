"""An export: the calls and the bytes with which a host without Python runs a machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import NamedTuple

from fst.core.prepared import PreparedCall
from fst.errors import UnsupportedError
from fst.runtime.exporting.calls import Calls
from fst.runtime.exporting.contents import Contents


class Export(NamedTuple):
    """The export of a machine.

    Attributes:
        calls: a function that prepares the calls; its argument is the maximum number of units of a text.
        tokens: the bytes of ids, from which a host decodes ids; None if ids are not decoded.
        builds: the calls that build arrays of the table when an image is loaded.
        host: the name of the files that a host needs in addition to `fst`; "" if it needs no other files.
    """

    calls: Callable[[int], Calls]
    tokens: Contents | None = None
    builds: list[PreparedCall] = []  # noqa: RUF012 - a field of a NamedTuple
    host: str = ""


# For each public class that cannot be exported, the reason and a remedy.
NOT_EXPORTED: Mapping[str, str] = {
    "fst.runtime.machines.segmentation.pieces.MecabPieceTokenizer": "a tokenizer with MeCab's words allocates arrays for each text; "
    "expected another kind of table; export the dictionary alone, from `fst compile mecab`, or run the table with Python",
}
# For each public class, the function that exports its objects. A new machine adds a line.
EXPORTS: Mapping[str, str] = {
    "fst.runtime.tokenizer.Tokenizer": "fst.runtime.exporting.encoders.of_tokenizer",
    "fst.runtime.machines.keywords.searcher.Searcher": "fst.runtime.exporting.encoders.of_searcher",
    "fst.runtime.machines.segmentation.segmenter.Segmenter": "fst.runtime.exporting.encoders.of_segmenter",
    "fst.runtime.rewriting.rewriter.Rewriter": "fst.runtime.exporting.rewriting.of_rewriter",
    "fst.runtime.machines.lookup.lookup.Lookup": "fst.runtime.exporting.look_up.of_lookup",
    "fst.runtime.machines.guide.guide.Guide": "fst.runtime.exporting.guides.of_guide",
}


def export_of(machine: object) -> Export:
    """The export of an object of a public class.

    Raises:
        UnsupportedError: the object cannot be exported.
    """
    for kind in type(machine).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in NOT_EXPORTED:
            raise UnsupportedError(NOT_EXPORTED[name])
        if found := EXPORTS.get(name):
            export: Export = resolve_name(found)(machine)
            return export
    expected = ", ".join(f"fst.{name.rpartition('.')[2]}" for name in EXPORTS)
    raise UnsupportedError(f"a {type(machine).__name__} cannot be exported; expected a table for one of {expected}")
