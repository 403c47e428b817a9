"""Readers of BPE codes, as fastBPE and subword-nmt write them, with a vocabulary of their tokens."""
