"""Offline: a vocabulary becomes tables."""

from fst.compile.wordpiece import wordpiece

__all__ = ["wordpiece"]
