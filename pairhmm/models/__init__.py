"""Models turn qualities or probabilities into row parameters; every constant of a model lives here, once."""
