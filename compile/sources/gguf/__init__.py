"""Read the vocabulary of a GGUF model, without its weights. The reference is llama.cpp."""
