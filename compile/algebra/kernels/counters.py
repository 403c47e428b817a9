"""Counters and results of the kernels that build machines. This module does not import numba."""

from __future__ import annotations

# Indices into `counts`, int64[5]: what a builder has made so far. A builder continues after the last complete state. `STATES` is also
# `fst.automata.kernels.hashing.ITEMS`.
STATES, ARCS, DONE, MEMBERS, BUFFER = range(5)
# Results of a builder.
COMPLETE, MORE_STATES, MORE_ARCS, MORE_MEMBERS, MORE_BUFFER, MORE_STEPS = range(6)
# Kinds of states of the first machine of a composition, by the arcs that write nothing; 0: there are none.
SOME_EPSILON, ONLY_EPSILON = 1, 2
