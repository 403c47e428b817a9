"""Divide pending pre-tokens into segments, and sort the segments by length, so that `find_nodes` can read one byte of each segment in turn.

For example, with ``widest = 300`` and ``stride = 256``, a pre-token of 700 bytes has segments of 300, 300 and 188 bytes, which begin at 0,
256 and 512.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.pretokens.arguments import LONGEST as LONGEST_PRETOKEN
from fst.pretokens.arguments import PRETOKENS
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1
from fst.runtime.pretokens.kernels.look_up import bounds_of, is_tuned, pending_of

LONGEST, MOST = np.uint64(LONGEST_PRETOKEN), np.uint64(PRETOKENS)


@inlined
def pack_segment(at, place):
    """Pack the start of a segment: its position in the text, and its index in slices."""
    return at | place << HALF


@inlined
def segment_of(item, done):
    """For the place `done` bytes after the start of a segment, return the position in the text, and the index in slices."""
    return (item & LOW_HALF) + done, (item >> HALF) + done


@inlined
def read_together(length, widest, stride):
    """Return the length of a pending pre-token; 0 if the pre-token is too long to be read in segments."""
    return length if length <= (MOST if stride else widest) else U0


@inlined
def next_segment(size, left, stride):
    """Return the distance from the start of a segment to the next segment; for the last segment, `left`, the size of the rest of the
    pre-token.
    """
    return left if size == left else stride


@inlined
def put_segment(size, at, place, active, longer):
    """Write a segment of `size` bytes to the next position among the segments of this length, ``longer[size]``."""
    rank = longer[size] << U1
    longer[size] += U1
    active[rank], active[rank | U1] = ROOT, pack_segment(at, place)


@part
def sort_pretokens(pretokens, pending, waiting, active, longer, widest, stride):
    """Sort the segments of pending pre-tokens by length, the longest first, into `active`.

    A pre-token of at most `widest` bytes is one segment. A longer pre-token is divided into segments of at most `widest` bytes, which begin
    `stride` bytes apart. A pre-token is omitted if it is a tuned word, longer than a round, or longer than
    `widest` and `stride` is 0.

    Args:
        pretokens, pending, waiting: as in `fst.runtime.machines.bpe.kernels.encode.transduce`.
        active: uint64[2 * n], output, two elements for each segment: its state, the root; and its start, as `pack_segment` returns it.
            The slice of a pre-token has an element for each byte, and one more element, see `fst.runtime.machines.unigram.kernels.viterbi`.
        longer: uint64[widest + 2], all zero; output: for each length, the number of segments of at least this length.
        widest, stride: see `fst.machines.unigram.arguments.Ends`.

    Returns:
        The length of the longest segment.
    """
    most = base = before = U0
    for item in range(waiting):
        _, _, length = bounds_of(pretokens, pending_of(pending[item])[1])
        left = U0 if is_tuned(pending[item]) else read_together(length, widest, stride)
        size = min(left, widest)
        longer[size] += U1
        most, left = max(most, size), left - next_segment(size, left, stride)
        while left:  # rare: a second segment
            size = min(left, widest)
            longer[size] += U1
            left -= next_segment(size, left, stride)
    for index in range(most + U1):
        length = most - np.uint64(index)
        own = longer[length]
        longer[length] = before
        before += own
    for item in range(waiting):
        start, _, length = bounds_of(pretokens, pending_of(pending[item])[1])
        left = length = U0 if is_tuned(pending[item]) else read_together(length, widest, stride)
        put_segment(min(left, widest), start, base, active, longer)
        left -= next_segment(min(left, widest), left, stride)
        while left:
            at = length - left
            put_segment(min(left, widest), start + at, base + at, active, longer)
            left -= next_segment(min(left, widest), left, stride)
        base += length + U1 if length else U0
    return most
