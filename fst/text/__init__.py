"""The processing of text before it is split: normalizers, added tokens and alphabets as data, with slow walks and proofs."""
