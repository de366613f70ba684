"""VCF and what belongs to it: candidates, calls, genotypes, ploidy."""
