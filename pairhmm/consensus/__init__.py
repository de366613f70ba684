"""`consensus`: the sequence of a sample, from its calls and the depth of its reads."""
