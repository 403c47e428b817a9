"""Folders in the form of ``save_pretrained``, and names on the Hugging Face Hub."""
