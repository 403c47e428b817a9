"""A plugin for SGLang: a tokenizer backend and a grammar backend."""
