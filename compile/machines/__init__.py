"""The compilers from models and dictionaries to tables, one folder for each machine."""
