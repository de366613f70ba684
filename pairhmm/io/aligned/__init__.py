"""What `align` reads and writes: sequences in blocks, and alignments as tables, PAF, SAM, BAM and VCF."""
