"""The machine of the best path through a weighted transducer."""
