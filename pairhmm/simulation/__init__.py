"""Made-up genomes, variants and reads whose truth is known: pure functions on arrays, no files."""
