"""Characters that mark words of dictionaries: the compiler writes them before the words of a machine, and look-up reads them.

They are noncharacters of Unicode, which no text contains.
"""

from __future__ import annotations

KEPT = "\ufdd0"  # the mark before words that keep their case
FORBIDDEN = "\ufdd1"  # before forbidden words
