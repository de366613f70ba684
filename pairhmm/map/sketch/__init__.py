"""MinHash sketches of samples and their distances: `map sketch` and `map distances`."""
