"""BAM, CRAM and SAM: opening them, their indices, and reads in blocks."""
