"""Parts of plugins. A part is left out if the installed version of the engine has another interface."""

from __future__ import annotations

import logging
from collections.abc import Callable


def add_part(engine: str, name: str, add: Callable[[], None]) -> None:
    """Add a part of a plugin. If this fails, write a warning to the engine's log.

    Args:
        engine: the name of the engine's package.
        name: the name of the part.
        add: a function that adds it.
    """
    try:
        add()
    except Exception as error:  # another version may raise any error, and the engine must start
        what = f"the {name} 'fst' is left out, because this version of {engine} has another interface"
        logging.getLogger(f"{engine}.fst").warning("%s: %s: %s", what, type(error).__name__, error)
