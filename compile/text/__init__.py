"""The text pipeline before the model: normalizers, pre-tokenizers and added tokens, folded into one map from characters to symbols."""
