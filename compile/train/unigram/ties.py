"""Kernels that break ties between paths in Unigram training, with the same results as `tokenizers`.

`tokenizers` compares rounded sums, and pops the two best paths from a 4-ary heap, which moves a new entry above equal entries. So the order
of two equal paths depends on every comparison, and these kernels make the same comparisons.

A lattice is a list of nodes: node 0 is the beginning of the string, node 1 is the end, and each occurrence of a piece in the string is a
further node. The nodes that end at the same place form a linked list, in ascending order of their first places.
"""

from __future__ import annotations

from fst.core.jit import part

SPLITS = 0  # a result of `rank_paths`: the best path consists of several pieces
BEGIN, END, NONE = 0, 1, -1
CHILDREN = 4
MOST, FEW = 100_000, 20  # a heap with more than `MOST` entries keeps the best `FEW`


@part
def fits(lattices, begin, size, nodes):
    """Whether `nodes` is large enough for a string, which has at least as many nodes as letters."""
    return lattices.first[begin + size] - lattices.first[begin] + 2 <= len(nodes.seed)


@part
def add_node(nodes, node, begin, end, seed, score):
    """Write a node, and append it to the list of nodes that end at the same place."""
    nodes.begin[node], nodes.seed[node], nodes.score[node], nodes.later[node] = begin, seed, score, NONE
    if nodes.head[end] == NONE:
        nodes.head[end] = node
    else:
        nodes.later[nodes.tail[end]] = node
    nodes.tail[end] = node


@part
def best_before(nodes, place, score):
    """Of the nodes that end at a place, the first node with the greatest ``total + score``, and this sum."""
    found, most, node = NONE, 0.0, nodes.head[place]
    while node != NONE:
        total = nodes.total[node] + score
        if found == NONE or total > most:
            found, most = node, total
        node = nodes.later[node]
    return found, most


@part
def list_nodes(lattices, scores, begin, size, nodes):
    """List the nodes of a string, each with the greatest sum on a path to the node, and the previous node on this path.

    Args:
        lattices: `fst.compile.train.unigram.lattices.Lattices`.
        scores: float64[seeds].
        begin, size: the first place of the string, and its number of letters.
        nodes: `fst.compile.train.unigram.lattices.Nodes`, large enough for the string; filled.

    Returns:
        The last node of the best path; `BEGIN` if the string is empty.
    """
    for place in range(size + 1):
        nodes.head[place] = NONE
    add_node(nodes, BEGIN, 0, 0, 0, 0.0)
    nodes.total[BEGIN], nodes.before[BEGIN], node = 0.0, NONE, 2
    for place in range(size):
        for arc in range(lattices.first[begin + place], lattices.first[begin + place + 1]):
            end, seed = place + lattices.sizes[arc], lattices.seeds[arc]
            if end <= size:
                add_node(nodes, node, place, end, seed, scores[seed])
                nodes.before[node], nodes.total[node] = best_before(nodes, place, scores[seed])
                node += 1
    nodes.begin[END], nodes.score[END] = size, 0.0
    last, _ = best_before(nodes, size, 0.0)
    return last


@part
def find_path(nodes, last, path):
    """Read the best path of a string, from the end of the string to its start. `nodes`, `last`: from `list_nodes`. `path`: int32[size],
    filled: the seeds on the path, from last to first. Returns the number of seeds.
    """
    count = 0
    while last != BEGIN:
        path[count] = nodes.seed[last]
        last = nodes.before[last]
        count += 1
    return count


@part
def sift_up(paths, at):
    """Move an entry of the heap up, above smaller and equal entries."""
    entry = paths.heap[at]
    while at > 0:
        parent = (at - 1) // CHILDREN
        if paths.hope[entry] < paths.hope[paths.heap[parent]]:
            break
        paths.heap[at] = paths.heap[parent]
        at = parent
    paths.heap[at] = entry


@part
def push(paths, size, entry):
    """Add an entry to a heap of `size` entries."""
    paths.heap[size] = entry
    sift_up(paths, size)


@part
def pop(paths, size):
    """Pop the greatest entry from a heap of `size` entries: the gap moves to the bottom, the last entry fills it and moves up."""
    greatest, last, at = paths.heap[0], paths.heap[size - 1], 0
    size -= 1
    while CHILDREN * at + 1 < size:
        child = CHILDREN * at + 1
        for other in range(child + 1, min(child + CHILDREN, size)):
            if paths.hope[paths.heap[child]] < paths.hope[paths.heap[other]]:
                child = other
        paths.heap[at] = paths.heap[child]
        at = child
    if size:
        paths.heap[at] = last
        sift_up(paths, at)
    return greatest


@part
def keep_few(paths, size):
    """Shorten a heap that is too large: pop the best `FEW` entries, and push them in the same order into an empty heap."""
    for index in range(FEW):
        paths.few[index] = pop(paths, size - index)
    for index in range(FEW):
        push(paths, index, paths.few[index])
    return FEW


@part
def rank_paths(nodes, paths, path):
    """Find the second best path of a string, if the best path is a single piece.

    Partial paths are extended backwards from the end of the string. The entry of a path contains `total`, the sum so far, and `hope`:
    `total` plus the greatest sum on a path from the beginning to its first node.

    Args:
        nodes: from `list_nodes`.
        paths: `fst.compile.train.unigram.lattices.Paths`, scratch.
        path: output, int32[size]: the seeds on the second best path, from last to first.

    Returns:
        The number of seeds; `SPLITS`: the best path has several pieces, or there is no second path; -1: `paths` is full.
    """
    paths.node[0], paths.after[0], paths.total[0], paths.hope[0] = END, NONE, 0.0, 0.0
    push(paths, 0, 0)
    size, entries, is_second = 1, 1, False
    while size > 0:
        entry = pop(paths, size)
        size -= 1
        if paths.node[entry] == BEGIN:
            count, at = 0, paths.after[entry]
            while paths.after[at] != NONE:
                count += 1
                at = paths.after[at]
            if is_second:
                return write_path(nodes, paths, entry, count, path)
            if count > 1:
                return SPLITS
            is_second = True
            continue
        node = nodes.head[nodes.begin[paths.node[entry]]]
        while node != NONE:
            if entries == len(paths.node):
                return -1
            paths.node[entries], paths.after[entries] = node, entry
            paths.hope[entries] = nodes.total[node] + paths.total[entry]
            paths.total[entries] = nodes.score[node] + paths.total[entry]
            push(paths, size, entries)
            entries, size, node = entries + 1, size + 1, nodes.later[node]
        if size > MOST:
            size = keep_few(paths, size)
    return SPLITS


@part
def write_path(nodes, paths, entry, count, path):
    """Write the seeds of a complete path, from last to first; return their number."""
    at = paths.after[entry]
    for index in range(count - 1, -1, -1):
        path[index] = nodes.seed[paths.node[at]]
        at = paths.after[at]
    return count
