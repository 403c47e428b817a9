"""Kernels that link the nodes of a trie, see `fst.automata.links`.

Example: `link_longest` with the tokens a (1), abcd (2) and bc (3). Rows of pops are token, end, number, row before::

    node      link    pops                    reason
    1  a      root    row 1: 1 1 1 0          a is a token
    2  b      root    none                    a walk at b has read nothing that is certain
    3  ab     b       row 1                   after a, the walk continues at b
    4  bc     root    none                    bc is a token without edges, so no state
    5  abc    root    row 2: 3 3 2 1          b has an edge to bc, which is popped after the list of ab
    6  abcd   root    none                    as bc
"""

from __future__ import annotations

from fst.automata.links import BEFORE, END, NUMBER, TOKEN, UNSEEN
from fst.automata.trie import NULL, ROOT
from fst.core.jit import inlined, kernel, part


@inlined
def child(node, label, firsts, labels, of_root):
    """The child of a node on a label, or `NULL`."""
    if node == ROOT:
        return of_root[label]
    low, high = firsts[node] + 1, firsts[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low == high and labels[low] == label else NULL


@kernel
def link_suffixes(parents, labels, tokens, firsts, of_root, links, ends):
    """Link each node to its longest proper suffix that is a node.

    Args:
        parents, labels, tokens, firsts: the fields of `fst.automata.links.Nodes`.
        of_root: int64[labels], the child of the root on each label, or `NULL`.
        links, ends: the fields of `fst.automata.links.Suffixes`, which are filled.
    """
    links[ROOT] = ends[ROOT] = ROOT
    for node in range(1, len(parents)):
        link, target = parents[node], NULL
        while target == NULL and link != ROOT:
            link = links[link]
            target = child(link, labels[node], firsts, labels, of_root)
        links[node] = max(target, ROOT)
        ends[node] = node if tokens[node] != NULL else ends[links[node]]


@part
def put(pops, count, last, token, end):
    """Append a token to the list that ends with row `last`. Return the new number of used rows; if `pops` is too small, this number is
    larger than `pops`.
    """
    if count < len(pops):
        pops[count, TOKEN], pops[count, END] = token, end
        pops[count, NUMBER], pops[count, BEFORE] = pops[last, NUMBER] + 1, last
    return count + 1


@part
def put_list(pops, count, last, other, shift):
    """Append the tokens of another list, and add `shift` symbols to the end of each token. Return the new number of used rows; if `pops` is
    too small, this number is larger than `pops`.
    """
    after, number = count + pops[other, NUMBER], pops[last, NUMBER] + 1 - count
    if after <= len(pops):
        for place in range(after - 1, count - 1, -1):
            pops[place, TOKEN], pops[place, END] = pops[other, TOKEN], pops[other, END] + shift
            pops[place, NUMBER], pops[place, BEFORE] = number + place, place - 1 if place > count else last
            other = pops[other, BEFORE]
    return after


@kernel
def link_longest(parents, labels, levels, tokens, firsts, of_root, unseen, with_leaves, first_rule, rules, links, lasts, pops, count):
    """Link each node by the policy `fst.automata.links.longest`.

    Args:
        parents, labels, levels, tokens, firsts: the fields of `fst.automata.links.Nodes`.
        of_root: int64[labels], the child of the root on each label, or `NULL`.
        unseen, with_leaves: the arguments of `fst.automata.links.longest`.
        first_rule, rules: the fields `first` and `lasts` of `fst.automata.links.Rules`.
        links, lasts: the fields of `fst.automata.links.Longest`, which are filled.
        pops: int64[n, 4], the field of `fst.automata.links.Longest`, which is filled from row `count` on.

    Returns:
        The number of used rows of `pops`. A number larger than the number of rows means that `pops` is too small.
    """
    links[ROOT] = lasts[ROOT] = ROOT
    for node in range(1, len(parents)):
        if count > len(pops):
            break
        above, label, token = parents[node], labels[node], tokens[node]
        if token != NULL:
            links[node] = lasts[node] = ROOT
            if token >= first_rule:
                lasts[node] = rules[token - first_rule]
            elif with_leaves or firsts[node] < firsts[node + 1]:
                lasts[node] = count
                count = put(pops, count, 0, token, levels[node])
            continue
        read, link, last = levels[above], links[above], lasts[above]
        is_covered = pops[last, END] > read  # the symbol is part of a token `UNSEEN` of several symbols
        target = NULL if above == ROOT or is_covered else child(link, label, firsts, labels, of_root)
        while target == NULL and link != ROOT and not is_covered:
            count = put_list(pops, count, last, lasts[link], read - levels[link])
            if count > len(pops):
                return count
            last = count - 1 if lasts[link] else last
            link = links[link]
            is_covered = pops[last, END] > read
            target = NULL if is_covered else child(link, label, firsts, labels, of_root)
        if target == NULL and not is_covered and unseen[label]:
            count = put(pops, count, last, UNSEEN, read + unseen[label])
            last = count - 1
        if target != NULL and firsts[target] == firsts[target + 1]:
            if lasts[target]:
                count = put_list(pops, count, last, lasts[target], read - levels[link])
            else:
                count = put(pops, count, last, tokens[target], read + 1)
            last = count - 1
            target = ROOT
        links[node], lasts[node] = max(target, ROOT), last
    return count
