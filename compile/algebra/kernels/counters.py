"""The numbers that a call that builds a machine leaves behind, and its results. This module does not import numba."""

from __future__ import annotations

# Indices in `counts`, int64[5]: what a builder has made so far. A builder continues after the last complete state.
STATES, ARCS, DONE, MEMBERS, BUFFER = range(5)
# Results of a builder.
COMPLETE, MORE_STATES, MORE_ARCS, MORE_MEMBERS, MORE_BUFFER = range(5)
FULL = -1  # instead of a number: there is no room for another key
# Kinds of states of the first machine of a composition, by the arcs that write nothing; 0: there are none.
SOME_EPSILON, ONLY_EPSILON = 1, 2
