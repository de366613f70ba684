"""Models turn qualities or probabilities into row parameters. Every constant of a model is defined here, once."""
