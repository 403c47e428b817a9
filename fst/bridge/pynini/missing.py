"""Names of pynini that are not here, and what to use instead."""

from __future__ import annotations

PUSHDOWN = "there are no pushdown machines; join machines by concat, union and closure, up to a depth"
NO_NEED = "leave the call out: the strings and weights of paths do not depend on it"
INSTEAD = {
    "Compiler": "for AT&T text, use fst.read_att",
    "EncodeMapper": "use optimize, which treats a pair of labels as one label",
    "FarReader": "use Far(filename)",
    "FarWriter": "use Far(filename, 'w')",
    "MPdtParentheses": PUSHDOWN,
    "MutableFst": "use Fst",
    "PdtParentheses": PUSHDOWN,
    "compact_symbol_table": "add the symbols to a new SymbolTable",
    "convert": NO_NEED,
    "decode": "use optimize, which treats a pair of labels as one label",
    "disambiguate": "use determinize for acceptors",
    "draw": "use machine.fst.draw()",
    "encode": "use optimize, which treats a pair of labels as one label",
    "epsnormalize": NO_NEED,
    "mpdt_compose": PUSHDOWN,
    "mpdt_expand": PUSHDOWN,
    "mpdt_reverse": PUSHDOWN,
    "mutable_input_symbols": "use input_symbols(), whose result can be changed",
    "mutable_output_symbols": "use output_symbols(), whose result can be changed",
    "num_states_if_known": "use num_states()",
    "pdt_compose": PUSHDOWN,
    "pdt_expand": PUSHDOWN,
    "pdt_replace": PUSHDOWN,
    "pdt_reverse": PUSHDOWN,
    "pdt_shortestpath": PUSHDOWN,
    "randequivalent": "use equivalent",
    "read": "use read_text for symbol tables",
    "read_fst": "use read_text; symbol tables are not stored with machines",
    "relabel_tables": "use relabel_pairs",
    "replace": "join the machines by concat, union and closure",
    "reserve_arcs": NO_NEED,
    "reserve_states": NO_NEED,
    "reweight": "use push(push_weights=True)",
    "set_properties": NO_NEED,
    "statemap": "use optimize",
    "synchronize": NO_NEED,
    "write": "use write_text for symbol tables",
    "write_to_string": "use write_text for symbol tables",
}


def missing(owner: str, name: str) -> AttributeError:
    """The error for a name that `owner` does not have.

    Examples:
        >>> print(missing("fst.pynini", "pdt_reverse"))
        fst.pynini has no 'pdt_reverse': there are no pushdown machines; join machines by concat, union and closure, up to a depth
    """
    return AttributeError(f"{owner} has no {name!r}" + (f": {INSTEAD[name]}" if name in INSTEAD else ""))
