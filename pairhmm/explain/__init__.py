"""Explains calls: why `call` has a record at a position, or none."""
