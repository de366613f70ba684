"""Parameters of the models from data: forward-backward, expected counts, expectation-maximisation."""
