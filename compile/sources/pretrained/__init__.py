"""Read folders in the form of ``save_pretrained``, and models by their names on the Hugging Face Hub."""
