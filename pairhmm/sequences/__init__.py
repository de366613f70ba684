"""Bases, reads, variants, regions, haplotypes and genotypes. All coordinates are 0-based half-open."""
