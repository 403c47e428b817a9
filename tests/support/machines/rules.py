"""Random rewrite rules over the letters a, b and c."""

from __future__ import annotations

import random
from itertools import product

from support.naive.rules import Rule

TEXTS = ["".join(letters) for size in range(7) for letters in product("abc", repeat=size)]
ATOMS = ("a", "b", "c", "[ab]", "[^a]", ".", "ab", "(?:a|bc)")
SIGNS = ("", "", "", "*", "+", "?", "{2}", "{1,2}")
CONTEXTS = ("", "", "a", "b|c", "[ab]c*", "(?:ab|c)", "[^b]")

EDGES = ("", r"\b", r"\b", r"\ba", r"a\b", r"-\b", r"\b[ab]*", r"(?:a|\bb)", r"(?:\ba)?", r"(?:a\b-)+", r"a?\b", r"(?:\b.){2}", r"\b\b.?")


def expression(draw: random.Random) -> str:
    """A random regular expression that matches more than the empty string."""
    parts = [draw.choice(ATOMS) + draw.choice(SIGNS) for _ in range(draw.randint(1, 3))]
    return "|".join(parts) if draw.random() < 0.2 else "".join(parts)


def rule(draw: random.Random) -> Rule:
    """A random rule; a seventh of the rules insert."""
    left, right = draw.choice((*CONTEXTS, "^", "^a|b")), draw.choice((*CONTEXTS, "$", "a|b$"))
    return Rule(expression(draw) if draw.random() < 0.85 else "", draw.choice(("", "x", "ab", "ca", "a")), left, right)


def spelled(rule: Rule) -> str:
    """A rule as text."""
    return f"{rule.phi} -> {rule.psi} / {rule.left} _ {rule.right}"
