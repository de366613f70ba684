"""Bases, sequences, FASTA and FASTQ, intervals and names. All coordinates are 0-based half-open."""
