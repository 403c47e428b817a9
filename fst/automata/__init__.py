"""Automata over integer labels: tries, failure links, rows of transitions and transducers."""
