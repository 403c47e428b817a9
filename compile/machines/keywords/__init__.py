"""The compiler of keyword search: strings become a table."""
