"""Training: vocabularies from texts or from counted words.

The runtime counts words, and the compiler makes a vocabulary of them. This module is the way from one to the other.
"""

from __future__ import annotations
