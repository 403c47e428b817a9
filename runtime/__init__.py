"""Run time: tables turn text into ids."""
