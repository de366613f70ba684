"""Published designs and each of their optimisations, for comparison. Only the command `bench` runs them."""
