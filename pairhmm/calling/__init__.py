"""Turns reads and candidate variants into scored regions, as a stream. `likelihoods` and `call` share this."""
