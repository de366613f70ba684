"""Published designs and their optimisations one at a time, for comparison: no command but `bench` runs them."""
