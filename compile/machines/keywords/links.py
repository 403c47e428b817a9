"""Kernels of the compiler of keywords: failure links, and the matches that are certain on the way along them."""

from __future__ import annotations

from fst.automata.trie import NULL, ROOT
from fst.core.jit import inlined, kernel, part
from fst.machines.keywords import overlapping
from fst.machines.keywords.table import BEFORE, KEYWORD, START

NEXT, COUNT = overlapping.COLUMNS


@inlined
def child(slots, children, labels, node, byte):
    """The child of a node, or `NULL`."""
    slot = slots[node] + 1 + byte
    return children[slot] if labels[slot] == byte else NULL


@inlined
def size_of(matches, output):
    """The number of matches of an output."""
    size = 0
    while output:
        size += 1
        output = matches[output, BEFORE]
    return size


@inlined
def put(matches, place, keyword, start, before):
    """Write a match that follows another one."""
    matches[place, KEYWORD], matches[place, START], matches[place, BEFORE] = keyword, start, before


@inlined
def repeat(matches, place, size, other, start, before):
    """Write the matches of another output, `start` bytes later, after a match."""
    for back in range(size):
        at = place + size - 1 - back
        matches[at, KEYWORD], matches[at, START] = matches[other, KEYWORD], matches[other, START] + start
        other = matches[other, BEFORE]
    for at in range(place, place + size):
        put(matches, at, matches[at, KEYWORD], matches[at, START], before)
        before = at


@kernel
def link_longest(parents, bytes_read, depths, tokens, is_leaf, slots, children, labels, links, outputs, matches):
    """Link the nodes of a trie for leftmost-longest search.

    The string of a node v = δ(u, c) has been read, and no edge leads on. If it is a keyword, this is the match, and the search goes on at
    the root. Otherwise, as in `fst.automata.links`: walk from z = f(u) along links until δ(z, c) exists, which is f(v). The matches are
    those on the way from u to its link, and on the links walked. If no such z exists, c is in no match, and f(v) is the root. A leaf is no
    state: no keyword goes on from it, so where it would be a link, it is a match.

    Args:
        parents, bytes_read, depths, tokens: the fields of a `fst.compile.machines.keywords.tries.KeywordTrie`: u, c, |v|, and the keyword
        of a node.
        is_leaf: bool[nodes], whether a node has no child.
        slots: int32[nodes]; children: int32[slots], labels: int16[slots]: at ``slots[u] + 1 + c`` the child of u on c, and c.
        links: int32[nodes], f, filled.
        outputs: int32[nodes], the last match on the way to f(v), or 0, filled.
        matches: int64[n, 4], as in `fst.machines.keywords.table`, filled from row 1 on, but for the ends.

    Returns:
        The number of rows of `matches` that are used; 0 if there are too few.
    """
    count = 1
    links[ROOT] = outputs[ROOT] = 0
    for node in range(1, len(parents)):
        above, byte = parents[node], bytes_read[node]
        if tokens[node] != NULL:
            if count == len(matches):
                return 0
            put(matches, count, tokens[node], 0, 0)
            links[node], outputs[node] = ROOT, count
            count += 1
            continue
        link, output = links[above], outputs[above]
        target = child(slots, children, labels, link, byte) if above != ROOT else ROOT
        while (target == NULL and link != ROOT) or (target != NULL and is_leaf[target]):
            given_up = link if target == NULL else target
            size = size_of(matches, outputs[given_up])
            if count + size > len(matches):
                return 0
            if size:
                start = depths[above] - depths[link]
                repeat(matches, count, size, outputs[given_up], start, output)
                count += size
                output = count - 1
            if target == NULL:
                link = links[link]
                target = child(slots, children, labels, link, byte)
            else:
                target = ROOT
        links[node], outputs[node] = max(target, ROOT), output
    return count


@part
def longest_suffix(above, byte, links, slots, children, labels):
    """The longest proper suffix of the string of δ(above, byte) that is a node."""
    if above == ROOT:
        return ROOT
    link = links[above]
    target = child(slots, children, labels, link, byte)
    while target == NULL and link != ROOT:
        link = links[link]
        target = child(slots, children, labels, link, byte)
    return max(target, ROOT)


@kernel
def link_standard(parents, bytes_read, depths, tokens, lengths, slots, children, labels, links, outputs, matches):
    """Link the nodes of a trie as Aho and Corasick do: f(v) is the longest proper suffix of v's string that is a node.

    Arguments and result are those of `link_longest`, but for `lengths`: int64[keywords], their bytes; and `outputs`, the match that ends
    with a node's string, the longest one, or 0.
    """
    count = 1
    links[ROOT] = outputs[ROOT] = 0
    for node in range(1, len(parents)):
        above, byte = parents[node], bytes_read[node]
        links[node] = longest_suffix(above, byte, links, slots, children, labels)
        ending = outputs[links[node]]
        keyword = tokens[node] if tokens[node] != NULL or not ending else matches[ending, KEYWORD]
        outputs[node] = 0
        if keyword != NULL:
            if count == len(matches):
                return 0
            put(matches, count, keyword, depths[node] - lengths[keyword], 0)
            outputs[node] = count
            count += 1
    return count


@kernel
def link_overlapping(parents, bytes_read, tokens, last, before, is_leaf, slots, children, labels, links, goes_on, outputs, matches):
    """Link the nodes of a trie as `link_standard` does, and list for each keyword those that end where it ends.

    Arguments are those of `link_longest`, but for

        last, before: int64[keywords], by the first of some equal keywords the last one, and by each the one before it, or -1.
        goes_on: int32[nodes], filled: the longest suffix of a node's string that is a node with children, perhaps all of it.
        outputs: int32[nodes], filled: the row of the longest keyword that ends with a node's string, or 0.
        matches: int64[1 + keywords, 2], as in `fst.machines.keywords.overlapping`, filled for the keywords of nodes.
    """
    links[ROOT] = outputs[ROOT] = goes_on[ROOT] = ROOT
    for node in range(1, len(parents)):
        link = longest_suffix(parents[node], bytes_read[node], links, slots, children, labels)
        links[node] = link
        goes_on[node] = goes_on[link] if is_leaf[node] else node
        outputs[node] = outputs[link]
        keyword = last[tokens[node]] if tokens[node] != NULL else NULL
        while keyword != NULL:
            matches[keyword + 1, NEXT], matches[keyword + 1, COUNT] = outputs[node], matches[outputs[node], COUNT] + 1
            outputs[node] = keyword + 1
            keyword = before[keyword]
