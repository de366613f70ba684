"""FASTA and FASTQ, contigs and intervals on them."""
