"""Parts of plugins, which are left out where an engine's version lacks what they need."""

from __future__ import annotations

import logging
from collections.abc import Callable


def add_part(engine: str, name: str, add: Callable[[], None]) -> None:
    """Add a part of a plugin; if that fails, write a warning to the engine's log, and go on.

    Args:
        engine: the name of the engine's package.
        name: the name of the part.
        add: a function that adds it.
    """
    try:
        add()
    except Exception as error:  # the engine runs on, whatever another version raises
        what = f"the {name} 'fst' is left out, because this version of {engine} has another interface"
        logging.getLogger(f"{engine}.fst").warning("%s: %s: %s", what, type(error).__name__, error)
