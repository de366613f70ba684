"""How the package takes arguments, checks options, and shows objects."""
