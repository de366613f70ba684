"""Simulated genomes, variants and reads with their truth. Pure functions on arrays; no files."""
