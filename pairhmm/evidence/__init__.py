"""From reads and candidate variants to scored regions, as a stream: what `likelihoods` and `call` share."""
