"""Decisions about boundaries between pre-tokens, and products, with which a kernel makes 64 of these decisions at a time.

A *window* is the symbols around a position, which determine whether a pre-token begins there (`fst.compile.pretokens.boundaries`). The
table of all decisions has up to a million entries, and a look-up decides only one position. So the compiler also describes the decisions by
a few products of sets.

A *product* has a set of symbols for each of `SYMBOLS_IN_PRODUCT` consecutive symbols. A product contains a window if each symbol of the
window is in the set for it. A position is *unsure* if a product of the second list contains its window; the kernel then looks up the window
in the table of decisions. At any other position, a pre-token begins if and only if a product of the first list contains the window.

For example, the product {any} × {any} × {not whitespace} × {space} × {any} contains the windows of a space after a word, where a pre-token
of GPT-2 begins.

The sets of eight products are a table of bytes for each of the consecutive symbols: bit i of a symbol's byte is set if the symbol is in the
set of product i. The conjunction of the bytes of a window is then a byte whose bit i is set if product i contains the window::

    bytes of the symbols  11111111 & 11111111 & 00000101 & 01100111 & 11111111 = 00000101: products 0 and 2 contain the window

So for eight products, a kernel needs one look-up of bytes in registers per symbol. This is the method by which Keiser and Lemire (2021,
*Validating UTF-8 In Less Than One Instruction Per Byte*) find invalid pairs of bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.tables.proof import need

INSIDE, BEGINS, UNDECIDED = 0, 1, 3  # values of decisions; the lowest bit is set if a pre-token begins or may begin at the position
AROUND = 2  # number of symbols that belong to no class: one for the position after a text, and one for the position before it
MAX_WINDOW = 20  # maximum number of bits of a window; the few decisions that a text uses, of up to 1 MiB, fit into a core's own cache

SYMBOLS_IN_PRODUCT = 5  # number of symbols that products read: three before the position, the position's own symbol, and the next one
BEFORE_POSITION = 3
THREE = (BEFORE_POSITION - 1, BEFORE_POSITION + 2)  # the range of the position's symbol and its neighbors: some tables read only these
GROUPS, SYMBOLS = 3, 64  # number of groups of eight products, and maximum number of symbols
PRODUCTS = 8 * GROUPS
# The array of products consists of the tables of sets, uint8[GROUPS, SYMBOLS_IN_PRODUCT, SYMBOLS], and for each group, a mask of the
# products of the first list, and a mask of the products of the second list.
BEGIN_MASKS = GROUPS * SYMBOLS_IN_PRODUCT * SYMBOLS
UNSURE_MASKS = BEGIN_MASKS + GROUPS
PRODUCTS_SIZE = UNSURE_MASKS + GROUPS


def read_three(products: NDArray[np.uint8]) -> bool:
    """Whether products depend only on three symbols of a window: the position's own symbol and its neighbors."""
    sets = products[:BEGIN_MASKS].reshape(-1, SYMBOLS_IN_PRODUCT, SYMBOLS)
    is_used = (products[BEGIN_MASKS:UNSURE_MASKS] | products[UNSURE_MASKS:])[:, None, None]
    return bool((sets[:, : THREE[0]] & is_used == is_used).all())


def prove_products(products: NDArray[np.uint8], end: int) -> None:
    """Prove that products contain every window of END and of a text's first character, and no window of BEGIN.

    Args:
        products: the array of products, or an empty array.
        end: the symbol END; BEGIN is the next number, and all symbols below END belong to classes.
    """
    need(len(products) in (0, PRODUCTS_SIZE), f"products has {len(products)} elements, not {PRODUCTS_SIZE} or 0")
    if not len(products):
        return
    sets = products[:BEGIN_MASKS].reshape(GROUPS, SYMBOLS_IN_PRODUCT, SYMBOLS)
    begins, unsure = products[BEGIN_MASKS:UNSURE_MASKS], products[UNSURE_MASKS:]
    before, own = sets[:, BEFORE_POSITION - 1], sets[:, BEFORE_POSITION]
    any_first, any_second, any_before, _, any_after = np.bitwise_and.reduce(sets, axis=2).T
    at_end = any_first & any_second & any_before & any_after & own[:, end]
    at_first = any_first & any_second & any_after & before[:, end + 1] & np.bitwise_and.reduce(own[:, :end], axis=1)
    need((begins & at_end).any(), "no product contains every window of END")
    need((begins & at_first).any(), "no product contains every window of a first character")
    need(not ((begins | unsure) & own[:, end + 1]).any(), "a product contains a window of BEGIN")
    need(not (unsure & (own[:, end] | before[:, end + 1])).any(), "END, or a first character, is unsure")
