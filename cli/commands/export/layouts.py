"""The layouts of exported tables."""

LAYOUTS = FULL, SMALL = "full", "small"
