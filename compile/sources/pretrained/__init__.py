"""Folders as ``save_pretrained`` writes them, and names on the Hugging Face Hub."""
