"""Pairs of reads and haplotypes as text (`.in` files), and their scores."""
