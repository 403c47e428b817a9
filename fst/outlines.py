"""`Index` and `Guide` with the methods of the classes of these names in ``outlines-core``, over the token masks of a `fst.Guide`."""

from fst.runtime.compat.outlines.index import Guide, Index

__all__ = ["Guide", "Index"]


def __dir__() -> list[str]:
    return __all__
