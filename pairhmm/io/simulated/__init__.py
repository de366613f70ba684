"""A simulated data set: its genome, its true variants and its reads."""
