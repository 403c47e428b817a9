"""A plugin for vLLM: a tokenizer mode, a detokenizer and a backend of structured output."""
