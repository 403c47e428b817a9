"""The search for pre-tokens in texts and their look-up, for byte-level BPE and Unigram."""
