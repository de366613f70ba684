"""Who is related to whom, and who is contaminated: genotypes and likelihoods of several samples as arrays."""
