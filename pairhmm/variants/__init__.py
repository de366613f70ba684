"""Readers and writers of VCF and related files: candidates, calls, allele dosages, ploidy."""
