"""The common part of the adapters for inference engines: the guides of requests, and the texts that requests write."""
