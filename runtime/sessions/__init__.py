"""Sessions: texts that grow and change, and keep their ids."""
