"""What adapters for inference engines share: the guides of requests, and the texts that requests write."""
