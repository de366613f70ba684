"""Readers and writers of FASTA, FASTQ, profiles and intervals."""
