"""Simulated genomes, variants, reads, signals and cohorts, with their truth: input of the other commands."""
