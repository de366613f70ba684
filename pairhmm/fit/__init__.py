"""Fits parameters of the models to data: forward-backward, expected counts, expectation-maximisation."""
